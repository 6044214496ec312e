/* SPDX-License-Identifier: MIT */
/* nvml.c - what NVML says of each device, but for what changes from moment to moment */
#include "../claim.h"

int nvmlInit_v2(void), nvmlShutdown(void), nvmlDeviceGetCount_v2(unsigned *);
int nvmlSystemGetDriverVersion(char *, unsigned), nvmlSystemGetCudaDriverVersion_v2(int *);
int nvmlDeviceGetHandleByIndex_v2(unsigned, void **);
int nvmlDeviceGetName(void *, char *, unsigned), nvmlDeviceGetUUID(void *, char *, unsigned);
int nvmlDeviceGetPowerManagementLimit(void *, unsigned *);
int nvmlDeviceGetCudaComputeCapability(void *, int *, int *);
int nvmlDeviceGetPciInfo_v3(void *, void *), nvmlDeviceGetMemoryInfo(void *, void *);
const char *nvmlErrorString(int);

static void one(void *device)
{
	char text[256] = "", pci[256] = "";
	unsigned long long memory[3] = { 0 };
	unsigned limit = 0;
	int major = 0, minor = 0, result;

	result = nvmlDeviceGetName(device, text, sizeof(text));
	value("name", "%d %s", result, text);
	result = nvmlDeviceGetUUID(device, text, sizeof(text));
	value("uuid", "%d %s", result, text);
	result = nvmlDeviceGetPowerManagementLimit(device, &limit);
	value("limit", "%d %u", result, limit);
	result = nvmlDeviceGetCudaComputeCapability(device, &major, &minor);
	value("capability", "%d %d %d", result, major, minor);
	RESULT("pci-result", nvmlDeviceGetPciInfo_v3(device, pci));
	value_bytes("pci", pci, sizeof(pci));
	result = nvmlDeviceGetMemoryInfo(device, memory);
	value("memory", "%d %llu", result, memory[0]);
}

static void system_wide(void)
{
	char text[256] = "";
	int version = 0, result = nvmlSystemGetDriverVersion(text, sizeof(text));

	value("driver", "%d %s", result, text);
	result = nvmlSystemGetCudaDriverVersion_v2(&version);
	value("cuda", "%d %d", result, version);
}

int main(void)
{
	unsigned count = 0;
	int result = nvmlInit_v2();
	char name[16];
	void *device;

	part = "init";
	value("result", "%d %s", result, nvmlErrorString(result));
	value("library", "%s", file_of("nvml", "nvmlInit_v2"));
	/* Without a device these are errors. */
	RUN(system_wide);
	if (nvmlDeviceGetCount_v2(&count) || !count)
		printf("- devices no device: nvmlInit says %d %s\n", result, nvmlErrorString(result));
	for (unsigned i = 0; i < count && i < 16; i++) {
		snprintf(name, sizeof(name), "device-%u", i);
		part = name;
		if (!nvmlDeviceGetHandleByIndex_v2(i, &device))
			one(device);
	}
	part = "end";
	RESULT("shutdown", nvmlShutdown());
	return finish();
}

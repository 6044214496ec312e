/* SPDX-License-Identifier: MIT */
/* nvml.c - what NVML says of each device, but for what changes from moment to moment */
#include "../claim.h"

int nvmlInit_v2(void), nvmlShutdown(void), nvmlDeviceGetCount_v2(unsigned *);
int nvmlSystemGetDriverVersion(char *, unsigned), nvmlSystemGetCudaDriverVersion_v2(int *);
int nvmlDeviceGetHandleByIndex_v2(unsigned, void **);
int nvmlDeviceGetName(void *, char *, unsigned), nvmlDeviceGetUUID(void *, char *, unsigned);
int nvmlDeviceGetIndex(void *, unsigned *), nvmlDeviceGetArchitecture(void *, unsigned *);
int nvmlDeviceGetMemoryBusWidth(void *, unsigned *), nvmlDeviceGetMinorNumber(void *, unsigned *);
int nvmlDeviceGetPowerManagementLimit(void *, unsigned *);
int nvmlDeviceGetCudaComputeCapability(void *, int *, int *);
int nvmlDeviceGetPciInfo_v3(void *, void *), nvmlDeviceGetMemoryInfo(void *, void *);
const char *nvmlErrorString(int);

static const struct {
	const char *name;
	int (*get)(void *, char *, unsigned);
} texts[] = {
#define TEXT(name) { #name, nvmlDeviceGet##name }
	TEXT(Name), TEXT(UUID),
};

static const struct {
	const char *name;
	int (*get)(void *, unsigned *);
} numbers[] = {
#define NUMBER(name) { #name, nvmlDeviceGet##name }
	NUMBER(Index), NUMBER(Architecture), NUMBER(MemoryBusWidth), NUMBER(MinorNumber),
	NUMBER(PowerManagementLimit),
};

static void structs(void *device)
{
	unsigned char pci[256] = "";
	unsigned long long memory[3] = { 0 };
	int major = 0, minor = 0, result;

	result = nvmlDeviceGetCudaComputeCapability(device, &major, &minor);
	value("capability", "%d %d %d", result, major, minor);
	value("pci-result", "%d", nvmlDeviceGetPciInfo_v3(device, pci));
	value_bytes("pci", pci, sizeof(pci));
	result = nvmlDeviceGetMemoryInfo(device, memory);
	value("memory", "%d %llu", result, memory[0]);
}

static void one(void *device)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		char text[256] = "";
		int result = texts[i].get(device, text, sizeof(text));

		value(texts[i].name, "%d %s", result, text);
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		unsigned number = 0;
		int result = numbers[i].get(device, &number);

		value(numbers[i].name, "%d %u", result, number);
	}
	structs(device);
}

static void system_wide(void)
{
	char text[256] = "";
	int version = 0, result = nvmlSystemGetDriverVersion(text, sizeof(text));

	value("driver", "%d %s", result, text);
	result = nvmlSystemGetCudaDriverVersion_v2(&version);
	value("cuda", "%d %d", result, version);
	for (int code = 0; code < 30; code++) {
		char key[16];

		snprintf(key, sizeof(key), "error-%d", code);
		value(key, "%s", nvmlErrorString(code));
	}
}

int main(void)
{
	unsigned count = 0;
	int result = nvmlInit_v2();
	char name[16];
	void *device;

	part = "init";
	value("result", "%d", result);
	value("library", "%s", file_of("nvml", "nvmlInit_v2"));
	/* Without a device these are errors. */
	part = "system";
	system_wide();
	if (nvmlDeviceGetCount_v2(&count) || !count)
		printf("- devices no device: nvmlInit says %d %s\n", result, nvmlErrorString(result));
	for (unsigned i = 0; i < count && i < 16; i++) {
		snprintf(name, sizeof(name), "device-%u", i);
		part = name;
		if (!nvmlDeviceGetHandleByIndex_v2(i, &device))
			one(device);
	}
	part = "end";
	value("shutdown", "%d", nvmlShutdown());
	return finish();
}

/* SPDX-License-Identifier: MIT */
/* processes.c - memory and an event of one process in another; this program is both */
#include "code.h"

enum { COUNT = 256 };

struct message {
	cudaIpcMemHandle_t memory;
	cudaIpcEventHandle_t event;
};

/* The other process: adds 4 to what the first has written. */
static int other(int from)
{
	struct message message;
	cudaEvent_t event;
	int *memory, result;

	if (read(from, &message, sizeof(message)) != sizeof(message))
		return 101;
	result = (int)cudaIpcOpenEventHandle(&event, message.event) ?:
		 (int)cudaEventSynchronize(event) ?:
		 (int)cudaIpcOpenMemHandle((void **)&memory, message.memory,
					   cudaIpcMemLazyEnablePeerAccess) ?:
		 launch_add(memory, COUNT, 4, NULL) ?: (int)cudaDeviceSynchronize() ?:
		 (int)cudaIpcCloseMemHandle(memory);
	return result > 100 ? 100 : result;
}

static void shared(const char *self)
{
	struct message message;
	cudaEvent_t event;
	int channel[2], got[COUNT], *memory, status;
	char number[16];

	memset(&message, 0, sizeof(message));
	DO(cudaMalloc((void **)&memory, 1 << 21));
	DO(cudaMemset(memory, 0, sizeof(got)));
	DO(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess));
	DO(cudaIpcGetMemHandle(&message.memory, memory));
	DO(cudaIpcGetEventHandle(&message.event, event));
	DO(launch_add(memory, COUNT, 38, NULL));
	DO(cudaEventRecord(event, NULL));
	if (pipe(channel))
		return;
	snprintf(number, sizeof(number), "%d", channel[0]);
	if (write(channel[1], &message, sizeof(message)) != sizeof(message))
		return;
	status = run_again(self, number);
	if (status) {
		printf("- shared the other process ended with %d\n",
		       WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
		return;
	}
	DO(cudaMemcpy(got, memory, sizeof(got), cudaMemcpyDeviceToHost));
	value("sum", "%d %d", got[0], got[COUNT - 1]);
	DO(cudaEventDestroy(event));
	DO(cudaFree(memory));
}

int main(int count, char **words)
{
	if (count == 2)
		return other(atoi(words[1]));
	begin();
	part = "shared";
	shared(words[0]);
	return finish();
}

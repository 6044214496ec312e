/* SPDX-License-Identifier: MIT */
/* cloned.c - a thread is in its first call when the process is copied by the system call that
 * fork() makes, without fork()'s handlers */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int curandGetVersion(int *version);

static void *call(void *status)
{
	int version = 0;

	*(int *)status = curandGetVersion(&version);
	return NULL;
}

int main(void)
{
	int status = -1, ended = -1;
	pthread_t thread;
	pid_t child;

	pthread_create(&thread, NULL, call, &status);
	usleep(200000);
	child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!child) {
		call(&status);
		_exit(status);
	}
	pthread_join(thread, NULL);
	for (int i = 0; i < 3 && !waitpid(child, &ended, WNOHANG); i++)
		sleep(1);
	kill(child, SIGTERM);
	waitpid(child, &ended, 0);
	printf("%d, the child ends with %d\n", status, ended);
	return 0;
}

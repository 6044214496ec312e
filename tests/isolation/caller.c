/* SPDX-License-Identifier: MIT */
/*
 * caller.c - isolated links from threads, in a process that is not at its best
 *
 *	caller [OPTION...] THREADS ROUNDS PTX...
 *
 * Thread n links PTX n % count, ROUNDS times.  --ignore: SIGCHLD is ignored; --reap: its
 * handler waits for any child; --closed: files 0 to 2 are not there; --open: the caller has
 * many others; --block: SIGUSR1 is blocked, and SIGPIPE ignored; --fork: another thread
 * forks all the time; --orphans: what it forks, sometimes, outlives it; --chdir FOLDER; --unshare:
 * children are in another PID namespace; --change: each round has a current folder of its own;
 * --change-all: and another environment and limit; --reopen: in the second it has closed all files, and
 * in the third others have their numbers; --time MS, --memory BYTES: the limits; --cancel MS: after that
 * every link is cancelled; -1: once one is done.  Prints what came of each, and then what is left of it
 * in the process.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <lazycuda_link.h>

#include "../lib/open_files.h"

enum { MOST = 80, SAID = 60 };

static struct lazycuda_request request = {
	.size = sizeof(request), .arch = "sm_80", .flags = LAZYCUDA_LINK_ISOLATED,
};
static const struct lazycuda_environment environment = {
	.size = sizeof(environment), .nvjitlink = 13000,
};
static char **inputs;
static int input_count, rounds, cancel_after, unshares, changes, reopens;
static struct lazycuda_link *links[MOST];
static volatile int over;
static int linked, cancelling;
static pthread_mutex_t saying = PTHREAD_MUTEX_INITIALIZER;

static void change(int round)
{
	const struct rlimit files = { 400 - (rlim_t)round, 400 };
	char word[16];
	struct stat st;

	if (changes && chdir(round & 1 ? "/" : "/usr"))
		exit(1);
	snprintf(word, sizeof(word), "%d", changes > 1 ? round : 0);
	setenv("ROUND", word, 1);
	if (changes > 1)
		setrlimit(RLIMIT_NOFILE, &files);
	for (int fd = 3; reopens && fd < SAID; fd++)
		if (round == 1)
			close(fd);
		else if (round == 2)
			dup2(reopens, fd);
		else if (round == 3 && (fstat(fd, &st) || !S_ISREG(st.st_mode)))
			dprintf(SAID, "file %d is gone\n", fd);
}

static void *thread(void *data)
{
	const long number = (long)data;
	const struct lazycuda_input input = {
		.size = sizeof(input), .name = "it", .bytes = inputs[number % input_count],
		.length = strlen(inputs[number % input_count]) + 1,
	};

	if (unshares && unshare(unshares)) {
		dprintf(SAID, "no PID namespace can be made\n");
		exit(77);
	}
	for (int i = 0; i < rounds; i++) {
		const struct lazycuda_result *result;
		struct lazycuda_link *link;

		change(i);
		link = lazycuda_link_new(&request, &environment);
		lazycuda_link_add(link, &input);
		__atomic_store_n(&links[number], link, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&cancelling, __ATOMIC_SEQ_CST))
			lazycuda_link_cancel(link);
		result = lazycuda_link_run(link);
		if (!result->code)
			__atomic_store_n(&linked, 1, __ATOMIC_SEQ_CST);
		pthread_mutex_lock(&saying);
		dprintf(SAID, "%ld: %s: %s\n", number, lazycuda_code_name(result->code),
			result->code ? result->message : "");
		for (const char *log = result->code ? result->error_log : result->info_log; *log;
		     log += strcspn(log, "\n"), log += *log == '\n')
			dprintf(SAID, "%ld log: %.*s\n", number, (int)strcspn(log, "\n"), log);
		pthread_mutex_unlock(&saying);
		if (!cancel_after)
			lazycuda_link_free(link);
	}
	return NULL;
}

/* Ends its children itself: one that has only begun has not yet asked to die with its parent. */
static int is_forking;

static void *forks(void *data)
{
	pid_t children[300];
	int count = 0;

	while (!over) {
		pid_t child = count < 300 ? fork() : -1;

		if (!child) {
			/* Should the caller be killed. */
			prctl(PR_SET_PDEATHSIG, is_forking > 1 ? 0 : SIGKILL);
			/* Who reads what the caller says waits for no orphan. */
			if (is_forking > 1) {
				close(1);
				close(2);
				close(SAID);
			}
			sleep(is_forking > 1 ? 30 : 600);
			_exit(0);
		}
		if (child > 0)
			children[count++] = child;
		usleep(is_forking > 1 ? 200000 : 2000);
	}
	for (int i = 0; i < count; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
	return data;
}

static void reap(int signal)
{
	int error = errno;

	(void)signal;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	errno = error;
}

static char **read_options(char **word)
{
	for (; !strncmp(*word, "--", 2); word++) {
		if (!strcmp(*word, "--ignore"))
			signal(SIGCHLD, SIG_IGN);
		else if (!strcmp(*word, "--reap"))
			signal(SIGCHLD, reap);
		else if (!strcmp(*word, "--fork"))
			is_forking = 1;
		else if (!strcmp(*word, "--orphans"))
			is_forking = 2;
		else if (!strcmp(*word, "--chdir") && chdir(*++word))
			exit(1);
		else if (!strcmp(*word, "--reopen"))
			reopens = fcntl(open("/proc/self/exe", O_RDONLY), F_DUPFD, SAID + 1);
		else if (!strcmp(*word, "--change"))
			changes = 1;
		else if (!strcmp(*word, "--change-all"))
			changes = 2;
		else if (!strcmp(*word, "--unshare"))
			unshares = CLONE_NEWPID;
		else if (!strcmp(*word, "--time"))
			request.time_limit = strtoull(*++word, NULL, 10);
		else if (!strcmp(*word, "--memory"))
			request.memory_limit = strtoull(*++word, NULL, 10);
		else if (!strcmp(*word, "--cancel"))
			cancel_after = atoi(*++word);
		else if (!strcmp(*word, "--closed"))
			for (int fd = 0; fd < 3; fd++)
				close(fd);
		else if (!strcmp(*word, "--open"))
			for (int i = 0; i < 20; i++)
				open("/dev/null", O_RDONLY);
		else if (!strcmp(*word, "--block")) {
			sigset_t set;

			sigemptyset(&set);
			sigaddset(&set, SIGUSR1);
			sigprocmask(SIG_BLOCK, &set, NULL);
			signal(SIGPIPE, SIG_IGN);
		}
	}
	return word;
}

static void say_what_is_left(int files)
{
	pid_t left = waitpid(-1, NULL, WNOHANG);

	dprintf(SAID, "children: %s\n", left < 0 && errno == ECHILD ? "none" : "some");
	dprintf(SAID, "files: %d\n", open_files() - files);
}

int main(int argc, char **argv)
{
	pthread_t threads[MOST], forker;
	int count, files;
	char **word;

	dup2(1, SAID);
	word = read_options(argv + 1);
	count = atoi(word[0]);
	rounds = atoi(word[1]);
	inputs = word + 2;
	input_count = (int)(argv + argc - inputs);
	/* What is loaded and opened once is so before the files are counted. */
	lazycuda_get_environment();
	files = open_files();
	if (is_forking)
		pthread_create(&forker, NULL, forks, NULL);
	for (long i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, thread, (void *)i);
	if (cancel_after) {
		struct timespec start, end;

		if (cancel_after > 0)
			usleep((useconds_t)cancel_after * 1000);
		while (cancel_after < 0 && !__atomic_load_n(&linked, __ATOMIC_SEQ_CST))
			usleep(10000);
		__atomic_store_n(&cancelling, 1, __ATOMIC_SEQ_CST);
		clock_gettime(CLOCK_MONOTONIC, &start);
		for (int i = 0; i < count; i++)
			lazycuda_link_cancel(links[i]);
		for (int i = 0; i < count; i++)
			pthread_join(threads[i], NULL);
		clock_gettime(CLOCK_MONOTONIC, &end);
		dprintf(SAID, "cancelled in %ld s\n", (long)(end.tv_sec - start.tv_sec));
		for (int i = 0; i < count; i++)
			lazycuda_link_free(links[i]);
	}
	for (int i = 0; i < count && !cancel_after; i++)
		pthread_join(threads[i], NULL);
	over = 1;
	if (is_forking)
		pthread_join(forker, NULL);
	say_what_is_left(files);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * judge.c - does a call through the stub come to what the direct call comes to?
 *
 *	judge SECONDS FILE DIRECT [NAME SAME THROUGH]...
 *	judge until SECONDS
 *	judge there LIBRARY
 *
 * The first form runs the command DIRECT, and each command THROUGH, with a time limit, and prints
 * one line for each THROUGH, which begins with pass, fail or skip.  Commands are
 * sh's.  FILE is the real library that both have to use, empty where nobody can tell.
 * SAME is `same' where the two were compiled for one major, else `other'.  With `-'
 * as DIRECT there is nothing to compare with: the program checks itself.
 *
 * The second form prints a time so many seconds from now.  After that in $LAZYCUDA_GPU_UNTIL
 * nothing is begun, and what runs is ended: a skip.  The third says why a library cannot be
 * loaded; status 0 and nothing if it can.
 *
 * What a program prints (claim.h):
 *
 *	# FILE		the real library that it used
 *	= KEY VALUE	what was found out; a VALUE that ends in "wrong" is a failure
 *	- PART WHY	this part of it (keys that begin with "PART.") could not be
 *			done; with WHY beginning "refused" it was the stub that said no
 *	% TEXT		a figure, that is shown
 *	skip WHY	none of it could be done
 *	end		the last line: the program came to its end
 *
 * Only what both have printed is compared, and counted; what was not is said.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_LINES = 20000, SHOWN = 3, GRACE = 5000 };

static const char over[] = "the time for all claims is over (LAZYCUDA_GPU_SECONDS)";

struct said {
	char *text;
	size_t length;
	char *lines[MAX_LINES];
	int count;
	char broke[200];	/* how it ended, where it did not end well */
	const char *skipped;	/* why, if it did nothing */
	const char *file;
};

/* What came of the lines of two programs, or of one. */
struct account {
	int equal, different, alone, lacking;
	char bad[2000], note[2000];
};

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* How many seconds are left for all; many if nobody has set an end. */
static int seconds_left(void)
{
	const char *until = getenv("LAZYCUDA_GPU_UNTIL");
	const long left = until && *until ? (atol(until) - now()) / 1000 : INT_MAX;

	return left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

/* Reads until the pipe ends; false if the time is over before. */
static bool read_all(int fd, struct said *said, long end)
{
	for (;;) {
		struct pollfd ready = { fd, POLLIN, 0 };
		const long left = end - now();
		ssize_t got;

		if (left <= 0)
			return false;
		if (poll(&ready, 1, (int)left) <= 0)
			continue;
		said->text = realloc(said->text, said->length + 65537);
		if (!said->text)
			exit(2);
		got = read(fd, said->text + said->length, 65536);
		if (got < 0 && errno == EINTR)
			continue;
		said->length += got > 0 ? (size_t)got : 0;
		said->text[said->length] = 0;
		if (got <= 0)
			return true;
	}
}

/* False if a child is still there at that time.  One that a driver holds is, even if it was
 * killed. */
static bool has_ended(pid_t child, long end, int *status)
{
	while (!waitpid(child, status, WNOHANG)) {
		if (now() >= end)
			return false;
		poll(NULL, 0, 5);
	}
	return true;
}

/* The value of a line of this kind and with this key; NULL if there is none. */
static const char *find(const struct said *said, char kind, const char *key, size_t length)
{
	for (int i = 0; i < said->count; i++) {
		const char *line = said->lines[i];

		if (line[0] == kind && line[1] == ' ' && !strncmp(line + 2, key, length) &&
		    line[2 + length] == ' ')
			return line + 3 + length;
	}
	return NULL;
}

static void split(struct said *said)
{
	bool ended = false;

	for (char *line = strtok(said->text, "\n"); line; line = strtok(NULL, "\n")) {
		ended = !strcmp(line, "end");
		if (!strncmp(line, "skip ", 5))
			said->skipped = line + 5;
		else if (!strncmp(line, "# ", 2))
			said->file = line + 2;
		else if (said->count < MAX_LINES)
			said->lines[said->count++] = line;
		else
			snprintf(said->broke, sizeof(said->broke), "printed more than %d lines",
				 MAX_LINES);
	}
	if (!said->broke[0] && !said->skipped && !ended)
		snprintf(said->broke, sizeof(said->broke), "%s",
			 said->length ? "stopped before its end" : "printed nothing");
}

static void explain(struct said *said, bool in_time, int seconds, int status)
{
	if (!in_time)
		snprintf(said->broke, sizeof(said->broke), "did not end in %d s", seconds);
	else if (WIFSIGNALED(status))
		snprintf(said->broke, sizeof(said->broke), "was ended by signal %d (%s)",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		snprintf(said->broke, sizeof(said->broke), "ended with status %d",
			 WEXITSTATUS(status));
}

static void run(const char *command, int seconds, struct said *said)
{
	int channel[2], status = 0;
	bool in_time, is_left = false;
	long end;
	pid_t child;
	const int left = seconds_left();
	const bool is_cut = left < seconds;

	if (!left) {
		said->skipped = over;
		return;
	}
	seconds = is_cut ? left : seconds;
	if (pipe2(channel, O_CLOEXEC) || (child = fork()) < 0)
		exit(2);
	if (!child) {
		setpgid(0, 0);
		dup2(channel[1], 1);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	setpgid(child, child);
	close(channel[1]);
	end = now() + 1000L * seconds;
	in_time = read_all(channel[0], said, end) && has_ended(child, end, &status);
	close(channel[0]);
	/* What it has started, ends with it. */
	kill(-child, SIGKILL);
	if (!in_time)
		is_left = !has_ended(child, now() + GRACE, &status);
	if (is_left)
		snprintf(said->broke, sizeof(said->broke),
			 "did not end in %d s, nor when it was killed", seconds);
	else if (in_time || !is_cut)
		explain(said, in_time, seconds, status);
	split(said);
	/* Nobody's fault, and no comparison either. */
	if (!in_time && is_cut && !is_left) {
		said->broke[0] = 0;
		said->skipped = over;
	}
}

/* Adds to one of the texts of an account. */
static void __attribute__((format(printf, 2, 3))) add(char *text, const char *format, ...)
{
	const size_t used = strlen(text), room = sizeof(((struct account *)NULL)->bad);
	va_list list;

	va_start(list, format);
	vsnprintf(text + used, room - used, format, list);
	va_end(list);
}

#define DIFFERS(account, ...) do { \
	if ((account)->different++ < SHOWN) \
		add((account)->bad, __VA_ARGS__); \
} while (0)

/* What a program found wrong by itself. */
static void see_wrong(const struct said *said, struct account *account, const char *who)
{
	for (int i = 0; i < said->count; i++) {
		const char *line = said->lines[i];
		const size_t length = strlen(line);

		if (line[0] == '=' && length > 7 && !strcmp(line + length - 5, "wrong"))
			DIFFERS(account, "%s: %s; ", who, line + 2);
	}
}

/* A part that the stub's side gave up.  The stub may refuse across majors alone; what the real
 * library cannot do either is no difference. */
static void see_part(const struct said *direct, const char *part, int length, bool same,
		     struct account *account)
{
	const char *why = part + length, *there = find(direct, '-', part, (size_t)length);

	if (!there && (strncmp(why, " refused", 8) || same)) {
		DIFFERS(account, "%.*s:%s, and directly it works; ", length, part, why);
		return;
	}
	account->lacking++;
	add(account->note, there ? "; %.*s is not compared: the direct call says %s" :
	    "; %.*s is not compared:%s", length, part, there ? there : why);
}

static void see_value(const struct said *through, const char *key, int length, bool same,
		      struct account *account)
{
	const char *value = key + length + 1, *there = find(through, '=', key, (size_t)length);

	if (!there && find(through, '-', key, strcspn(key, ". ")))
		return;		/* its part was given up */
	if (!there && same)
		DIFFERS(account, "%.*s is missing; ", length, key);
	else if (!there)
		account->alone++;
	else if (!strcmp(there, value))
		account->equal++;
	else
		DIFFERS(account, "%.*s: %s, directly %s; ", length, key, there, value);
}

static const char *compare(const struct said *direct, const struct said *through, bool same,
			   struct account *account)
{
	see_wrong(direct, account, "directly");
	see_wrong(through, account, "through the stub");
	for (int i = 0; i < through->count; i++) {
		const char *key = through->lines[i] + 2;

		if (through->lines[i][0] == '-')
			see_part(direct, key, (int)strcspn(key, " "), same, account);
	}
	for (int i = 0; i < direct->count; i++) {
		const char *key = direct->lines[i] + 2;
		const int length = (int)strcspn(key, " ");

		if (direct->lines[i][0] == '=') {
			see_value(through, key, length, same, account);
		} else if (direct->lines[i][0] == '-' && !find(through, '-', key, (size_t)length)) {
			account->lacking++;
			add(account->note, "; %.*s is not compared: the direct call says%s", length,
			    key, key + length);
		}
	}
	add(account->bad, "%d equal, %d different, %d in one major alone", account->equal,
	    account->different, account->alone);
	return account->different ? "fail" : account->equal ? "pass" :
	       account->lacking ? "skip" : "fail";
}

/* A program that has nothing to be compared with. */
static const char *check(const struct said *said, struct account *account)
{
	see_wrong(said, account, "it");
	account->equal = -account->different;
	for (int i = 0; i < said->count; i++) {
		const char *line = said->lines[i];

		account->equal += line[0] == '=';
		account->lacking += line[0] == '-';
		if (line[0] == '-' || line[0] == '%')
			add(account->note, "; %s%s", line[0] == '-' ? "not shown: " : "", line + 2);
	}
	add(account->bad, "%d right, %d wrong", account->equal, account->different);
	return account->different ? "fail" : account->equal ? "pass" :
	       account->lacking ? "skip" : "fail";
}

static const char *fail(struct account *account, const char *who, const char *how)
{
	add(account->bad, "%s %s", who, how);
	return "fail";
}

/* The word for it, and all that is to be said; `direct` is NULL where there is none. */
static const char *judge(const struct said *direct, const struct said *through, const char *file,
			 bool same, struct account *account)
{
	if (direct && direct->broke[0])
		return fail(account, "the direct call", direct->broke);
	if (through->broke[0])
		return fail(account, "the call through the stub", through->broke);
	if (direct && !direct->skipped && through->skipped && through->skipped != over)
		return fail(account, "only the call through the stub skips:", through->skipped);
	if (through->skipped) {
		add(account->bad, "%s", through->skipped);
		return "skip";
	}
	if (direct && *file && (!direct->file || strcmp(direct->file, file)))
		return fail(account, "the direct call used another library:",
			    direct->file ? direct->file : "none");
	if (*file && (!through->file || strcmp(through->file, file)))
		return fail(account, "the stub used another library:",
			    through->file ? through->file : "none");
	return direct ? compare(direct, through, same, account) : check(through, account);
}

static void judge_one(const struct said *direct, const char *file, int seconds, char **words)
{
	struct said *through = calloc(1, sizeof(*through));
	struct account account = { 0 };
	const char *word;

	if (!through)
		exit(2);
	if (direct && direct->skipped)	/* nothing to compare with */
		through->skipped = direct->skipped;
	else
		run(words[2], seconds, through);
	word = judge(direct, through, file, !strcmp(words[1], "same"), &account);
	printf("%s %s: %s%s\n", word, words[0], account.bad, account.note);
	fflush(stdout);
	free(through);
}

int main(int count, char **words)
{
	static struct said direct;
	const int seconds = count > 3 ? atoi(words[1]) : 0;
	const bool alone = count > 3 && !strcmp(words[3], "-");

	if (count == 3 && !strcmp(words[1], "until")) {
		printf("%ld\n", now() + 1000 * atol(words[2]));
		return 0;
	}
	if (count == 3 && !strcmp(words[1], "there")) {
		if (dlopen(words[2], RTLD_NOW))
			return 0;
		puts(dlerror());
		return 1;
	}
	if (seconds <= 0 || count < 7 || (count - 4) % 3) {
		fprintf(stderr, "usage: judge SECONDS FILE DIRECT [NAME SAME THROUGH]...\n"
			"       judge until SECONDS\n       judge there LIBRARY\n");
		return 2;
	}
	if (!alone)
		run(words[3], seconds, &direct);
	for (int i = 4; i < count; i += 3)
		judge_one(alone ? NULL : &direct, words[2], seconds, words + i);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * judge.c - does a call through the stub come to what the direct call comes to?
 *
 *	judge SECONDS FILE DIRECT [NAME SAME THROUGH]...
 *	judge until SECONDS
 *
 * The first form runs the command DIRECT, and each command THROUGH, with a time limit, and prints
 * one line for each THROUGH, which begins with pass, fail or skip.  Commands are
 * sh's.  FILE is the real library that both have to use, empty where nobody can tell.
 * SAME is `same' where the two were compiled for one major, else `other'.  With `-'
 * as DIRECT there is nothing to compare with: the program checks itself.
 *
 * The second form prints a time so many seconds from now.  After that in $LAZYCUDA_GPU_UNTIL
 * nothing is begun, and what runs is ended: a skip.
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
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
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

struct verdict {
	const char *word;
	char why[2000];
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

static size_t key_length(const char *key)
{
	return strcspn(key, " ");
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

static void add(struct verdict *verdict, const char *format, const char *a, const char *b,
		const char *c)
{
	const size_t used = strlen(verdict->why);

	snprintf(verdict->why + used, sizeof(verdict->why) - used, format, a, b, c);
}

/* Whether the part that a key belongs to was given up. */
static bool part_given_up(const struct said *said, const char *key)
{
	return find(said, '-', key, strcspn(key, ". ")) != NULL;
}

/* What the program found wrong by itself. */
static int count_wrong(const struct said *said, struct verdict *verdict, const char *who)
{
	int count = 0;

	for (int i = 0; i < said->count; i++) {
		const char *line = said->lines[i];
		const size_t length = strlen(line);

		if (line[0] != '=' || length < 8 || strcmp(line + length - 5, "wrong"))
			continue;
		if (count++ < SHOWN)
			add(verdict, "%s%s: %s; ", who, "", line + 2);
	}
	return count;
}

struct count {
	int equal, different, alone, refused, lacking;
};

/* The parts that one side gave up.  The stub may refuse across majors alone; what the
 * real library cannot do either is no difference. */
static void compare_parts(const struct said *direct, const struct said *through, bool same,
			  struct count *count, struct verdict *bad, struct verdict *note)
{
	for (int i = 0; i < through->count; i++) {
		const char *line = through->lines[i], *why, *there;
		const size_t length = line[0] == '-' ? key_length(line + 2) : 0;
		char part[200];

		if (!length)
			continue;
		snprintf(part, sizeof(part), "%.*s", (int)length, line + 2);
		why = line + 2 + length;
		there = find(direct, '-', part, length);
		if (there) {
			count->lacking++;
			add(note, "; %s is not compared: the direct call says%s%s", part, " ", there);
		} else if (!strncmp(why, " refused", 8) && !same) {
			count->refused++;
			add(note, "; %s is not compared:%s%s", part, why, "");
		} else if (count->different++ < SHOWN) {
			add(bad, "%s:%s, and directly it works%s; ", part, why, "");
		}
	}
}

static void compare_values(const struct said *direct, const struct said *through, bool same,
			   struct count *count, struct verdict *bad)
{
	for (int i = 0; i < direct->count; i++) {
		const char *key = direct->lines[i] + 2, *there;
		const size_t length = key_length(key);
		char name[200];

		if (direct->lines[i][0] != '=')
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)length, key);
		there = find(through, '=', key, length);
		if (!there && part_given_up(through, key))
			continue;
		if (!there && same) {
			if (count->different++ < SHOWN)
				add(bad, "%s is missing%s%s; ", name, "", "");
		} else if (!there) {
			count->alone++;
		} else if (!strcmp(there, key + length + 1)) {
			count->equal++;
		} else if (count->different++ < SHOWN) {
			add(bad, "%s: %s, directly %s; ", name, there, key + length + 1);
		}
	}
}

/* Where direct has given up a part, its line does not come up above: say it. */
static void note_lacking(const struct said *direct, const struct said *through,
			 struct count *count, struct verdict *note)
{
	for (int i = 0; i < direct->count; i++) {
		const char *line = direct->lines[i];
		const size_t length = line[0] == '-' ? key_length(line + 2) : 0;
		char part[200];

		if (!length || find(through, '-', line + 2, length))
			continue;
		snprintf(part, sizeof(part), "%.*s", (int)length, line + 2);
		count->lacking++;
		add(note, "; %s is not compared: the direct call says%s%s", part,
		    line + 2 + length, "");
	}
}

static void compare(const struct said *direct, const struct said *through, bool same,
		    struct verdict *verdict)
{
	struct count count = { 0 };
	struct verdict bad = { 0 }, note = { 0 };
	char numbers[120];

	count.different += count_wrong(direct, &bad, "directly");
	count.different += count_wrong(through, &bad, "through the stub");
	compare_parts(direct, through, same, &count, &bad, &note);
	note_lacking(direct, through, &count, &note);
	compare_values(direct, through, same, &count, &bad);
	snprintf(numbers, sizeof(numbers), "%d equal, %d different, %d in one major alone",
		 count.equal, count.different, count.alone);
	if (count.different)
		verdict->word = "fail";
	else if (count.equal)
		verdict->word = "pass";
	else
		verdict->word = count.refused || count.lacking ? "skip" : "fail";
	add(verdict, "%s%s%s", bad.why, numbers, note.why);
}

/* A program that has nothing to be compared with. */
static void check(const struct said *said, struct verdict *verdict)
{
	struct verdict note = { 0 };
	char numbers[60];
	int wrong = count_wrong(said, verdict, "it"), right = -wrong, lacking = 0;

	for (int i = 0; i < said->count; i++) {
		right += said->lines[i][0] == '=';
		if (said->lines[i][0] == '-') {
			lacking++;
			add(&note, "; not shown: %s%s%s", said->lines[i] + 2, "", "");
		}
		if (said->lines[i][0] == '%')
			add(&note, "; %s%s%s", said->lines[i] + 2, "", "");
	}
	snprintf(numbers, sizeof(numbers), "%d right, %d wrong", right, wrong);
	verdict->word = wrong ? "fail" : right ? "pass" : lacking ? "skip" : "fail";
	add(verdict, "%s%s%s", numbers, note.why, "");
}

static void fail(struct verdict *verdict, const char *who, const char *how, const char *file)
{
	verdict->word = "fail";
	add(verdict, "%s %s%s", who, how, file);
}

/* What is no comparison: one of the two did not come to its end. */
static bool is_settled(const struct said *direct, const struct said *through, const char *file,
		       struct verdict *verdict)
{
	if (direct && direct->broke[0])
		fail(verdict, "the direct call", direct->broke, "");
	else if (through->broke[0])
		fail(verdict, "the call through the stub", through->broke, "");
	else if (direct && !direct->skipped && through->skipped && through->skipped != over)
		fail(verdict, "only the call through the stub skips:", through->skipped, "");
	else if (through->skipped) {
		verdict->word = "skip";
		add(verdict, "%s%s%s", through->skipped, "", "");
	} else if (direct && *file && (!direct->file || strcmp(direct->file, file)))
		fail(verdict, "the direct call used another library:",
		     direct->file ? direct->file : "none", "");
	else if (*file && (!through->file || strcmp(through->file, file)))
		fail(verdict, "the stub used another library:",
		     through->file ? through->file : "none", "");
	else
		return false;
	return true;
}

static void judge(const struct said *direct, const char *file, int seconds, char **words)
{
	const bool same = !strcmp(words[1], "same");
	struct verdict verdict = { 0 };
	struct said *through = calloc(1, sizeof(*through));

	if (!through)
		exit(2);
	if (direct && direct->skipped) {	/* nothing to compare with */
		verdict.word = "skip";
		add(&verdict, "%s%s%s", direct->skipped, "", "");
	} else {
		run(words[2], seconds, through);
		if (!is_settled(direct, through, file, &verdict)) {
			if (direct)
				compare(direct, through, same, &verdict);
			else
				check(through, &verdict);
		}
	}
	printf("%s %s: %s\n", verdict.word, words[0], verdict.why);
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
	if (seconds <= 0 || count < 7 || (count - 4) % 3) {
		fprintf(stderr, "usage: judge SECONDS FILE DIRECT [NAME SAME THROUGH]...\n"
			"       judge until SECONDS\n");
		return 2;
	}
	if (!alone)
		run(words[3], seconds, &direct);
	for (int i = 4; i < count; i += 3)
		judge(alone ? NULL : &direct, words[2], seconds, words + i);
	return 0;
}

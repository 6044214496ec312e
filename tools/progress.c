/* SPDX-License-Identifier: MIT */
/* progress.c - shows a progress line on a terminal, and nothing in a log */
#include "progress.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "../stubs/base/printable.h"

/* Seconds.  Work shorter than SOON needs no line, and nobody can read updates faster than
 * AGAIN. */
#define SOON 0.3
#define AGAIN 0.1
#define CLEAR "\r\033[K"

static struct {
	bool live;
	volatile sig_atomic_t shown, ever;
	const char *doing, *name;
	size_t total;
	double next;
} line;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void write_out(const char *text, size_t length)
{
	while (length) {
		ssize_t written = write(STDERR_FILENO, text, length);

		if (written <= 0)
			return;	/* a terminal that is gone must not stop the work */
		text += written;
		length -= (size_t)written;
	}
}

/* Clears the line, also one that was cleared: a terminal that is sent ^C drops what it has not
 * shown yet.  Raises the signal again; SA_RESETHAND has restored its default. */
static void on_signal(int number)
{
	if (line.ever)
		write_out(CLEAR, strlen(CLEAR));
	raise(number);
}

static void catch(int number)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND };
	struct sigaction before;

	if (!sigaction(number, NULL, &before) && before.sa_handler == SIG_DFL)
		sigaction(number, &action, NULL);
}

void progress_wanted(bool wanted)
{
	const char *terminal = getenv("TERM");

	line.live = wanted && isatty(STDERR_FILENO) && !(terminal && !strcmp(terminal, "dumb"));
	if (line.live) {
		catch(SIGINT);
		catch(SIGTERM);
	}
}

/* ---- the text ---- */

/* "reading NAME: 45 %" */
static void say_line(char *text, size_t room, size_t done)
{
	snprintf(text, room, "%s %s: %zu %%", line.doing, line.name,
		 100 * done / (line.total ? line.total : 1));
	lc_make_printable(text);
}

static size_t terminal_columns(void)
{
	struct winsize size;

	return !ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col ? size.ws_col : 80;
}

/* The number of bytes that fit.  Any character beyond ASCII may be two columns wide. */
static size_t fitting(const char *text, size_t columns)
{
	size_t length = 0, used = 0, step;
	uint32_t which;

	while (text[length] && (step = lc_character(text + length, &which))) {
		used += step == 1 ? 1 : 2;
		if (used > columns)
			break;
		length += step;
	}
	return length;
}

/* ---- the line ---- */

static void show(size_t done)
{
	char text[512];
	size_t length;

	say_line(text, sizeof(text), done);
	/* Not the last column: some terminals wrap there. */
	length = fitting(text, terminal_columns() - 1);
	line.shown = line.ever = true;
	write_out("\r", 1);
	write_out(text, length);
	write_out("\033[K", 3);
}

void progress_begin(const char *doing, const char *name, size_t total)
{
	line.doing = doing;
	line.name = name;
	line.total = total;
	line.next = now() + SOON;
}

void progress_at(size_t done)
{
	double time;

	if (!line.live || !line.name)
		return;
	time = now();
	if (time < line.next)
		return;
	line.next = time + AGAIN;
	show(done < line.total ? done : line.total);
}

void progress_hide(void)
{
	if (!line.shown)
		return;
	write_out(CLEAR, strlen(CLEAR));
	line.shown = false;
}

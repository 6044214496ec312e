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
	volatile sig_atomic_t shown;
	const char *doing, *name;
	size_t total;
	double began, next;
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

/* Clears the line and raises the signal again; SA_RESETHAND has restored its default. */
static void on_signal(int number)
{
	if (line.shown)
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

static void say_size(char *text, size_t room, double bytes)
{
	static const struct { double step; const char *unit; } units[] = {
		{ 1e9, "GB" }, { 1e6, "MB" }, { 1e3, "kB" },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (bytes >= units[i].step) {
			snprintf(text, room, "%.1f %s", bytes / units[i].step, units[i].unit);
			return;
		}
	}
	snprintf(text, room, "%.0f bytes", bytes);
}

static void say_time(char *text, size_t room, double seconds)
{
	unsigned long count = (unsigned long)(seconds + 0.5);

	if (count < 100)
		snprintf(text, room, "%lu s", count);
	else
		snprintf(text, room, "%lu min %02lu s", count / 60, count % 60);
}

/* "12.0 MB of 48.0 MB, 6.0 MB/s, 6 s left: reading NAME" */
static void say_line(char *text, size_t room, size_t done, double seconds)
{
	char so_far[32], all[32], rate[32], left[32];
	double speed = seconds > 0 ? (double)done / seconds : 0;

	say_size(so_far, sizeof(so_far), (double)done);
	say_size(all, sizeof(all), (double)line.total);
	if (!speed) {
		snprintf(text, room, "%s of %s: %s %s", so_far, all, line.doing, line.name);
	} else {
		say_size(rate, sizeof(rate), speed);
		say_time(left, sizeof(left), (double)(line.total - done) / speed);
		snprintf(text, room, "%s of %s, %s/s, %s left: %s %s", so_far, all, rate, left,
			 line.doing, line.name);
	}
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

static void show(size_t done, double seconds)
{
	char text[512];
	size_t length;

	say_line(text, sizeof(text), done, seconds);
	/* Not the last column: some terminals wrap there. */
	length = fitting(text, terminal_columns() - 1);
	line.shown = true;
	write_out("\r", 1);
	write_out(text, length);
	write_out("\033[K", 3);
}

void progress_begin(const char *doing, const char *name, size_t total)
{
	line.doing = doing;
	line.name = name;
	line.total = total;
	line.began = now();
	line.next = line.began + SOON;
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
	show(done < line.total ? done : line.total, time - line.began);
}

void progress_hide(void)
{
	if (!line.shown)
		return;
	write_out(CLEAR, strlen(CLEAR));
	line.shown = false;
}

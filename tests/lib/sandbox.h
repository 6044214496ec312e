/* SPDX-License-Identifier: MIT */
/* What both ways to make a sandbox share: what is hidden, and what is put in place. */
#ifndef SANDBOX_H
#define SANDBOX_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIP = 77, BROKEN = 125 };

/* A folder that is everywhere and that no test needs: what the sandbox makes
 * lies in it. */
#define SCRATCH "/dev/shm"
#define MODULES "/sys/module"

/* The folders of the system: nothing that a command does to them lasts. */
static const char *const overlays[] = { "/usr", "/opt", "/etc", "/run", "/lib", "/lib64" };
#define OVERLAYS (sizeof overlays / sizeof *overlays)

#define FOLDERS "{/usr,/usr/local,}/lib{,64,/*-linux-gnu*}"
static const char *const hidden[] = {
	"/usr/local/cuda*", "/opt/cuda*", "/usr/lib/cuda*", "/run/opengl-driver*",
	"/etc/ld.so.cache", FOLDERS "/lib{cudart,nvrtc,nvJitLink,nvidia-ml}[-._]*",
	FOLDERS "/libcuda.so*",
};

/* What --bind and --symlink ask for; `option` is the option's first letter. */
static struct place { char option; const char *from, *to; } places[64];
static size_t place_count;

static _Noreturn __attribute__((format(printf, 2, 3))) void fail(int status, const char *format, ...)
{
	int error = errno;
	va_list args;

	va_start(args, format);
	fputs("sandbox: ", stderr);
	vfprintf(stderr, format, args);
	if (error)
		fprintf(stderr, ": %s", strerror(error));
	fputc('\n', stderr);
	exit(status);
}

/* Whether `path` is `folder` or lies in it. */
static int lies_in(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	return !strncmp(path, folder, length) && (path[length] == '/' || !path[length]);
}

/* Which overlay a path lies in, or -1. */
static int overlay_of(const char *path)
{
	for (size_t i = 0; i < OVERLAYS; i++)
		if (lies_in(path, overlays[i]) && path[strlen(overlays[i])])
			return (int)i;
	return -1;
}

#endif

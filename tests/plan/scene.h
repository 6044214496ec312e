/* SPDX-License-Identifier: MIT */
/*
 * scene.h - a question to lazycuda_plan(), from words
 *
 *	driver=12.4 branch=550 nvjitlink=12.9 nvrtc=none	what is installed
 *	nvjitlinks=13.0,12.4 nvrtcs=13.0			what is installed besides
 *	nvvms=13.0,12.9 libdevices=13.0,none			and for LLVM IR
 *	arch=sm_90 lto output=ptx policy=strict			the request
 *	flags=across,offline,forward constraint=>=12 option=-g compile=-DX=1
 *	support=NAME:on:FUNCTION,FUNCTION:CODE	a support module, or :off:
 *	in=NAME:CODE				an input
 *
 * CODE is entries with '/' between them, those in braces in one container, words
 * of an entry with ' ' between: "{ptx 8.0 sm_52/lto 12.0 sm_61 obfuscated}".
 * The first word of an entry is its kind, then come version ("?": not known) and
 * architecture, then any of: linked, plain (neither linked nor relocatable), lz4,
 * zstd, unseen, obfuscated, bytes (LTO-IR tells its toolkit by its bytes alone),
 * abi=8, level=2, member=m.o, section=.nv_fatbin, damaged, def=NAME, weak=NAME,
 * ext=NAME, kernel=NAME, weak-kernel=NAME, unlisted=NAME.  Before the entries, words of the file with a '+': +main, +needs=0,
 * +is=archive (its kind, where the entries do not say), +declared=cubin,
 * +error=TEXT, +warning=TEXT, +unseen (it was not inspected).  LLVM IR is "+is=llvm ir;", or
 * with an entry "+is=llvm ir;ptx ? sm_80 libdevice", of which flags and names count.
 */
#ifndef SCENE_H
#define SCENE_H

#include <lazycuda_link.h>

#define MOST 32

struct scene {
	struct lazycuda_environment environment;
	struct lazycuda_others others;	/* without its lists: scene_others() */
	int nvjitlinks[MOST], nvrtcs[MOST], nvvms[MOST], libdevices[MOST];	/* those lists */
	size_t libdevice_count;
	struct lazycuda_request request;
	const struct lazycuda_input *inputs[MOST];
	size_t count;
	const char *options[MOST], *compile_options[MOST];
	const struct lazycuda_support *support[80];
};

/* Ends the program if it makes no sense.  Nothing is ever freed. */
struct scene scene_read(char **words, int count);

/* Points into the scene, which stays where it is from then on. */
const struct lazycuda_others *scene_others(struct scene *scene);

#endif

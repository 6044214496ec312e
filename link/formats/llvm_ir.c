/* SPDX-License-Identifier: MIT */
/* llvm_ir.c - whether LLVM IR, as text, declares functions of libdevice */
#include "containers.h"

/* A line declares one if it begins with the first and has the second in it.  Nothing else in
 * the text does: a comment begins with ';', and a call with blanks or a name. */
static const char declaration[] = "declare ", function[] = "@__nv_";

struct ir_line {
	size_t declared, named;		/* how much of each was seen */
	bool other;			/* the line is no declaration */
};

/* Takes one byte.  Returns true once a line declares such a function. */
static bool take_byte(struct ir_line *line, char byte)
{
	if (byte == '\n') {
		*line = (struct ir_line){ 0, 0, false };
		return false;
	}
	if (line->other)
		return false;
	if (line->declared < sizeof(declaration) - 1) {
		if (byte == declaration[line->declared])
			line->declared++;
		else
			line->other = true;
		return false;
	}
	/* The first byte of the name is nowhere else in it. */
	line->named = byte == function[line->named] ? line->named + 1 : byte == function[0];
	return !function[line->named];
}

bool lk_llvm_ir_needs_libdevice(const struct lk_part *part)
{
	struct ir_line line = { 0, 0, false };
	char bytes[4096];

	for (uint64_t at = 0; at < part->length; at += sizeof(bytes)) {
		size_t size = part->length - at < sizeof(bytes) ? (size_t)(part->length - at) :
								  sizeof(bytes);

		if (!lk_part_read(part, at, bytes, size))
			return false;
		for (size_t i = 0; i < size; i++)
			if (take_byte(&line, bytes[i]))
				return true;
	}
	return false;
}

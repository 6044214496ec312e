/* SPDX-License-Identifier: MIT */
/* image.c - what is wrong with an image, or "-": `image FILE OUTPUT ARCH SYMBOL...` */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../link/tables/arch.h"
#include "../../link/formats/formats.h"

static unsigned char *read_file(const char *path, size_t *length)
{
	FILE *stream = fopen(path, "rb");
	unsigned char *bytes;

	if (!stream) {
		perror(path);
		exit(2);
	}
	fseek(stream, 0, SEEK_END);
	*length = (size_t)ftell(stream);
	rewind(stream);
	bytes = malloc(*length + 1);
	if (fread(bytes, 1, *length, stream) != *length)
		exit(2);
	fclose(stream);
	return bytes;
}

int main(int count, char **words)
{
	static const char *const outputs[] = { "cubin", "ptx", "relocatable", "ltoir" };
	struct lc_arena arena = { .failed = false };
	struct lk_arch arch;
	unsigned char *bytes;
	const char *wrong;
	size_t length;
	int output = 0;

	if (count < 4 || !lk_arch_parse(words[3], &arch))
		return 2;
	bytes = read_file(words[1], &length);
	while (strcmp(outputs[output], words[2]))
		output++;
	wrong = lk_image_check(bytes, length, output, arch.sm, arch.suffix,
			       (const char *const *)words + 4, (size_t)count - 4, &arena);
	puts(wrong ? wrong : "-");
	lc_arena_free(&arena);
	free(bytes);
	return 0;
}

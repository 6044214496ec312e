/* SPDX-License-Identifier: MIT */
/*
 * threads.c - a link in each of many threads: `threads THREADS ROUNDS ARCH LTO FILE...`
 *
 * All of them have to come to the same image.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lazycuda_link.h>

static struct lazycuda_request request = { .size = sizeof(request) };
static char **files;
static int rounds;

/* What the first link came to, under its lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *image;
static size_t length;
static int different;

static void compare(const struct lazycuda_result *result)
{
	pthread_mutex_lock(&lock);
	if (result->code != LAZYCUDA_CODE_OK) {
		printf("%s: %s\n", lazycuda_code_name(result->code), result->message);
		different++;
	} else if (!image) {
		length = result->image_length;
		image = malloc(length);
		memcpy(image, result->image, length);
	} else if (length != result->image_length || memcmp(image, result->image, length)) {
		different++;
	}
	pthread_mutex_unlock(&lock);
}

static void *link_all(void *data)
{
	for (int round = 0; round < rounds; round++) {
		struct lazycuda_link *link = lazycuda_link_new(&request, NULL);
		struct lazycuda_input inputs[16];

		for (int i = 0; i < 16 && files[i]; i++) {
			inputs[i] = (struct lazycuda_input){ .size = sizeof(*inputs),
							     .path = files[i] };
			lazycuda_link_add(link, &inputs[i]);
		}
		compare(lazycuda_link_run(link));
		lazycuda_link_free(link);
	}
	return data;
}

int main(int argc, char **argv)
{
	int count = argc > 5 ? atoi(argv[1]) : 0;
	pthread_t *threads = calloc((size_t)count + 1, sizeof(*threads));

	if (!count)
		return 2;
	rounds = atoi(argv[2]);
	request.arch = argv[3];
	request.lto = atoi(argv[4]);
	files = argv + 5;
	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, link_all, NULL);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	printf("different: %d of %d\n", different, count * rounds);
	free(threads);
	free(image);
	return different != 0;
}

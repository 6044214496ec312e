/* SPDX-License-Identifier: MIT */
/* counted.c - to be preloaded into faults.py: a link of which an allocation may fail, with nothing
 * of Python's in between */
#include <lazycuda_link.h>
#include <pthread.h>
#include <string.h>

#include "../lib/memory.h"

/* What came of the last link. */
static struct outcome {
	int code, ran_out;
	long lost;		/* blocks */
	size_t logs[3];		/* bytes that were told, by the kind; with a line feed between two */
	size_t info, error;	/* lengths of the logs */
	const char *wrong;
	char message[512];
} outcome;

static void hear(void *thread, enum lazycuda_log kind, size_t input, const char *text)
{
	if (!*text || (input != LAZYCUDA_NO_INDEX && input > 1))
		outcome.wrong = "what is told says nothing";
	if ((pthread_t)thread != pthread_self())
		outcome.wrong = "another thread is told";
	outcome.logs[kind] += (outcome.logs[kind] > 0) + strlen(text);
}

/* Not snprintf(), which may allocate. */
static void note(const struct lazycuda_result *result, const char *image, size_t length)
{
	outcome.code = result->code;
	outcome.info = strlen(result->info_log);
	outcome.error = strlen(result->error_log);
	strncpy(outcome.message, result->message, sizeof(outcome.message) - 1);
	if (outcome.code != LAZYCUDA_CODE_NO_MEMORY &&
	    (outcome.logs[LAZYCUDA_LOG_INFO] != outcome.info ||
	     outcome.logs[LAZYCUDA_LOG_ERROR] != outcome.error))
		outcome.wrong = "what is told is not what the logs have";
	if (!result->image != (result->code != LAZYCUDA_CODE_OK) || !*result->message)
		outcome.wrong = "the code, the image and the message do not agree";
	if (result->image && (result->image_length != length || memcmp(result->image, image, length)))
		outcome.wrong = "not the image that was handed out";
}

/* `allocations` do not fail; -1: none does. */
const struct outcome *link_inputs(const struct lazycuda_environment *environment,
				  struct lazycuda_request *request, struct lazycuda_input *inputs,
				  size_t count, const char *image, size_t length, long allocations)
{
	const long before = live;
	struct lazycuda_link *link;
	bool added;

	outcome = (struct outcome){ .code = LAZYCUDA_CODE_NO_MEMORY };
	request->log = hear;
	request->log_data = (void *)pthread_self();
	ran_out = false;
	room = allocations;
	link = lazycuda_link_new(request, environment);
	added = link;
	for (size_t i = 0; i < count && added; i++)
		added = !lazycuda_link_add(link, &inputs[i]);
	if (link)	/* also if an input is missing: that is remembered */
		note(lazycuda_link_run(link), image, length);
	if (!added && outcome.code != LAZYCUDA_CODE_NO_MEMORY)
		outcome.wrong = "a lost input is forgotten";
	lazycuda_link_free(link);
	room = -1;
	outcome.ran_out = ran_out;
	outcome.lost = live - before;
	return &outcome;
}

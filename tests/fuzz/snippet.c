/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of the WebSocket. */
#include <stdlib.h>
#include <string.h>

#include "sidecar/config.h"
#include "sidecar/snippet.h"

struct config config = {.max_exec_ms = 1000};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_arena struct arena *a = arena_new();
	struct snippet *s = arena_new_of(a, struct snippet);
	struct err e = {0};
	int r = snippet_parse(a, (const char *)data, size, s, &e);

	if ((r < 0) != (e.code != 0) || (r < 0 && !*e.msg))
		abort();
	for (size_t i = 0; r == 0 && i < s->n_files; i++)
		if (strchr(s->files[i].name, '/') || !strcmp(s->files[i].name, ".."))
			abort();
	if (r == 0 && (!s->code || !s->timeout_ms || s->timeout_ms > 1000))
		abort();
	snippet_free(s);
	return 0;
}

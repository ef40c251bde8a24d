/* SPDX-License-Identifier: Apache-2.0 */
/* The body of POST /execute: what is taken keeps to its rules, what is refused is told as JSON. */
#include <stdlib.h>
#include <string.h>

#include "json/json.h"
#include "sidecar/config.h"
#include "sidecar/request.h"

struct config config;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_arena struct arena *a = arena_new();
	auto_strbuf struct strbuf detail = {0};
	const struct json *v = NULL;
	struct execute_request q;
	struct err e;
	int r = execute_request_parse(a, (const char *)data, size, &q, &detail);

	if (json_parse(strbuf_str(&detail), detail.len, a, &v, &e) < 0 || !json_get(v, "detail"))
		abort();
	if (r < 0) {
		if (json_get(v, "detail")->n == 0)
			abort();
		return 0;
	}
	if (!q.execution_id || !*q.execution_id || strchr(q.execution_id, '/') || !q.command.n ||
	    !*q.command.v[0] || !image_reference_valid(q.image) || q.image[0] == '-' ||
	    strstr(q.image, "..") || q.working_directory[0] != '/' || !(q.timeout_seconds > 0) ||
	    q.timeout_seconds > 864000 || q.cpu_cores < 0)
		abort();
	return 0;
}

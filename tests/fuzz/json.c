/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes: json_parse must not crash, and what it accepts must come back the same when written.
 */
#include <stdlib.h>
#include <string.h>

#include "json/json.h"
#include "json/writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_tree(struct strbuf *b, const struct json *v, bool pretty)
{
	struct json_writer w;

	json_writer_init(&w, b, pretty);
	json_value(&w, v);
}

static void check(const struct json *v, bool pretty)
{
	auto_strbuf struct strbuf first = {0}, second = {0};
	auto_arena struct arena *a = arena_new();
	const struct json *back = NULL;
	struct err e;

	write_tree(&first, v, pretty);
	/* the pretty form of a large document may be over the cap */
	if (first.len > JSON_MAX_BYTES)
		return;
	if (json_parse(first.p, first.len, a, &back, &e) < 0)
		abort();
	write_tree(&second, back, pretty);
	if (first.len != second.len || memcmp(first.p, second.p, first.len) != 0)
		abort();
}

/* The input as a string value of arbitrary bytes. */
static void check_string(const char *data, size_t size)
{
	auto_strbuf struct strbuf b = {0};
	auto_arena struct arena *a = arena_new();
	const struct json *back = NULL;
	struct json_writer w;
	struct err e;

	json_writer_init(&w, &b, false);
	json_strn(&w, data, size);
	if (!memchr(data, '\0', size) && json_parse(b.p, b.len, a, &back, &e) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_arena struct arena *a = arena_new();
	const struct json *v = NULL;
	struct err e = {0};
	int r = json_parse((const char *)data, size, a, &v, &e);

	if ((r == 0) != (v != NULL) || (r < 0 && (r != -e.code || !*e.msg)))
		abort();
	if (v) {
		check(v, false);
		check(v, true);
	}
	if (size)
		check_string((const char *)data, size);
	return 0;
}

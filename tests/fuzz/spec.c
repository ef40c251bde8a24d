/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as config.json, process, resources or state.json (the first byte chooses): what is
 * accepted must be accepted again when written, and give the same text.
 */
#include <stdlib.h>
#include <string.h>

#include "spec/spec.h"
#include "spec/state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int parse_one(char kind, const char *text, size_t size, struct arena *a, void **ret,
		     struct err *e)
{
	switch (kind) {
	case 'p':
		return spec_parse_process(text, size, a, (struct oci_process **)ret, e);
	case 'r':
		return spec_parse_resources(text, size, a, (struct oci_resources **)ret, e);
	case 's':
		return spec_state_parse(text, size, a, (struct spec_state **)ret, e);
	default:
		return spec_parse(text, size, a, (struct oci_spec **)ret, e);
	}
}

static void write_one(char kind, struct strbuf *b, const void *v)
{
	struct json_writer w;

	json_writer_init(&w, b, false);
	switch (kind) {
	case 'p':
		spec_write_process(&w, v);
		break;
	case 'r':
		spec_write_resources(&w, v);
		break;
	case 's':
		spec_state_write(&w, v);
		break;
	default:
		spec_write(&w, v);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_arena struct arena *a = arena_new();
	auto_strbuf struct strbuf first = {0}, second = {0};
	void *v = NULL, *back = NULL;
	struct err e = {0};
	char kind;
	int r;

	if (!size)
		return 0;
	kind = (char)data[0];
	/* a config.json starts with its '{' */
	if (kind == 'p' || kind == 'r' || kind == 's')
		r = parse_one(kind, (const char *)data + 1, size - 1, a, &v, &e);
	else
		r = parse_one(kind, (const char *)data, size, a, &v, &e);
	if ((r == 0) != (v != NULL) || (r < 0 && (r != -e.code || !*e.msg)))
		abort();
	if (!v)
		return 0;
	write_one(kind, &first, v);
	if (parse_one(kind, first.p, first.len, a, &back, &e) < 0)
		abort();
	write_one(kind, &second, back);
	if (first.len != second.len || memcmp(first.p, second.p, first.len) != 0)
		abort();
	return 0;
}

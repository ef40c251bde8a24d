/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as config.json, process, resources or a record (the first byte chooses): what is
 * accepted must be accepted again when written, and give the same text.
 */
#include <stdlib.h>
#include <string.h>

#include "spec/spec.h"
#include "spec/state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct text { char kind; const char *p; size_t n; };

static int parse_one(struct text t, struct arena *a, void **ret, struct err *e)
{
	switch (t.kind) {
	case 'p':
		return spec_parse_process(t.p, t.n, a, (struct oci_process **)ret, e);
	case 'r':
		return spec_parse_resources(t.p, t.n, a, (struct oci_resources **)ret, e);
	case 's':
		return spec_state_parse(t.p, t.n, a, (struct spec_state **)ret, e);
	default:
		return spec_parse(t.p, t.n, a, (struct oci_spec **)ret, e);
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
	struct text t;
	int r;

	if (!size)
		return 0;
	/* a config.json starts with its '{' */
	t = (struct text){(char)data[0], (const char *)data, size};
	if (t.kind == 'p' || t.kind == 'r' || t.kind == 's') {
		t.p++;
		t.n--;
	}
	r = parse_one(t, a, &v, &e);
	if ((r == 0) != (v != NULL) || (r < 0 && (r != -e.code || !*e.msg)))
		abort();
	if (!v)
		return 0;
	write_one(t.kind, &first, v);
	t.p = first.p;
	t.n = first.len;
	if (parse_one(t, a, &back, &e) < 0)
		abort();
	write_one(t.kind, &second, back);
	if (first.len != second.len || memcmp(first.p, second.p, first.len) != 0)
		abort();
	return 0;
}

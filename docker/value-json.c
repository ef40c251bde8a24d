/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values to JSON and back. json/writer.h is not used here: Go escapes other characters, and callers
 * compare Docker's bytes.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "docker/format.h"
#include "docker/value.h"
#include "json/utf8.h"

#define INDENT 4

struct json_out {
	struct strbuf *b;
	bool indent, escape_html;
	unsigned depth;
};

/* The byte as Go escapes it in strings; NULL: as it is. */
static const char *escape_of(unsigned char c, bool html, char buf[8])
{
	switch (c) {
	case '"': return "\\\"";
	case '\\': return "\\\\";
	case '\b': return "\\b";
	case '\f': return "\\f";
	case '\n': return "\\n";
	case '\r': return "\\r";
	case '\t': return "\\t";
	case '<':
	case '>':
	case '&':
		if (!html)
			return NULL;
		break;
	default:
		if (c >= 0x20)
			return NULL;
	}
	snprintf(buf, 8, "\\u%04x", c);
	return buf;
}

static void write_text(const struct json_out *o, const char *s, size_t n)
{
	struct strbuf *b = o->b;
	size_t plain = 0, i = 0;
	char buf[8];

	strbuf_addc(b, '"');
	while (i < n) {
		const char *escape = escape_of((unsigned char)s[i], o->escape_html, buf);
		size_t len = escape ? 1 : utf8_sequence(s + i, n - i), skip = len;

		if (!len) {
			escape = "\\ufffd"; /* encoding/json replaces each byte */
			skip = 1;
		} else if (len == 3 && (memcmp(s + i, "\xe2\x80\xa8", 3) == 0 || memcmp(s + i, "\xe2\x80\xa9", 3) == 0)) {
			escape = s[i + 2] == '\xa8' ? "\\u2028" : "\\u2029";
		}
		if (escape) {
			strbuf_add(b, s + plain, i - plain);
			strbuf_adds(b, escape);
			plain = i + skip;
		}
		i += skip;
	}
	strbuf_add(b, s + plain, n - plain);
	strbuf_addc(b, '"');
}

/* The shortest digits that read back, in the form that encoding/json takes. */
static void write_real(struct strbuf *b, double v)
{
	bool exponent = v != 0 && (fabs(v) < 1e-6 || fabs(v) >= 1e21);
	char text[400];

	for (int digits = 0; digits <= 17; digits++) {
		if (exponent)
			snprintf(text, sizeof(text), "%.*e", digits, v);
		else
			snprintf(text, sizeof(text), "%.*f", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	strbuf_adds(b, isfinite(v) ? text : "null");
}

static void line_break(const struct json_out *o)
{
	if (!o->indent)
		return;
	strbuf_addc(o->b, '\n');
	for (unsigned i = 0; i < o->depth * INDENT; i++)
		strbuf_addc(o->b, ' ');
}

static void write_value(struct json_out *o, const struct dk_value *v);

/* Before an element or a member. */
static void separate(struct json_out *o, bool *first)
{
	if (!*first)
		strbuf_addc(o->b, ',');
	*first = false;
	line_break(o);
}

static void write_member(struct json_out *o, bool *first, const char *key, const struct dk_value *v)
{
	separate(o, first);
	write_text(o, key, strlen(key));
	strbuf_adds(o->b, o->indent ? ": " : ":");
	write_value(o, v);
}

static void close_with(struct json_out *o, bool empty, char c)
{
	o->depth--;
	if (!empty)
		line_break(o);
	strbuf_addc(o->b, c);
}

static void write_array(struct json_out *o, const struct dk_value *v)
{
	bool first = true;

	strbuf_addc(o->b, '[');
	o->depth++;
	for (uint32_t i = 0; i < v->n; i++) {
		separate(o, &first);
		write_value(o, &v->items[i]);
	}
	close_with(o, first, ']');
}

static void write_dict(struct json_out *o, const struct dk_value *v)
{
	auto_free const struct dk_member **sorted = dk_sorted_members(v);
	bool first = true;

	strbuf_addc(o->b, '{');
	o->depth++;
	for (uint32_t i = 0; i < v->n; i++)
		write_member(o, &first, sorted[i]->key, &sorted[i]->value);
	close_with(o, first, '}');
}

static void write_record(struct json_out *o, const struct dk_value *v)
{
	bool first = true;

	strbuf_addc(o->b, '{');
	o->depth++;
	for (uint32_t i = 0; i < v->n; i++) {
		const struct dk_member *m = &v->members[i];

		if (m->key && !(m->omit_empty && dk_is_empty(&m->value)))
			write_member(o, &first, m->key, &m->value);
	}
	close_with(o, first, '}');
}

static int compare_columns(const void *a, const void *b)
{
	const struct dk_column *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

/* A row of a list command: all its columns, by name. */
static void write_object(struct json_out *o, const struct dk_value *v)
{
	const struct dk_columns *c = v->columns;
	const struct dk_column *sorted[c->n];
	auto_arena struct arena *a = arena_new();
	bool first = true;
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].get)
			sorted[n++] = &c->v[i];
	qsort(sorted, n, sizeof(sorted[0]), compare_columns);
	o->escape_html = true;
	strbuf_addc(o->b, '{');
	o->depth++;
	for (size_t i = 0; i < n; i++) {
		struct dk_value member = sorted[i]->get(a, v->object);

		write_member(o, &first, sorted[i]->name, &member);
	}
	o->escape_html = false;
	close_with(o, first, '}');
}

static void write_value(struct json_out *o, const struct dk_value *v)
{
	if (v->null && (v->type == DK_ARRAY || v->type == DK_DICT)) {
		strbuf_adds(o->b, "null");
		return;
	}
	switch ((enum dk_type)v->type) {
	case DK_NIL:
	case DK_NULL_POINTER: strbuf_adds(o->b, "null"); break;
	case DK_BOOLEAN: strbuf_adds(o->b, v->boolean ? "true" : "false"); break;
	case DK_INTEGER: strbuf_printf(o->b, "%lld", (long long)v->integer); break;
	case DK_REAL: write_real(o->b, v->real); break;
	case DK_TEXT:
		if (v->number)
			strbuf_add(o->b, v->text, v->n);
		else
			write_text(o, v->text, v->n);
		break;
	case DK_ARRAY: write_array(o, v); break;
	case DK_DICT: write_dict(o, v); break;
	case DK_RECORD: write_record(o, v); break;
	case DK_OBJECT: write_object(o, v); break;
	}
}

void dk_write_json(struct strbuf *b, const struct dk_value *v, bool indent)
{
	struct json_out o = {.b = b, .indent = indent};

	write_value(&o, v);
}

static int compare_members(const void *a, const void *b)
{
	const struct dk_member *const *x = a, *const *y = b;

	return strcmp((*x)->key, (*y)->key);
}

const struct dk_member **dk_sorted_members(const struct dk_value *dict)
{
	const struct dk_member **sorted = NULL;

	if (!dict->n)
		return NULL;
	sorted = xrealloc(NULL, dict->n * sizeof(sorted[0]));
	for (uint32_t i = 0; i < dict->n; i++)
		sorted[i] = &dict->members[i];
	qsort(sorted, dict->n, sizeof(sorted[0]), compare_members);
	return sorted;
}

bool dk_is_empty(const struct dk_value *v)
{
	switch ((enum dk_type)v->type) {
	case DK_NIL:
	case DK_NULL_POINTER: return true;
	case DK_BOOLEAN: return !v->boolean;
	case DK_INTEGER: return !v->integer;
	case DK_REAL: return v->real == 0;
	case DK_TEXT:
	case DK_ARRAY:
	case DK_DICT: return !v->n;
	case DK_RECORD:
	case DK_OBJECT: break;
	}
	return false;
}

static struct dk_value from_items(struct arena *a, const struct json *j)
{
	struct dk_value v = dk_array();

	v.items = arena_array(a, j->n ? j->n : 1, sizeof(*v.items));
	v.n = v.cap = j->n;
	for (uint32_t i = 0; i < j->n; i++)
		v.items[i] = dk_from_json(a, &j->items[i]);
	return v;
}

static struct dk_value from_members(struct arena *a, const struct json *j)
{
	struct dk_value v = dk_dict();

	v.members = arena_array(a, j->n ? j->n : 1, sizeof(*v.members));
	v.n = v.cap = j->n;
	for (uint32_t i = 0; i < j->n; i++)
		v.members[i] = (struct dk_member){.key = j->items[i].key, .value = dk_from_json(a, &j->items[i])};
	return v;
}

static struct dk_value from_json(struct arena *a, const struct json *j)
{
	struct dk_value v;

	switch (j->type) {
	case JSON_NULL: return dk_nil();
	case JSON_BOOL: return dk_bool(j->boolean);
	case JSON_ARRAY: return from_items(a, j);
	case JSON_OBJECT: return from_members(a, j);
	case JSON_NUMBER:
	case JSON_STRING: break;
	}
	v = dk_stringn(j->text, j->n);
	v.number = j->type == JSON_NUMBER;
	return v;
}

struct dk_value dk_from_json(struct arena *a, const struct json *j)
{
	struct dk_value v = from_json(a, j);

	v.boxed = true;
	return v;
}

static struct dk_value raw_members(struct arena *a, const struct dk_value *v)
{
	struct dk_value r = dk_dict();

	r.members = arena_array(a, v->n ? v->n : 1, sizeof(*r.members));
	for (uint32_t i = 0; i < v->n; i++) {
		const struct dk_member *m = &v->members[i];

		if (m->key && !(m->omit_empty && dk_is_empty(&m->value)))
			r.members[r.n++] = (struct dk_member){.key = m->key, .value = dk_to_raw(a, &m->value)};
	}
	r.cap = r.n;
	return r;
}

static struct dk_value to_raw(struct arena *a, const struct dk_value *v)
{
	struct dk_value r = *v;

	switch ((enum dk_type)v->type) {
	case DK_NULL_POINTER: return dk_nil();
	case DK_INTEGER:
	case DK_REAL: {
		auto_strbuf struct strbuf b = {0};

		dk_write_json(&b, v, false);
		r = dk_stringf(a, "%s", b.p);
		r.number = true;
		return r;
	}
	case DK_ARRAY:
		if (v->null)
			return dk_nil();
		r.items = arena_array(a, v->n ? v->n : 1, sizeof(*r.items));
		for (uint32_t i = 0; i < v->n; i++)
			r.items[i] = dk_to_raw(a, &v->items[i]);
		r.cap = r.n;
		return r;
	case DK_DICT:
	case DK_RECORD: return v->null ? dk_nil() : raw_members(a, v);
	default: return r;
	}
}

struct dk_value dk_to_raw(struct arena *a, const struct dk_value *v)
{
	struct dk_value r = to_raw(a, v);

	r.boxed = true;
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state is two flags per level: object or array, and whether something was written in it. Every
 * value passes through before_value, which writes the comma and the line break in front of it.
 */
#include "json/writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/utf8.h"

static void expect(bool ok)
{
	if (!ok)
		abort();
}

void json_writer_init(struct json_writer *w, struct strbuf *out, bool pretty)
{
	*w = (struct json_writer){.out = out, .pretty = pretty};
}

static void new_line(struct json_writer *w)
{
	if (!w->pretty)
		return;
	strbuf_addc(w->out, '\n');
	for (unsigned i = 0; i < w->depth; i++)
		strbuf_add(w->out, "    ", 4);
}

static void separate(struct json_writer *w)
{
	if (w->has_items[w->depth])
		strbuf_addc(w->out, ',');
	w->has_items[w->depth] = true;
	new_line(w);
}

static void before_value(struct json_writer *w)
{
	if (w->depth == 0)
		return;
	if (w->is_object[w->depth]) {
		expect(w->after_key);
		w->after_key = false;
		return;
	}
	separate(w);
}

static void begin(struct json_writer *w, bool object)
{
	before_value(w);
	expect(w->depth < JSON_MAX_DEPTH);
	w->depth++;
	w->is_object[w->depth] = object;
	w->has_items[w->depth] = false;
	strbuf_addc(w->out, object ? '{' : '[');
}

static void end(struct json_writer *w, bool object)
{
	expect(w->depth > 0 && w->is_object[w->depth] == object && !w->after_key);
	w->depth--;
	if (w->has_items[w->depth + 1])
		new_line(w);
	strbuf_addc(w->out, object ? '}' : ']');
}

void json_begin_object(struct json_writer *w)
{
	begin(w, true);
}

void json_end_object(struct json_writer *w)
{
	end(w, true);
}

void json_begin_array(struct json_writer *w)
{
	begin(w, false);
}

void json_end_array(struct json_writer *w)
{
	end(w, false);
}

/* What a byte below 0x80 becomes; NULL when it stays as it is. */
static const char *escape_of(char c, char buf[static 8])
{
	switch (c) {
	case '"':
		return "\\\"";
	case '\\':
		return "\\\\";
	case '\n':
		return "\\n";
	case '\r':
		return "\\r";
	case '\t':
		return "\\t";
	}
	if ((unsigned char)c >= 0x20 && c != 0x7f)
		return NULL;
	snprintf(buf, 8, "\\u%04x", (unsigned)(unsigned char)c);
	return buf;
}

static bool is_plain(char c)
{
	return (unsigned char)c >= 0x20 && (unsigned char)c < 0x7f && c != '"' && c != '\\';
}

static void put_string(struct strbuf *out, const char *s, size_t n)
{
	size_t done = 0, i = 0; /* [done, i) has been looked at and can be copied */
	char buf[8];

	strbuf_addc(out, '"');
	for (;;) {
		const char *instead;
		size_t valid;

		while (i < n && is_plain(s[i]))
			i++;
		if (i == n)
			break;
		valid = utf8_sequence(s + i, n - i);
		instead = valid == 1 ? escape_of(s[i], buf) : valid ? NULL : "\xef\xbf\xbd";
		if (instead) {
			strbuf_add(out, s + done, i - done);
			strbuf_adds(out, instead);
			i += valid ? valid : utf8_bad_part(s + i, n - i);
			done = i;
		} else {
			i += valid;
		}
	}
	strbuf_add(out, s + done, n - done);
	strbuf_addc(out, '"');
}

void json_key(struct json_writer *w, const char *key)
{
	expect(w->depth > 0 && w->is_object[w->depth] && !w->after_key);
	separate(w);
	put_string(w->out, key, strlen(key));
	strbuf_adds(w->out, w->pretty ? ": " : ":");
	w->after_key = true;
}

void json_strn(struct json_writer *w, const char *s, size_t n)
{
	before_value(w);
	put_string(w->out, s, n);
}

void json_str(struct json_writer *w, const char *s)
{
	if (s)
		json_strn(w, s, strlen(s));
	else
		json_null(w);
}

static void put_raw(struct json_writer *w, const char *text)
{
	before_value(w);
	strbuf_adds(w->out, text);
}

void json_u64(struct json_writer *w, uint64_t v)
{
	char buf[24];

	snprintf(buf, sizeof(buf), "%" PRIu64, v);
	put_raw(w, buf);
}

void json_i64(struct json_writer *w, int64_t v)
{
	char buf[24];

	snprintf(buf, sizeof(buf), "%" PRId64, v);
	put_raw(w, buf);
}

/* 17 digits always read back as the same double; most values need far fewer. Whole numbers are
 * written without exponent as long as doubles hold them exactly. */
void json_f64(struct json_writer *w, double v)
{
	char buf[40];

	if (!isfinite(v)) {
		json_null(w);
		return;
	}
	snprintf(buf, sizeof(buf), "%.0f", fabs(v) < 1e15 ? v : 0);
	for (int digits = 1; digits <= 17 && strtod(buf, NULL) != v; digits++)
		snprintf(buf, sizeof(buf), "%.*g", digits, v);
	put_raw(w, buf);
}

void json_bool(struct json_writer *w, bool v)
{
	put_raw(w, v ? "true" : "false");
}

void json_null(struct json_writer *w)
{
	put_raw(w, "null");
}

static void write_container(struct json_writer *w, const struct json *v)
{
	bool object = v->type == JSON_OBJECT;

	begin(w, object);
	for (uint32_t i = 0; i < v->n; i++) {
		if (object)
			json_key(w, v->items[i].key);
		json_value(w, &v->items[i]);
	}
	end(w, object);
}

void json_value(struct json_writer *w, const struct json *v)
{
	switch (v->type) {
	case JSON_NULL:
		json_null(w);
		break;
	case JSON_BOOL:
		json_bool(w, v->boolean);
		break;
	case JSON_NUMBER:
		put_raw(w, v->text);
		break;
	case JSON_STRING:
		json_strn(w, v->text, v->n);
		break;
	case JSON_ARRAY:
	case JSON_OBJECT:
		write_container(w, v);
		break;
	}
}

void json_member_str(struct json_writer *w, const char *key, const char *s)
{
	json_key(w, key);
	json_str(w, s);
}

void json_member_u64(struct json_writer *w, const char *key, uint64_t v)
{
	json_key(w, key);
	json_u64(w, v);
}

void json_member_i64(struct json_writer *w, const char *key, int64_t v)
{
	json_key(w, key);
	json_i64(w, v);
}

void json_member_f64(struct json_writer *w, const char *key, double v)
{
	json_key(w, key);
	json_f64(w, v);
}

void json_member_bool(struct json_writer *w, const char *key, bool v)
{
	json_key(w, key);
	json_bool(w, v);
}

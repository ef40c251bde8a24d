/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes JSON into a strbuf. Commas, line breaks and indentation (4 spaces when pretty) are
 * automatic. The output is always valid UTF-8 and holds no ASCII control character. Nesting is
 * limited to JSON_MAX_DEPTH; misuse (a value without key in an object, an unbalanced end) aborts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "json/json.h"

struct json_writer {
	struct strbuf *out;
	bool pretty;
	bool after_key;
	unsigned depth;
	bool is_object[JSON_MAX_DEPTH + 1];
	bool has_items[JSON_MAX_DEPTH + 1];
};

/* out is not cleared: several documents may follow each other. No newline is put at the end. */
void json_writer_init(struct json_writer *w, struct strbuf *out, bool pretty);

void json_begin_object(struct json_writer *w);
void json_end_object(struct json_writer *w);
void json_begin_array(struct json_writer *w);
void json_end_array(struct json_writer *w);
void json_key(struct json_writer *w, const char *key);

void json_str(struct json_writer *w, const char *s); /* NULL writes null */
/* Arbitrary bytes: each maximal invalid UTF-8 part becomes U+FFFD; NUL is written as \u0000. */
void json_strn(struct json_writer *w, const char *s, size_t n);
void json_u64(struct json_writer *w, uint64_t v);
void json_i64(struct json_writer *w, int64_t v);
/* The shortest form that reads back as v; null when v is not finite. */
void json_f64(struct json_writer *w, double v);
void json_bool(struct json_writer *w, bool v);
void json_null(struct json_writer *w);
/* A parsed tree, numbers as they were written. */
void json_value(struct json_writer *w, const struct json *v);

/* Key and value in one call. */
void json_member_str(struct json_writer *w, const char *key, const char *s);
void json_member_u64(struct json_writer *w, const char *key, uint64_t v);
void json_member_i64(struct json_writer *w, const char *key, int64_t v);
void json_member_f64(struct json_writer *w, const char *key, double v);
void json_member_bool(struct json_writer *w, const char *key, bool v);

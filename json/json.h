/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checked JSON (RFC 8259) as a read-only tree in an arena. What this parser refuses, beyond bad
 * syntax: more than JSON_MAX_BYTES of text, more than JSON_MAX_VALUES values, nesting deeper than
 * JSON_MAX_DEPTH, duplicate keys, NUL bytes and \u0000, invalid UTF-8, lone surrogates, comments,
 * and anything behind the value. So a string of the tree is always a valid C string.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

#define JSON_MAX_BYTES (4u << 20)
#define JSON_MAX_VALUES (1u << 19)
#define JSON_MAX_DEPTH 64

enum json_type { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json {
	const char *key; /* of a member of an object, else NULL */
	union {
		const char *text;         /* JSON_STRING: decoded; JSON_NUMBER: as written */
		const struct json *items; /* JSON_ARRAY, JSON_OBJECT: n elements or members */
		bool boolean;             /* JSON_BOOL */
	};
	uint32_t n; /* elements or members; bytes of text */
	enum json_type type;
};

/*
 * Parses exactly one value; text needs no NUL behind it. On success 0 and *ret in a. Errors:
 * -EINVAL with "line L, column C: what is wrong" (column in bytes, from 1), -EFBIG over the caps.
 */
int json_parse(const char *text, size_t len, struct arena *a, const struct json **ret,
	       struct err *e);

/* The member of an object; NULL when absent or when `object` is NULL or not an object. */
const struct json *json_get(const struct json *object, const char *key);
/* The text of a string member; NULL when absent or not a string. */
const char *json_get_str(const struct json *object, const char *key);

/*
 * A number as an integer, from its digits: 0, -ERANGE outside of [min, max], -EINVAL when it is no
 * number or has a fraction or exponent ("1.0" and "1e3" are not integers here).
 */
int json_to_u64(const struct json *v, uint64_t max, uint64_t *ret);
int json_to_i64(const struct json *v, int64_t min, int64_t max, int64_t *ret);
/* Any number; -ERANGE when it is not finite as a double. */
int json_to_f64(const struct json *v, double *ret);

/* "null", "a boolean", "a number", "a string", "an array", "an object": for messages. */
const char *json_type_name(const struct json *v);

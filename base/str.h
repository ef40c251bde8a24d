/* SPDX-License-Identifier: Apache-2.0 */
/* Strings: a growing buffer, checked numbers, escaping for messages. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/types.h"

/* A growing byte buffer; p is NUL-terminated whenever it is not NULL. Zero it to begin. */
struct strbuf {
	char *p;
	size_t len, cap;
};

/* Room for `more` bytes behind p + len, and a NUL: for who writes there himself. */
void strbuf_reserve(struct strbuf *b, size_t more);
void strbuf_add(struct strbuf *b, const void *data, size_t n);
void strbuf_addc(struct strbuf *b, char c);
void strbuf_adds(struct strbuf *b, const char *s);
void strbuf_printf(struct strbuf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void strbuf_free(struct strbuf *b);
/* b->p, or "" when nothing was added. */
const char *strbuf_str(const struct strbuf *b);
#define auto_strbuf __attribute__((cleanup(strbuf_free)))

bool str_eq(const char *a, const char *b); /* NULL equals only NULL */
bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);
/* An entry of a NULL-terminated table, -1 when absent. */
int str_index(const char *const *table, const char *s);

/*
 * The whole string as a number: digits only (one leading '-' for signed), no sign, space, base
 * prefix or wrap-around. Return 0, -EINVAL (not a number) or -ERANGE (> max, < min).
 */
/* The value of the last pair with this key, or NULL. */
const char *str_map_get(const struct str_map *m, const char *key);
int str_u64(const char *s, uint64_t max, uint64_t *ret_value);
int str_i64(const char *s, int64_t *ret_value);

/*
 * Copies s into dst for a message: bytes < 0x20, 0x7f and the C1 range of UTF-8 become \xNN.
 * Always NUL-terminates; returns dst.
 */
char *str_escape(char *dst, size_t size, const char *s);

/* An id of ours: [A-Za-z0-9][A-Za-z0-9_.-]{0,254} (CVE-2024-32462 class: no '/', "..", '-' first). */
bool str_valid_id(const char *s);

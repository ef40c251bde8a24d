/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

void strbuf_reserve(struct strbuf *b, size_t more)
{
	size_t need, cap;

	if (__builtin_add_overflow(b->len, more, &need) || need > SIZE_MAX / 4)
		die_out_of_memory();
	if (need + 1 <= b->cap)
		return;
	cap = b->cap ? b->cap : 128;
	while (cap < need + 1)
		cap *= 2;
	b->p = xrealloc(b->p, cap);
	b->p[b->len] = '\0';
	b->cap = cap;
}

void strbuf_add(struct strbuf *b, const void *data, size_t n)
{
	strbuf_reserve(b, n);
	if (n)
		memcpy(b->p + b->len, data, n);
	b->len += n;
	b->p[b->len] = '\0';
}

void strbuf_addc(struct strbuf *b, char c)
{
	strbuf_add(b, &c, 1);
}

void strbuf_adds(struct strbuf *b, const char *s)
{
	strbuf_add(b, s, strlen(s));
}

void strbuf_printf(struct strbuf *b, const char *fmt, ...)
{
	size_t room;
	va_list ap;
	int n;

	strbuf_reserve(b, 64); /* most often enough: formatting twice takes twice as long */
	room = b->cap - b->len;
	va_start(ap, fmt);
	n = vsnprintf(b->p + b->len, room, fmt, ap);
	va_end(ap);
	if (n < 0)
		die_out_of_memory();
	if ((size_t)n >= room) {
		strbuf_reserve(b, (size_t)n);
		va_start(ap, fmt);
		vsnprintf(b->p + b->len, (size_t)n + 1, fmt, ap);
		va_end(ap);
	}
	b->len += (size_t)n;
}

void strbuf_free(struct strbuf *b)
{
	free(b->p);
	*b = (struct strbuf){0};
}

const char *strbuf_str(const struct strbuf *b)
{
	return b->p ? b->p : "";
}

bool str_eq(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

bool str_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && memcmp(s + n - m, suffix, m) == 0;
}

int str_index(const char *const *table, const char *s)
{
	for (int i = 0; table[i]; i++)
		if (strcmp(table[i], s) == 0)
			return i;
	return -1;
}

int str_u64(const char *s, uint64_t max, uint64_t *ret_value)
{
	uint64_t v = 0;

	if (!*s)
		return -EINVAL;
	for (const char *p = s; *p; p++)
		if (*p < '0' || *p > '9')
			return -EINVAL;
	for (; *s; s++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
			return -ERANGE;
	if (v > max)
		return -ERANGE;
	*ret_value = v;
	return 0;
}

int str_i64(const char *s, int64_t *ret_value)
{
	bool negative = *s == '-';
	uint64_t limit = (uint64_t)INT64_MAX + negative, v;
	int r = str_u64(s + negative, limit, &v);

	if (r < 0)
		return r;
	*ret_value = (int64_t)(negative ? 0 - v : v);
	return 0;
}

char *str_escape(char *dst, size_t size, const char *s)
{
	size_t n = 0;

	while (*s && n + 5 < size) {
		unsigned char c = (unsigned char)*s, d = (unsigned char)s[1];
		bool c1 = c == 0xc2 && d >= 0x80 && d < 0xa0;

		if (c < 0x20 || c == 0x7f || c1) {
			n += (size_t)snprintf(dst + n, size - n, "\\x%02x", c1 ? d : c);
			s += c1 ? 2 : 1;
			continue;
		}
		dst[n++] = *s++;
	}
	if (size)
		dst[n] = '\0';
	return dst;
}

bool str_valid_id(const char *s)
{
	static const char alnum[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	size_t n = strlen(s);

	if (n < 1 || n > 255 || !strchr(alnum, s[0]))
		return false;
	for (size_t i = 1; i < n; i++)
		if (!strchr(alnum, s[i]) && !strchr("_.-", s[i]))
			return false;
	return true;
}

const char *str_map_get(const struct str_map *m, const char *key)
{
	for (size_t i = m->n; i-- > 0;)
		if (str_eq(m->v[i].key, key))
			return m->v[i].value;
	return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists keep no capacity: one whose length is a power of two is full. What they leave behind in
 * the arena is at most what they hold.
 */
#include "docker/lists.h"

#include <ctype.h>
#include <stdio.h>

#include "base/err.h"
#include "docker/unicode.h"

void *dk_list_grow(struct arena *a, void *v, size_t n, size_t size)
{
	void *bigger;

	if (n && (n & (n - 1)))
		return v;
	bigger = arena_array(a, n ? 2 * n : 1, size);
	if (n)
		memcpy(bigger, v, n * size);
	return bigger;
}

void dk_strv_add(struct arena *a, struct strv *list, char *s)
{
	/* The NULL counts as an element. */
	if (!list->v)
		list->v = arena_array(a, 2, sizeof(*list->v));
	else
		list->v = dk_list_grow(a, list->v, list->n + 1, sizeof(*list->v));
	list->v[list->n++] = s;
	list->v[list->n] = NULL;
}

bool dk_strv_has(const struct strv *list, const char *s)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->v[i], s) == 0)
			return true;
	return false;
}

void dk_map_add(struct arena *a, struct str_map *map, char *key, char *value, bool replace)
{
	for (size_t i = 0; replace && i < map->n; i++)
		if (strcmp(map->v[i].key, key) == 0) {
			map->v[i].value = value;
			return;
		}
	*dk_list_add(a, map) = (struct str_pair){.key = key, .value = value};
}

char *dk_map_get(const struct str_map *map, const char *key)
{
	for (size_t i = 0; i < map->n; i++)
		if (strcmp(map->v[i].key, key) == 0)
			return map->v[i].value;
	return NULL;
}

bool dk_is_print(uint32_t r)
{
	/* Controls, format characters, blanks other than ASCII's, private use. */
	static const struct { uint32_t first, last; } hidden[] = {
		{0, 0x1f}, {0x7f, 0xa0}, {0xad, 0xad}, {0x600, 0x605}, {0x61c, 0x61c}, {0x6dd, 0x6dd},
		{0x70f, 0x70f}, {0x1680, 0x1680}, {0x180e, 0x180e}, {0x2000, 0x200f},
		{0x2028, 0x202f}, {0x205f, 0x206f}, {0x3000, 0x3000}, {0xd800, 0xf8ff},
		{0xfeff, 0xfeff}, {0xfff0, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0xe00ff},
		{0xe01f0, 0x10ffff},
	};

	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (r >= hidden[i].first && r <= hidden[i].last)
			return false;
	return true;
}

void dk_quote(struct strbuf *b, const char *s, size_t n)
{
	static const char named[] = "\a\b\f\n\r\t\v\\\"", letters[] = "abfnrtv\\\"";

	strbuf_addc(b, '"');
	for (size_t i = 0; i < n;) {
		struct dk_rune r = dk_rune_at(s + i, n - i);
		const char *p = r.len && r.rune < 0x80 && r.rune ? strchr(named, (int)r.rune) : NULL;

		if (!r.len)
			strbuf_printf(b, "\\x%02x", (unsigned char)s[i]);
		else if (p)
			strbuf_printf(b, "\\%c", letters[p - named]);
		else if (dk_is_print(r.rune))
			strbuf_add(b, s + i, r.len);
		else if (r.rune < 0x80)
			strbuf_printf(b, "\\x%02x", r.rune);
		else
			strbuf_printf(b, r.rune < 0x10000 ? "\\u%04x" : "\\U%08x", r.rune);
		i += r.len ? r.len : 1;
	}
	strbuf_addc(b, '"');
}

char *dk_quoted(struct arena *a, const char *s)
{
	auto_strbuf struct strbuf b = {0};

	dk_quote(&b, s, strlen(s));
	return arena_strndup(a, b.p, b.len);
}

char *dk_trim(struct arena *a, const char *s)
{
	size_t n;

	while (isspace((unsigned char)*s))
		s++;
	for (n = strlen(s); n && isspace((unsigned char)s[n - 1]); n--)
		;
	return arena_strndup(a, s, n);
}

char *dk_lower(struct arena *a, const char *s)
{
	char *r = arena_strdup(a, s);

	for (char *p = r; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return r;
}

char *dk_errno_text(struct arena *a, int code)
{
	char *text = arena_strdup(a, err_name(code));

	text[0] = (char)tolower((unsigned char)text[0]);
	return text;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Lists that grow in an arena, and texts quoted as Go quotes them in messages. */
#pragma once

#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/types.h"

/* Keeps list->v NULL-terminated; s is not copied. */
void dk_strv_add(struct arena *a, struct strv *list, char *s);
bool dk_strv_has(const struct strv *list, const char *s);
/* Appends; with `replace` a pair of the same key is changed instead. */
void dk_map_add(struct arena *a, struct str_map *map, char *key, char *value, bool replace);
char *dk_map_get(const struct str_map *map, const char *key); /* NULL: absent */

/* Appends one zeroed element to a { v, n } list and returns it. */
#define dk_list_add(a, list)                                                                \
	({                                                                                  \
		__auto_type la_ = (list);                                                   \
		la_->v = dk_list_grow((a), la_->v, la_->n, sizeof(*la_->v));                \
		&la_->v[la_->n++];                                                          \
	})
/* v with room for at least one element behind the first n; for dk_list_add. */
void *dk_list_grow(struct arena *a, void *v, size_t n, size_t size);

/* "text" with quotes and escapes, like Go's strconv.Quote. */
void dk_quote(struct strbuf *b, const char *s, size_t n);
char *dk_quoted(struct arena *a, const char *s);
/* Would Go print this code point as it is? */
bool dk_is_print(uint32_t rune);

/* s without white space at both ends (ASCII), in the arena. */
char *dk_trim(struct arena *a, const char *s);
char *dk_lower(struct arena *a, const char *s);
/* An errno as Go words it: "no such file or directory". */
char *dk_errno_text(struct arena *a, int code);

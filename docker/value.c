/* SPDX-License-Identifier: Apache-2.0 */
/* Building dynamic values. Growing arrays double, in the arena; what they leave behind is freed with it. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "docker/value.h"

struct dk_value dk_stringn(const char *s, size_t n)
{
	return (struct dk_value){.type = DK_TEXT, .text = s, .n = (uint32_t)n};
}

struct dk_value dk_string(const char *s)
{
	return dk_stringn(s ? s : "", s ? strlen(s) : 0);
}

struct dk_value dk_stringf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	auto_free char *text = NULL;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		die_out_of_memory();
	return dk_stringn(arena_strndup(a, text, (size_t)n), (size_t)n);
}

struct dk_value dk_null_pointer(const char *go_type)
{
	return (struct dk_value){.type = DK_NULL_POINTER, .go_type = go_type};
}

struct dk_value dk_array(void)
{
	return (struct dk_value){.type = DK_ARRAY};
}

struct dk_value dk_null_array(void)
{
	return (struct dk_value){.type = DK_ARRAY, .null = true};
}

struct dk_value dk_dict(void)
{
	return (struct dk_value){.type = DK_DICT};
}

struct dk_value dk_null_dict(void)
{
	return (struct dk_value){.type = DK_DICT, .null = true};
}

struct dk_value dk_struct(const char *go_type)
{
	return (struct dk_value){.type = DK_RECORD, .go_type = go_type};
}

/* Room for one more of `size` bytes behind v->n. */
static void *grown(struct arena *a, struct dk_value *v, void *old, size_t size)
{
	void *bigger;

	if (v->n < v->cap)
		return old;
	v->cap = v->cap ? v->cap * 2 : 8;
	bigger = arena_array(a, v->cap, size);
	if (v->n)
		memcpy(bigger, old, v->n * size);
	return bigger;
}

void dk_push(struct arena *a, struct dk_value *array, struct dk_value v)
{
	array->items = grown(a, array, array->items, sizeof(v));
	array->items[array->n++] = v;
	array->null = false;
}

static void add_member(struct arena *a, struct dk_value *v, struct dk_member m)
{
	v->members = grown(a, v, v->members, sizeof(m));
	v->members[v->n++] = m;
	v->null = false;
}

void dk_put(struct arena *a, struct dk_value *v, const char *key, struct dk_value member)
{
	if (v->type == DK_DICT)
		for (uint32_t i = 0; i < v->n; i++)
			if (strcmp(v->members[i].key, key) == 0) {
				v->members[i].value = member;
				return;
			}
	add_member(a, v, (struct dk_member){.key = key, .value = member});
}

void dk_put_omit(struct arena *a, struct dk_value *v, const char *key, struct dk_value member)
{
	add_member(a, v, (struct dk_member){.key = key, .omit_empty = true, .value = member});
}

void dk_put_named(struct arena *a, struct dk_value *v, const char *key, const char *go_name,
		  struct dk_value member)
{
	add_member(a, v, (struct dk_member){.key = key, .go_name = go_name, .value = member});
}

struct dk_value dk_strings(struct arena *a, const struct strv *v, bool null_when_empty)
{
	struct dk_value r = dk_array();

	r.null = null_when_empty && !v->n;
	if (!v->n)
		return r;
	r.items = arena_array(a, v->n, sizeof(*r.items));
	r.n = r.cap = (uint32_t)v->n;
	for (size_t i = 0; i < v->n; i++)
		r.items[i] = dk_string(v->v[i]);
	return r;
}

struct dk_value dk_string_map(struct arena *a, const struct str_map *m, bool null_when_empty)
{
	struct dk_value r = dk_dict();

	r.text_elements = true;
	r.null = null_when_empty && !m->n;
	for (size_t i = 0; i < m->n; i++)
		add_member(a, &r, (struct dk_member){.key = m->v[i].key, .value = dk_string(m->v[i].value)});
	return r;
}

const struct dk_value *dk_get(const struct dk_value *v, const char *key)
{
	if (v->type != DK_DICT && v->type != DK_RECORD)
		return NULL;
	for (uint32_t i = 0; i < v->n; i++)
		if (v->members[i].key && strcmp(v->members[i].key, key) == 0)
			return &v->members[i].value;
	return NULL;
}

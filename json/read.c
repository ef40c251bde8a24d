/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading by field tables. The place of a value is a chain of links on the stack; it becomes a
 * string ("linux.namespaces[1].type") only when an error needs it.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "json/fields.h"

struct place {
	const struct place *up; /* NULL: key is the caller's prefix, "" for none */
	const char *key;        /* NULL: an element, number `index` */
	size_t index;
};

/* All lists of structs look like this. */
struct any_list {
	char *v;
	size_t n;
};

static void put_place(struct strbuf *b, const struct place *p)
{
	if (p->up)
		put_place(b, p->up);
	if (!p->key)
		strbuf_printf(b, "[%zu]", p->index);
	else if (*p->key)
		strbuf_printf(b, b->len ? ".%s" : "%s", p->key);
}

/* "<place>: <message>", control characters escaped. */
__attribute__((format(printf, 4, 5))) static int fail(const struct json_reader *r, int code,
						      const struct place *p, const char *fmt, ...)
{
	auto_strbuf struct strbuf place = {0};
	char msg[400], clean[sizeof(r->e->msg)], where[200];
	va_list ap;

	put_place(&place, p);
	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	str_escape(clean, sizeof(clean), msg);
	if (!place.len)
		return err_set(r->e, code, "the document %s", clean);
	return err_set(r->e, code, "%s: %s", str_escape(where, sizeof(where), place.p), clean);
}

/* What an integer member can hold, by kind. */
static const struct int_kind {
	int64_t min;
	uint64_t max;
	const char *name;
} int_kinds[] = {
	[JSON_KIND_U16] = {0, UINT16_MAX, "a 16-bit unsigned integer"},
	[JSON_KIND_U32] = {0, UINT32_MAX, "a 32-bit unsigned integer"},
	[JSON_KIND_U64] = {0, UINT64_MAX, "a 64-bit unsigned integer"},
	[JSON_KIND_I64] = {INT64_MIN, INT64_MAX, "a 64-bit integer"},
	[JSON_KIND_OPT_I32] = {INT32_MIN, INT32_MAX, "a 32-bit integer"},
	[JSON_KIND_OPT_I64] = {INT64_MIN, INT64_MAX, "a 64-bit integer"},
	[JSON_KIND_OPT_U16] = {0, UINT16_MAX, "a 16-bit unsigned integer"},
	[JSON_KIND_OPT_U32] = {0, UINT32_MAX, "a 32-bit unsigned integer"},
	[JSON_KIND_OPT_U64] = {0, UINT64_MAX, "a 64-bit unsigned integer"},
};

static int fail_type(const struct json_reader *r, const struct json *v, const struct place *p,
		     const char *wanted)
{
	return fail(r, EINVAL, p, "is %s, not %s", json_type_name(v), wanted);
}

/* The value's bits, sign-extended to 64. */
static int read_int_bits(const struct json_reader *r, enum json_kind kind, const struct json *v,
			 const struct place *p, uint64_t *ret)
{
	const struct int_kind *k = &int_kinds[kind];
	int64_t i = 0;
	int code;

	if (v->type != JSON_NUMBER)
		return fail_type(r, v, p, k->name);
	if (k->min == 0) {
		code = json_to_u64(v, k->max, ret);
	} else {
		code = json_to_i64(v, k->min, (int64_t)k->max, &i);
		if (code == 0)
			*ret = (uint64_t)i;
	}
	if (code < 0)
		return fail(r, -code, p, "%.64s%s is not %s", v->text, v->n > 64 ? "..." : "",
			    k->name);
	return 0;
}

static int read_int(const struct json_reader *r, enum json_kind kind, const struct json *v,
		    const struct place *p, void *member)
{
	uint64_t bits;
	int code = read_int_bits(r, kind, v, p, &bits);

	if (code < 0)
		return code;
	switch (kind) {
	case JSON_KIND_U16:
		*(uint16_t *)member = (uint16_t)bits;
		break;
	case JSON_KIND_U32:
		*(uint32_t *)member = (uint32_t)bits;
		break;
	case JSON_KIND_OPT_I32:
		*(struct opt_i32 *)member = (struct opt_i32){true, (int32_t)bits};
		break;
	case JSON_KIND_OPT_I64:
		*(struct opt_i64 *)member = (struct opt_i64){true, (int64_t)bits};
		break;
	case JSON_KIND_OPT_U16:
		*(struct opt_u16 *)member = (struct opt_u16){true, (uint16_t)bits};
		break;
	case JSON_KIND_OPT_U32:
		*(struct opt_u32 *)member = (struct opt_u32){true, (uint32_t)bits};
		break;
	case JSON_KIND_OPT_U64:
		*(struct opt_u64 *)member = (struct opt_u64){true, bits};
		break;
	default: /* JSON_KIND_U64, JSON_KIND_I64 */
		*(uint64_t *)member = bits;
		break;
	}
	return 0;
}

static int read_bool(const struct json_reader *r, enum json_kind kind, const struct json *v,
		     const struct place *p, void *member)
{
	if (v->type != JSON_BOOL)
		return fail_type(r, v, p, "a boolean");
	if (kind == JSON_KIND_OPT_BOOL)
		*(struct opt_bool *)member = (struct opt_bool){true, v->boolean};
	else
		*(bool *)member = v->boolean;
	return 0;
}

static int read_f64(const struct json_reader *r, const struct json *v, const struct place *p,
		    struct opt_f64 *member)
{
	double d;
	int code;

	if (v->type != JSON_NUMBER)
		return fail_type(r, v, p, "a number");
	code = json_to_f64(v, &d);
	if (code < 0)
		return fail(r, -code, p, "%.64s%s is too large", v->text, v->n > 64 ? "..." : "");
	*member = (struct opt_f64){true, d};
	return 0;
}

static int fail_name(const struct json_reader *r, const struct json *v, const struct place *p,
		     const char *const *names)
{
	auto_strbuf struct strbuf list = {0};

	for (size_t i = 0; names[i]; i++)
		strbuf_printf(&list, "%s%s", i ? ", " : "", names[i]);
	return fail(r, EINVAL, p, "\"%.64s\"%s is not one of %s", v->text, v->n > 64 ? "..." : "",
		    strbuf_str(&list));
}

static int read_str(const struct json_reader *r, const struct json_field *f, const struct json *v,
		    const struct place *p, char **member)
{
	if (v->type != JSON_STRING)
		return fail_type(r, v, p, "a string");
	if (f->names && str_index(f->names, v->text) < 0)
		return fail_name(r, v, p, f->names);
	*member = (char *)v->text; /* the tree is ours, only its interface is const */
	return 0;
}

static int read_strv(const struct json_reader *r, const struct json_field *f, const struct json *v,
		     const struct place *p, struct strv *member)
{
	struct strv list = {.n = v->n};

	if (v->type != JSON_ARRAY)
		return fail_type(r, v, p, "an array of strings");
	list.v = arena_array(r->arena, list.n + 1, sizeof(*list.v));
	for (uint32_t i = 0; i < v->n; i++) {
		struct place at = {.up = p, .index = i};
		int code = read_str(r, f, &v->items[i], &at, &list.v[i]);

		if (code < 0)
			return code;
	}
	*member = list;
	return 0;
}

static int read_u32v(const struct json_reader *r, const struct json *v, const struct place *p,
		     struct u32v *member)
{
	struct u32v list = {.n = v->n};

	if (v->type != JSON_ARRAY)
		return fail_type(r, v, p, "an array of numbers");
	list.v = arena_array(r->arena, list.n, sizeof(*list.v));
	for (uint32_t i = 0; i < v->n; i++) {
		struct place at = {.up = p, .index = i};
		int code = read_int(r, JSON_KIND_U32, &v->items[i], &at, &list.v[i]);

		if (code < 0)
			return code;
	}
	*member = list;
	return 0;
}

static int read_str_map(const struct json_reader *r, const struct json *v, const struct place *p,
			struct str_map *member)
{
	static const struct json_field plain = {.kind = JSON_KIND_STR};
	struct str_map map = {.n = v->n};

	if (v->type != JSON_OBJECT)
		return fail_type(r, v, p, "an object of strings");
	map.v = arena_array(r->arena, map.n, sizeof(*map.v));
	for (uint32_t i = 0; i < v->n; i++) {
		struct place at = {.up = p, .key = v->items[i].key};
		int code = read_str(r, &plain, &v->items[i], &at, &map.v[i].value);

		if (code < 0)
			return code;
		map.v[i].key = (char *)v->items[i].key;
	}
	*member = map;
	return 0;
}

static int read_struct(const struct json_reader *r, const struct json *v,
		       const struct json_table *t, void *out, const struct place *p);

/* An array of objects, or (keyed) an object of objects whose key is the struct's first member. */
static int read_list(const struct json_reader *r, const struct json_field *f, const struct json *v,
		     const struct place *p, struct any_list *member)
{
	bool keyed = f->kind == JSON_KIND_KEYED;
	struct any_list list = {.n = v->n};

	if (v->type != (keyed ? JSON_OBJECT : JSON_ARRAY))
		return fail_type(r, v, p, keyed ? "an object of objects" : "an array of objects");
	list.v = arena_array(r->arena, list.n, f->sub->size);
	for (uint32_t i = 0; i < v->n; i++) {
		struct place at = {.up = p, .key = v->items[i].key, .index = i};
		char *item = list.v + i * f->sub->size;
		int code = read_struct(r, &v->items[i], f->sub, item, &at);

		if (code < 0)
			return code;
		if (keyed)
			*(char **)item = (char *)v->items[i].key;
	}
	*member = list;
	return 0;
}

static int read_object(const struct json_reader *r, const struct json_field *f,
		       const struct json *v, const struct place *p, void **member)
{
	void *object = arena_alloc(r->arena, f->sub->size);
	int code = read_struct(r, v, f->sub, object, p);

	if (code < 0)
		return code;
	*member = object;
	return 0;
}

static int read_member(const struct json_reader *r, const struct json_field *f,
		       const struct json *v, const struct place *p, void *member)
{
	switch (f->kind) {
	case JSON_KIND_BOOL:
	case JSON_KIND_OPT_BOOL:
		return read_bool(r, f->kind, v, p, member);
	case JSON_KIND_OPT_F64:
		return read_f64(r, v, p, member);
	case JSON_KIND_STR:
		return read_str(r, f, v, p, member);
	case JSON_KIND_STRV:
		return read_strv(r, f, v, p, member);
	case JSON_KIND_U32V:
		return read_u32v(r, v, p, member);
	case JSON_KIND_STR_MAP:
		return read_str_map(r, v, p, member);
	case JSON_KIND_OBJECT:
		return read_object(r, f, v, p, member);
	case JSON_KIND_INLINE:
		return read_struct(r, v, f->sub, member, p);
	case JSON_KIND_LIST:
	case JSON_KIND_KEYED:
		return read_list(r, f, v, p, member);
	default:
		return read_int(r, f->kind, v, p, member);
	}
}

/* Documents mostly have the order of the table, so the search starts behind the last hit. */
static const struct json_field *find_field(const struct json_table *t, const char *key,
					   size_t *start)
{
	for (size_t i = 0; i < t->n; i++) {
		size_t at = (*start + i) % t->n;

		if (strcmp(t->fields[at].key, key) == 0) {
			*start = at + 1;
			return &t->fields[at];
		}
	}
	return NULL;
}

static int check_required(const struct json_reader *r, const struct json *v,
			  const struct json_table *t, const struct place *p)
{
	for (size_t i = 0; i < t->n; i++) {
		struct place at = {.up = p, .key = t->fields[i].key};
		const struct json *found;

		if (!t->fields[i].required)
			continue;
		found = json_get(v, t->fields[i].key);
		if (!found || found->type == JSON_NULL)
			return fail(r, EINVAL, &at, "is missing");
	}
	return 0;
}

static int read_struct(const struct json_reader *r, const struct json *v,
		       const struct json_table *t, void *out, const struct place *p)
{
	size_t start = 0;

	if (v->type != JSON_OBJECT)
		return fail_type(r, v, p, "an object");
	for (uint32_t i = 0; i < v->n; i++) {
		const struct json_field *f = find_field(t, v->items[i].key, &start);
		struct place at = {.up = p};
		int code;

		if (!f || v->items[i].type == JSON_NULL)
			continue;
		at.key = f->key;
		code = read_member(r, f, &v->items[i], &at, (char *)out + f->offset);
		if (code < 0)
			return code;
	}
	return check_required(r, v, t, p);
}

int json_read_struct(const struct json_reader *r, const struct json *v, const struct json_table *t,
		     void *out)
{
	struct place root = {.key = r->path};

	return read_struct(r, v, t, out, &root);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Writing and walking by field tables. What is absent in the struct is left out of the document. */
#include <stdbool.h>

#include "base/str.h"
#include "json/fields.h"

struct any_list {
	const char *v;
	size_t n;
};

/* Of opt_*: `set` is the first member of each. */
static bool is_set(const void *member)
{
	return *(const bool *)member;
}

static bool has_value(const struct json_field *f, const void *member)
{
	switch (f->kind) {
	case JSON_KIND_OPT_BOOL:
	case JSON_KIND_OPT_I32:
	case JSON_KIND_OPT_I64:
	case JSON_KIND_OPT_U16:
	case JSON_KIND_OPT_U32:
	case JSON_KIND_OPT_U64:
	case JSON_KIND_OPT_F64:
		return is_set(member);
	case JSON_KIND_STR:
	case JSON_KIND_OBJECT:
		return *(void *const *)member != NULL;
	case JSON_KIND_STRV:
	case JSON_KIND_U32V:
	case JSON_KIND_STR_MAP:
	case JSON_KIND_LIST:
	case JSON_KIND_KEYED:
		return f->required || ((const struct any_list *)member)->n > 0;
	default:
		return true;
	}
}

static void write_strv(struct json_writer *w, const struct strv *list)
{
	json_begin_array(w);
	for (size_t i = 0; i < list->n; i++)
		json_str(w, list->v[i]);
	json_end_array(w);
}

static void write_u32v(struct json_writer *w, const struct u32v *list)
{
	json_begin_array(w);
	for (size_t i = 0; i < list->n; i++)
		json_u64(w, list->v[i]);
	json_end_array(w);
}

static void write_str_map(struct json_writer *w, const struct str_map *map)
{
	json_begin_object(w);
	for (size_t i = 0; i < map->n; i++)
		json_member_str(w, map->v[i].key, map->v[i].value);
	json_end_object(w);
}

static void write_list(struct json_writer *w, const struct json_table *sub,
		       const struct any_list *list)
{
	json_begin_array(w);
	for (size_t i = 0; i < list->n; i++)
		json_write_struct(w, sub, list->v + i * sub->size);
	json_end_array(w);
}

static void write_keyed(struct json_writer *w, const struct json_table *sub,
			const struct any_list *list)
{
	json_begin_object(w);
	for (size_t i = 0; i < list->n; i++) {
		const char *item = list->v + i * sub->size;

		json_key(w, *(char *const *)item);
		json_write_struct(w, sub, item);
	}
	json_end_object(w);
}

static void write_number(struct json_writer *w, enum json_kind kind, const void *member)
{
	switch (kind) {
	case JSON_KIND_U16:
		json_u64(w, *(const uint16_t *)member);
		break;
	case JSON_KIND_U32:
		json_u64(w, *(const uint32_t *)member);
		break;
	case JSON_KIND_U64:
		json_u64(w, *(const uint64_t *)member);
		break;
	case JSON_KIND_I64:
		json_i64(w, *(const int64_t *)member);
		break;
	case JSON_KIND_OPT_I32:
		json_i64(w, ((const struct opt_i32 *)member)->v);
		break;
	case JSON_KIND_OPT_I64:
		json_i64(w, ((const struct opt_i64 *)member)->v);
		break;
	case JSON_KIND_OPT_U16:
		json_u64(w, ((const struct opt_u16 *)member)->v);
		break;
	case JSON_KIND_OPT_U32:
		json_u64(w, ((const struct opt_u32 *)member)->v);
		break;
	case JSON_KIND_OPT_U64:
		json_u64(w, ((const struct opt_u64 *)member)->v);
		break;
	default: /* JSON_KIND_OPT_F64 */
		json_f64(w, ((const struct opt_f64 *)member)->v);
		break;
	}
}

static void write_member(struct json_writer *w, const struct json_field *f, const void *member)
{
	switch (f->kind) {
	case JSON_KIND_BOOL:
		json_bool(w, *(const bool *)member);
		break;
	case JSON_KIND_OPT_BOOL:
		json_bool(w, ((const struct opt_bool *)member)->v);
		break;
	case JSON_KIND_STR:
		json_str(w, *(char *const *)member);
		break;
	case JSON_KIND_STRV:
		write_strv(w, member);
		break;
	case JSON_KIND_U32V:
		write_u32v(w, member);
		break;
	case JSON_KIND_STR_MAP:
		write_str_map(w, member);
		break;
	case JSON_KIND_OBJECT:
		json_write_struct(w, f->sub, *(void *const *)member);
		break;
	case JSON_KIND_INLINE:
		json_write_struct(w, f->sub, member);
		break;
	case JSON_KIND_LIST:
		write_list(w, f->sub, member);
		break;
	case JSON_KIND_KEYED:
		write_keyed(w, f->sub, member);
		break;
	default:
		write_number(w, f->kind, member);
		break;
	}
}

void json_write_struct(struct json_writer *w, const struct json_table *t, const void *in)
{
	json_begin_object(w);
	for (size_t i = 0; i < t->n; i++) {
		const struct json_field *f = &t->fields[i];
		const char *member = (const char *)in + f->offset;

		if (!has_value(f, member))
			continue;
		json_key(w, f->key);
		write_member(w, f, member);
	}
	json_end_object(w);
}

struct walk {
	void (*fn)(const char *path, const struct json_field *field, void *arg);
	void *arg;
	struct strbuf path;
};

static void walk_table(struct walk *w, const struct json_table *t)
{
	size_t len = w->path.len;

	for (size_t i = 0; i < t->n; i++) {
		const struct json_field *f = &t->fields[i];

		strbuf_printf(&w->path, "%s%s", len ? "." : "", f->key);
		w->fn(w->path.p, f, w->arg);
		if (f->sub) {
			strbuf_adds(&w->path, f->kind == JSON_KIND_LIST    ? "[]"
					      : f->kind == JSON_KIND_KEYED ? ".*"
									   : "");
			walk_table(w, f->sub);
		}
		w->path.len = len;
		w->path.p[len] = '\0';
	}
}

void json_for_each_field(const struct json_table *t,
			 void (*fn)(const char *path, const struct json_field *field, void *arg),
			 void *arg)
{
	struct walk w = {.fn = fn, .arg = arg};

	walk_table(&w, t);
	strbuf_free(&w.path);
}

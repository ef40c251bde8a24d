/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Field tables: one row per key of a JSON object says where the value goes in a C struct. The same
 * table reads, writes and documents. The kind of a row follows from the C type of the member:
 *
 *   bool, uint16/32/64_t, int64_t       always written; zero when absent
 *   opt_bool/i32/i64/u16/u32/u64/f64    written when set
 *   char *, strv, u32v, str_map         written when not NULL / not empty
 *   struct X *                          an object; .sub is X's table
 *   struct { X *v; size_t n; }          an array of objects; .sub is X's table
 *   the same by JSON_KEYED              an object of objects; the key goes into X's first member,
 *                                       which is a char *
 *   struct X by JSON_INLINE             an object kept by value; written always
 *
 *	static const struct json_field hook_fields[] = {
 *		JSON_FIELD(struct oci_hook, path, "path", .required = true),
 *		JSON_FIELD(struct oci_hook, timeout, "timeout"),
 *	};
 *	const struct json_table hook_table = JSON_TABLE(struct oci_hook, hook_fields);
 *
 * Reading: null counts as absent (as Go's encoding/json, which writes these files, has it), unknown
 * keys are ignored, a value of the wrong type or range is an error with the path in front.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/types.h"
#include "json/json.h"
#include "json/writer.h"

enum json_kind {
	JSON_KIND_BOOL,
	JSON_KIND_U16,
	JSON_KIND_U32,
	JSON_KIND_U64,
	JSON_KIND_I64,
	JSON_KIND_OPT_BOOL,
	JSON_KIND_OPT_I32,
	JSON_KIND_OPT_I64,
	JSON_KIND_OPT_U16,
	JSON_KIND_OPT_U32,
	JSON_KIND_OPT_U64,
	JSON_KIND_OPT_F64,
	JSON_KIND_STR,
	JSON_KIND_STRV,
	JSON_KIND_U32V,
	JSON_KIND_STR_MAP,
	JSON_KIND_OBJECT,
	JSON_KIND_INLINE,
	JSON_KIND_LIST,
	JSON_KIND_KEYED,
};

struct json_table {
	size_t size; /* of the C struct */
	const struct json_field *fields;
	size_t n;
};

struct json_field {
	const char *key;
	enum json_kind kind;
	bool required;              /* reading: must be there; writing: also when empty */
	size_t offset;
	const struct json_table *sub;
	const char *const *names;   /* STR and STRV: the allowed values, NULL-terminated */
};

/* __builtin_classify_type: 5 is a pointer; what is left is a { v, n } list. */
#define JSON_KIND_OF(m)                                                              \
	_Generic((m),                                                                \
		bool: JSON_KIND_BOOL,                                                \
		uint16_t: JSON_KIND_U16,                                             \
		uint32_t: JSON_KIND_U32,                                             \
		uint64_t: JSON_KIND_U64,                                             \
		int64_t: JSON_KIND_I64,                                              \
		struct opt_bool: JSON_KIND_OPT_BOOL,                                 \
		struct opt_i32: JSON_KIND_OPT_I32,                                   \
		struct opt_i64: JSON_KIND_OPT_I64,                                   \
		struct opt_u16: JSON_KIND_OPT_U16,                                   \
		struct opt_u32: JSON_KIND_OPT_U32,                                   \
		struct opt_u64: JSON_KIND_OPT_U64,                                   \
		struct opt_f64: JSON_KIND_OPT_F64,                                   \
		char *: JSON_KIND_STR,                                               \
		struct strv: JSON_KIND_STRV,                                         \
		struct u32v: JSON_KIND_U32V,                                         \
		struct str_map: JSON_KIND_STR_MAP,                                   \
		default: __builtin_classify_type(m) == 5 ? JSON_KIND_OBJECT : JSON_KIND_LIST)

#define JSON_ROW(type, member, key_, kind_, ...) \
	{.key = (key_), .kind = (kind_), .offset = offsetof(type, member), ##__VA_ARGS__}
#define JSON_FIELD(type, member, key_, ...) \
	JSON_ROW(type, member, key_, JSON_KIND_OF(((type *)0)->member), ##__VA_ARGS__)
#define JSON_INLINE(type, member, key_, ...) \
	JSON_ROW(type, member, key_, JSON_KIND_INLINE, ##__VA_ARGS__)
#define JSON_KEYED(type, member, key_, ...) \
	JSON_ROW(type, member, key_, JSON_KIND_KEYED, ##__VA_ARGS__)
#define JSON_TABLE(type, fields_) \
	{.size = sizeof(type), .fields = (fields_), .n = sizeof(fields_) / sizeof((fields_)[0])}

struct json_reader {
	struct arena *arena; /* for lists and objects; strings are shared with the tree's arena */
	const char *path;    /* in front of the paths in messages; "" for a whole document */
	struct err *e;
};

/*
 * Fills *out (which the caller has zeroed or filled with defaults; absent keys leave it alone) from
 * the object v. 0 or -EINVAL/-ERANGE with e.g.
 * "process.user.uid: 4294967296 is not a 32-bit unsigned integer".
 */
int json_read_struct(const struct json_reader *r, const struct json *v,
		     const struct json_table *t, void *out);
/* Writes one object; absent values are left out. */
void json_write_struct(struct json_writer *w, const struct json_table *t, const void *in);

/*
 * Calls fn with the path of every field, depth first: "mounts[].uidMappings[].size", and
 * "linux.rdma.*.hcaHandles" below a keyed object. For documentation and tests.
 */
void json_for_each_field(const struct json_table *t,
			 void (*fn)(const char *path, const struct json_field *field, void *arg),
			 void *arg);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dynamic values as Go's templates and encoding/json see them: what inspect documents are made of,
 * what templates work on. A value is a small struct, passed by value; what it points at belongs to
 * an arena.
 *
 * A struct differs from a map in three ways: fields keep their order, a missing one is an error in
 * a template, and a field may have another name in Go than in JSON (Docker's {{.ID}} next to
 * "Id"). An inspect document is built of structs and, where Docker has a Go map, maps:
 *
 *	struct dk_value state = dk_struct("container.State");
 *	dk_put(a, &state, "Status", dk_string("running"));
 *	dk_put(a, &state, "Pid", dk_int(4711));
 *	dk_put_omit(a, &state, "Health", dk_null_pointer("container.Health"));  // omitempty
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/types.h"
#include "json/json.h"

enum dk_type {
	DK_NIL,    /* nil without a type, JSON's null: prints "<no value>", inside others "<nil>" */
	DK_NULL_POINTER, /* a nil pointer to a struct: prints "<nil>" */
	DK_BOOLEAN,
	DK_INTEGER,
	DK_REAL,
	DK_TEXT,
	DK_ARRAY,  /* a slice; null: Go's nil, which prints "[]" and is null in JSON */
	DK_DICT,   /* a map; null: the same with "map[]" */
	DK_RECORD, /* a struct */
	DK_OBJECT, /* a row of a list command: fields by functions (docker/format.h) */
};

struct dk_member;
struct dk_columns;

struct dk_value {
	uint8_t type;
	bool null;    /* DK_ARRAY, DK_DICT */
	bool text_elements; /* DK_DICT: map[string]string; a missing key is "" for index */
	bool number;  /* DK_TEXT: digits of a JSON number */
	bool boxed;   /* an element of a raw document: Go's interface {}, in some messages */
	union {
		bool boolean;
		int64_t integer;
		double real;
		const char *text;           /* n bytes, NUL behind */
		struct dk_value *items;     /* DK_ARRAY: n, room for cap */
		struct dk_member *members;  /* DK_DICT, DK_RECORD */
		const void *object;         /* DK_OBJECT: a row */
	};
	uint32_t n, cap;
	union {
		const char *go_type;        /* DK_RECORD, DK_NULL_POINTER; for messages */
		const struct dk_columns *columns; /* DK_OBJECT */
	};
};

struct dk_member {
	const char *key;     /* in JSON, and of a map; NULL: not in JSON */
	const char *go_name; /* in templates; NULL: as key */
	bool omit_empty;
	struct dk_value value;
};

static inline struct dk_value dk_nil(void) { return (struct dk_value){.type = DK_NIL}; }
static inline struct dk_value dk_bool(bool b) { return (struct dk_value){.type = DK_BOOLEAN, .boolean = b}; }
static inline struct dk_value dk_int(int64_t i) { return (struct dk_value){.type = DK_INTEGER, .integer = i}; }
static inline struct dk_value dk_real(double r) { return (struct dk_value){.type = DK_REAL, .real = r}; }
/* The text is not copied; NULL counts as "". */
struct dk_value dk_string(const char *s);
struct dk_value dk_stringn(const char *s, size_t n);
struct dk_value dk_stringf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
struct dk_value dk_null_pointer(const char *go_type);
struct dk_value dk_array(void);
struct dk_value dk_null_array(void);
struct dk_value dk_dict(void);
struct dk_value dk_null_dict(void);
struct dk_value dk_struct(const char *go_type);

/* Appends to an array. */
void dk_push(struct arena *a, struct dk_value *array, struct dk_value v);
/* Appends to a struct or sets in a map; the key is not copied. */
void dk_put(struct arena *a, struct dk_value *v, const char *key, struct dk_value member);
/* The same for a field with omitempty; and with a name of its own in Go (key NULL: not in JSON). */
void dk_put_omit(struct arena *a, struct dk_value *v, const char *key, struct dk_value member);
void dk_put_named(struct arena *a, struct dk_value *v, const char *key, const char *go_name, struct dk_value member);

/* null when v is empty and `null` is wanted (Go's nil slice), else []. */
struct dk_value dk_strings(struct arena *a, const struct strv *v, bool null_when_empty);
/* A map[string]string; each key of m once. */
struct dk_value dk_string_map(struct arena *a, const struct str_map *m, bool null_when_empty);

/* By JSON key; NULL when absent. */
const struct dk_value *dk_get(const struct dk_value *v, const char *key);

/*
 * JSON as Go's encoding/json writes it: map keys sorted, fields in order, omitempty. <, > and & are
 * \u003c... in rows of list commands only, as with Docker. indent: 4 spaces as `docker inspect`.
 */
void dk_write_json(struct strbuf *b, const struct dk_value *v, bool indent);
/* A parsed document: objects become maps (any values), numbers texts with .number. */
struct dk_value dk_from_json(struct arena *a, const struct json *j);
/* The members of a map sorted by key, as Go walks through it; malloced, NULL when there are none. */
const struct dk_member **dk_sorted_members(const struct dk_value *dict);
/* What omitempty leaves out. */
bool dk_is_empty(const struct dk_value *v);
/* What a JSON round trip makes of v: structs become maps. */
struct dk_value dk_to_raw(struct arena *a, const struct dk_value *v);

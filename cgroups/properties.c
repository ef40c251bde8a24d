/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Annotations "org.systemd.property.NAME": properties for the scope, in the text form of GVariant
 * that other runtimes take: 'text', true, 5 (int32), 1.5 (double), uint64 5, ['a', 'b'], @as [].
 * A name in "...Sec" with a number is systemd's "...USec" in microseconds.
 *
 * Each is parsed to its end before it is written, so nothing but these types leaves for systemd.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "cgroups/dbus.h"
#include "cgroups/internal.h"

#define PREFIX "org.systemd.property."
enum { NAME_MAX_LEN = 64 };

static const struct int_type {
	const char *word, *signature;
	unsigned size;
	int64_t min;
	uint64_t max;
} ints[] = {
	{"byte", "y", 1, 0, UINT8_MAX},       {"int16", "n", 2, INT16_MIN, INT16_MAX},
	{"uint16", "q", 2, 0, UINT16_MAX},    {"int32", "i", 4, INT32_MIN, INT32_MAX},
	{"uint32", "u", 4, 0, UINT32_MAX},    {"int64", "x", 8, INT64_MIN, INT64_MAX},
	{"uint64", "t", 8, 0, UINT64_MAX},
};
enum { N_INTS = sizeof(ints) / sizeof(ints[0]), INT32 = 3, UINT64 = 6 };

/* A value: its type and its bytes. */
struct value {
	const char *signature;
	struct strbuf bytes;
	bool is_number;
	double number;
};

static const char *skip(const char *s)
{
	return s + strspn(s, " \t");
}

/* Appends the text in quotes at s to b; what follows it, or NULL. */
static const char *quoted(const char *s, struct strbuf *b)
{
	char quote = *s++;

	if (quote != '\'' && quote != '"')
		return NULL;
	for (; *s && *s != quote; s++) {
		if (*s == '\\' && !*++s)
			return NULL;
		if (s[-1] == '\\' && !strchr("\\'\"", *s)) /* the rest is not for names and paths */
			return NULL;
		strbuf_addc(b, *s);
	}
	return *s == quote ? s + 1 : NULL;
}

static const char *one_string(const char *s, struct strbuf *to)
{
	auto_strbuf struct strbuf text = {0};
	const char *end = quoted(s, &text);

	if (end)
		dbus_put_string(to, strbuf_str(&text));
	return end;
}

static const char *string_array(const char *s, struct strbuf *to)
{
	uint32_t size;

	dbus_put_u32(to, 0);
	s = skip(s + 1);
	while (s && *s != ']') {
		s = one_string(s, to);
		s = s ? skip(s) : NULL;
		if (s && *s == ',')
			s = skip(s + 1);
		else if (s && *s != ']')
			s = NULL;
	}
	size = (uint32_t)(to->len - sizeof(size));
	memcpy(to->p, &size, sizeof(size));
	return s ? s + 1 : NULL;
}

static const char *integer(const char *s, const struct int_type *t, struct value *v)
{
	bool negative = *s == '-';
	const char *digits = s + negative;
	uint64_t u = 0, limit = negative ? (uint64_t)0 - (uint64_t)t->min : t->max;
	size_t n = strspn(digits, "0123456789");

	for (size_t i = 0; i < n; i++)
		if (__builtin_mul_overflow(u, 10, &u) ||
		    __builtin_add_overflow(u, (uint64_t)(digits[i] - '0'), &u))
			return NULL;
	if (n == 0 || u > limit)
		return NULL;
	v->is_number = true;
	v->number = negative ? -(double)u : (double)u;
	u = negative ? 0 - u : u;
	strbuf_add(&v->bytes, &u, t->size); /* little endian, like the message */
	v->signature = t->signature;
	return digits + n;
}

static const char *floating(const char *s, struct value *v)
{
	char text[64];
	size_t n = strspn(s, "0123456789.-");

	if (n == 0 || n >= sizeof(text))
		return NULL;
	memcpy(text, s, n);
	text[n] = '\0';
	v->number = strtod(text, NULL);
	v->is_number = true;
	v->signature = "d";
	strbuf_add(&v->bytes, &v->number, sizeof(v->number));
	return strspn(text, "0123456789") && !strchr(strchr(text, '.') + 1, '.') &&
			       !strchr(text, '-')
		       ? s + n
		       : NULL;
}

static const char *number(const char *s, struct value *v)
{
	for (size_t i = 0; i < N_INTS; i++) {
		size_t n = strlen(ints[i].word);

		if (strncmp(s, ints[i].word, n) == 0 && (s[n] == ' ' || s[n] == '\t'))
			return integer(skip(s + n), &ints[i], v);
	}
	return s[strspn(s, "-0123456789")] == '.' ? floating(s, v) : integer(s, &ints[INT32], v);
}

static const char *boolean(const char *s, struct value *v)
{
	bool is_true = str_starts(s, "true");

	v->signature = "b";
	dbus_put_u32(&v->bytes, is_true);
	return s + (is_true ? 4 : 5);
}

static bool parse_value(const char *s, struct value *v)
{
	s = skip(s);
	if (str_starts(s, "@as "))
		s = skip(s + 4);
	if (*s == '[') {
		v->signature = "as";
		s = string_array(s, &v->bytes);
	} else if (*s == '\'' || *s == '"') {
		v->signature = "s";
		s = one_string(s, &v->bytes);
	} else if (str_starts(s, "true") || str_starts(s, "false")) {
		s = boolean(s, v);
	} else {
		s = number(s, v);
	}
	return s && *skip(s) == '\0';
}

/* Seconds as microseconds. */
static bool to_usec(struct value *v)
{
	uint64_t usec;

	if (!v->is_number || v->number < 0 || v->number > 1e12)
		return false;
	usec = (uint64_t)(v->number * 1e6 + 0.5);
	v->bytes.len = 0;
	strbuf_add(&v->bytes, &usec, sizeof(usec));
	v->signature = ints[UINT64].signature;
	return true;
}

static size_t alignment(const char *signature)
{
	for (size_t i = 0; i < N_INTS; i++)
		if (str_eq(ints[i].signature, signature))
			return ints[i].size;
	return *signature == 'd' ? 8 : 4;
}

/* What makes the scope ours is not for others to set. */
static bool valid_name(const char *name)
{
	static const char *const ours[] = {"PIDs", "Slice", "Delegate", "Scope", NULL};
	size_t n = strlen(name);

	return n >= 3 && n < NAME_MAX_LEN && str_index(ours, name) < 0 &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == n;
}

static void put_property(struct strbuf *b, const char *name, const struct value *v)
{
	cg_put_property(b, name, v->signature);
	dbus_align(b, alignment(v->signature));
	strbuf_add(b, v->bytes.p, v->bytes.len);
}

static int put_one(struct strbuf *b, const struct str_pair *pair, struct err *e)
{
	const char *name = pair->key + strlen(PREFIX);
	char usec[NAME_MAX_LEN + 2], clean[80];
	struct value v = {0};
	bool good;

	if (!valid_name(name))
		return err_set(e, EINVAL, "annotations.%s: it is no property that may be set",
			       str_escape(clean, sizeof(clean), pair->key));
	good = parse_value(pair->value, &v);
	if (good && str_ends(name, "Sec") && !str_ends(name, "USec")) {
		size_t n = strlen(name) - 3;

		memcpy(usec, name, n);
		memcpy(usec + n, "USec", 5);
		name = usec;
		good = to_usec(&v);
	}
	if (good)
		put_property(b, name, &v);
	strbuf_free(&v.bytes);
	if (good)
		return 0;
	return err_set(e, EINVAL, "annotations.%s: \"%s\" is no value like 'text', true, 5, uint64 5 or "
		       "['a', 'b']", pair->key, str_escape(clean, sizeof(clean), pair->value));
}

void cg_put_property(struct strbuf *b, const char *name, const char *type)
{
	dbus_align(b, 8);
	dbus_put_string(b, name);
	dbus_put_signature(b, type);
}

int cg_put_properties(struct strbuf *b, const struct str_map *annotations, struct err *e)
{
	for (size_t i = 0; i < annotations->n; i++) {
		int r = 0;

		if (str_starts(annotations->v[i].key, PREFIX))
			r = put_one(b, &annotations->v[i], e);
		if (r < 0)
			return r;
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of templates: Go's own and those that Docker's client adds. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "docker/lists.h"
#include "docker/template-tree.h"
#include "docker/unicode.h"

typedef const struct dk_call call;
typedef struct dk_value value;

/* What pad, printf and the like may make in one call. */
#define TEXT_MAX (16 << 20)

static value text(struct arena *a, const struct strbuf *b)
{
	return dk_stringn(arena_strndup(a, strbuf_str(b), b->len), b->len);
}

bool dk_truth(const value *v)
{
	if (v->type == DK_RECORD || v->type == DK_OBJECT)
		return true;
	return !dk_is_empty(v);
}

/* ---- text ---- */

static int fn_json(call *c, value *ret, struct err *e)
{
	auto_strbuf struct strbuf b = {0};

	(void)e;
	dk_write_json(&b, &c->args[0], false);
	*ret = text(c->a, &b);
	return 0;
}

static int fn_print(call *c, value *ret, struct err *e)
{
	auto_strbuf struct strbuf b = {0};

	(void)e;
	dk_sprint(&b, c->args, c->n);
	*ret = text(c->a, &b);
	return 0;
}

static int fn_println(call *c, value *ret, struct err *e)
{
	auto_strbuf struct strbuf b = {0};

	(void)e;
	dk_sprintln(&b, c->args, c->n);
	*ret = text(c->a, &b);
	return 0;
}

static int fn_printf(call *c, value *ret, struct err *e)
{
	auto_strbuf struct strbuf b = {0};

	dk_sprintf(&b, c->args, c->n);
	if (b.len > TEXT_MAX)
		return err_set(e, EFBIG, "result too long");
	*ret = text(c->a, &b);
	return 0;
}

/* Letters of ASCII and the two-byte ranges that have simple pairs (Latin, Greek, Cyrillic). */
static void add_case(struct strbuf *b, const char *s, size_t n, uint32_t r, bool upper)
{
	uint32_t other = r;

	if (r < 0x80) {
		strbuf_addc(b, (char)(upper ? toupper((int)r) : tolower((int)r)));
		return;
	}
	if (upper && ((r >= 0xe0 && r <= 0xfe && r != 0xf7) || (r >= 0x3b1 && r <= 0x3c9 && r != 0x3c2) ||
		      (r >= 0x430 && r <= 0x44f)))
		other = r - 0x20;
	else if (!upper && ((r >= 0xc0 && r <= 0xde && r != 0xd7) || (r >= 0x391 && r <= 0x3a9) ||
			    (r >= 0x410 && r <= 0x42f)))
		other = r + 0x20;
	if (other == r) {
		strbuf_add(b, s, n);
		return;
	}
	strbuf_addc(b, (char)(0xc0 | other >> 6));
	strbuf_addc(b, (char)(0x80 | (other & 0x3f)));
}

static int change_case(call *c, value *ret, bool upper)
{
	auto_strbuf struct strbuf b = {0};
	const value *v = &c->args[0];

	for (size_t i = 0; i < v->n;) {
		struct dk_rune r = dk_rune_at(v->text + i, v->n - i);
		size_t n = r.len ? r.len : 1;

		add_case(&b, v->text + i, n, r.rune, upper);
		i += n;
	}
	*ret = text(c->a, &b);
	return 0;
}

static int fn_upper(call *c, value *ret, struct err *e)
{
	(void)e;
	return change_case(c, ret, true);
}

static int fn_lower(call *c, value *ret, struct err *e)
{
	(void)e;
	return change_case(c, ret, false);
}

/* The first letter of each word; a word goes on behind letters, digits and "_". */
static int fn_title(call *c, value *ret, struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	const value *v = &c->args[0];
	bool inside = false;

	(void)e;
	for (size_t i = 0; i < v->n; i++) {
		unsigned char ch = (unsigned char)v->text[i];

		strbuf_addc(&b, inside ? (char)ch : (char)toupper(ch));
		inside = isalnum(ch) || ch == '_' || ch >= 0x80;
	}
	*ret = text(c->a, &b);
	return 0;
}

static int fn_split(call *c, value *ret, struct err *e)
{
	const value *v = &c->args[0], *sep = &c->args[1];
	size_t from = 0;

	(void)e;
	*ret = dk_array();
	for (size_t i = 0; i + sep->n <= v->n;) {
		/* An empty separator splits behind each character. */
		struct dk_rune r = dk_rune_at(v->text + i, v->n - i);
		size_t skip = sep->n ? sep->n : r.len ? r.len : 1;

		if (sep->n ? memcmp(v->text + i, sep->text, sep->n) != 0 : i >= v->n) {
			i++;
			if (!sep->n)
				break;
			continue;
		}
		if (sep->n)
			dk_push(c->a, ret, dk_stringn(arena_strndup(c->a, v->text + from, i - from), i - from));
		else
			dk_push(c->a, ret, dk_stringn(arena_strndup(c->a, v->text + i, skip), skip));
		i += skip;
		from = i;
	}
	if (sep->n)
		dk_push(c->a, ret, dk_stringn(arena_strndup(c->a, v->text + from, v->n - from), v->n - from));
	return 0;
}

static int fn_join(call *c, value *ret, struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	const value *v = &c->args[0], *sep = &c->args[1];

	for (uint32_t i = 0; i < v->n; i++) {
		strbuf_add(&b, sep->text, i ? sep->n : 0);
		dk_print_value(&b, &v->items[i]);
		if (b.len > TEXT_MAX)
			return err_set(e, EFBIG, "result too long");
	}
	*ret = text(c->a, &b);
	return 0;
}

static int fn_pad(call *c, value *ret, struct err *e)
{
	int64_t before = c->args[1].integer, after = c->args[2].integer;
	auto_strbuf struct strbuf b = {0};

	if (before < 0 || after < 0)
		return err_set(e, EINVAL, "strings: negative Repeat count");
	if (before > TEXT_MAX || after > TEXT_MAX)
		return err_set(e, EFBIG, "result too long");
	if (!c->args[0].n) {
		*ret = c->args[0];
		return 0;
	}
	for (; before; before--)
		strbuf_addc(&b, ' ');
	strbuf_add(&b, c->args[0].text, c->args[0].n);
	for (; after; after--)
		strbuf_addc(&b, ' ');
	*ret = text(c->a, &b);
	return 0;
}

static int fn_truncate(call *c, value *ret, struct err *e)
{
	const value *v = &c->args[0];
	int64_t n = c->args[1].integer;

	*ret = *v;
	if (n < 0)
		return err_set(e, EINVAL, "runtime error: slice bounds out of range [:%lld]", (long long)n);
	if (n < v->n)
		*ret = dk_stringn(arena_strndup(c->a, v->text, (size_t)n), (size_t)n);
	return 0;
}

/* ---- escapes ---- */

static void one_text(call *c, struct strbuf *b)
{
	if (c->n == 1 && c->args[0].type == DK_TEXT)
		strbuf_add(b, c->args[0].text, c->args[0].n);
	else
		dk_sprint(b, c->args, c->n);
}

static int fn_html(call *c, value *ret, struct err *e)
{
	static const char special[] = "\"'&<>";
	static const char *const names[] = {"&#34;", "&#39;", "&amp;", "&lt;", "&gt;"};
	auto_strbuf struct strbuf in = {0}, b = {0};

	(void)e;
	one_text(c, &in);
	for (size_t i = 0; i < in.len; i++) {
		const char *p = in.p[i] ? strchr(special, in.p[i]) : NULL;

		if (p)
			strbuf_adds(&b, names[p - special]);
		else if (!in.p[i])
			strbuf_adds(&b, "\xef\xbf\xbd");
		else
			strbuf_addc(&b, in.p[i]);
	}
	*ret = text(c->a, &b);
	return 0;
}

static void js_rune(struct strbuf *b, const char *s, const struct dk_rune *r)
{
	static const char special[] = "\\'\"<>&=";
	static const char *const names[] = {"\\\\", "\\'", "\\\"", "\\u003C", "\\u003E", "\\u0026", "\\u003D"};
	const char *p = r->rune && r->rune < 0x80 ? strchr(special, (int)r->rune) : NULL;

	if (p)
		strbuf_adds(b, names[p - special]);
	else if (!r->len)
		strbuf_adds(b, "\\uFFFD");
	else if (dk_is_print(r->rune))
		strbuf_add(b, s, r->len);
	else
		strbuf_printf(b, "\\u%04X", r->rune);
}

static int fn_js(call *c, value *ret, struct err *e)
{
	auto_strbuf struct strbuf in = {0}, b = {0};

	(void)e;
	one_text(c, &in);
	for (size_t i = 0; i < in.len;) {
		struct dk_rune r = dk_rune_at(in.p + i, in.len - i);

		js_rune(&b, in.p + i, &r);
		i += r.len ? r.len : 1;
	}
	*ret = text(c->a, &b);
	return 0;
}

static int fn_urlquery(call *c, value *ret, struct err *e)
{
	auto_strbuf struct strbuf in = {0}, b = {0};

	(void)e;
	one_text(c, &in);
	for (size_t i = 0; i < in.len; i++) {
		unsigned char ch = (unsigned char)in.p[i];

		if (isalnum(ch) || (ch && strchr("-_.~", ch)))
			strbuf_addc(&b, (char)ch);
		else if (ch == ' ')
			strbuf_addc(&b, '+');
		else
			strbuf_printf(&b, "%%%02X", ch);
	}
	*ret = text(c->a, &b);
	return 0;
}

/* ---- logic ---- */

static int fn_not(call *c, value *ret, struct err *e)
{
	(void)e;
	*ret = dk_bool(!dk_truth(&c->args[0]));
	return 0;
}

static bool is_basic(const value *v)
{
	return v->type == DK_BOOLEAN || v->type == DK_INTEGER || v->type == DK_REAL || v->type == DK_TEXT;
}

static int not_comparable(const value *v, struct err *e)
{
	auto_strbuf struct strbuf b = {0};

	dk_print_value(&b, v);
	return err_set(e, EINVAL, "non-comparable type %s: %s", strbuf_str(&b), dk_type_name(v));
}

static int equal(const value *a, const value *b, bool *ret, struct err *e)
{
	bool nil = a->type == DK_NIL || a->type == DK_NULL_POINTER, other = b->type == DK_NIL || b->type == DK_NULL_POINTER;

	if (nil || other) {
		*ret = nil && other;
		return 0;
	}
	if (a->type != b->type)
		return is_basic(a) && is_basic(b) ? err_set(e, EINVAL, "incompatible types for comparison")
						  : not_comparable(is_basic(a) ? b : a, e);
	switch ((enum dk_type)a->type) {
	case DK_BOOLEAN: *ret = a->boolean == b->boolean; return 0;
	case DK_INTEGER: *ret = a->integer == b->integer; return 0;
	case DK_REAL: *ret = a->real == b->real; return 0;
	case DK_TEXT: *ret = a->n == b->n && memcmp(a->text, b->text, a->n) == 0; return 0;
	default: break;
	}
	return not_comparable(a, e);
}

/* The first is compared with each of the others. */
static int fn_eq(call *c, value *ret, struct err *e)
{
	bool same = false;

	if (c->n < 2)
		return err_set(e, EINVAL, "missing argument for comparison");
	for (size_t i = 1; i < c->n && !same; i++)
		if (equal(&c->args[0], &c->args[i], &same, e) < 0)
			return -e->code;
	*ret = dk_bool(same);
	return 0;
}

static int fn_ne(call *c, value *ret, struct err *e)
{
	bool same;

	if (equal(&c->args[0], &c->args[1], &same, e) < 0)
		return -e->code;
	*ret = dk_bool(!same);
	return 0;
}

static int less(const value *a, const value *b, bool *ret, struct err *e)
{
	size_t n = a->n < b->n ? a->n : b->n;
	int r;

	if (!is_basic(a) || !is_basic(b) || a->type == DK_BOOLEAN || b->type == DK_BOOLEAN)
		return err_set(e, EINVAL, "invalid type for comparison");
	if (a->type != b->type)
		return err_set(e, EINVAL, "incompatible types for comparison");
	if (a->type == DK_TEXT) {
		r = memcmp(a->text, b->text, n);
		*ret = r < 0 || (r == 0 && a->n < b->n);
	} else {
		*ret = a->type == DK_INTEGER ? a->integer < b->integer : a->real < b->real;
	}
	return 0;
}

static int fn_lt(call *c, value *ret, struct err *e)
{
	bool r = false;

	*ret = dk_bool(false);
	if (less(&c->args[0], &c->args[1], &r, e) < 0)
		return -e->code;
	*ret = dk_bool(r);
	return 0;
}

static int fn_gt(call *c, value *ret, struct err *e)
{
	bool below = false, same = false;

	if (less(&c->args[0], &c->args[1], &below, e) < 0 || (!below && equal(&c->args[0], &c->args[1], &same, e) < 0))
		return -e->code;
	*ret = dk_bool(!below && !same);
	return 0;
}

static int fn_le(call *c, value *ret, struct err *e)
{
	if (fn_gt(c, ret, e) < 0)
		return -e->code;
	*ret = dk_bool(!ret->boolean);
	return 0;
}

static int fn_ge(call *c, value *ret, struct err *e)
{
	if (fn_lt(c, ret, e) < 0)
		return -e->code;
	*ret = dk_bool(!ret->boolean);
	return 0;
}

/* ---- lists ---- */

static int fn_len(call *c, value *ret, struct err *e)
{
	const value *v = &c->args[0];

	if (v->type == DK_NIL)
		return err_set(e, EINVAL, "reflect: call of reflect.Value.Type on zero Value");
	if (v->type == DK_NULL_POINTER)
		return err_set(e, EINVAL, "len of nil pointer");
	if (v->type != DK_TEXT && v->type != DK_ARRAY && v->type != DK_DICT)
		return err_set(e, EINVAL, "len of type %s", dk_type_name(v));
	*ret = dk_int(v->n);
	return 0;
}

/* A number within [0, cap]. */
static int to_index(const value *v, uint32_t cap, int64_t *ret, struct err *e)
{
	if (v->type == DK_NIL)
		return err_set(e, EINVAL, "cannot index slice/array with nil");
	if (v->type != DK_INTEGER)
		return err_set(e, EINVAL, "cannot index slice/array with type %s", dk_type_name(v));
	if (v->integer < 0 || v->integer > cap)
		return err_set(e, EINVAL, "index out of range: %lld", (long long)v->integer);
	*ret = v->integer;
	return 0;
}

static int index_one(const value *item, const value *key, value *ret, struct err *e)
{
	const value *member;
	int64_t i = 0;

	switch ((enum dk_type)item->type) {
	case DK_NIL: return err_set(e, EINVAL, "index of untyped nil");
	case DK_NULL_POINTER: return err_set(e, EINVAL, "index of nil pointer");
	case DK_ARRAY:
	case DK_TEXT:
		if (to_index(key, item->n, &i, e) < 0)
			return -e->code;
		if (i == item->n)
			return err_set(e, EINVAL, "reflect: %s index out of range",
				       item->type == DK_ARRAY ? "slice" : "string");
		*ret = item->type == DK_ARRAY ? item->items[i] : dk_int((unsigned char)item->text[i]);
		return 0;
	case DK_DICT:
		if (key->type != DK_TEXT)
			return err_set(e, EINVAL, "value has type %s; should be string", dk_type_name(key));
		member = dk_get(item, key->text);
		*ret = member ? *member : item->text_elements ? dk_string("") : dk_nil();
		return 0;
	default: break;
	}
	return err_set(e, EINVAL, "can't index item of type %s", dk_type_name(item));
}

static int fn_index(call *c, value *ret, struct err *e)
{
	value v = c->args[0];

	if (v.type == DK_NIL)
		return err_set(e, EINVAL, "index of untyped nil");
	for (size_t i = 1; i < c->n; i++) {
		value next;

		if (index_one(&v, &c->args[i], &next, e) < 0)
			return -e->code;
		v = next;
	}
	*ret = v;
	return 0;
}

static int fn_slice(call *c, value *ret, struct err *e)
{
	const value *v = &c->args[0];
	int64_t at[3] = {0, v->n, v->n};

	if (v->type == DK_NIL)
		return err_set(e, EINVAL, "slice of untyped nil");
	if (c->n > 4)
		return err_set(e, EINVAL, "too many slice indexes: %zu", c->n - 1);
	if (v->type != DK_TEXT && v->type != DK_ARRAY)
		return err_set(e, EINVAL, "can't slice item of type %s", dk_type_name(v));
	if (v->type == DK_TEXT && c->n == 4)
		return err_set(e, EINVAL, "cannot 3-index slice a string");
	for (size_t i = 1; i < c->n; i++)
		if (to_index(&c->args[i], v->n, &at[i - 1], e) < 0)
			return -e->code;
	if (at[0] > at[1])
		return err_set(e, EINVAL, "invalid slice index: %lld > %lld", (long long)at[0], (long long)at[1]);
	if (at[1] > at[2])
		return err_set(e, EINVAL, "invalid slice index: %lld > %lld", (long long)at[1], (long long)at[2]);
	*ret = *v;
	ret->n = ret->cap = (uint32_t)(at[1] - at[0]);
	if (v->type == DK_TEXT)
		ret->text = arena_strndup(c->a, v->text + at[0], ret->n);
	else
		ret->items = v->items + at[0];
	return 0;
}

/* In a table's header functions leave the header as it is. */
static int fn_same(call *c, value *ret, struct err *e)
{
	(void)e;
	*ret = c->args[0];
	return 0;
}

static const struct dk_function_row own[] = {
	{"json", fn_json, "v"}, {"split", fn_split, "ss"}, {"join", fn_join, "ls"}, {"title", fn_title, "s"},
	{"lower", fn_lower, "s"}, {"upper", fn_upper, "s"}, {"pad", fn_pad, "sii"}, {"truncate", fn_truncate, "si"},
};
static const struct dk_function_row header[] = {
	{"json", fn_same, "v"}, {"title", fn_same, "v"}, {"lower", fn_same, "v"}, {"upper", fn_same, "v"},
	{"truncate", fn_same, "vi"}, {"split", fn_same, "vs"}, {"join", fn_same, "vs"}, {"pad", fn_pad, "sii"},
};
static const struct dk_function_row common[] = {
	{"and", NULL, "vv*"}, {"or", NULL, "vv*"}, {"not", fn_not, "v"}, {"html", fn_html, "v*"}, {"js", fn_js, "v*"},
	{"urlquery", fn_urlquery, "v*"}, {"index", fn_index, "vv*"}, {"slice", fn_slice, "vv*"}, {"len", fn_len, "v"},
	{"print", fn_print, "v*"}, {"println", fn_println, "v*"}, {"printf", fn_printf, "sv*"},
	{"eq", fn_eq, "vv*"}, {"ne", fn_ne, "vv"}, {"lt", fn_lt, "vv"}, {"le", fn_le, "vv"}, {"gt", fn_gt, "vv"},
	{"ge", fn_ge, "vv"},
};

static const struct dk_function_row *find(const struct dk_function_row *v, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(v[i].name, name) == 0)
			return &v[i];
	return NULL;
}

const struct dk_function_row *dk_template_function(bool in_header, const char *name)
{
	const struct dk_function_row *f = find(common, sizeof(common) / sizeof(common[0]), name);

	if (f)
		return f;
	return in_header ? find(header, sizeof(header) / sizeof(header[0]), name)
			 : find(own, sizeof(own) / sizeof(own[0]), name);
}

bool dk_template_has_function(const struct dk_template *t, const char *name)
{
	return dk_template_function(t->header, name) != NULL;
}

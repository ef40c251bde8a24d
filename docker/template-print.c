/* SPDX-License-Identifier: Apache-2.0 */
/* Go's fmt, as far as values of documents go: %v, %s, %q, %d, %x, %t, %f and the like, with flags. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "docker/format.h"
#include "docker/lists.h"
#include "docker/template-tree.h"
#include "docker/unicode.h"

const char *dk_type_name(const struct dk_value *v)
{
	switch ((enum dk_type)v->type) {
	case DK_NIL: return "<nil>";
	case DK_BOOLEAN: return "bool";
	case DK_INTEGER: return "int";
	case DK_REAL: return "float64";
	case DK_TEXT: return v->number ? "json.Number" : "string";
	case DK_ARRAY: return "[]interface {}";
	case DK_DICT: return v->text_elements ? "map[string]string" : "map[string]interface {}";
	case DK_NULL_POINTER:
	case DK_RECORD: return v->go_type;
	case DK_OBJECT: return v->columns->go_type;
	}
	return "?";
}

/* %v of a float: the shortest that reads back, with an exponent below -4 and from 6 on. */
static void print_real(struct strbuf *b, double v)
{
	char text[64];
	int exponent, digits = 0;

	if (!isfinite(v)) {
		strbuf_adds(b, isnan(v) ? "NaN" : v < 0 ? "-Inf" : "+Inf");
		return;
	}
	do
		snprintf(text, sizeof(text), "%.*e", digits, v);
	while (strtod(text, NULL) != v && digits++ < 17);
	exponent = atoi(strchr(text, 'e') + 1);
	if (exponent >= -4 && exponent < 6) {
		strbuf_printf(b, "%.*f", digits > exponent ? digits - exponent : 0, v);
		return;
	}
	strbuf_adds(b, text);
}

static void print_value(struct strbuf *b, const struct dk_value *v, bool inner);

static void print_items(struct strbuf *b, const struct dk_value *v)
{
	strbuf_addc(b, '[');
	for (uint32_t i = 0; i < v->n; i++) {
		strbuf_adds(b, i ? " " : "");
		print_value(b, &v->items[i], true);
	}
	strbuf_addc(b, ']');
}

static void print_dict(struct strbuf *b, const struct dk_value *v)
{
	auto_free const struct dk_member **sorted = dk_sorted_members(v);

	strbuf_adds(b, "map[");
	for (uint32_t i = 0; i < v->n; i++) {
		strbuf_printf(b, "%s%s:", i ? " " : "", sorted[i]->key);
		print_value(b, &sorted[i]->value, true);
	}
	strbuf_addc(b, ']');
}

static void print_value(struct strbuf *b, const struct dk_value *v, bool inner)
{
	switch ((enum dk_type)v->type) {
	case DK_NIL:
	case DK_NULL_POINTER: strbuf_adds(b, "<nil>"); break;
	case DK_BOOLEAN: strbuf_adds(b, v->boolean ? "true" : "false"); break;
	case DK_INTEGER: strbuf_printf(b, "%lld", (long long)v->integer); break;
	case DK_REAL: print_real(b, v->real); break;
	case DK_TEXT: strbuf_add(b, v->text, v->n); break;
	case DK_ARRAY: print_items(b, v); break;
	case DK_DICT: print_dict(b, v); break;
	case DK_RECORD:
		strbuf_addc(b, '{');
		for (uint32_t i = 0; i < v->n; i++) {
			strbuf_adds(b, i ? " " : "");
			print_value(b, &v->members[i].value, true);
		}
		strbuf_addc(b, '}');
		break;
	case DK_OBJECT: strbuf_adds(b, inner ? "{}" : "&{}"); break;
	}
}

void dk_print_value(struct strbuf *b, const struct dk_value *v)
{
	print_value(b, v, false);
}

void dk_sprint(struct strbuf *b, const struct dk_value *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i && v[i].type != DK_TEXT && v[i - 1].type != DK_TEXT)
			strbuf_addc(b, ' ');
		dk_print_value(b, &v[i]);
	}
}

void dk_sprintln(struct strbuf *b, const struct dk_value *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		strbuf_adds(b, i ? " " : "");
		dk_print_value(b, &v[i]);
	}
	strbuf_addc(b, '\n');
}

/* ---- Sprintf ---- */

enum { WIDTH_MAX = 1000000 };

struct verb {
	bool minus, plus, sharp, space, zero;
	int width, precision; /* -1: none */
	char letter;
};

/* Spaces or zeros up to the width; zeros go behind a sign. */
static void pad(struct strbuf *b, const struct verb *f, const char *s, size_t n)
{
	size_t count = dk_rune_count(s, n), width = f->width > 0 ? (size_t)f->width : 0;
	bool zeros = f->zero && !f->minus;
	size_t sign = zeros && n && (*s == '-' || *s == '+') ? 1 : 0;

	strbuf_add(b, s, sign);
	for (size_t i = count; i < width && !f->minus; i++)
		strbuf_addc(b, zeros ? '0' : ' ');
	strbuf_add(b, s + sign, n - sign);
	for (size_t i = count; i < width && f->minus; i++)
		strbuf_addc(b, ' ');
}

/* The bytes of the first `count` runes. */
static size_t rune_bytes(const char *s, size_t n, size_t count)
{
	size_t i = 0;

	for (; count && i < n; count--) {
		struct dk_rune r = dk_rune_at(s + i, n - i);

		i += r.len ? r.len : 1;
	}
	return i;
}

static void format_text(struct strbuf *b, const struct verb *f, const char *s, size_t n)
{
	auto_strbuf struct strbuf t = {0};

	if (f->precision >= 0)
		n = rune_bytes(s, n, (size_t)f->precision);
	if (f->letter == 'q')
		dk_quote(&t, s, n);
	else if (f->letter == 'x' || f->letter == 'X')
		for (size_t i = 0; i < n; i++)
			strbuf_printf(&t, f->letter == 'x' ? "%02x" : "%02X", (unsigned char)s[i]);
	else
		strbuf_add(&t, s, n);
	pad(b, f, strbuf_str(&t), t.len);
}

static void digits_of(struct strbuf *t, uint64_t v, unsigned base, bool upper)
{
	char text[65], *p = text + sizeof(text);

	do
		*--p = (upper ? "0123456789ABCDEF" : "0123456789abcdef")[v % base];
	while (v /= base);
	strbuf_add(t, p, (size_t)(text + sizeof(text) - p));
}

static void format_int(struct strbuf *b, const struct verb *f, int64_t v)
{
	auto_strbuf struct strbuf t = {0}, digits = {0};
	unsigned base = strchr("xX", f->letter) ? 16 : f->letter == 'o' ? 8 : f->letter == 'b' ? 2 : 10;
	uint64_t absolute = v < 0 ? -(uint64_t)v : (uint64_t)v;

	strbuf_adds(&t, v < 0 ? "-" : f->plus ? "+" : f->space ? " " : "");
	if (f->sharp && base != 10)
		strbuf_adds(&t, base == 16 ? (f->letter == 'x' ? "0x" : "0X") : base == 8 ? "0" : "0b");
	digits_of(&digits, absolute, base, f->letter == 'X');
	for (size_t i = digits.len; f->precision > 0 && i < (size_t)f->precision; i++)
		strbuf_addc(&t, '0');
	strbuf_add(&t, digits.p, digits.len);
	pad(b, f, t.p, t.len);
}

static void format_rune(struct strbuf *b, const struct verb *f, int64_t v)
{
	char text[16];
	size_t n;

	if (f->letter == 'U') {
		n = (size_t)snprintf(text, sizeof(text), "U+%04llX", (unsigned long long)v);
	} else {
		uint32_t r = v < 0 || v > 0x10ffff || (v >= 0xd800 && v < 0xe000) ? 0xfffd : (uint32_t)v;

		n = r < 0x80 ? 1 : r < 0x800 ? 2 : r < 0x10000 ? 3 : 4;
		for (size_t i = n; n > 1 && i > 1; i--, r >>= 6)
			text[i - 1] = (char)(0x80 | (r & 0x3f));
		text[0] = (char)(n == 1 ? r : n == 2 ? (0xc0 | r) : n == 3 ? (0xe0 | r) : (0xf0 | r));
	}
	pad(b, f, text, n);
}

static void format_real(struct strbuf *b, const struct verb *f, double v)
{
	auto_strbuf struct strbuf t = {0};
	/* At most the digits that a double has, or a caller could ask for gigabytes. */
	int precision = f->precision > 1000 ? 1000 : f->precision;

	if (f->plus && v >= 0)
		strbuf_addc(&t, '+');
	if ((f->letter == 'v' || f->letter == 'g' || f->letter == 'G') && precision < 0)
		print_real(&t, v);
	else if (f->letter == 'e' || f->letter == 'E')
		strbuf_printf(&t, f->letter == 'e' ? "%.*e" : "%.*E", precision < 0 ? 6 : precision, v);
	else if (f->letter == 'f' || f->letter == 'F')
		strbuf_printf(&t, "%.*f", precision < 0 ? 6 : precision, v);
	else
		strbuf_printf(&t, "%.*g", precision < 0 ? 6 : precision, v);
	pad(b, f, t.p, t.len);
}

/* "%!d(string=x)" */
static void bad_verb(struct strbuf *b, const struct verb *f, const struct dk_value *v)
{
	strbuf_printf(b, "%%!%c(", f->letter);
	if (v->type == DK_NIL) {
		strbuf_adds(b, "<nil>");
	} else {
		strbuf_printf(b, "%s=", dk_type_name(v));
		dk_print_value(b, v);
	}
	strbuf_addc(b, ')');
}

static void format_value(struct strbuf *b, const struct verb *f, const struct dk_value *v);

/* A list or a map: the verb is for each element. */
static void format_list(struct strbuf *b, const struct verb *f, const struct dk_value *v)
{
	auto_free const struct dk_member **sorted = v->type == DK_DICT ? dk_sorted_members(v) : NULL;
	bool record = v->type == DK_RECORD;

	strbuf_adds(b, v->type == DK_DICT ? "map[" : record ? "{" : "[");
	for (uint32_t i = 0; i < v->n; i++) {
		strbuf_adds(b, i ? " " : "");
		if (sorted) {
			const struct dk_value key = dk_string(sorted[i]->key);

			format_value(b, f, &key);
			strbuf_addc(b, ':');
		}
		format_value(b, f, sorted ? &sorted[i]->value : record ? &v->members[i].value : &v->items[i]);
	}
	strbuf_adds(b, record ? "}" : "]");
}

static void format_value(struct strbuf *b, const struct verb *f, const struct dk_value *v)
{
	auto_strbuf struct strbuf t = {0};

	if (f->letter == 'T') {
		format_text(b, &(struct verb){.width = f->width, .minus = f->minus, .precision = -1},
			    dk_type_name(v), strlen(dk_type_name(v)));
	} else if (v->type == DK_TEXT && strchr("svqxX", f->letter)) {
		format_text(b, f, v->text, v->n);
	} else if (v->type == DK_INTEGER && strchr("dvxXob", f->letter)) {
		format_int(b, f, v->integer);
	} else if (v->type == DK_INTEGER && strchr("cU", f->letter)) {
		format_rune(b, f, v->integer);
	} else if (v->type == DK_REAL && strchr("veEfFgG", f->letter)) {
		format_real(b, f, v->real);
	} else if (v->type == DK_BOOLEAN && strchr("tv", f->letter)) {
		format_text(b, &(struct verb){.width = f->width, .minus = f->minus, .precision = -1, .letter = 'v'},
			    v->boolean ? "true" : "false", v->boolean ? 4 : 5);
	} else if (v->type == DK_ARRAY || v->type == DK_DICT || v->type == DK_RECORD) {
		format_list(b, f, v);
	} else if (f->letter == 'v') {
		dk_print_value(&t, v);
		pad(b, f, strbuf_str(&t), t.len);
	} else {
		bad_verb(b, f, v);
	}
}

struct formatter {
	const char *s, *end;
	const struct dk_value *v;
	size_t i, n;
	bool reordered; /* then nothing counts as left over */
};

/* A width or a precision: digits, or "*" for an argument. */
static int take_number(struct formatter *f, int none)
{
	int v = 0;

	if (f->s < f->end && *f->s == '*') {
		f->s++;
		if (f->i < f->n && f->v[f->i].type == DK_INTEGER) {
			int64_t given = f->v[f->i++].integer;

			return given > WIDTH_MAX || given < -WIDTH_MAX ? none : (int)given;
		}
		f->i++;
		return none;
	}
	if (f->s >= f->end || *f->s < '0' || *f->s > '9')
		return none;
	for (; f->s < f->end && *f->s >= '0' && *f->s <= '9'; f->s++)
		v = v < WIDTH_MAX ? v * 10 + (*f->s - '0') : v;
	return v > WIDTH_MAX ? none : v;
}

/* "[2]": the number of the argument to go on with. */
static void take_index(struct formatter *f)
{
	const char *s = f->s + 1;
	size_t i = 0;

	if (f->s >= f->end || *f->s != '[')
		return;
	for (; s < f->end && *s >= '0' && *s <= '9'; s++)
		i = i < WIDTH_MAX ? i * 10 + (size_t)(*s - '0') : i;
	if (s >= f->end || *s != ']' || !i)
		return;
	f->s = s + 1;
	f->i = i;
	f->reordered = true;
}

static struct verb take_verb(struct formatter *f)
{
	struct verb v = {.precision = -1};

	for (; f->s < f->end && strchr("-+# 0", *f->s) && *f->s; f->s++) {
		v.minus |= *f->s == '-';
		v.plus |= *f->s == '+';
		v.sharp |= *f->s == '#';
		v.space |= *f->s == ' ';
		v.zero |= *f->s == '0';
	}
	take_index(f);
	v.width = take_number(f, 0);
	if (v.width < 0) {
		v.minus = true;
		v.width = -v.width;
	}
	if (f->s < f->end && *f->s == '.') {
		f->s++;
		take_index(f);
		v.precision = take_number(f, 0);
	}
	take_index(f);
	if (f->s < f->end)
		v.letter = *f->s++;
	return v;
}

void dk_sprintf(struct strbuf *b, const struct dk_value *v, size_t n)
{
	struct formatter f = {.s = v[0].text, .end = v[0].text + v[0].n, .v = v, .i = 1, .n = n};

	while (f.s < f.end) {
		const char *percent = memchr(f.s, '%', (size_t)(f.end - f.s));
		struct verb verb;

		strbuf_add(b, f.s, (size_t)((percent ? percent : f.end) - f.s));
		if (!percent)
			break;
		f.s = percent + 1;
		verb = take_verb(&f);
		if (!verb.letter)
			strbuf_adds(b, "%!(NOVERB)");
		else if (verb.letter == '%')
			strbuf_addc(b, '%');
		else if (f.i >= n)
			strbuf_printf(b, "%%!%c(MISSING)", verb.letter);
		else
			format_value(b, &verb, &v[f.i++]);
	}
	if (f.i < n && !f.reordered) {
		strbuf_adds(b, "%!(EXTRA ");
		for (size_t i = f.i; i < n; i++) {
			strbuf_adds(b, i > f.i ? ", " : "");
			if (v[i].type == DK_NIL) {
				strbuf_adds(b, "<nil>");
				continue;
			}
			strbuf_printf(b, "%s=", dk_type_name(&v[i]));
			dk_print_value(b, &v[i]);
		}
		strbuf_addc(b, ')');
	}
}

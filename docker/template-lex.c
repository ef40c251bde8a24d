/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A template's text as tokens. All of them at once: formats are short, and the parser looks ahead.
 * A mistake becomes a token of its own, so that the parser reports what comes first.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "docker/lists.h"
#include "docker/template-tree.h"
#include "docker/unicode.h"

struct lexer {
	struct arena *a;
	const char *text;
	size_t pos, n;
	struct dk_tokens *out;
	int parens;
};

static void emit(struct lexer *l, enum dk_token_type type, size_t from)
{
	*dk_list_add(l->a, l->out) = (struct dk_token){.type = type, .text = l->text + from, .n = l->pos - from, .pos = from};
}

/* Always false, so that a step can `return mistake(...)`. */
static bool mistake(struct lexer *l, size_t from, const char *text)
{
	*dk_list_add(l->a, l->out) = (struct dk_token){.type = DK_T_ERROR, .text = text, .n = strlen(text), .pos = from};
	return false;
}

static bool at(const struct lexer *l, const char *s)
{
	return strncmp(l->text + l->pos, s, strlen(s)) == 0;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_name(char c)
{
	return c == '_' || isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* "{{- " cuts blanks off before it, " -}}" those behind. */
static bool trims_left(const struct lexer *l)
{
	return l->text[l->pos] == '-' && is_space(l->text[l->pos + 1]);
}

/* The closing marker at the position: its length, *trim when it cuts. 0: none. */
static size_t right_marker(const struct lexer *l, bool *trim)
{
	*trim = is_space(l->text[l->pos]) && l->text[l->pos + 1] == '-' && strncmp(l->text + l->pos + 2, "}}", 2) == 0;
	if (*trim)
		return 4;
	return at(l, "}}") ? 2 : 0;
}

static void skip_spaces(struct lexer *l)
{
	while (is_space(l->text[l->pos]))
		l->pos++;
}

static bool comment(struct lexer *l, size_t left)
{
	const char *end = strstr(l->text + l->pos + 2, "*/");
	bool trim;
	size_t n;

	if (!end)
		return mistake(l, left, "unclosed comment");
	l->pos = (size_t)(end - l->text) + 2;
	n = right_marker(l, &trim);
	if (!n)
		return mistake(l, left, "comment ends before closing delimiter");
	l->pos += n;
	if (trim)
		skip_spaces(l);
	return true;
}

static bool quoted(struct lexer *l, size_t from, char quote, enum dk_token_type type, const char *why)
{
	for (; l->text[l->pos] && l->text[l->pos] != quote; l->pos++) {
		if (quote != '`' && l->text[l->pos] == '\n')
			return mistake(l, from, why);
		if (quote != '`' && l->text[l->pos] == '\\' && l->text[l->pos + 1] && l->text[l->pos + 1] != '\n')
			l->pos++;
	}
	if (!l->text[l->pos])
		return mistake(l, from, why);
	l->pos++;
	emit(l, type, from);
	return true;
}

/* Does a word end here? */
static bool at_terminator(const struct lexer *l)
{
	char c = l->text[l->pos];

	return !c || is_space(c) || strchr(".,|:()", c) || at(l, "}}");
}

static bool bad_character(struct lexer *l, size_t from, const char *format)
{
	struct dk_rune r = dk_rune_at(l->text + l->pos, l->n - l->pos);
	char text[80];

	snprintf(text, sizeof(text), "%s U+%04X '%.*s'", format, r.rune, r.len ? (int)r.len : 1, l->text + l->pos);
	return mistake(l, from, arena_strdup(l->a, text));
}

static enum dk_token_type word_type(const char *s, size_t n)
{
	static const struct { const char *word; enum dk_token_type type; } words[] = {
		{"block", DK_T_BLOCK}, {"break", DK_T_BREAK}, {"continue", DK_T_CONTINUE}, {"define", DK_T_DEFINE},
		{"else", DK_T_ELSE}, {"end", DK_T_END}, {"if", DK_T_IF}, {"range", DK_T_RANGE},
		{"nil", DK_T_NIL}, {"template", DK_T_TEMPLATE}, {"with", DK_T_WITH}, {"true", DK_T_BOOL},
		{"false", DK_T_BOOL},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i].word) == n && memcmp(words[i].word, s, n) == 0)
			return words[i].type;
	return DK_T_IDENTIFIER;
}

static bool word(struct lexer *l, size_t from, enum dk_token_type type)
{
	while (is_name(l->text[l->pos]))
		l->pos++;
	if (!at_terminator(l))
		return bad_character(l, from, "bad character");
	emit(l, type == DK_T_IDENTIFIER ? word_type(l->text + from, l->pos - from) : type, from);
	return true;
}

/* The text of a Go number, as far as its letters go; the parser reads the value. */
static void skip_number(struct lexer *l)
{
	const char *digits = "0123456789_", *s = l->text;

	l->pos += s[l->pos] == '+' || s[l->pos] == '-';
	if (s[l->pos] == '0' && s[l->pos + 1] && strchr("xXoObB", s[l->pos + 1])) {
		digits = strchr("xX", s[l->pos + 1]) ? "0123456789abcdefABCDEF_" : strchr("oO", s[l->pos + 1]) ? "01234567_" : "01_";
		l->pos += 2;
	}
	l->pos += strspn(s + l->pos, digits);
	if (s[l->pos] == '.')
		l->pos += 1 + strspn(s + l->pos + 1, digits);
	if (s[l->pos] && strchr(strlen(digits) > 12 ? "pP" : "eE", s[l->pos])) {
		l->pos++;
		l->pos += s[l->pos] == '+' || s[l->pos] == '-';
		l->pos += strspn(s + l->pos, "0123456789_");
	}
}

static bool number(struct lexer *l, size_t from)
{
	l->pos = from;
	skip_number(l);
	if (is_name(l->text[l->pos])) {
		l->pos++;
		return mistake(l, from, arena_printf(l->a, "bad number syntax: \"%.*s\"", (int)(l->pos - from), l->text + from));
	}
	emit(l, DK_T_NUMBER, from);
	return true;
}

static bool paren(struct lexer *l, size_t from, char c)
{
	l->parens += c == '(' ? 1 : -1;
	if (l->parens < 0)
		return mistake(l, from, "unexpected right paren");
	emit(l, c == '(' ? DK_T_OPEN : DK_T_CLOSE, from);
	return true;
}

/* What begins with a dot: a field, the dot, a number. */
static bool dotted(struct lexer *l, size_t from)
{
	if (isdigit((unsigned char)l->text[l->pos]))
		return number(l, from);
	if (at_terminator(l)) {
		emit(l, DK_T_DOT, from);
		return true;
	}
	return word(l, from, DK_T_FIELD);
}

/* The last blank before "-}}" belongs to that. */
static bool blanks(struct lexer *l, size_t from)
{
	while (is_space(l->text[l->pos]))
		l->pos++;
	if (strncmp(l->text + l->pos, "-}}", 3) == 0)
		l->pos--;
	if (l->pos > from)
		emit(l, DK_T_SPACE, from);
	return true;
}

/* One token inside of an action that is not its end. */
static bool inside(struct lexer *l)
{
	size_t from = l->pos;
	char c = l->text[l->pos++];

	if (is_space(c))
		return blanks(l, from);
	switch (c) {
	case '=': emit(l, DK_T_ASSIGN, from); return true;
	case ':':
		if (l->text[l->pos] != '=')
			return mistake(l, from, "expected :=");
		l->pos++;
		emit(l, DK_T_DECLARE, from);
		return true;
	case '|': emit(l, DK_T_PIPE, from); return true;
	case '"': return quoted(l, from, '"', DK_T_STRING, "unterminated quoted string");
	case '`': return quoted(l, from, '`', DK_T_RAW_STRING, "unterminated raw quoted string");
	case '\'': return quoted(l, from, '\'', DK_T_CHAR_CONSTANT, "unterminated character constant");
	case '$': return word(l, from, DK_T_VARIABLE);
	case '.': return dotted(l, from);
	case '(':
	case ')': return paren(l, from, c);
	}
	if (c == '+' || c == '-' || isdigit((unsigned char)c))
		return number(l, from);
	if (is_name(c))
		return word(l, from, DK_T_IDENTIFIER);
	if (isprint((unsigned char)c)) {
		emit(l, DK_T_CHAR, from);
		return true;
	}
	l->pos = from;
	return bad_character(l, from, "unrecognized character in action:");
}

/* From behind "{{" to behind "}}". */
static bool action(struct lexer *l)
{
	size_t left = l->pos;
	bool trim;
	size_t n;

	l->pos += 2;
	if (trims_left(l))
		l->pos += 2;
	if (at(l, "/*"))
		return comment(l, left);
	*dk_list_add(l->a, l->out) = (struct dk_token){.type = DK_T_LEFT, .text = "{{", .n = 2, .pos = left};
	l->parens = 0;
	for (;;) {
		n = right_marker(l, &trim);
		if (n && l->parens > 0)
			return mistake(l, l->pos, "unclosed left paren");
		if (n) {
			size_t from = l->pos;

			l->pos += n;
			emit(l, DK_T_RIGHT, from);
			if (trim)
				skip_spaces(l);
			return true;
		}
		if (l->pos >= l->n)
			return mistake(l, l->pos, "unclosed action");
		if (!inside(l))
			return false;
	}
}

void dk_template_tokens(struct arena *a, const char *text, struct dk_tokens *ret)
{
	struct lexer l = {.a = a, .text = text, .n = strlen(text), .out = ret};

	while (l.pos < l.n) {
		const char *left = strstr(text + l.pos, "{{");
		size_t from = l.pos, end = left ? (size_t)(left - text) : l.n, cut = end;

		if (left && left[2] == '-' && is_space(left[3]))
			while (cut > from && is_space(text[cut - 1]))
				cut--;
		l.pos = cut;
		if (cut > from)
			emit(&l, DK_T_TEXT, from);
		l.pos = end;
		if (left && !action(&l))
			return;
	}
	emit(&l, DK_T_EOF, l.n);
}

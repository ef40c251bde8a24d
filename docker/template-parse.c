/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens to a tree, with Go's messages. Nesting is bounded, for the parser and the execution recurse. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "docker/lists.h"
#include "docker/template-tree.h"
#include "docker/unicode.h"
#include "docker/units.h"

enum { DEPTH_MAX = 200 };

struct parser {
	struct dk_template *t;
	struct arena *a;
	struct dk_tokens tokens;
	size_t i, last;    /* the next token, the last one read */
	struct strv vars;  /* names in scope; n is cut back at the end of one */
	unsigned depth, ranges;
	struct err *e;
};

typedef struct dk_node *node;

static node new_node(struct parser *p, enum dk_node_type type, size_t pos)
{
	node n = arena_new_of(p->a, struct dk_node);

	n->type = type;
	n->pos = pos;
	return n;
}

/* Always NULL, so that a step can `return fail(...)`. The line is that of the last token. */
__attribute__((format(printf, 2, 3))) static node fail(struct parser *p, const char *fmt, ...)
{
	size_t pos = p->tokens.v[p->last].pos, line = 1;
	char text[400];
	va_list ap;

	if (p->e->code)
		return NULL;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (size_t i = 0; i < pos && p->t->text[i]; i++)
		line += p->t->text[i] == '\n';
	err_set(p->e, EINVAL, "template: %s:%zu: %s", p->t->name, line, text);
	return NULL;
}

static const struct dk_token *peek(const struct parser *p)
{
	return &p->tokens.v[p->i];
}

/* The last token stays the next one for ever. */
static const struct dk_token *next(struct parser *p)
{
	const struct dk_token *t = &p->tokens.v[p->i];

	p->last = p->i;
	if (p->i + 1 < p->tokens.n)
		p->i++;
	return t;
}

static const struct dk_token *peek_word(struct parser *p)
{
	while (peek(p)->type == DK_T_SPACE)
		p->i++;
	return peek(p);
}

static const struct dk_token *next_word(struct parser *p)
{
	peek_word(p);
	return next(p);
}

static node unexpected(struct parser *p, const struct dk_token *t, const char *context)
{
	char *text;

	switch (t->type) {
	case DK_T_ERROR:
		return fail(p, "%s", t->text);
	case DK_T_EOF:
		return fail(p, "unexpected EOF");
	default:
		break;
	}
	text = arena_strndup(p->a, t->text, t->n);
	if (t->type >= DK_T_DOT)
		return fail(p, "unexpected <%s> in %s", text, context);
	if (dk_rune_count(text, t->n) > 10)
		return fail(p, "unexpected %s... in %s", dk_quoted(p->a, arena_strndup(p->a, text, 10)), context);
	return fail(p, "unexpected %s in %s", dk_quoted(p->a, text), context);
}

static const struct dk_token *expect(struct parser *p, enum dk_token_type type, const char *context)
{
	const struct dk_token *t = next_word(p);

	if (t->type == type)
		return t;
	unexpected(p, t, context);
	return NULL;
}

/* ---- terms ---- */

static void append_rune(struct strbuf *b, uint32_t r)
{
	if (r < 0x80) {
		strbuf_addc(b, (char)r);
		return;
	}
	if (r < 0x800) {
		strbuf_addc(b, (char)(0xc0 | r >> 6));
	} else {
		if (r < 0x10000) {
			strbuf_addc(b, (char)(0xe0 | r >> 12));
		} else {
			strbuf_addc(b, (char)(0xf0 | r >> 18));
			strbuf_addc(b, (char)(0x80 | (r >> 12 & 0x3f)));
		}
		strbuf_addc(b, (char)(0x80 | (r >> 6 & 0x3f)));
	}
	strbuf_addc(b, (char)(0x80 | (r & 0x3f)));
}

/* n digits of a base; false when they are none. */
static bool take_digits(const char **s, const char *end, unsigned base, int n, uint32_t *ret)
{
	*ret = 0;
	for (; n; n--, (*s)++) {
		const char *digits = "0123456789abcdef";
		const char *d = *s < end && **s ? strchr(digits, tolower((unsigned char)**s)) : NULL;

		if (!d || (unsigned)(d - digits) >= base)
			return false;
		*ret = *ret * base + (uint32_t)(d - digits);
	}
	return true;
}

/* One escape behind its backslash, appended to b. */
static bool take_escape(const char **s, const char *end, struct strbuf *b)
{
	static const char letters[] = "abfnrtv\\\"'", values[] = "\a\b\f\n\r\t\v\\\"'";
	char c = *(*s)++;
	const char *p = c ? strchr(letters, c) : NULL;
	uint32_t r;

	if (p) {
		strbuf_addc(b, values[p - letters]);
		return true;
	}
	if (c == 'x' || (c >= '0' && c <= '7')) {
		*s -= c != 'x';
		if (!take_digits(s, end, c == 'x' ? 16 : 8, c == 'x' ? 2 : 3, &r) || r > 255)
			return false;
		strbuf_addc(b, (char)r);
		return true;
	}
	if ((c != 'u' && c != 'U') || !take_digits(s, end, 16, c == 'u' ? 4 : 8, &r) || r > 0x10ffff ||
	    (r >= 0xd800 && r < 0xe000))
		return false;
	append_rune(b, r);
	return true;
}

static bool unquote(const struct dk_token *t, struct strbuf *b)
{
	const char *s = t->text + 1, *end = t->text + t->n - 1;

	if (t->type == DK_T_RAW_STRING) {
		for (; s < end; s++)
			if (*s != '\r')
				strbuf_addc(b, *s);
		return true;
	}
	while (s < end)
		if (*s != '\\')
			strbuf_addc(b, *s++);
		else if (s++, !take_escape(&s, end, b))
			return false;
	return true;
}

static node text_constant(struct parser *p, const struct dk_token *t)
{
	auto_strbuf struct strbuf b = {0};
	node n = new_node(p, DK_N_STRING, t->pos);

	n->text = arena_strndup(p->a, t->text, t->n);
	if (!unquote(t, &b))
		return fail(p, "invalid syntax");
	n->value = dk_stringn(arena_strndup(p->a, strbuf_str(&b), b.len), b.len);
	return n;
}

/* 'x' counts as its number. */
static bool char_constant(struct arena *a, const struct dk_token *t, int64_t *ret)
{
	auto_strbuf struct strbuf b = {0};
	struct dk_rune r;

	(void)a;
	if (!unquote(t, &b) || !b.len)
		return false;
	r = dk_rune_at(b.p, b.len);
	*ret = r.rune;
	return r.len == b.len;
}

static node number_constant(struct parser *p, const struct dk_token *t)
{
	node n = new_node(p, DK_N_NUMBER, t->pos);
	struct err ignored = {0};
	char *end;
	int64_t i;
	double d;

	n->text = arena_strndup(p->a, t->text, t->n);
	if (t->type == DK_T_CHAR_CONSTANT) {
		if (!char_constant(p->a, t, &i))
			return fail(p, "malformed character constant: %s", n->text);
		n->value = dk_int(i);
		return n;
	}
	if (dk_parse_int(n->text, 64, &i, &ignored) == 0) {
		n->value = dk_int(i);
		return n;
	}
	errno = 0;
	d = strtod(n->text, &end);
	if (*end || errno || !strpbrk(n->text, ".eEpP"))
		return fail(p, !*end && !strpbrk(n->text, ".eEpP") ? "integer overflow: %s"
								   : "illegal number syntax: %s",
			    dk_quoted(p->a, n->text));
	n->value = dk_real(d);
	return n;
}

static node variable(struct parser *p, const struct dk_token *t)
{
	node n = new_node(p, DK_N_VARIABLE, t->pos);
	char *name = arena_strndup(p->a, t->text, t->n);

	if (!dk_strv_has(&p->vars, name))
		return fail(p, "undefined variable %s", dk_quoted(p->a, name));
	dk_strv_add(p->a, &n->idents, name);
	return n;
}

static node pipeline(struct parser *p, const char *context, enum dk_token_type end);

/* A word by itself; NULL without an error when there is none. */
static node term(struct parser *p)
{
	const struct dk_token *t = next_word(p);
	node n;

	switch (t->type) {
	case DK_T_IDENTIFIER:
		n = new_node(p, DK_N_IDENTIFIER, t->pos);
		n->text = arena_strndup(p->a, t->text, t->n);
		return dk_template_has_function(p->t, n->text)
			       ? n : fail(p, "function %s not defined", dk_quoted(p->a, n->text));
	case DK_T_DOT: return new_node(p, DK_N_DOT, t->pos);
	case DK_T_NIL: return new_node(p, DK_N_NIL, t->pos);
	case DK_T_VARIABLE: return variable(p, t);
	case DK_T_FIELD:
		n = new_node(p, DK_N_FIELD, t->pos);
		dk_strv_add(p->a, &n->idents, arena_strndup(p->a, t->text + 1, t->n - 1));
		return n;
	case DK_T_BOOL:
		n = new_node(p, DK_N_BOOL, t->pos);
		n->value = dk_bool(t->text[0] == 't');
		return n;
	case DK_T_CHAR_CONSTANT:
	case DK_T_NUMBER: return number_constant(p, t);
	case DK_T_OPEN: return pipeline(p, "parenthesized pipeline", DK_T_CLOSE);
	case DK_T_STRING:
	case DK_T_RAW_STRING: return text_constant(p, t);
	default: break;
	}
	p->i = (size_t)(t - p->tokens.v);
	return NULL;
}

/* A term and the fields behind it. */
static node operand(struct parser *p)
{
	node n = term(p), chain;
	size_t pos = peek(p)->pos;

	if (!n || peek(p)->type != DK_T_FIELD)
		return n;
	if (n->type == DK_N_BOOL || n->type == DK_N_STRING || n->type == DK_N_NUMBER || n->type == DK_N_NIL ||
	    n->type == DK_N_DOT) {
		auto_strbuf struct strbuf b = {0};

		dk_node_text(&b, n);
		return fail(p, "unexpected . after term %s", dk_quoted(p->a, strbuf_str(&b)));
	}
	if (n->type == DK_N_FIELD || n->type == DK_N_VARIABLE) {
		n->pos = pos;
		chain = n;
	} else {
		chain = new_node(p, DK_N_CHAIN, pos);
		chain->pipe = n;
	}
	while (peek(p)->type == DK_T_FIELD) {
		const struct dk_token *t = next(p);

		dk_strv_add(p->a, &chain->idents, arena_strndup(p->a, t->text + 1, t->n - 1));
	}
	return chain;
}

static node command(struct parser *p)
{
	node cmd = new_node(p, DK_N_COMMAND, peek_word(p)->pos);

	for (;;) {
		const struct dk_token *t;
		node n = operand(p);

		if (p->e->code)
			return NULL;
		if (n)
			*dk_list_add(p->a, &cmd->list) = n;
		t = next(p);
		if (t->type == DK_T_SPACE)
			continue;
		if (t->type == DK_T_RIGHT || t->type == DK_T_CLOSE)
			p->i = (size_t)(t - p->tokens.v);
		else if (t->type != DK_T_PIPE)
			return unexpected(p, t, "operand");
		break;
	}
	return cmd->list.n ? cmd : fail(p, "empty command");
}

/* ---- pipelines ---- */

static void declare(struct parser *p, node pipe, const struct dk_token *t)
{
	node n = new_node(p, DK_N_VARIABLE, t->pos);
	char *name = arena_strndup(p->a, t->text, t->n);

	dk_strv_add(p->a, &n->idents, name);
	*dk_list_add(p->a, &pipe->decl) = n;
	dk_strv_add(p->a, &p->vars, name);
}

/* "$x :=", "$x =", in a range also "$i, $x :=". False: an error. */
static bool declarations(struct parser *p, node pipe, const char *context)
{
	for (;;) {
		const struct dk_token *v = peek_word(p), *after;
		size_t at = p->i;

		if (v->type != DK_T_VARIABLE)
			return true;
		next(p);
		after = peek_word(p);
		if (after->type == DK_T_ASSIGN || after->type == DK_T_DECLARE) {
			pipe->assign = after->type == DK_T_ASSIGN;
			next(p);
			declare(p, pipe, v);
			return true;
		}
		if (after->type != DK_T_CHAR || after->text[0] != ',') {
			p->i = at;
			return true;
		}
		next(p);
		declare(p, pipe, v);
		if (!str_eq(context, "range") || pipe->decl.n >= 2)
			return fail(p, "too many declarations in %s", context) != NULL;
		after = peek_word(p);
		if (after->type != DK_T_VARIABLE && after->type != DK_T_RIGHT && after->type != DK_T_CLOSE)
			return fail(p, "range can only initialize variables") != NULL;
	}
}

static node check_pipeline(struct parser *p, node pipe, const char *context)
{
	if (!pipe->list.n)
		return fail(p, "missing value for %s", context);
	for (size_t i = 1; i < pipe->list.n; i++) {
		enum dk_node_type type = pipe->list.v[i]->list.v[0]->type;

		if (type == DK_N_BOOL || type == DK_N_DOT || type == DK_N_NIL || type == DK_N_NUMBER ||
		    type == DK_N_STRING)
			return fail(p, "non executable command in pipeline stage %zu", i + 1);
	}
	return pipe;
}

static node commands(struct parser *p, node pipe, const char *context, enum dk_token_type end)
{
	for (;;) {
		const struct dk_token *t = next_word(p);
		node cmd;

		if (t->type == end)
			return check_pipeline(p, pipe, context);
		switch (t->type) {
		case DK_T_BOOL:
		case DK_T_CHAR_CONSTANT:
		case DK_T_DOT:
		case DK_T_FIELD:
		case DK_T_IDENTIFIER:
		case DK_T_NUMBER:
		case DK_T_NIL:
		case DK_T_RAW_STRING:
		case DK_T_STRING:
		case DK_T_VARIABLE:
		case DK_T_OPEN:
			break;
		default:
			return unexpected(p, t, context);
		}
		p->i = (size_t)(t - p->tokens.v);
		cmd = command(p);
		if (!cmd)
			return NULL;
		*dk_list_add(p->a, &pipe->list) = cmd;
	}
}

static node pipeline(struct parser *p, const char *context, enum dk_token_type end)
{
	node pipe = new_node(p, DK_N_PIPE, peek_word(p)->pos);

	if (++p->depth > DEPTH_MAX)
		return fail(p, "max expression depth exceeded");
	if (!declarations(p, pipe, context))
		return NULL;
	pipe = commands(p, pipe, context, end);
	p->depth--;
	return pipe;
}

/* ---- actions ---- */

static node item_list(struct parser *p, enum dk_token_type *end);

static const char *word_of(enum dk_node_type type)
{
	return type == DK_N_IF ? "if" : type == DK_N_WITH ? "with" : "range";
}

static node control(struct parser *p, enum dk_node_type type, size_t pos);

/* Behind {{else: }} or another if (with), which counts as nested. */
static node else_part(struct parser *p, enum dk_node_type type)
{
	const struct dk_token *t = peek_word(p);
	enum dk_token_type end;
	node list, inner;

	if ((type == DK_N_IF && t->type == DK_T_IF) || (type == DK_N_WITH && t->type == DK_T_WITH)) {
		next(p);
		list = new_node(p, DK_N_LIST, t->pos);
		inner = control(p, type, t->pos);
		if (!inner)
			return NULL;
		*dk_list_add(p->a, &list->list) = inner;
		return list;
	}
	if (!expect(p, DK_T_RIGHT, "else"))
		return NULL;
	list = item_list(p, &end);
	if (list && end != DK_T_END)
		return fail(p, "expected end; found {{else}}");
	return list;
}

static node control(struct parser *p, enum dk_node_type type, size_t pos)
{
	size_t scope = p->vars.n;
	node n = new_node(p, type, pos);
	enum dk_token_type end;

	if (++p->depth > DEPTH_MAX)
		return fail(p, "max expression depth exceeded");
	n->pipe = pipeline(p, word_of(type), DK_T_RIGHT);
	if (!n->pipe)
		return NULL;
	p->ranges += type == DK_N_RANGE;
	n->body = item_list(p, &end);
	p->ranges -= type == DK_N_RANGE;
	if (!n->body)
		return NULL;
	if (end == DK_T_ELSE && !(n->other = else_part(p, type)))
		return NULL;
	p->vars.n = scope;
	p->depth--;
	return n;
}

static node jump(struct parser *p, enum dk_node_type type, size_t pos)
{
	const struct dk_token *t = next_word(p);
	const char *name = type == DK_N_BREAK ? "break" : "continue";

	if (t->type != DK_T_RIGHT)
		return unexpected(p, t, arena_printf(p->a, "{{%s}}", name));
	if (!p->ranges)
		return fail(p, "{{%s}} outside {{range}}", name);
	return new_node(p, type, pos);
}

static const char *template_name(struct parser *p, const char *context)
{
	const struct dk_token *t = next_word(p);
	auto_strbuf struct strbuf b = {0};

	if (t->type != DK_T_STRING && t->type != DK_T_RAW_STRING) {
		unexpected(p, t, context);
		return NULL;
	}
	if (!unquote(t, &b)) {
		fail(p, "invalid syntax");
		return NULL;
	}
	return arena_strdup(p->a, strbuf_str(&b));
}

static bool define(struct parser *p, const char *name)
{
	size_t scope = p->vars.n;
	unsigned ranges = p->ranges;
	enum dk_token_type end;
	node body;

	p->ranges = 0;
	body = item_list(p, &end);
	p->ranges = ranges;
	p->vars.n = scope;
	if (!body)
		return false;
	if (end != DK_T_END)
		return fail(p, "unexpected {{else}} in define clause") != NULL;
	*dk_list_add(p->a, &p->t->defined) = (struct dk_defined){name, body};
	return true;
}

/* {{define "x"}}; an empty node is left at its place. */
static node definition(struct parser *p, size_t pos)
{
	const char *name = template_name(p, "define clause");

	if (!name || !expect(p, DK_T_RIGHT, "define clause") || !define(p, name))
		return NULL;
	return new_node(p, DK_N_LIST, pos);
}

/* {{template "x" pipeline}}, or block, which defines it too. */
static node invocation(struct parser *p, bool block, size_t pos)
{
	const char *context = block ? "block clause" : "template clause";
	node n = new_node(p, DK_N_TEMPLATE, pos);

	n->pos = peek_word(p)->pos;
	n->text = template_name(p, context);
	if (!n->text)
		return NULL;
	if (!block && peek_word(p)->type == DK_T_RIGHT) {
		next(p);
		return n;
	}
	n->pipe = pipeline(p, context, DK_T_RIGHT);
	if (!n->pipe)
		return NULL;
	return block && !define(p, n->text) ? NULL : n;
}

/* Behind "{{". {{else}} and {{end}} give their token type in *end, and an empty node. */
static node action(struct parser *p, enum dk_token_type *end)
{
	const struct dk_token *t = next_word(p);
	node n;

	*end = DK_T_TEXT;
	switch (t->type) {
	case DK_T_IF: return control(p, DK_N_IF, t->pos);
	case DK_T_WITH: return control(p, DK_N_WITH, t->pos);
	case DK_T_RANGE: return control(p, DK_N_RANGE, t->pos);
	case DK_T_BREAK: return jump(p, DK_N_BREAK, t->pos);
	case DK_T_CONTINUE: return jump(p, DK_N_CONTINUE, t->pos);
	case DK_T_DEFINE: return definition(p, t->pos);
	case DK_T_TEMPLATE: return invocation(p, false, t->pos);
	case DK_T_BLOCK: return invocation(p, true, t->pos);
	case DK_T_END:
		*end = DK_T_END;
		return expect(p, DK_T_RIGHT, "end") ? new_node(p, DK_N_LIST, t->pos) : NULL;
	case DK_T_ELSE:
		*end = DK_T_ELSE;
		return new_node(p, DK_N_LIST, t->pos); /* else_part reads on */
	default:
		break;
	}
	p->i = (size_t)(t - p->tokens.v);
	n = new_node(p, DK_N_ACTION, t->pos);
	n->pipe = pipeline(p, "command", DK_T_RIGHT);
	return n->pipe ? n : NULL;
}

/* Up to {{end}} or {{else}}. */
static node item_list(struct parser *p, enum dk_token_type *end)
{
	node list = new_node(p, DK_N_LIST, peek(p)->pos), n;

	if (++p->depth > DEPTH_MAX)
		return fail(p, "max expression depth exceeded");
	for (;;) {
		const struct dk_token *t = next(p);

		*end = DK_T_TEXT;
		if (t->type == DK_T_TEXT) {
			n = new_node(p, DK_N_TEXT, t->pos);
			n->text = t->text;
			n->n = t->n;
		} else if (t->type == DK_T_LEFT) {
			n = action(p, end);
		} else {
			return unexpected(p, t, "input");
		}
		if (!n)
			return NULL;
		if (*end != DK_T_TEXT)
			break;
		*dk_list_add(p->a, &list->list) = n;
	}
	p->depth--;
	return list;
}

static node top_list(struct parser *p)
{
	node list = new_node(p, DK_N_LIST, 0), n;
	enum dk_token_type end = DK_T_TEXT;

	while (peek(p)->type != DK_T_EOF) {
		const struct dk_token *t = next(p);

		if (t->type == DK_T_TEXT) {
			n = new_node(p, DK_N_TEXT, t->pos);
			n->text = t->text;
			n->n = t->n;
		} else if (t->type == DK_T_LEFT) {
			n = action(p, &end);
		} else {
			return unexpected(p, t, "input");
		}
		if (!n)
			return NULL;
		if (end != DK_T_TEXT)
			return fail(p, "unexpected {{%s}}", end == DK_T_END ? "end" : "else");
		*dk_list_add(p->a, &list->list) = n;
	}
	return list;
}

int dk_template_parse(struct arena *a, const struct dk_template_options *o, const char *text,
		      struct dk_template **ret, struct err *e)
{
	struct dk_template *t = arena_new_of(a, struct dk_template);
	struct err why = {0};
	struct parser p = {.t = t, .a = a, .e = &why};

	t->arena = a;
	t->name = o->name;
	t->header = o->header_functions;
	t->text = arena_strdup(a, text);
	dk_template_tokens(a, t->text, &p.tokens);
	dk_strv_add(a, &p.vars, (char *)"$");
	t->root = top_list(&p);
	if (!t->root) {
		*e = why;
		return -e->code;
	}
	*ret = t;
	return 0;
}

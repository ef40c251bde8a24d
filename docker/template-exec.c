/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running a template. What Go does by reflection is here a switch over the few kinds of values; the
 * order of its checks is kept, for it decides which message comes. Steps and output are bounded: a
 * template may loop for as long as its data is long, nested.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "docker/format.h"
#include "docker/lists.h"
#include "docker/template-tree.h"

enum { STEPS_MAX = 20000000, OUTPUT_MAX = 64 << 20, CALLS_MAX = 100 };

struct variable { const char *name; struct dk_value value; };
enum flow { FLOW_NONE, FLOW_BREAK, FLOW_CONTINUE };

struct state {
	struct dk_template *t;
	struct arena *a;
	struct strbuf *out;
	struct err *e;
	bool missing_is_error;
	const struct dk_node *node; /* for messages */
	const char *name;           /* of the running template */
	struct { struct variable *v; size_t n; } vars;
	unsigned steps, calls;
};

typedef struct dk_value value;

/* Go's position and context in front. Always false. */
__attribute__((format(printf, 2, 3))) static bool fail(struct state *s, const char *fmt, ...)
{
	auto_strbuf struct strbuf context = {0};
	size_t line = 1, column = 0;
	char text[400];
	va_list ap;

	if (s->e->code)
		return false;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!s->node) {
		err_set(s->e, EINVAL, "template: %s: %s", s->t->name, text);
		return false;
	}
	for (size_t i = 0; i < s->node->pos; i++) {
		column = s->t->text[i] == '\n' ? 0 : column + 1;
		line += s->t->text[i] == '\n';
	}
	dk_node_text(&context, s->node);
	err_set(s->e, EINVAL, "template: %s:%zu:%zu: executing %s at <%s>: %s", s->t->name, line, column,
		dk_quoted(s->a, s->name), strbuf_str(&context), text);
	return false;
}

static bool step(struct state *s)
{
	if (++s->steps > STEPS_MAX || s->out->len > OUTPUT_MAX)
		return fail(s, "the template does not come to an end");
	return true;
}

static bool is_invalid(const value *v)
{
	return v->type == DK_NIL && v->null;
}

/* ---- fields ---- */

/* The arguments of a method: those behind it, and what a pipe passes. */
struct arguments {
	struct state *s;
	const value *dot;
	const struct dk_node *cmd; /* its list[1..]; NULL: none */
	const value *final;        /* NULL: nothing piped */
};

static bool eval(struct state *s, const value *dot, const struct dk_node *n, value *ret);

static size_t argument_count(const struct arguments *args)
{
	return (args->cmd ? args->cmd->list.n - 1 : 0) + (args->final != NULL);
}

static bool call_method(const struct arguments *args, const value *receiver, const struct dk_column *col, value *ret)
{
	struct state *s = args->s;
	value v;

	if (argument_count(args) != 1)
		return fail(s, "wrong number of args for %s: want 1 got %zu", col->name, argument_count(args));
	if (args->final)
		v = *args->final;
	else if (!eval(s, args->dot, args->cmd->list.v[1], &v))
		return false;
	if (v.type != DK_TEXT)
		return fail(s, "wrong type for value; expected string; got %s", dk_type_name(&v));
	if (receiver->null) {
		/* The header of a label is the last part of its name. */
		const char *dotted = strrchr(v.text, '.');
		char *header = arena_strdup(s->a, dotted ? dotted + 1 : v.text);

		for (char *p = header; *p; p++)
			*p = *p == '-' || *p == '_' ? ' ' : *p;
		*ret = dk_string(header);
	} else {
		*ret = col->method(s->a, receiver->object, v.text);
	}
	return true;
}

static bool object_field(const struct arguments *args, const char *name, const value *receiver, value *ret)
{
	const struct dk_columns *c = receiver->columns;

	for (size_t i = 0; i < c->n; i++) {
		if (strcmp(c->v[i].name, name) != 0)
			continue;
		if (c->v[i].method)
			return call_method(args, receiver, &c->v[i], ret);
		if (argument_count(args))
			return fail(args->s, "wrong number of args for %s: want 0 got %zu", name, argument_count(args));
		if (receiver->null)
			*ret = c->v[i].header ? dk_string(c->v[i].header) : dk_invalid();
		else
			*ret = c->v[i].get(args->s->a, receiver->object);
		return true;
	}
	if (receiver->null) {
		*ret = dk_invalid();
		return true;
	}
	return fail(args->s, "can't evaluate field %s in type %s", name, c->go_type);
}

static bool dict_field(const struct arguments *args, const char *name, const value *receiver, value *ret)
{
	const value *v = dk_get(receiver, name);
	struct state *s = args->s;

	if (argument_count(args))
		return fail(s, "%s is not a method but has arguments", name);
	if (v)
		*ret = *v;
	else if (s->missing_is_error)
		return fail(s, "map has no entry for key %s", dk_quoted(s->a, name));
	else
		*ret = dk_invalid();
	return true;
}

static bool record_field(const struct arguments *args, const char *name, const value *receiver, value *ret)
{
	for (uint32_t i = 0; i < receiver->n; i++) {
		const struct dk_member *m = &receiver->members[i];

		if (strcmp(m->go_name ? m->go_name : m->key, name) != 0)
			continue;
		if (argument_count(args))
			return fail(args->s, "%s has arguments but cannot be invoked as function", name);
		*ret = m->value;
		return true;
	}
	return fail(args->s, "can't evaluate field %s in type %s", name,
		    receiver->boxed ? "interface {}" : receiver->go_type);
}

static bool field(const struct arguments *args, const char *name, const value *receiver, value *ret)
{
	struct state *s = args->s;

	if (is_invalid(receiver)) {
		if (s->missing_is_error)
			return fail(s, "nil data; no entry for key %s", dk_quoted(s->a, name));
		*ret = dk_invalid();
		return true;
	}
	switch ((enum dk_type)receiver->type) {
	case DK_NIL: return fail(s, "nil pointer evaluating interface {}.%s", name);
	case DK_NULL_POINTER: return fail(s, "nil pointer evaluating *%s.%s", receiver->go_type, name);
	case DK_OBJECT: return object_field(args, name, receiver, ret);
	case DK_DICT: return dict_field(args, name, receiver, ret);
	case DK_RECORD: return record_field(args, name, receiver, ret);
	default: break;
	}
	return fail(s, "can't evaluate field %s in type %s", name,
		    receiver->boxed ? "interface {}" : dk_type_name(receiver));
}

/* .A.B.C: arguments go to the last one. */
static bool field_chain(const struct arguments *args, const struct dk_node *n, const value *receiver, value *ret)
{
	size_t first = n->type == DK_N_VARIABLE;
	value v = *receiver;

	/* Behind a parenthesis Go keeps the last node in it. */
	if (n->type != DK_N_CHAIN)
		args->s->node = n;
	for (size_t i = first; i < n->idents.n; i++) {
		const struct arguments none = {.s = args->s};
		value next;

		if (!field(i + 1 == n->idents.n ? args : &none, n->idents.v[i], &v, &next))
			return false;
		v = next;
	}
	*ret = v;
	return true;
}

static value *find_variable(struct state *s, const char *name)
{
	for (size_t i = s->vars.n; i; i--)
		if (strcmp(s->vars.v[i - 1].name, name) == 0)
			return &s->vars.v[i - 1].value;
	return NULL;
}

static void push_variable(struct state *s, const char *name, value v)
{
	*dk_list_add(s->a, &s->vars) = (struct variable){name, v};
}

/* ---- functions ---- */

static bool pipeline(struct state *s, const value *dot, const struct dk_node *pipe, value *ret);

/* The letter of the parameter at an index; 0 behind the last one. */
static char parameter(const struct dk_function_row *f, size_t i)
{
	size_t k = 0;

	for (const char *p = f->params; *p; p++, k++) {
		if (p[1] == '*')
			return k <= i ? *p : f->params[i];
		if (k == i)
			return *p;
	}
	return 0;
}

static bool check_count(struct state *s, const struct dk_function_row *f, size_t have)
{
	size_t want = strlen(f->params);

	if (want && f->params[want - 1] == '*') {
		want -= 2;
		return have >= want ||
		       fail(s, "wrong number of args for %s: want at least %zu got %zu", f->name, want, have);
	}
	return have == want || fail(s, "wrong number of args for %s: want %zu got %zu", f->name, want, have);
}

/* Is v what the parameter asks for? n is its node, NULL for a piped value. */
static bool check_type(struct state *s, char kind, const struct dk_node *n, const value *v)
{
	enum dk_type want = kind == 's' ? DK_TEXT : kind == 'l' ? DK_ARRAY : DK_INTEGER;
	const char *name = kind == 's' ? "string" : kind == 'l' ? "[]string" : "int";

	if (kind == 'v' || v->type == want)
		return true;
	if (is_invalid(v))
		return fail(s, "invalid value; expected %s", name);
	if (n && n->type == DK_N_NIL)
		return fail(s, "cannot assign nil to %s", name);
	if (n && kind != 'l' && (n->type == DK_N_BOOL || n->type == DK_N_NUMBER || n->type == DK_N_STRING)) {
		auto_strbuf struct strbuf b = {0};

		dk_node_text(&b, n);
		s->node = n;
		return fail(s, "expected %s; found %s", kind == 's' ? "string" : "integer", strbuf_str(&b));
	}
	return fail(s, "wrong type for value; expected %s; got %s", name, dk_type_name(v));
}

/* and, or: the rest is not looked at when the result is clear. */
static bool short_circuit(const struct arguments *args, bool stop_at, value *ret)
{
	size_t n = args->cmd->list.n;
	value v = dk_invalid();

	for (size_t i = 1; i < n; i++) {
		if (!eval(args->s, args->dot, args->cmd->list.v[i], &v))
			return false;
		if (dk_truth(&v) == stop_at) {
			*ret = v;
			return true;
		}
	}
	*ret = args->final ? *args->final : v;
	return true;
}

static bool call(const struct arguments *args, const char *name, value *ret)
{
	struct state *s = args->s;
	const struct dk_function_row *f = dk_template_function(s->t->header, name);
	size_t n = argument_count(args), written = args->cmd->list.n - 1;
	value *v = arena_array(s->a, n + 1, sizeof(*v));
	struct dk_call c = {.a = s->a, .args = v, .n = n};
	struct err why = {0};

	s->node = args->cmd->list.v[0];
	if (!check_count(s, f, n))
		return false;
	if (!f->fn)
		return short_circuit(args, str_eq(name, "or"), ret);
	for (size_t i = 0; i < written; i++) {
		const struct dk_node *arg = args->cmd->list.v[i + 1];

		if (!eval(s, args->dot, arg, &v[i]))
			return false;
		s->node = arg;
		if (!check_type(s, parameter(f, i), arg, &v[i]))
			return false;
	}
	if (args->final) {
		v[written] = *args->final;
		s->node = args->cmd->list.v[0];
		if (!check_type(s, parameter(f, written), NULL, &v[written]))
			return false;
	}
	if (f->fn(&c, ret, &why) == 0)
		return true;
	s->node = args->cmd;
	return fail(s, "error calling %s: %s", name, why.msg);
}

/* ---- expressions ---- */

/* One word that is no call. */
static bool eval(struct state *s, const value *dot, const struct dk_node *n, value *ret)
{
	struct dk_nodes words = {.v = (struct dk_node **)&n, .n = 1};
	const struct dk_node alone = {.type = DK_N_COMMAND, .pos = n->pos, .list = words};
	const struct arguments args = {.s = s, .dot = dot}, call_args = {.s = s, .dot = dot, .cmd = &alone};
	value receiver;

	s->node = n;
	switch (n->type) {
	case DK_N_DOT: *ret = *dot; return true;
	case DK_N_NIL: *ret = dk_nil(); return true;
	case DK_N_BOOL:
	case DK_N_NUMBER:
	case DK_N_STRING: *ret = n->value; return true;
	case DK_N_FIELD: return field_chain(&args, n, dot, ret);
	case DK_N_VARIABLE:
		receiver = *find_variable(s, n->idents.v[0]);
		return field_chain(&args, n, &receiver, ret);
	case DK_N_PIPE: return pipeline(s, dot, n, ret);
	case DK_N_CHAIN: return eval(s, dot, n->pipe, &receiver) && field_chain(&args, n, &receiver, ret);
	case DK_N_IDENTIFIER: return call(&call_args, n->text, ret);
	default: break;
	}
	return fail(s, "can't handle this as an argument");
}

static bool no_arguments(const struct arguments *args)
{
	auto_strbuf struct strbuf b = {0};

	if (!argument_count(args))
		return true;
	dk_node_text(&b, args->cmd->list.v[0]);
	return fail(args->s, "can't give argument to non-function %s", strbuf_str(&b));
}

static bool run_command(const struct arguments *args, value *ret)
{
	const struct dk_node *first = args->cmd->list.v[0];
	struct state *s = args->s;
	value receiver;

	s->node = first;
	switch (first->type) {
	case DK_N_FIELD: return field_chain(args, first, args->dot, ret);
	case DK_N_CHAIN: return eval(s, args->dot, first->pipe, &receiver) && field_chain(args, first, &receiver, ret);
	case DK_N_IDENTIFIER: return call(args, first->text, ret);
	case DK_N_VARIABLE:
		receiver = *find_variable(s, first->idents.v[0]);
		if (first->idents.n > 1)
			return field_chain(args, first, &receiver, ret);
		break;
	case DK_N_NIL:
		return fail(s, "nil is not a command");
	default:
		break;
	}
	return no_arguments(args) && eval(s, args->dot, first, ret);
}

static bool pipeline(struct state *s, const value *dot, const struct dk_node *pipe, value *ret)
{
	value v = dk_invalid();

	for (size_t i = 0; i < pipe->list.n; i++) {
		const value before = v;
		const struct arguments args = {.s = s, .dot = dot, .cmd = pipe->list.v[i], .final = i ? &before : NULL};

		if (!step(s) || !run_command(&args, &v))
			return false;
		/* What was an empty interface has no type any more. */
		if (v.type == DK_NIL)
			v = dk_invalid();
		v.boxed = false;
	}
	for (size_t i = 0; i < pipe->decl.n; i++) {
		const char *name = pipe->decl.v[i]->idents.v[0];

		if (!pipe->assign)
			push_variable(s, name, v);
		else if (find_variable(s, name))
			*find_variable(s, name) = v;
		else
			return fail(s, "undefined variable: %s", name);
	}
	*ret = v;
	return true;
}

/* ---- actions ---- */

static bool walk(struct state *s, const value *dot, const struct dk_node *n, enum flow *flow);

static void print(struct state *s, const value *v)
{
	if (is_invalid(v))
		strbuf_adds(s->out, "<no value>");
	else
		dk_print_value(s->out, v);
}

static bool walk_if(struct state *s, const value *dot, const struct dk_node *n, enum flow *flow)
{
	size_t scope = s->vars.n;
	bool ok;
	value v;

	if (!pipeline(s, dot, n->pipe, &v))
		return false;
	if (dk_truth(&v))
		ok = walk(s, n->type == DK_N_WITH ? &v : dot, n->body, flow);
	else
		ok = !n->other || walk(s, dot, n->other, flow);
	s->vars.n = scope;
	return ok;
}

/* One round; *done after a break. */
static bool range_round(struct state *s, const struct dk_node *n, value key, value element, bool *done)
{
	size_t scope = s->vars.n, decls = n->pipe->decl.n;
	enum flow flow = FLOW_NONE;
	bool ok;

	if (decls == 2)
		*find_variable(s, n->pipe->decl.v[0]->idents.v[0]) = key;
	if (decls)
		*find_variable(s, n->pipe->decl.v[decls - 1]->idents.v[0]) = element;
	ok = step(s) && walk(s, &element, n->body, &flow);
	s->vars.n = scope;
	*done = flow == FLOW_BREAK;
	return ok;
}

static bool range_items(struct state *s, const struct dk_node *n, const value *v)
{
	auto_free const struct dk_member **sorted = v->type == DK_DICT ? dk_sorted_members(v) : NULL;
	int64_t count = v->type == DK_INTEGER ? v->integer : v->n;
	bool done = false;

	for (int64_t i = 0; i < count && !done; i++) {
		value key = sorted ? dk_string(sorted[i]->key) : dk_int(i);
		value element = sorted ? sorted[i]->value : v->type == DK_ARRAY ? v->items[i] : dk_int(i);

		if (!range_round(s, n, key, element, &done))
			return false;
	}
	return true;
}

static bool walk_range(struct state *s, const value *dot, const struct dk_node *n)
{
	size_t scope = s->vars.n;
	enum flow flow = FLOW_NONE;
	bool ok;
	value v;

	s->node = n;
	if (!pipeline(s, dot, n->pipe, &v))
		return false;
	if (v.type != DK_ARRAY && v.type != DK_DICT && v.type != DK_INTEGER && v.type != DK_NIL) {
		auto_strbuf struct strbuf b = {0};

		dk_print_value(&b, &v);
		return fail(s, "range can't iterate over %s", strbuf_str(&b));
	}
	if (v.type == DK_NIL || (v.type == DK_INTEGER ? v.integer <= 0 : !v.n))
		ok = !n->other || walk(s, dot, n->other, &flow);
	else
		ok = range_items(s, n, &v);
	s->vars.n = scope;
	return ok;
}

static bool walk_template(struct state *s, const value *dot, const struct dk_node *n)
{
	const struct dk_node *body = NULL;
	size_t outer = s->vars.n;
	const char *name = s->name;
	enum flow flow = FLOW_NONE;
	struct variable *saved;
	value v = dk_invalid();
	bool ok;

	s->node = n;
	for (size_t i = 0; i < s->t->defined.n; i++)
		if (strcmp(s->t->defined.v[i].name, n->text) == 0)
			body = s->t->defined.v[i].body;
	if (!body)
		return fail(s, "template %s not defined", dk_quoted(s->a, n->text));
	if (s->calls == CALLS_MAX)
		return fail(s, "exceeded maximum template depth (%d)", CALLS_MAX);
	if (n->pipe && !pipeline(s, dot, n->pipe, &v))
		return false;
	/* The other template sees its own "$" only. */
	s->name = n->text;
	saved = s->vars.v;
	s->vars.v = NULL;
	s->vars.n = 0;
	push_variable(s, "$", v);
	s->calls++;
	ok = walk(s, &v, body, &flow);
	s->calls--;
	s->name = name;
	s->vars.v = saved;
	s->vars.n = outer;
	return ok;
}

static bool walk(struct state *s, const value *dot, const struct dk_node *n, enum flow *flow)
{
	value v;

	s->node = n;
	if (!step(s))
		return false;
	switch (n->type) {
	case DK_N_TEXT: strbuf_add(s->out, n->text, n->n); return true;
	case DK_N_ACTION:
		if (!pipeline(s, dot, n->pipe, &v))
			return false;
		if (!n->pipe->decl.n)
			print(s, &v);
		return true;
	case DK_N_IF:
	case DK_N_WITH: return walk_if(s, dot, n, flow);
	case DK_N_RANGE: return walk_range(s, dot, n);
	case DK_N_TEMPLATE: return walk_template(s, dot, n);
	case DK_N_BREAK: *flow = FLOW_BREAK; return true;
	case DK_N_CONTINUE: *flow = FLOW_CONTINUE; return true;
	case DK_N_LIST:
		for (size_t i = 0; i < n->list.n && *flow == FLOW_NONE; i++)
			if (!walk(s, dot, n->list.v[i], flow))
				return false;
		return true;
	default: return fail(s, "unknown node");
	}
}

int dk_template_execute(struct dk_template *t, const struct dk_value *data, bool missing_is_error,
			struct strbuf *out, struct err *e)
{
	struct err why = {0};
	struct state s = {.t = t, .a = t->arena, .out = out, .e = &why, .name = t->name,
			  .missing_is_error = missing_is_error};
	enum flow flow = FLOW_NONE;

	push_variable(&s, "$", *data);
	if (!walk(&s, data, t->root, &flow)) {
		*e = why;
		return -e->code;
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Internal to the template engine: tokens, the tree, and what execution needs of both. */
#pragma once

#include "docker/template.h"

enum dk_token_type {
	DK_T_ERROR, DK_T_EOF, DK_T_TEXT, DK_T_LEFT, DK_T_RIGHT, DK_T_SPACE, DK_T_BOOL, DK_T_CHAR_CONSTANT,
	DK_T_CHAR, DK_T_ASSIGN, DK_T_DECLARE, DK_T_FIELD, DK_T_IDENTIFIER, DK_T_OPEN, DK_T_CLOSE,
	DK_T_NUMBER, DK_T_PIPE, DK_T_STRING, DK_T_RAW_STRING, DK_T_VARIABLE, DK_T_DOT, DK_T_NIL,
	/* Words of the language; all behind DK_T_NIL. */
	DK_T_BLOCK, DK_T_BREAK, DK_T_CONTINUE, DK_T_DEFINE, DK_T_ELSE, DK_T_END, DK_T_IF, DK_T_RANGE,
	DK_T_TEMPLATE, DK_T_WITH,
};

struct dk_token {
	enum dk_token_type type;
	const char *text; /* n bytes; of an error: the message, with NUL */
	size_t n, pos;
};
struct dk_tokens { struct dk_token *v; size_t n; };

/* The last token is DK_T_EOF or DK_T_ERROR. */
void dk_template_tokens(struct arena *a, const char *text, struct dk_tokens *ret);

enum dk_node_type {
	DK_N_LIST, DK_N_TEXT, DK_N_ACTION, DK_N_IF, DK_N_WITH, DK_N_RANGE, DK_N_TEMPLATE, DK_N_BREAK,
	DK_N_CONTINUE, DK_N_PIPE, DK_N_COMMAND, DK_N_IDENTIFIER, DK_N_VARIABLE, DK_N_DOT, DK_N_NIL,
	DK_N_FIELD, DK_N_CHAIN, DK_N_BOOL, DK_N_NUMBER, DK_N_STRING,
};

struct dk_nodes { struct dk_node **v; size_t n; };

struct dk_node {
	enum dk_node_type type;
	size_t pos;
	const char *text;        /* TEXT; IDENTIFIER; NUMBER, STRING as written; TEMPLATE: its name */
	size_t n;                /* of TEXT */
	struct strv idents;      /* FIELD, CHAIN; VARIABLE: "$x" first */
	struct dk_value value;   /* BOOL, NUMBER, STRING */
	struct dk_nodes list;    /* LIST; PIPE: commands; COMMAND: arguments */
	struct dk_nodes decl;    /* PIPE: variables */
	bool assign;             /* PIPE: "=" instead of ":=" */
	struct dk_node *pipe;    /* ACTION, IF, WITH, RANGE, TEMPLATE; CHAIN: what the fields are of */
	struct dk_node *body, *other; /* IF, WITH, RANGE; other may be NULL */
};

struct dk_template {
	struct arena *arena;
	const char *name, *text;
	bool header;
	struct dk_node *root;
	struct { struct dk_defined { const char *name; struct dk_node *body; } *v; size_t n; } defined;
};

/* The node as Go prints it in messages. */
void dk_node_text(struct strbuf *b, const struct dk_node *n);
bool dk_template_has_function(const struct dk_template *t, const char *name);

/* ---- functions ---- */

/* An internal value: what a missing key of a map gives (Go's zero reflect.Value). */
static inline struct dk_value dk_invalid(void)
{
	return (struct dk_value){.type = DK_NIL, .null = true};
}

struct dk_call {
	struct arena *a;
	const struct dk_value *args;
	size_t n;
};
typedef int dk_function(const struct dk_call *c, struct dk_value *ret, struct err *e);

struct dk_function_row {
	const char *name;
	dk_function *fn;    /* NULL: "and" and "or", which the execution knows */
	const char *params; /* a letter each: s text, i integer, v any, l a list; * behind one: any number of it */
};
const struct dk_function_row *dk_template_function(bool header, const char *name);

/* Is it true for `if`? */
bool dk_truth(const struct dk_value *v);
/* "string", "map[string]string": the type for messages. */
const char *dk_type_name(const struct dk_value *v);

/* fmt: %v of one value, Sprint, Sprintln, Sprintf. */
void dk_print_value(struct strbuf *b, const struct dk_value *v);
void dk_sprint(struct strbuf *b, const struct dk_value *v, size_t n);
void dk_sprintln(struct strbuf *b, const struct dk_value *v, size_t n);
void dk_sprintf(struct strbuf *b, const struct dk_value *v, size_t n);

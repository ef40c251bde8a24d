/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes as Go prints them in messages, and a search through the tree. */
#include <string.h>

#include "docker/lists.h"
#include "docker/template-tree.h"

static void join(struct strbuf *b, const struct dk_nodes *v, const char *separator)
{
	for (size_t i = 0; i < v->n; i++) {
		bool parens = v->v[i]->type == DK_N_PIPE;

		strbuf_printf(b, "%s%s", i ? separator : "", parens ? "(" : "");
		dk_node_text(b, v->v[i]);
		strbuf_adds(b, parens ? ")" : "");
	}
}

static void idents(struct strbuf *b, const struct dk_node *n, const char *before_first)
{
	for (size_t i = 0; i < n->idents.n; i++)
		strbuf_printf(b, "%s%s", i ? "." : before_first, n->idents.v[i]);
}

static void control(struct strbuf *b, const struct dk_node *n, const char *name)
{
	strbuf_printf(b, "{{%s ", name);
	dk_node_text(b, n->pipe);
	strbuf_adds(b, "}}");
	dk_node_text(b, n->body);
	if (n->other) {
		strbuf_adds(b, "{{else}}");
		dk_node_text(b, n->other);
	}
	strbuf_adds(b, "{{end}}");
}

static void expression(struct strbuf *b, const struct dk_node *n)
{
	switch (n->type) {
	case DK_N_PIPE:
		join(b, &n->decl, ", ");
		strbuf_adds(b, n->decl.n ? (n->assign ? " = " : " := ") : "");
		join(b, &n->list, " | ");
		break;
	case DK_N_COMMAND: join(b, &n->list, " "); break;
	case DK_N_VARIABLE: idents(b, n, ""); break;
	case DK_N_FIELD: idents(b, n, "."); break;
	case DK_N_CHAIN: {
		struct dk_node *inner = n->pipe;

		join(b, &(struct dk_nodes){.v = &inner, .n = 1}, "");
		idents(b, n, ".");
		break;
	}
	case DK_N_DOT: strbuf_addc(b, '.'); break;
	case DK_N_NIL: strbuf_adds(b, "nil"); break;
	case DK_N_BOOL: strbuf_adds(b, n->value.boolean ? "true" : "false"); break;
	default: strbuf_adds(b, n->text ? n->text : ""); break;
	}
}

void dk_node_text(struct strbuf *b, const struct dk_node *n)
{
	switch (n->type) {
	case DK_N_LIST: join(b, &n->list, ""); break;
	case DK_N_TEXT: strbuf_add(b, n->text, n->n); break;
	case DK_N_ACTION:
		strbuf_adds(b, "{{");
		dk_node_text(b, n->pipe);
		strbuf_adds(b, "}}");
		break;
	case DK_N_IF: control(b, n, "if"); break;
	case DK_N_WITH: control(b, n, "with"); break;
	case DK_N_RANGE: control(b, n, "range"); break;
	case DK_N_BREAK: strbuf_adds(b, "{{break}}"); break;
	case DK_N_CONTINUE: strbuf_adds(b, "{{continue}}"); break;
	case DK_N_TEMPLATE:
		strbuf_adds(b, "{{template ");
		dk_quote(b, n->text, strlen(n->text));
		if (n->pipe) {
			strbuf_addc(b, ' ');
			dk_node_text(b, n->pipe);
		}
		strbuf_adds(b, "}}");
		break;
	default: expression(b, n); break;
	}
}

static bool uses(const struct dk_node *n, const char *field)
{
	if (!n)
		return false;
	if ((n->type == DK_N_FIELD || n->type == DK_N_CHAIN || n->type == DK_N_VARIABLE) &&
	    dk_strv_has(&n->idents, field))
		return true;
	if (n->type == DK_N_DOT) /* {{json .}} */
		return true;
	for (size_t i = 0; i < n->list.n; i++)
		if (uses(n->list.v[i], field))
			return true;
	return uses(n->pipe, field) || uses(n->body, field) || uses(n->other, field);
}

bool dk_template_uses(const struct dk_template *t, const char *field)
{
	for (size_t i = 0; i < t->defined.n; i++)
		if (uses(t->defined.v[i].body, field))
			return true;
	return uses(t->root, field);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* --help in Docker's layout: flags sorted, their texts wrapped at 80 columns. */
#include "docker/cli-help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "docker/flag-tables.h"

#define WIDTH 80
#define WRAP_SLOP 5 /* kept free, but for a last word that ends in it */

static int compare_flags(const void *a, const void *b)
{
	const struct dk_flag *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

const struct dk_flag **dk_shown_flags(const struct dk_flag_table *t, size_t *n)
{
	const struct dk_flag **v = xrealloc(NULL, (t ? t->n : 0) * sizeof(*v) + 1);

	*n = 0;
	for (size_t i = 0; t && i < t->n; i++)
		if (!t->v[i].hidden)
			v[(*n)++] = &t->v[i];
	qsort(v, *n, sizeof(*v), compare_flags);
	return v;
}

const char *dk_command_name(const struct dk_command *cmd, const char *group)
{
	return group && cmd->group_name ? cmd->group_name : cmd->name;
}

static const char *sort_group; /* of the running qsort */

static int compare_commands(const void *a, const void *b)
{
	const struct dk_command *const *x = a, *const *y = b;

	return strcmp(dk_command_name(*x, sort_group), dk_command_name(*y, sort_group));
}

const struct dk_command **dk_shown_commands(const char *group, size_t *n)
{
	const struct dk_command **v = xrealloc(NULL, dk_command_count * sizeof(*v));

	*n = 0;
	for (size_t i = 0; i < dk_command_count; i++) {
		const struct dk_command *cmd = &dk_commands[i];

		if (cmd->run && (group ? str_eq(cmd->group, group) : cmd->name && !str_starts(cmd->name, "__")))
			v[(*n)++] = cmd;
	}
	sort_group = group;
	qsort(v, *n, sizeof(*v), compare_commands);
	return v;
}

char *dk_flag_text(struct arena *a, const struct dk_flag *f)
{
	if (!f->def)
		return arena_strdup(a, f->help);
	return arena_printf(a, f->kind == DK_STRING ? "%s (default \"%s\")" : "%s (default %s)", f->help, f->def);
}

/* One line of the text, without its newline, wrapped behind `indent` columns. */
static void wrap_line(struct strbuf *b, const char *s, size_t n, size_t indent)
{
	size_t room = WIDTH > indent + 24 ? WIDTH - indent - 1 - WRAP_SLOP : 24;

	while (n > room + WRAP_SLOP) {
		size_t cut = room;

		while (cut && s[cut] != ' ')
			cut--;
		if (!cut)
			break;
		strbuf_add(b, s, cut);
		strbuf_printf(b, "\n%*s", (int)indent, "");
		s += cut + 1;
		n -= cut + 1;
	}
	strbuf_add(b, s, n);
}

static void wrap_text(struct strbuf *b, const char *s, size_t indent)
{
	for (;;) {
		size_t n = strcspn(s, "\n");

		wrap_line(b, s, n, indent);
		if (!s[n])
			return;
		strbuf_printf(b, "\n%*s", (int)indent, "");
		s += n + 1;
	}
}

static size_t flag_width(const struct dk_flag *f)
{
	const char *type = dk_flag_type(f);

	return 8 + strlen(f->name) + (*type ? 1 + strlen(type) : 0);
}

static void write_flags(struct strbuf *b, const char *title, const struct dk_flag_table *t)
{
	auto_arena struct arena *a = arena_new();
	auto_free const struct dk_flag **v = NULL;
	size_t n, width = 0;

	v = dk_shown_flags(t, &n);
	for (size_t i = 0; i < n; i++)
		width = flag_width(v[i]) > width ? flag_width(v[i]) : width;
	if (n)
		strbuf_printf(b, "\n%s:\n", title);
	for (size_t i = 0; i < n; i++) {
		const char *type = dk_flag_type(v[i]);

		if (v[i]->letter)
			strbuf_printf(b, "  -%c, --%s%s%s", v[i]->letter, v[i]->name, *type ? " " : "", type);
		else
			strbuf_printf(b, "      --%s%s%s", v[i]->name, *type ? " " : "", type);
		strbuf_printf(b, "%*s", (int)(width - flag_width(v[i]) + 3), "");
		wrap_text(b, dk_flag_text(a, v[i]), width + 3);
		strbuf_addc(b, '\n');
	}
}

/* "docker container ls, docker container list, docker container ps, docker ps" */
static void write_aliases(struct strbuf *b, const struct dk_command *cmd)
{
	const char *s = cmd->aliases ? cmd->aliases : "";

	if (!cmd->group || (!cmd->name && !cmd->aliases))
		return;
	strbuf_printf(b, "\nAliases:\n  docker %s %s", cmd->group, dk_command_name(cmd, cmd->group));
	while (*s) {
		size_t n = strcspn(s, " ");

		strbuf_printf(b, ", docker %s %.*s", cmd->group, (int)n, s);
		s += n + (s[n] == ' ');
	}
	if (cmd->name)
		strbuf_printf(b, ", docker %s", cmd->name);
	strbuf_addc(b, '\n');
}

void dk_help_command(struct strbuf *b, const struct dk_command *cmd, const char *path)
{
	strbuf_printf(b, "Usage:  %s%s%s\n\n%s\n", path, *cmd->usage ? " " : "", cmd->usage,
		      cmd->description ? cmd->description : cmd->summary);
	write_aliases(b, cmd);
	write_flags(b, "Options", cmd->flags);
}

static void write_commands(struct strbuf *b, const char *title, const char *group, int common)
{
	auto_free const struct dk_command **v = NULL;
	bool first = true;
	size_t n;

	v = dk_shown_commands(group, &n);
	for (size_t i = 0; i < n; i++) {
		if (common >= 0 && v[i]->common != common)
			continue;
		if (first)
			strbuf_printf(b, "\n%s:\n", title);
		first = false;
		strbuf_printf(b, "  %-11s %s\n", dk_command_name(v[i], group), v[i]->summary);
	}
}

/* In the order of the table, as Docker has it. */
static void write_common_commands(struct strbuf *b)
{
	strbuf_adds(b, "\nCommon Commands:\n");
	for (size_t i = 0; i < dk_command_count; i++)
		if (dk_commands[i].common && dk_commands[i].run)
			strbuf_printf(b, "  %-11s %s\n", dk_commands[i].name, dk_commands[i].summary);
}

static bool group_exists(const char *group)
{
	auto_free const struct dk_command **v = NULL;
	size_t n;

	v = dk_shown_commands(group, &n);
	return n > 0;
}

void dk_help_group(struct strbuf *b, const struct dk_group *g)
{
	strbuf_printf(b, "Usage:  docker %s COMMAND\n\n%s\n", g->name, g->summary);
	write_commands(b, "Commands", g->name, -1);
	strbuf_printf(b, "\nRun 'docker %s COMMAND --help' for more information on a command.\n", g->name);
}

void dk_help_docker(struct strbuf *b)
{
	strbuf_adds(b, "Usage:  docker [OPTIONS] COMMAND\n\nA self-sufficient runtime for containers\n");
	write_common_commands(b);
	strbuf_adds(b, "\nManagement Commands:\n");
	for (size_t i = 0; i < dk_group_count; i++)
		if (group_exists(dk_groups[i].name))
			strbuf_printf(b, "  %-11s %s\n", dk_groups[i].name, dk_groups[i].summary);
	write_commands(b, "Commands", NULL, false);
	write_flags(b, "Global Options", &dk_global_flags);
	strbuf_adds(b, "\nRun 'docker COMMAND --help' for more information on a command.\n");
}

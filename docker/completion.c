/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `completion`: a script for bash, zsh (which runs bash's) or fish, from the tables. Names of
 * containers, images, networks and volumes are asked for when they are needed.
 */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "docker/cli-help.h"
#include "docker/commands.h"
#include "docker/flag-tables.h"
#include "docker/format.h"

/* What a command's arguments are, by the first word of its usage that says so. */
static const struct kind { const char *word, *list; } kinds[] = {
	{"CONTAINER", "ps -a --format '{{.Names}}'"},
	{"IMAGE", "images --format '{{.Repository}}:{{.Tag}}'"},
	{"NAME[:TAG]", "images --format '{{.Repository}}:{{.Tag}}'"},
	{"NETWORK", "network ls --format '{{.Name}}'"},
	{"VOLUME", "volume ls --format '{{.Name}}'"},
};

static const char *list_command(const struct dk_command *cmd)
{
	const char *best = NULL, *list = NULL;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const char *p = strstr(cmd->usage, kinds[i].word);

		if (p && (!best || p < best)) {
			best = p;
			list = kinds[i].list;
		}
	}
	return list;
}

static void flag_words(struct strbuf *b, const struct dk_flag_table *t)
{
	auto_free const struct dk_flag **v = NULL;
	size_t n;

	v = dk_shown_flags(t, &n);
	for (size_t i = 0; i < n; i++) {
		strbuf_printf(b, "--%s ", v[i]->name);
		if (v[i]->letter)
			strbuf_printf(b, "-%c ", v[i]->letter);
	}
	strbuf_adds(b, "--help");
}

static void command_words(struct strbuf *b, const char *group)
{
	auto_free const struct dk_command **v = NULL;
	size_t n;

	v = dk_shown_commands(group, &n);
	for (size_t i = 0; i < n; i++)
		strbuf_printf(b, "%s%s", i ? " " : "", dk_command_name(v[i], group));
	for (size_t i = 0; !group && i < dk_group_count; i++)
		strbuf_printf(b, " %s", dk_groups[i].name);
}

static void bash_group(struct strbuf *b, const char *group)
{
	strbuf_printf(b, "\t'%s')\n\t\twords='", group ? group : "");
	command_words(b, group);
	strbuf_adds(b, "'\n\t\tflags='");
	flag_words(b, group ? NULL : &dk_global_flags);
	strbuf_adds(b, "' ;;\n");
}

static void bash_command(struct strbuf *b, const struct dk_command *cmd)
{
	const char *list = list_command(cmd);

	strbuf_adds(b, "\t");
	if (cmd->name)
		strbuf_printf(b, "'%s'%s", cmd->name, cmd->group ? "|" : "");
	if (cmd->group)
		strbuf_printf(b, "'%s %s'", cmd->group, dk_command_name(cmd, cmd->group));
	strbuf_adds(b, ")\n\t\tflags='");
	flag_words(b, cmd->flags);
	strbuf_adds(b, "'");
	if (list)
		strbuf_printf(b, "\n\t\tlist=\"%s\"", list);
	strbuf_adds(b, " ;;\n");
}

static void bash_script(struct strbuf *b)
{
	strbuf_adds(b, "_docker() {\n"
		       "\tlocal cur=${COMP_WORDS[COMP_CWORD]} docker=${COMP_WORDS[0]} path= words= flags= list= i w\n"
		       "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		       "\t\tw=${COMP_WORDS[i]}\n"
		       "\t\t[[ $w == -* ]] && continue\n"
		       "\t\tcase $path in\n"
		       "\t\t'') path=$w ;;\n\t\t");
	for (size_t i = 0; i < dk_group_count; i++)
		strbuf_printf(b, "%s%s", i ? "|" : "", dk_groups[i].name);
	strbuf_adds(b, ") path=\"$path $w\" ;;\n\t\t*) break ;;\n\t\tesac\n\tdone\n\tcase $path in\n");
	bash_group(b, NULL);
	for (size_t i = 0; i < dk_group_count; i++)
		bash_group(b, dk_groups[i].name);
	for (size_t i = 0; i < dk_command_count; i++)
		if (dk_commands[i].run && !str_starts(dk_commands[i].name ? dk_commands[i].name : "", "__"))
			bash_command(b, &dk_commands[i]);
	strbuf_adds(b, "\tesac\n"
		       "\tCOMPREPLY=()\n"
		       "\tif [[ $cur == -* ]]; then\n"
		       "\t\tCOMPREPLY=($(compgen -W \"$flags\" -- \"$cur\"))\n"
		       "\telif [[ $words ]]; then\n"
		       "\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
		       "\telif [[ $list ]]; then\n"
		       "\t\tCOMPREPLY=($(compgen -W \"$(eval \"$docker $list\" 2>/dev/null)\" -- \"$cur\"))\n"
		       "\tfi\n"
		       "}\n"
		       "complete -o default -F _docker docker brig-docker\n");
}

/* 'text' for fish. */
static void fish_text(struct strbuf *b, const char *s)
{
	strbuf_addc(b, '\'');
	for (; *s && *s != '\n'; s++) {
		if (*s == '\'' || *s == '\\')
			strbuf_addc(b, '\\');
		strbuf_addc(b, *s);
	}
	strbuf_addc(b, '\'');
}

static void fish_command(struct strbuf *b, const struct dk_command *cmd, const char *group)
{
	const char *name = dk_command_name(cmd, group);
	auto_free const struct dk_flag **v = NULL;
	auto_strbuf struct strbuf seen = {0};
	size_t n;

	if (group)
		strbuf_printf(&seen, "'__fish_seen_subcommand_from %s; and __fish_seen_subcommand_from %s'", group, name);
	else
		strbuf_printf(&seen, "'__fish_seen_subcommand_from %s'", name);
	strbuf_printf(b, "complete -c docker -f -n '%s%s' -a %s -d ",
		      group ? "__fish_seen_subcommand_from " : "__fish_use_subcommand", group ? group : "", name);
	fish_text(b, cmd->summary);
	strbuf_addc(b, '\n');
	v = dk_shown_flags(cmd->flags, &n);
	for (size_t i = 0; i < n; i++) {
		strbuf_printf(b, "complete -c docker -n %s -l %s ", seen.p, v[i]->name);
		if (v[i]->letter)
			strbuf_printf(b, "-s %c ", v[i]->letter);
		strbuf_adds(b, dk_flag_is_bool(v[i]) ? "-d " : "-r -d ");
		fish_text(b, v[i]->help);
		strbuf_addc(b, '\n');
	}
	if (list_command(cmd))
		strbuf_printf(b, "complete -c docker -f -n %s -a \"(docker %s 2>/dev/null)\"\n", seen.p, list_command(cmd));
}

static void fish_script(struct strbuf *b)
{
	for (size_t i = 0; i < dk_group_count; i++) {
		strbuf_printf(b, "complete -c docker -f -n __fish_use_subcommand -a %s -d ", dk_groups[i].name);
		fish_text(b, dk_groups[i].summary);
		strbuf_addc(b, '\n');
	}
	for (size_t i = 0; i < dk_command_count; i++) {
		const struct dk_command *cmd = &dk_commands[i];

		if (!cmd->run || str_starts(cmd->name ? cmd->name : "", "__"))
			continue;
		if (cmd->name)
			fish_command(b, cmd, NULL);
		if (cmd->group)
			fish_command(b, cmd, cmd->group);
	}
	strbuf_adds(b, "complete -c brig-docker -w docker\n");
}

int dk_cmd_completion(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	static const char *const shells[] = {"bash", "zsh", "fish", NULL};
	auto_strbuf struct strbuf b = {0};

	switch (str_index(shells, args->argv[0])) {
	case 0:
		bash_script(&b);
		break;
	case 1:
		strbuf_adds(&b, "#compdef docker brig-docker\nautoload -U +X bashcompinit && bashcompinit\n");
		bash_script(&b);
		break;
	case 2:
		fish_script(&b);
		break;
	default:
		return dk_error(c, e, EINVAL, "completion: \"%s\" is none of bash, zsh, fish", args->argv[0]);
	}
	return dk_write_stdout(b.p, b.len, e) < 0 ? -e->code : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The manual page, from the tables. The build writes it (man/brig-docker.1) by running the program. */
#include <string.h>

#include "base/cleanup.h"
#include "docker/cli-help.h"
#include "docker/commands.h"
#include "docker/flag-tables.h"
#include "docker/format.h"

/* Text for roff: backslashes and hyphens as they are, no line begins with a request. */
static void roff(struct strbuf *b, const char *s)
{
	for (bool start = true; *s; s++) {
		if (start && (*s == '.' || *s == '\''))
			strbuf_adds(b, "\\&");
		start = *s == '\n';
		if (*s == '\\')
			strbuf_adds(b, "\\e");
		else if (*s == '-')
			strbuf_adds(b, "\\-");
		else if (*s == '\n')
			strbuf_adds(b, "\n.br\n");
		else
			strbuf_addc(b, *s);
	}
}

static void flags(struct strbuf *b, const struct dk_flag_table *t)
{
	auto_arena struct arena *a = arena_new();
	auto_free const struct dk_flag **v = NULL;
	size_t n;

	v = dk_shown_flags(t, &n);
	for (size_t i = 0; i < n; i++) {
		strbuf_adds(b, ".TP\n");
		if (v[i]->letter)
			strbuf_printf(b, "\\fB\\-%c\\fR, ", v[i]->letter);
		strbuf_adds(b, "\\fB\\-\\-");
		roff(b, v[i]->name);
		strbuf_printf(b, "\\fR \\fI%s\\fR\n", dk_flag_type(v[i]));
		roff(b, dk_flag_text(a, v[i]));
		strbuf_addc(b, '\n');
	}
}

static void command(struct strbuf *b, const struct dk_command *cmd)
{
	strbuf_adds(b, ".SS \"");
	roff(b, cmd->name ? cmd->name : cmd->group);
	if (!cmd->name)
		strbuf_printf(b, " %s", cmd->group_name);
	strbuf_adds(b, "\"\n\\fBdocker ");
	if (!cmd->name)
		strbuf_printf(b, "%s ", cmd->group);
	roff(b, dk_command_name(cmd, cmd->name ? NULL : cmd->group));
	strbuf_adds(b, "\\fR ");
	roff(b, cmd->usage);
	if (cmd->name && cmd->group)
		strbuf_printf(b, "\n.br\n\\fBdocker %s %s\\fR", cmd->group, dk_command_name(cmd, cmd->group));
	strbuf_adds(b, "\n.PP\n");
	roff(b, cmd->summary);
	strbuf_adds(b, ".\n");
	flags(b, cmd->flags);
}

/* What callers may pass, but nothing follows from. */
static void without_effect(struct strbuf *b)
{
	for (size_t i = 0; i <= dk_command_count; i++) {
		const struct dk_command *cmd = i ? &dk_commands[i - 1] : NULL;
		const struct dk_flag_table *t = cmd ? cmd->flags : &dk_global_flags;

		if (cmd && !cmd->run)
			continue;
		for (size_t k = 0; t && k < t->n; k++) {
			if (!t->v[k].no_effect)
				continue;
			strbuf_printf(b, ".br\n\\fBdocker%s%s", cmd ? " " : "", !cmd ? "" : cmd->name ? cmd->name : cmd->group);
			strbuf_printf(b, "%s%s \\-\\-", cmd && !cmd->name ? " " : "", cmd && !cmd->name ? cmd->group_name : "");
			roff(b, t->v[k].name);
			strbuf_adds(b, "\\fR\n");
		}
	}
	strbuf_adds(b, ".PP\nOf \\fB\\-\\-log\\-opt\\fR only \\fBmax\\-size\\fR and \\fBmax\\-file\\fR have an effect; "
		       "compress, labels, labels\\-regex, env, env\\-regex, tag, mode and max\\-buffer\\-size are taken "
		       "without one, others are refused. The driver \\fBlocal\\fR writes what json\\-file does.\n");
}

static const char head[] =
	".TH BRIG\\-DOCKER 1\n"
	".SH NAME\nbrig\\-docker \\- Docker's command line without a daemon\n"
	".SH SYNOPSIS\n\\fBbrig\\-docker\\fR [\\fIOPTION\\fR...] \\fICOMMAND\\fR [\\fIARGUMENT\\fR...]\n"
	".SH DESCRIPTION\n"
	"Runs containers with the flags, the output and the exit codes of Docker's command line, by "
	"\\fBbrig\\fR(1)'s runtime and without a daemon. Called by the name \\fBdocker\\fR it is the same "
	"program; messages always say docker.\n"
	".PP\n"
	"Every container gets a user namespace. Without \\fB\\-\\-network\\fR it has no network, unless the "
	"configuration says otherwise. An attached container ends with its client, also when that is killed; "
	"a detached one goes on.\n"
	".PP\n"
	"What is not supported is refused with exit code 125. Nothing that was asked for is left out silently, "
	"but for the flags under FLAGS WITHOUT EFFECT.\n"
	".SH GLOBAL OPTIONS\n";
/* docker/cmd-network.c takes them; the MTU has its effect. */
static const char options[] =
	".PP\nOf the options of a network's driver (\\fBnetwork create \\-\\-opt\\fR) "
	"\\fIcom.docker.network.driver.mtu\\fR has an effect. These are taken when they say what is so anyway, "
	"and are refused otherwise:\n"
	".br\n\\fBcom.docker.network.bridge.enable_icc=true\\fR\n"
	".br\n\\fBcom.docker.network.bridge.enable_ip_masquerade=true\\fR\n"
	".br\n\\fBcom.docker.network.bridge.name\\fR: any; the bridge is where nobody else can see it\n";
static const char tail[] =
	".SH EXIT STATUS\n"
	"\\fBrun\\fR and \\fBexec\\fR give the command's own; 125 if brig\\-docker failed, 126 if the command "
	"cannot be executed, 127 if it was not found, 128 and its number after a signal. A flag that is wrong is 125 "
	"for every command, a template that cannot be read 64 for \\fBinspect\\fR, all else 1.\n"
	".SH ENVIRONMENT\n"
	".TP\n\\fBBRIG_DOCKER_DATA\\fR, \\fBBRIG_DOCKER_RUN\\fR\nDirectories of images, volumes and containers, and of "
	"what runs.\n"
	".TP\n\\fBBRIG_DOCKER_CONFIG\\fR\nThe configuration file.\n"
	".TP\n\\fBBRIG_DOCKER_STDIN\\fR\n\\fIpipe\\fR: a piped standard input reaches the container without "
	"\\fB\\-i\\fR; \\fIempty\\fR: as with Docker it does not.\n"
	".SH FILES\n"
	".TP\n\\fI/etc/brig/docker.json\\fR, \\fI~/.config/brig/docker.json\\fR\nThe configuration.\n"
	".TP\n\\fI/var/lib/brig\\fR, \\fI~/.local/share/brig\\fR\nImages, volumes, containers.\n"
	".SH SEE ALSO\n\\fBbrig\\fR(1)\n";

int dk_cmd_manual(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	auto_free const struct dk_command **v = NULL;
	size_t n;

	(void)c, (void)args;
	strbuf_adds(&b, head);
	flags(&b, &dk_global_flags);
	strbuf_adds(&b, ".SH COMMANDS\n");
	v = dk_shown_commands(NULL, &n);
	for (size_t i = 0; i < n; i++)
		command(&b, v[i]);
	for (size_t i = 0; i < dk_command_count; i++)
		if (!dk_commands[i].name && dk_commands[i].run)
			command(&b, &dk_commands[i]);
	strbuf_adds(&b, ".SH FLAGS WITHOUT EFFECT\nThese are taken, for callers pass them:\n");
	without_effect(&b);
	strbuf_adds(&b, options);
	strbuf_adds(&b, tail);
	return dk_write_stdout(b.p, b.len, e) < 0 ? -e->code : 0;
}

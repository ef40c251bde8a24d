/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way of a command line: global flags, the command's words, its flags, the number of arguments,
 * its check, the command; and how each of them fails in Docker's words.
 */
#include "docker/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "docker/cli-help.h"
#include "docker/cli-parse.h"
#include "docker/flag-tables.h"
#include "docker/format.h"

enum { EXIT_FRONT_END = 125, EXIT_CANNOT_EXECUTE = 126, EXIT_NOT_FOUND = 127 };

/* ---- errors ---- */

static int keep_text(struct dk_context *c, struct err *e, int code, const char *prefix, char *text)
{
	c->long_error = NULL;
	err_set(e, code, "%s%s", prefix, text);
	if (strlen(prefix) + strlen(text) >= sizeof(e->msg))
		c->long_error = arena_printf(c->arena, "%s%s", prefix, text);
	free(text);
	return -e->code;
}

/* e has the code. */
static int keep_format(struct dk_context *c, struct err *e, const char *prefix, const char *fmt, va_list ap)
{
	char *text = NULL;

	if (vasprintf(&text, fmt, ap) < 0)
		die_out_of_memory();
	return keep_text(c, e, e->code, prefix, text);
}

int dk_error(struct dk_context *c, struct err *e, int code, const char *fmt, ...)
{
	va_list ap;
	int r;

	e->code = code;
	va_start(ap, fmt);
	r = keep_format(c, e, "", fmt, ap);
	va_end(ap);
	return r;
}

int dk_daemon_error(struct dk_context *c, struct err *e, int code, const char *fmt, ...)
{
	va_list ap;
	int r;

	e->code = code;
	va_start(ap, fmt);
	r = keep_format(c, e, "Error response from daemon: ", fmt, ap);
	va_end(ap);
	return r;
}

const char *dk_error_text(const struct dk_context *c, const struct err *e)
{
	/* err_set may have cut the message within a character. */
	return c->long_error && strncmp(c->long_error, e->msg, sizeof(e->msg) - 8) == 0 ? c->long_error : e->msg;
}

void dk_print_error(struct dk_context *c, const struct err *e)
{
	fprintf(stderr, "%s\n", dk_error_text(c, e));
	c->long_error = NULL;
}

int dk_fail(int exit_code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return exit_code;
}

bool dk_given(const struct dk_args *args, const char *flag)
{
	const struct dk_flag_table *t = args->command->flags;
	const struct dk_flag *f = dk_find_flag(t, flag, strlen(flag));
	size_t row = f ? (size_t)(f - t->v) : 0;

	return f && args->given[row / 64] >> row % 64 & 1;
}

/* The code of run, from the words of the message as Docker chooses it. */
static int run_exit_code(const char *text)
{
	if (strstr(text, "executable file not found") || strstr(text, "no such file or directory") ||
	    strstr(text, "system cannot find the file specified"))
		return EXIT_NOT_FOUND;
	if (strstr(text, "permission denied") || strstr(text, "is a directory"))
		return EXIT_CANNOT_EXECUTE;
	return EXIT_FRONT_END;
}

/* "docker: TEXT", and where to read more. */
static int fail_with_hint(const char *path, int code, const char *text)
{
	fprintf(stderr, "docker: %s\n\nRun '%s --help' for more information\n", text, path);
	return code;
}

/* pflag's error: the text, the usage, the hint. */
static int fail_with_usage(const char *path, const char *usage, const char *text)
{
	fprintf(stderr, "%s\n\nUsage:  %s%s%s\n\nRun '%s --help' for more information\n", text, path,
		*usage ? " " : "", usage, path);
	return EXIT_FRONT_END;
}

/* ---- one command ---- */

static const char *plural(int n)
{
	return n == 1 ? "" : "s";
}

/* 0, or 1 after a message. */
static int check_count(const struct dk_command *cmd, const char *path, int n)
{
	int min = cmd->min_args, max = cmd->max_args;
	char what[80];

	if (n >= min && (max < 0 || n <= max))
		return 0;
	if (max == 0)
		snprintf(what, sizeof(what), "accepts no arguments");
	else if (min == max)
		snprintf(what, sizeof(what), "requires %d argument%s", min, plural(min));
	else if (max < 0)
		snprintf(what, sizeof(what), "requires at least %d argument%s", min, plural(min));
	else if (min == 0)
		snprintf(what, sizeof(what), "requires at most %d argument%s", max, plural(max));
	else
		snprintf(what, sizeof(what), "requires at least %d and at most %d arguments", min, max);
	fprintf(stderr, "docker: '%s' %s\n\nUsage:  %s%s%s\n\n%s '%s --help' for more information\n", path, what,
		path, *cmd->usage ? " " : "", cmd->usage, max < 0 ? "See" : "Run", path);
	return 1;
}

static int print_help(const struct dk_command *cmd, const char *path)
{
	auto_strbuf struct strbuf b = {0};
	struct err e = {0};

	dk_help_command(&b, cmd, path);
	return dk_write_stdout(b.p, b.len, &e) < 0 ? 1 : 0;
}

static int run_command(struct dk_context *c, const struct dk_command *cmd, const char *path, int argc,
		       char **argv)
{
	struct dk_args args = {.command = cmd, .path = path, .argc = argc, .argv = argv};
	struct dk_parser p = {.c = c, .table = cmd->flags, .given = args.given,
			      .stop_at_argument = cmd->stop_at_argument};
	struct err e = {0};
	int r;

	if (cmd->flags)
		args.options = p.options = arena_alloc(c->arena, cmd->flags->options_size);
	if (dk_parse_defaults(&p, &e) < 0)
		return fail_with_hint(path, EXIT_FRONT_END, e.msg);
	if (dk_parse_flags(&p, argc, argv, &e) < 0)
		return fail_with_usage(path, cmd->usage, dk_error_text(c, &e));
	if (p.help)
		return print_help(cmd, path);
	args.argc = p.argc;
	r = check_count(cmd, path, args.argc);
	if (r)
		return r;
	if (cmd->check && cmd->check(c, &args, &e) < 0)
		return fail_with_hint(path, EXIT_FRONT_END, dk_error_text(c, &e));
	r = dk_other_engine(c) && !cmd->no_engine ? dk_no_engine(c, &e) : cmd->run(c, &args, &e);
	if (r >= 0)
		return r;
	if (cmd->form == DK_ERROR_RUN)
		return fail_with_hint(path, run_exit_code(dk_error_text(c, &e)), dk_error_text(c, &e));
	dk_print_error(c, &e);
	return 1;
}

/* ---- another engine ---- */

const char *dk_other_engine(const struct dk_context *c)
{
	static const char *const ours[] = {"unix:///var/run/docker.sock", "unix:///run/docker.sock", NULL};
	const char *host = c->host;

	for (char **v = c->env; !host && *v; v++)
		if (str_starts(*v, "DOCKER_HOST="))
			host = *v + strlen("DOCKER_HOST=");
	return host && *host && str_index(ours, host) < 0 ? host : NULL;
}

int dk_no_engine(struct dk_context *c, struct err *e)
{
	return dk_error(c, e, ECONNREFUSED, "Cannot connect to the Docker daemon at %s. Is the docker daemon "
			"running?", dk_other_engine(c));
}

/* ---- which command ---- */

static bool word_in(const char *words, const char *word)
{
	size_t n = strlen(word);

	for (const char *s = words; s && *s; s += strcspn(s, " "), s += *s == ' ')
		if (strncmp(s, word, n) == 0 && (s[n] == ' ' || !s[n]))
			return true;
	return false;
}

static const struct dk_command *find_command(const char *group, const char *name)
{
	for (size_t i = 0; i < dk_command_count; i++) {
		const struct dk_command *cmd = &dk_commands[i];

		if (!cmd->run)
			continue;
		if (group ? str_eq(cmd->group, group) && (str_eq(dk_command_name(cmd, group), name) ||
							  word_in(cmd->aliases, name))
			  : str_eq(cmd->name, name))
			return cmd;
	}
	return NULL;
}

static const struct dk_group *find_group(const char *name)
{
	for (size_t i = 0; i < dk_group_count; i++)
		if (str_eq(dk_groups[i].name, name))
			return &dk_groups[i];
	return NULL;
}

static int show(const struct strbuf *b, FILE *to)
{
	fputs(strbuf_str(b), to);
	return fflush(to) ? 1 : 0;
}

static int docker_help(FILE *to)
{
	auto_strbuf struct strbuf b = {0};

	dk_help_docker(&b);
	return show(&b, to);
}

static int group_help(const struct dk_group *g, FILE *to)
{
	auto_strbuf struct strbuf b = {0};

	dk_help_group(&b, g);
	return show(&b, to);
}

/* Words below a group that are no command: flags are looked at first, as Docker does. */
static int run_group(struct dk_context *c, const struct dk_group *g, int argc, char **argv)
{
	const char *path = arena_printf(c->arena, "docker %s", g->name);
	const struct dk_command *cmd = argc && argv[0][0] != '-' ? find_command(g->name, argv[0]) : NULL;
	uint64_t given[3] = {0};
	struct dk_parser p = {.c = c, .given = given};
	struct err e = {0};

	if (cmd)
		return run_command(c, cmd, arena_printf(c->arena, "docker %s %s", g->name,
							dk_command_name(cmd, g->name)),
				   argc - 1, argv + 1);
	if (dk_parse_flags(&p, argc, argv, &e) < 0)
		return fail_with_usage(path, "", dk_error_text(c, &e));
	if (p.help)
		return group_help(g, stdout);
	if (!p.argc)
		return group_help(g, stderr);
	fprintf(stderr, "docker: unknown command: docker %s %s\n\nUsage:  docker %s\n\n"
			"Run 'docker %s --help' for more information\n", g->name, p.argv[0], g->name, g->name);
	return 1;
}

/* `docker help [COMMAND...]`: the words behind the last known one are the topic that is not. */
static int run_help(struct dk_context *c, int argc, char **argv)
{
	static const struct dk_command help = {.usage = "[command]", .summary = "Help about the command"};
	uint64_t given[3] = {0};
	struct dk_parser p = {.c = c, .given = given};
	struct err e = {0};
	const struct dk_command *cmd;
	const struct dk_group *g;
	auto_strbuf struct strbuf rest = {0};
	int known = 0;

	if (dk_parse_flags(&p, argc, argv, &e) < 0)
		return fail_with_usage("docker help", help.usage, dk_error_text(c, &e));
	if (p.help)
		return print_help(&help, "docker help");
	if (!p.argc)
		return docker_help(stdout);
	g = find_group(p.argv[0]);
	known += g != NULL;
	cmd = known < p.argc ? find_command(g ? g->name : NULL, p.argv[known]) : NULL;
	if (!g && str_eq(p.argv[0], "help"))
		cmd = &help;
	known += cmd != NULL;
	for (int i = known; i < p.argc; i++)
		strbuf_printf(&rest, "%s%s", i > known ? " " : "", p.argv[i]);
	if (known < p.argc)
		return dk_fail(1, "unknown help topic: %s", rest.p);
	if (!cmd)
		return group_help(g, stdout);
	return print_help(cmd, arena_printf(c->arena, "docker %s%s%s", g ? g->name : "", g ? " " : "",
					    cmd == &help ? "help" : dk_command_name(cmd, g ? g->name : NULL)));
}

/* The version line of --version and of `version`'s callers. */
static int print_version(void)
{
	printf("Docker version %s, build %s\n", DK_CLIENT_VERSION, BRIG_VERSION);
	return fflush(stdout) ? 1 : 0;
}

/* --version wins over a word that is no command. */
static int unknown_command(struct dk_context *c, bool version, int argc, char **argv)
{
	struct dk_global_options o = {0};
	uint64_t given[3] = {0};
	struct dk_parser p = {.c = c, .table = &dk_global_flags, .options = &o, .given = given};
	const char *name = argv[0];
	struct err e = {0};

	if (dk_parse_flags(&p, argc, argv, &e) < 0)
		return fail_with_usage("docker", "[OPTIONS] COMMAND [ARG...]", dk_error_text(c, &e));
	if (p.help)
		return docker_help(stdout);
	if (version || o.version)
		return print_version();
	fprintf(stderr, "docker: unknown command: docker %s\n\nRun 'docker --help' for more information\n", name);
	return 1;
}

static int use_globals(struct dk_context *c, const struct dk_global_options *o)
{
	static const char *const levels[] = {"debug", "info", "warn", "warning", "error", "fatal",
					     "panic", "trace", NULL};

	c->config_dir = o->config;
	c->context = o->context;
	c->log_level = o->log_level;
	c->debug = o->debug || str_eq(o->log_level, "debug");
	c->host = o->host.n ? o->host.v[0] : NULL;
	if (o->log_level && str_index(levels, o->log_level) < 0)
		return dk_fail(1, "Unable to parse logging level: %s", o->log_level);
	return 0;
}

int dk_main(struct dk_context *c, int argc, char **argv)
{
	struct dk_global_options o = {0};
	uint64_t given[3] = {0};
	struct dk_parser p = {.c = c, .table = &dk_global_flags, .options = &o, .given = given,
			      .stop_at_argument = true};
	const struct dk_command *cmd;
	const struct dk_group *g;
	struct err e = {0};
	char **words = arena_array(c->arena, (size_t)argc + 1, sizeof(*words));

	/* Words are moved about; c->argv stays as it is, for running ourselves again. */
	memcpy(words, argv, (size_t)argc * sizeof(*words));
	if (dk_parse_flags(&p, argc ? argc - 1 : 0, words + 1, &e) < 0)
		return fail_with_usage("docker", "[OPTIONS] COMMAND [ARG...]", dk_error_text(c, &e));
	if (p.help)
		return docker_help(stdout);
	if (use_globals(c, &o))
		return 1;
	if (!p.argc)
		return o.version ? print_version() : docker_help(stderr);
	argv = p.argv;
	cmd = find_command(NULL, argv[0]);
	if (cmd)
		return run_command(c, cmd, arena_printf(c->arena, "docker %s", cmd->name), p.argc - 1, argv + 1);
	g = find_group(argv[0]);
	if (g)
		return run_group(c, g, p.argc - 1, argv + 1);
	if (str_eq(argv[0], "help"))
		return run_help(c, p.argc - 1, argv + 1);
	return unknown_command(c, o.version, p.argc, argv);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `brig`: global options, then a command of the table. Only this file and the commands decide
 * what is printed; everything below reports errors as values.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/str.h"
#include "runtime/cli.h"
#include "runtime/commands.h"
#include "runtime/handler.h"
#include "runtime/state.h"

enum { STACK_NEEDED = 64 << 10 };

struct command {
	const char *name;
	rt_command *run;
	const char *summary;
};

static const struct command commands[] = {
	{"run", cmd_run, "run a container from an OCI bundle in the foreground"},
	{"sandbox", cmd_sandbox, "run a program from a sandbox spec, print one JSON result"},
	{"create", cmd_create, "create a container from an OCI bundle"},
	{"start", cmd_start, "start a created container"},
	{"state", cmd_state, "print the state of a container as JSON"},
	{"list", cmd_list, "list the containers"},
	{"exec", cmd_exec, "run a further program in a running container"},
	{"ps", cmd_ps, "list the processes of a container"},
	{"pause", cmd_pause, "stop all processes of a container"},
	{"resume", cmd_resume, "let the processes of a paused container go on"},
	{"update", cmd_update, "change the limits of a container"},
	{"events", cmd_events, "print the resource use of a container, and out-of-memory events"},
	{"mounts", cmd_mounts, "add mounts to a running container, or remove some"},
	{"checkpoint", cmd_checkpoint, "write a running container to files (needs criu)"},
	{"restore", cmd_restore, "make a container from such files, and let it go on"},
	{"kill", cmd_kill, "send a signal to a container"},
	{"delete", cmd_delete, "remove a stopped container"},
	{"plan", cmd_plan, "print what run would do, as JSON, without doing it"},
	{"spec", cmd_spec, "print a config.json (or, with --sandbox, a sandbox spec) to begin with"},
	{"doctor", cmd_doctor, "check every primitive of this machine and name the fixes"},
	{"features", cmd_features, "print the supported features as JSON (runtime-spec)"},
};

int command_failed(const struct err *e, int code)
{
	log_error("%s", e->msg);
	return code;
}

int command_run(const struct command_spec *s, int argc, char **argv, const struct rt_globals *g)
{
	auto_arena struct arena *a = arena_new();
	struct err e = {0};
	int r = cli_parse(&s->cli, argc, argv, &e);

	if (r == CLI_HELP)
		return 0;
	if (r >= 0)
		r = s->body(a, g, argv + r, s->options, &e);
	return r < 0 ? command_failed(&e, 1) : 0;
}

int exec_exit_code(const struct err *e, bool exec_failed, int other)
{
	if (!exec_failed)
		return other;
	return e->code == ENOENT || e->code == ENOTDIR ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

int exit_code_of(int status)
{
	return WIFSIGNALED(status) ? EXIT_SIGNAL_BASE + WTERMSIG(status) : WEXITSTATUS(status);
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (str_eq(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static void print_commands(void)
{
	printf("\nCommands:\n");
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		printf("  %-10s %s\n", commands[i].name, commands[i].summary);
}

/* With 0, 1 or 2 closed, the next open would become a standard stream of the payload. */
static void fill_standard_streams(void)
{
	struct pollfd streams[] = {{.fd = 0}, {.fd = 1}, {.fd = 2}};
	int fd, n = poll(streams, 3, 0);
	bool closed = n < 0;

	for (int i = 0; i < 3 && n > 0; i++)
		closed |= (streams[i].revents & POLLNVAL) != 0;
	if (!closed)
		return;
	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* The options that have words as values. */
struct words {
	const char *format, *level, *manager, *rootless;
};

static int use_words(const struct words *w, struct rt_globals *g, struct err *e)
{
	static const char *const formats[] = {"text", "json", NULL};
	static const char *const names[] = {"error", "warning", "debug", NULL};
	static const enum log_level levels[] = {LOG_LEVEL_ERROR, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG};
	static const char *const managers[] = {"cgroupfs", "systemd", "disabled", NULL};
	static const char *const rootless[] = {"auto", "true", "false", NULL};
	int manager = str_index(managers, w->manager), level = str_index(names, w->level);

	if (str_index(formats, w->format) < 0)
		return err_set(e, EINVAL, "--log-format: \"%s\" is neither text nor json", w->format);
	if (level < 0)
		return err_set(e, EINVAL, "--log-level: \"%s\" is none of error, warning, debug", w->level);
	if (manager < 0)
		return err_set(e, EINVAL, "--cgroup-manager: \"%s\" is none of cgroupfs, systemd, disabled",
			       w->manager);
	if (str_index(rootless, w->rootless) < 0)
		return err_set(e, EINVAL, "--rootless: \"%s\" is none of true, false, auto", w->rootless);
	g->log_format = str_eq(w->format, "json") ? LOG_FORMAT_JSON : LOG_FORMAT_TEXT;
	if (!g->handler_dir)
		g->handler_dir = getenv("BRIG_HANDLER_DIR");
	if (!g->handler_dir || !*g->handler_dir)
		g->handler_dir = HANDLER_DEFAULT_DIR;
	if (*g->handler_dir != '/')
		return err_set(e, EINVAL, "--handler-dir: \"%s\" is not an absolute path", g->handler_dir);
	g->log_level = g->debug ? LOG_LEVEL_DEBUG : levels[level];
	g->systemd_cgroup = g->systemd_cgroup || manager == 1;
	g->no_cgroup = manager == 2;
	return 0;
}

/* Fills *g; the index of the command's name, CLI_HELP, or -errno. */
static int parse_globals(int argc, char **argv, struct rt_globals *g, struct err *e)
{
	struct words w = {"text", "warning", "cgroupfs", "auto"};
	const char *criu = NULL;
	bool version = false;
	const struct cli_option options[] = {
		{"root", 0, CLI_STRING, &g->root, "DIR", "state directory (default /run/brig, or below XDG_RUNTIME_DIR)"},
		{"log", 0, CLI_STRING, &g->log_path, "FILE", "also log to [file:]FILE, syslog:[NAME] or journald:[NAME]"},
		{"log-format", 0, CLI_STRING, &w.format, "text|json", "format of the log file"},
		{"log-level", 0, CLI_STRING, &w.level, "LEVEL", "error, warning (the default), or debug, which is --debug"},
		{"criu", 0, CLI_STRING, &criu, NULL, NULL}, /* of no effect under runc, too */
		{"handler-dir", 0, CLI_STRING, &g->handler_dir, "DIR", "the programs of run.oci.handler (default " HANDLER_DEFAULT_DIR ")"},
		{"debug", 0, CLI_FLAG, &g->debug, NULL, "log every step"},
		{"systemd-cgroup", 0, CLI_FLAG, &g->systemd_cgroup, NULL, "cgroupsPath is slice:prefix:name, made by systemd"},
		{"cgroup-manager", 0, CLI_STRING, &w.manager, "NAME", "cgroupfs (the default), systemd, or disabled"},
		/* What a caller says changes nothing: what the kernel lets us do is probed. */
		{"rootless", 0, CLI_STRING, &w.rootless, "true|false|auto", "of no effect: what we may do is probed"},
		{"trace-steps", 0, CLI_FLAG, &g->trace_steps, NULL, "print the microseconds of each step on stderr"},
		{"version", 'v', CLI_FLAG, &version, NULL, "print the version"},
		{"version", 'V', CLI_FLAG, &version, NULL, NULL},
	};
	const struct cli c = {
		.usage = "brig [OPTION...] COMMAND [ARGUMENT...]",
		.summary = "Runs code that you did not write in namespaces, with limits that hold.",
		.print_more = print_commands,
		.options = options,
		.n = sizeof(options) / sizeof(options[0]),
		.max_args = -1,
	};
	int r = cli_parse(&c, argc, argv, e);

	if (r < 0 || r == CLI_HELP)
		return r;
	if (version) {
		printf("brig version %s\nspec: 1.3.0\n", BRIG_VERSION);
		return CLI_HELP;
	}
	if (use_words(&w, g, e) < 0)
		return -e->code;
	if (r >= argc)
		return err_set(e, EINVAL, "which command? (see brig --help)");
	return r;
}

/* `brig help [COMMAND]`, for those who try that first. */
static int help(char *name, struct rt_globals *g)
{
	char *words[] = {name ? name : (char *)"brig", (char *)"--help", NULL};
	const struct command *c = name ? find_command(name) : NULL;
	struct err e = {0};

	if (c)
		return c->run(2, words, g);
	if (name)
		err_set(&e, EINVAL, "unknown command \"%s\" (see brig --help)", name);
	return name ? command_failed(&e, 1) : parse_globals(2, words, g, &e) == CLI_HELP ? 0 : 1;
}

/* Frames of several kilobytes are common below; a guess too low would end in a segmentation fault. */
static int check_stack(struct err *e)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_STACK, &l) < 0 || l.rlim_cur >= STACK_NEEDED)
		return 0;
	return err_set(e, ENOMEM, "the stack limit of %llu KiB is too small: brig needs %d (ulimit -s)",
		       (unsigned long long)l.rlim_cur / 1024, STACK_NEEDED / 1024);
}

int main(int argc, char **argv)
{
	auto_arena struct arena *a = arena_new();
	struct rt_globals g = {.argv = argv};
	const struct command *c;
	struct err e = {0};
	int i;

	if (getauxval(AT_SECURE)) {
		fputs("brig: refusing to run set-user-ID or with file capabilities\n", stderr);
		return 1;
	}
	fill_standard_streams();
	i = parse_globals(argc, argv, &g, &e);
	if (i == CLI_HELP)
		return 0;
	if (i < 0)
		return command_failed(&e, 1);
	if (log_open(g.log_path, g.log_format, g.log_level, &e) < 0)
		return command_failed(&e, 1);
	if (str_eq(argv[i], "help"))
		return help(i + 1 < argc ? argv[i + 1] : NULL, &g);
	c = find_command(argv[i]);
	if (c && check_stack(&e) < 0)
		return c->run == cmd_sandbox ? sandbox_refused(&e) : command_failed(&e, EXIT_SETUP_FAILED);
	if (!c) {
		err_set(&e, EINVAL, "unknown command \"%s\" (see brig --help)", argv[i]);
		return command_failed(&e, 1);
	}
	if (!g.root && rt_state_default_root(a, &g.root, &e) < 0)
		return command_failed(&e, 1);
	log_debug("brig %s: %s, state directory %s", BRIG_VERSION, c->name, g.root);
	return c->run(argc - i, argv + i, &g);
}

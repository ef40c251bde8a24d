/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `brig exec`. In the foreground the exit code is the program's (128 + N after signal N); 255 says
 * that we could not start it. With --detach the pid file appears when the program runs, and only
 * then: conmon tells the two failures apart by it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "nsenter/signals.h"
#include "runtime/bundle.h"
#include "runtime/cli.h"
#include "runtime/commands.h"
#include "runtime/console.h"
#include "runtime/exec-join.h"
#include "runtime/exec-process.h"
#include "runtime/exec.h"
#include "runtime/self.h"

enum { EXIT_EXEC_FAILED = 255 };

struct exec_options {
	struct exec_request request;
	const char *id, *pid_file, *console_socket, *pidfd_socket;
	struct cli_list cgroups;
	unsigned preserve_fds;
	bool detach, ignore_paused, no_subreaper;
};

static int parse(int argc, char **argv, struct exec_options *o, struct err *e)
{
	struct exec_request *q = &o->request;
	const struct cli_option options[] = {
		{"process", 'p', CLI_STRING, &q->process_file, "FILE", "the process object as JSON, in place of a command"},
		{"cwd", 0, CLI_STRING, &q->cwd, "DIR", "working directory"},
		{"env", 'e', CLI_LIST, &q->env, "KEY=VALUE", "add to the environment"},
		{"user", 'u', CLI_STRING, &q->user, "UID[:GID]", "user and group, as numbers"},
		{"additional-gids", 'g', CLI_LIST, &q->gids, "GID", "add a supplementary group"},
		{"cap", 'c', CLI_LIST, &q->caps, "CAP", "add a capability"},
		{"apparmor", 0, CLI_STRING, &q->apparmor, "PROFILE", "AppArmor profile"},
		{"process-label", 0, CLI_STRING, &q->label, "LABEL", "SELinux label"},
		{"no-new-privs", 0, CLI_FLAG, &q->no_new_privs, NULL, "no new privileges by set-user-ID programs"},
		{"tty", 't', CLI_FLAG, &q->tty, NULL, "give it a terminal"},
		{"console-socket", 0, CLI_STRING, &o->console_socket, "SOCKET", "send the terminal's master there"},
		{"detach", 'd', CLI_FLAG, &o->detach, NULL, "do not wait for the program"},
		{"pid-file", 0, CLI_STRING, &o->pid_file, "FILE", "write the pid of the program to FILE"},
		{"pidfd-socket", 0, CLI_STRING, &o->pidfd_socket, "SOCKET", "send a pidfd of the program there"},
		{"preserve-fds", 0, CLI_UINT, &o->preserve_fds, "N", "pass N descriptors, from 3 on, to the program"},
		{"cgroup", 0, CLI_LIST, &o->cgroups, "SUB", "run in this cgroup below the container's"},
		{"ignore-paused", 0, CLI_FLAG, &o->ignore_paused, NULL, "also in a paused container"},
		{"no-subreaper", 0, CLI_FLAG, &o->no_subreaper, NULL, NULL},
	};
	const struct cli c = {
		.usage = "brig exec [OPTION...] ID COMMAND [ARGUMENT...]\n"
			 "       brig exec [OPTION...] --process FILE ID",
		.summary = "Runs a further program in a running container.",
		.options = options,
		.n = sizeof(options) / sizeof(options[0]),
		.min_args = 1,
		.max_args = -1,
	};
	int r = cli_parse(&c, argc, argv, e);

	if (r < 0 || r == CLI_HELP)
		return r;
	o->id = argv[r];
	q->args = argv + r + 1;
	return rt_check_preserved(o->preserve_fds, e);
}

static int check_status(const struct rt_container *c, const struct exec_options *o, struct err *e)
{
	if (c->status == RT_STOPPED || c->pidfd < 0)
		return err_set(e, ESRCH, "cannot exec in a stopped container: container not running");
	if (c->status == RT_CREATING)
		return err_set(e, EAGAIN, "cannot exec in a container that is creating");
	if (c->status == RT_PAUSED && !o->ignore_paused)
		return err_set(e, EAGAIN, "cannot exec in a paused container (use --ignore-paused to "
					  "override)");
	if (!c->doc->config || !c->doc->config->process || !c->doc->config->linux_)
		return err_set(e, EOPNOTSUPP, "%s was not made for exec: its configuration was not kept "
					      "(sandboxes do not)", o->id);
	return 0;
}

/* runc's words. */
static int check_console(const struct oci_process *p, const struct exec_options *o, struct err *e)
{
	bool tty = p->terminal.v;

	if (tty && o->detach && !o->console_socket)
		return err_set(e, EINVAL, "cannot allocate tty if brig will detach without setting "
					  "console socket");
	if (o->console_socket && (!tty || !o->detach))
		return err_set(e, EINVAL, "cannot use console socket if brig will not detach or allocate "
					  "tty");
	return 0;
}

/* Atomically, without a newline: go-runc and conmon parse the whole file as a number. */
static int write_pid(const char *path, pid_t pid, struct err *e)
{
	auto_strbuf struct strbuf b = {0};

	if (!path)
		return 0;
	strbuf_printf(&b, "%ld", (long)pid);
	return io_replace_file(AT_FDCWD, path, &b, 0644, e);
}

struct sockets { int console, pidfd; };

static int connect_sockets(const struct exec_options *o, struct sockets *s, struct err *e)
{
	if (o->console_socket)
		s->console = console_connect(o->console_socket, e);
	if (o->console_socket && s->console < 0)
		return s->console;
	if (o->pidfd_socket)
		s->pidfd = console_connect(o->pidfd_socket, e);
	return o->pidfd_socket && s->pidfd < 0 ? s->pidfd : 0;
}

/* What the caller is to get of the running program; the pid file comes last. */
static int hand_over(struct rt_exec *x, const struct exec_options *o, const struct sockets *s,
		     struct err *e)
{
	int r = 0;

	if (s->console >= 0) {
		r = console_send(s->console, x->console_master, "/dev/ptmx", e);
		cleanup_close(&x->console_master);
	}
	if (r == 0 && s->pidfd >= 0)
		r = console_send(s->pidfd, x->pidfd, "pidfd", e);
	return r < 0 ? r : write_pid(o->pid_file, x->pid, e);
}

/* The exit code, or -errno. */
static int wait_for_end(struct rt_exec *x, int sigfd, struct err *e)
{
	struct ns_exit how = {0};
	int r = 0;

	if (x->console_master >= 0)
		r = console_relay(x->console_master, sigfd, x->pidfd, e);
	if (r == 0)
		r = ns_wait(&(struct ns_wait){.pidfd = x->pidfd, .sigfd = sigfd}, &how, NULL, e);
	if (r < 0)
		return r;
	return how.signal ? EXIT_SIGNAL_BASE + how.signal : how.status;
}

static int run(struct rt_exec *x, const struct exec_options *o, struct err *e)
{
	auto_close int console = -1, pidfd = -1, sigfd = -1;
	struct sockets s = {-1, -1};
	int r = connect_sockets(o, &s, e);

	console = s.console;
	pidfd = s.pidfd;
	if (r == 0 && !o->detach)
		r = sigfd = ns_signals_open(NULL, e);
	if (r >= 0)
		r = rt_exec(x, e);
	if (r < 0)
		return r;
	r = hand_over(x, o, &s, e);
	if (r == 0 && !o->detach)
		r = wait_for_end(x, sigfd, e);
	if (r < 0)
		rt_exec_kill(x);
	return r;
}

static int protect_ourselves(const struct rt_container *c, const struct rt_globals *g,
			     struct err *e)
{
	int other = exec_other_userns(c, e);

	if (other < 0)
		return other;
	if (!self_is_exposed(c->procfs, (pid_t)c->doc->init_pid, other))
		return 0;
	return self_protect(g->argv, NULL, e);
}

static int exec_in_container(struct arena *a, const struct rt_globals *g,
			     const struct exec_options *o, struct err *e)
{
	auto_container struct rt_container c = RT_CONTAINER_NONE;
	struct rt_exec x = {RT_EXEC_NONE, .container = &c, .globals = g, .arena = a, .new_keyring = true,
			    .preserve_fds = o->preserve_fds, .sub_cgroups = &o->cgroups};
	struct oci_spec spec;
	int r = rt_container_open(a, g, o->id, &c, e);

	if (r == 0)
		r = check_status(&c, o, e);
	if (r == 0)
		r = protect_ourselves(&c, g, e);
	if (r < 0)
		return r;
	spec = *c.doc->config;
	r = exec_make_process(a, &o->request, c.doc->config->process, &spec.process, e);
	if (r == 0)
		r = check_console(spec.process, o, e);
	if (r < 0)
		return r;
	x.spec = &spec;
	r = run(&x, o, e);
	rt_exec_close(&x);
	return r;
}

static void free_lists(struct exec_options *o)
{
	free(o->request.env.v);
	free(o->request.gids.v);
	free(o->request.caps.v);
	free(o->cgroups.v);
}

int cmd_exec(int argc, char **argv, const struct rt_globals *g)
{
	auto_arena struct arena *a = arena_new();
	struct exec_options o = {0};
	struct err e = {0};
	int r = parse(argc, argv, &o, &e);

	if (r == CLI_HELP)
		return 0;
	if (r >= 0)
		r = exec_in_container(a, g, &o, &e);
	free_lists(&o);
	if (r >= 0)
		return r;
	err_wrap(&e, "exec failed");
	return command_failed(&e, EXIT_EXEC_FAILED);
}

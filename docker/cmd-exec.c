/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `docker exec`: a further process with what the container has, joined by us without anybody's help.
 * A failure to start it is said on stdout with a carriage return, as Docker's engine does it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "docker/commands.h"
#include "docker/container.h"
#include "docker/control.h"
#include "docker/copy.h"
#include "docker/events.h"
#include "docker/exec.h"
#include "docker/flag-tables.h"
#include "docker/lists.h"
#include "docker/monitor.h"
#include "docker/relay.h"
#include "docker/streams.h"
#include "nsenter/signals.h"

#define OCI_EXEC "OCI runtime exec failed: exec failed: unable to start container process: "

struct job {
	struct dk_exec p;
	struct dk_copy copy;
	char id[DK_ID_SIZE]; /* of this exec, in events */
};

/* ---- running ---- */

/* SIGTERM ends the client and not the program, which goes on. */
static bool leave(int sig, void *arg)
{
	struct job *j = arg;

	if (sig != SIGTERM && sig != SIGINT && sig != SIGHUP && sig != SIGQUIT)
		return true;
	dk_copy_leave(&j->copy);
	_exit(sig == SIGTERM ? 0 : EXIT_SIGNAL_BASE + sig);
}

static int wait_for_end(struct job *j, int sigfd, const struct dk_keys *keys, struct err *e)
{
	struct ns_wait w = {.pidfd = j->p.x.pidfd, .sigfd = sigfd, .handle = leave, .arg = j};
	struct ns_exit x = {0};
	int r;

	if (j->p.x.console_master >= 0) {
		struct dk_relay relay = {j->p.x.console_master, sigfd, j->p.x.pidfd, j->p.o->interactive, *keys};

		r = dk_relay(&relay, e);
		if (r == DK_DETACHED)
			return 0;
		if (r == 0)
			r = ns_reap(j->p.x.pidfd, &x, NULL, e);
	} else {
		r = dk_copy_until_end(&j->copy, &w, &x, e);
		dk_copy_leave(&j->copy);
		if (r == -EPIPE) /* as if the signal had ended us, but for what was started */
			return EXIT_SIGNAL_BASE + SIGPIPE;
	}
	if (r < 0)
		return r;
	return x.signal ? EXIT_SIGNAL_BASE + x.signal : x.status;
}

/*
 * Output goes through pipes of ours: with our streams for its own, what the program leaves in the
 * background would keep our caller waiting for the end of the output.
 */
static int choose_streams(struct job *j, int stdio[3], struct err *e)
{
	const struct dk_exec_options *o = j->p.o;
	enum dk_stream kind = o->interactive && !o->detach && !o->tty ? dk_stream_kind(STDIN_FILENO) : DK_STREAM_NULL;

	if (o->tty || o->detach)
		return 0; /* null, or the terminal's */
	if (dk_copy_pipes(&j->copy, e) < 0)
		return -e->code;
	if (kind == DK_STREAM_COPIED && dk_copy_input(&j->copy, STDIN_FILENO, e) < 0)
		return -e->code;
	if (kind != DK_STREAM_NULL)
		stdio[0] = j->copy.in[0]; /* or our own */
	for (int i = 0; i < 2; i++) {
		stdio[1 + i] = j->copy.pipes[i][1];
		j->copy.to[i] = STDOUT_FILENO + i;
	}
	return 0;
}

static int launch(struct job *j, struct err *e)
{
	auto_close int null = dk_null_open(e);
	int stdio[3] = {null, null, null};
	int r = null < 0 ? null : choose_streams(j, stdio, e);

	if (r == 0)
		r = dk_exec_start(&j->p, stdio, e);
	dk_copy_started(&j->copy);
	return r;
}

static int announce(struct job *j, struct err *e)
{
	static const char *const actions[] = {"exec_create", "exec_start"};
	auto_strbuf struct strbuf words = {0};

	if (dk_new_id(j->id, e) < 0)
		return -e->code;
	for (size_t i = 0; j->p.argv[i]; i++)
		strbuf_printf(&words, "%s ", j->p.argv[i]);
	if (j->p.argv[0] && j->p.argv[1])
		words.p[--words.len] = '\0';
	for (size_t i = 0; i < 2; i++)
		dk_container_event(j->p.c->store, j->p.record, arena_printf(j->p.c->arena, "%s: %s", actions[i], words.p),
				   (struct dk_event_fact){"execID", j->id});
	return 0;
}

/* ---- failing ---- */

static int say(const char *text, int code)
{
	printf("%s\r\n", text);
	fflush(stdout);
	return code;
}

/* The codes of newer engines: what is not there is 127. */
static int explain(struct job *j, struct err *e)
{
	struct arena *a = j->p.c->arena;
	char *msg = arena_strdup(a, e->msg);
	const char *words = dk_exec_words(a, msg, e->code);
	bool missing = e->code == ENOENT;

	if (words && j->p.o->detach)
		return dk_daemon_error(j->p.c, e, e->code, OCI_EXEC "%s: unknown", words);
	if (words)
		return say(arena_printf(a, OCI_EXEC "%s: unknown", words), missing ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
	if (strstr(msg, "working directory") || strstr(msg, "cwd"))
		return say(arena_printf(a, OCI_EXEC "chdir to cwd (\"%s\") set in config.json failed: %s: unknown",
					j->p.spec.oci->process->cwd, missing ? "no such file or directory"
					: e->code == EACCES ? "permission denied" : err_name(e->code)),
			   missing ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
	return say(arena_printf(a, OCI_EXEC "%s: unknown", msg), EXIT_NOT_EXECUTABLE);
}

/* ---- the command ---- */

static int check(struct job *j, const char *ref, struct err *e)
{
	struct dk_look look;
	int r = dk_find_and_look(j->p.c, ref, &j->p.record, &look, e);

	if (r < 0)
		return r;
	if (!look.running || !look.pid)
		return dk_daemon_error(j->p.c, e, ESRCH, "Container %s is not running", j->p.record->id);
	if (look.paused)
		return dk_daemon_error(j->p.c, e, EBUSY, "Container %s is paused, unpause the container before exec",
				       j->p.record->id);
	if (j->p.o->privileged && !j->p.c->store->config.allow_privileged)
		return dk_daemon_error(j->p.c, e, EPERM, "privileged containers are not allowed here "
				       "(\"allow-privileged\" in the configuration of brig-docker)");
	r = rt_container_open(j->p.c->arena, &j->p.c->store->runtime, j->p.record->id, &j->p.container, e);
	if (r < 0 || j->p.container.pidfd < 0)
		return dk_daemon_error(j->p.c, e, ESRCH, "Container %s is not running", j->p.record->id);
	return 0;
}

static void tell_end(struct job *j, int code)
{
	struct str_pair facts[] = {{(char *)"execID", j->id}, {(char *)"exitCode", NULL}};
	struct arena *a = j->p.c->arena;
	struct dk_event ev = {.type = (char *)"container", .action = (char *)"exec_die", .id = j->p.record->id};

	facts[1].value = arena_printf(a, "%d", code < 0 ? EXIT_NOT_EXECUTABLE : code);
	dk_record_refresh_name(j->p.c->store, a, j->p.record);
	ev.attributes = dk_container_facts(a, j->p.record, (struct dk_event_fact){facts[0].key, facts[0].value});
	dk_map_add(a, &ev.attributes, facts[1].key, facts[1].value, true);
	dk_event_write(&j->p.c->store->roots, &ev);
}

/* The child of `exec -d`, which stays for the event of the end: what it starts is its own child. */
static _Noreturn void stay(struct job *j, int report)
{
	struct err e = {0};
	struct ns_exit x = {0};
	int null, r;

	setsid();
	r = launch(j, &e);
	if (io_write_all(report, &e, sizeof(e)) < 0 || r < 0)
		_exit(1);
	close(report);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; null >= 0 && i < 3; i++)
		dup2(null, i);
	if (chdir("/") == 0)
		dk_monitor_shed();
	if (ns_reap(j->p.x.pidfd, &x, NULL, &e) == 0)
		tell_end(j, x.signal ? EXIT_SIGNAL_BASE + x.signal : x.status);
	_exit(0);
}

static int run_detached(struct job *j, struct err *e)
{
	auto_close int hears = -1;
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_sys(e, "make a pipe");
	hears = fds[0];
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		stay(j, fds[1]);
	close(fds[1]);
	if (pid < 0)
		return err_sys(e, "fork");
	if (io_read_upto(hears, e, sizeof(*e)) != sizeof(*e))
		err_set(e, ECHILD, "the process that was to start the program was killed");
	return e->code ? explain(j, e) : 0;
}

static int run(struct job *j, const struct dk_keys *keys, struct err *e)
{
	auto_close int sigfd = -1;
	int r = dk_exec_prepare(&j->p, e);

	if (r < 0)
		return say(e->msg, EXIT_NOT_EXECUTABLE);
	if (j->p.spec.oci->process->cwd[0] != '/')
		return say("OCI runtime exec failed: exec failed: Cwd must be an absolute path: unknown", EXIT_NOT_EXECUTABLE);
	if (j->p.o->privileged)
		j->p.record->options.privileged = true;
	if (!j->p.o->detach)
		sigfd = ns_signals_open(NULL, e);
	if (announce(j, e) < 0)
		return -e->code;
	if (j->p.o->detach)
		return run_detached(j, e);
	r = launch(j, e);
	if (r < 0)
		return explain(j, e);
	r = wait_for_end(j, sigfd, keys, e);
	tell_end(j, r);
	return r;
}

int dk_cmd_exec(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	struct job j = {.p = {DK_EXEC_NONE, .c = c, .o = args->options, .argv = args->argv + 1}, .copy = DK_COPY_NONE};
	struct dk_keys keys;
	int r = dk_parse_keys(c, j.p.o->detach_keys, &keys, e);

	if (r == 0)
		r = dk_exec_check(c, args, e);
	if (r < 0)
		return r;
	if (j.p.o->tty && j.p.o->interactive && !j.p.o->detach && !isatty(STDIN_FILENO))
		return dk_fail(1, "the input device is not a TTY");
	if (dk_protect(c, NULL, e) < 0)
		return -e->code;
	r = check(&j, args->argv[0], e);
	if (r == 0)
		r = run(&j, &keys, e);
	dk_copy_close(&j.copy);
	dk_exec_close(&j.p);
	return r;
}

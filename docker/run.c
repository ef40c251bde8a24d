/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An attached container dies with its client, however that ends: INIT has a parent-death signal.
 * With --rm nothing is kept of the output, so the container gets the client's descriptors themselves
 * and no byte is copied, if they are pipes (streams.h); else pipes of ours, from which output goes to the
 * client's streams and to the log. A stdin that nobody is at is /dev/null, as in Docker open for both ways.
 */
#include "docker/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "base/sys.h"
#include "docker/copy.h"
#include "docker/events.h"
#include "docker/streams.h"
#include "nsenter/signals.h"
#include "runtime/interrupt.h"

enum { PATIENCE = 3 /* TERM and INT, until the client gives up */, GAVE_UP = 1 };

int dk_start_exit_code(const char *msg)
{
	if (strstr(msg, "executable file not found") || strstr(msg, "no such file or directory") ||
	    strstr(msg, "system cannot find the file specified"))
		return EXIT_NOT_FOUND;
	if (strstr(msg, "permission denied") || strstr(msg, "is a directory"))
		return EXIT_NOT_EXECUTABLE;
	return EXIT_SETUP_FAILED;
}

struct foreground {
	struct dk_container *k;
	int terms;
	bool gave_up;
};

/* True: not to be sent on. */
static bool handle_signal(int sig, void *arg)
{
	struct foreground *f = arg;
	bool ending = sig == SIGTERM || sig == SIGINT;

	if (sig == SIGURG || sig == SIGWINCH) /* nothing to do with it: no terminal */
		return true;
	f->terms += ending;
	if (ending && (f->terms >= PATIENCE || !f->k->record->options.sig_proxy)) {
		f->gave_up = true;
		sys_pidfd_send_signal(f->k->launch.pidfd, SIGKILL);
		return true;
	}
	return !f->k->record->options.sig_proxy;
}

/* Docker drops what a caller pipes to a container without -i; the configuration can say otherwise. */
static bool takes_stdin(const struct dk_container *k)
{
	const struct dk_container_config *f = &k->record->config;
	struct stat st;

	if (f->open_stdin)
		return f->attach_stdin;
	return str_eq(k->store->config.stdin_, "pipe") && fstat(STDIN_FILENO, &st) == 0 &&
	       (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || S_ISREG(st.st_mode));
}

/* The payload's status: of the tiny init by its pipe, unless it was killed before it could say it. */
static int wait_status(struct dk_container *k, const struct ns_exit *x)
{
	int status;

	if (k->launch.status_fd >= 0 && read(k->launch.status_fd, &status, sizeof(status)) == sizeof(status))
		return status;
	return x->signal ? x->signal : W_EXITCODE(x->status, 0);
}

static int wait_for_end(struct foreground *f, int sigfd, struct dk_copy *copy, struct err *e)
{
	struct ns_wait w = {.pidfd = f->k->launch.pidfd, .sigfd = sigfd, .handle = handle_signal, .arg = f};
	struct ns_exit x = {0};
	struct dk_end end;
	int r = 0;

	if (copy)
		r = dk_copy_until_end(copy, &w, &x, e);
	else
		r = ns_wait(&w, &x, NULL, e);
	if (r < 0) { /* the container must not outlive us */
		struct err ignored = {0};

		sys_pidfd_send_signal(w.pidfd, SIGKILL);
		ns_reap(w.pidfd, &x, NULL, &ignored);
	}
	dk_stopped(f->k, wait_status(f->k, &x), &end);
	if (r < 0) {
		dk_finish(f->k, &end, &(struct err){0});
		return r == -EPIPE ? dk_fail(1, "%s", e->msg) : r;
	}
	r = dk_finish(f->k, &end, e);
	if (r < 0)
		return r;
	if (f->gave_up && f->terms >= PATIENCE) {
		dk_fail(0, "\ngot 3 SIGTERM/SIGINTs, forcefully exiting");
		return GAVE_UP;
	}
	return end.code;
}

/* The kernel found the file but cannot run it: as if the container had said so and exited. */
static bool is_format_error(const struct dk_container *k, const struct err *e)
{
	return k->launch.exec_failed && e->code == ENOEXEC;
}

static int failed(struct dk_container *k, struct err *e)
{
	struct dk_end end = {.code = 1};

	if (!is_format_error(k, e)) {
		dk_abandon(k, e, dk_start_exit_code(dk_error_text(k->c, e)));
		return -e->code;
	}
	dk_fail(0, "exec %s: exec format error", k->record->path);
	rt_host_close(&k->host);
	return dk_finish(k, &end, e) < 0 ? -e->code : end.code;
}

/* One that goes with its end is there for as long as it runs, and nobody asks when it began; but where it
 * can be reached has come of the start. */
static bool is_to_be_noted(const struct dk_container *k)
{
	return !k->record->options.remove || dk_network_is_bridged(&k->record->network) || k->record->network.bound.n;
}

static int run(struct dk_container *k, const int stdio[3], struct dk_copy *copy, struct err *e)
{
	struct foreground f = {.k = k};
	auto_interrupt struct interrupt in = INTERRUPT_NONE;
	auto_close int sigfd = ns_signals_open(NULL, e);
	int r = sigfd < 0 ? sigfd : interrupt_open(&in, 0, e);

	k->interrupt = in.set;
	if (r >= 0)
		r = dk_launch(k, stdio, e);
	if (r < 0)
		return failed(k, e);
	if (copy)
		dk_copy_started(copy);
	if (is_to_be_noted(k) && dk_note_started(k, e) < 0) {
		struct dk_end end;
		struct ns_exit x;

		sys_pidfd_send_signal(k->launch.pidfd, SIGKILL);
		ns_reap(k->launch.pidfd, &x, NULL, &(struct err){0});
		dk_stopped(k, SIGKILL, &end);
		dk_finish(k, &end, &(struct err){0});
		return -e->code;
	}
	return wait_for_end(&f, sigfd, copy, e);
}

/* ret: the container's end. Logged output goes through us as well. */
static int choose_output(struct dk_container *k, struct dk_copy *c, int i, int *ret, struct err *e)
{
	const struct dk_container_config *f = &k->record->config;
	bool wanted = i ? f->attach_stderr : f->attach_stdout;
	enum dk_stream kind = wanted ? dk_stream_kind(STDOUT_FILENO + i) : DK_STREAM_NULL;

	if (k->record->options.remove && kind != DK_STREAM_COPIED) {
		if (kind == DK_STREAM_DIRECT)
			*ret = -1;
		return 0;
	}
	if (dk_copy_pipe(c, i, e) < 0)
		return -e->code;
	c->to[i] = wanted ? STDOUT_FILENO + i : -1;
	*ret = c->pipes[i][1];
	return 0;
}

static int choose_input(const struct dk_container *k, struct dk_copy *c, int *ret, struct err *e)
{
	enum dk_stream kind = takes_stdin(k) ? dk_stream_kind(STDIN_FILENO) : DK_STREAM_NULL;

	if (kind == DK_STREAM_DIRECT)
		*ret = -1;
	if (kind != DK_STREAM_COPIED)
		return 0;
	if (dk_copy_input(c, STDIN_FILENO, e) < 0)
		return -e->code;
	*ret = c->in[0];
	return 0;
}

static int run_with_streams(struct dk_container *k, int null, struct err *e)
{
	auto_copy struct dk_copy copy = DK_COPY_NONE;
	int stdio[3] = {null, null, null};
	bool copied;

	if ((!k->record->options.remove && dk_log_open(&copy.log, k->store, k->record, e) < 0) ||
	    choose_input(k, &copy, &stdio[0], e) < 0 || choose_output(k, &copy, 0, &stdio[1], e) < 0 ||
	    choose_output(k, &copy, 1, &stdio[2], e) < 0)
		return failed(k, e);
	copied = copy.in[0] >= 0 || copy.pipes[0][0] >= 0 || copy.pipes[1][0] >= 0;
	if (copied)
		signal(SIGPIPE, SIG_IGN); /* the container has dispositions of its own */
	return run(k, stdio, copied ? &copy : NULL, e);
}

int dk_run_attached(struct dk_container *k, struct err *e)
{
	auto_close int null = dk_null_open(e);

	if (null < 0)
		return failed(k, e);
	dk_container_event(k->store, k->record, "attach", (struct dk_event_fact){0});
	return run_with_streams(k, null, e);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An attached container dies with its client, however that ends: INIT has a parent-death signal.
 * With --rm nothing is kept of the output, so the container gets the client's descriptors themselves
 * and no byte is copied; else pipes, from which output goes to the client's streams and to the log.
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

/* What Docker's container has for a stdin nobody is at: open for both ways. */
static int open_null(struct err *e)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC | O_NOCTTY);

	return fd < 0 ? err_sys(e, "open /dev/null") : fd;
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
	if (!k->record->options.remove && dk_note_started(k, e) < 0) {
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

static int run_directly(struct dk_container *k, int null, struct err *e)
{
	const struct dk_container_config *f = &k->record->config;
	const int stdio[3] = {
		takes_stdin(k) ? -1 : null,
		f->attach_stdout ? -1 : null,
		f->attach_stderr ? -1 : null,
	};

	return run(k, stdio, NULL, e);
}

static int run_through_pipes(struct dk_container *k, int null, struct err *e)
{
	auto_copy struct dk_copy copy = DK_COPY_NONE;
	const struct dk_container_config *f = &k->record->config;
	int stdio[3];
	int r = dk_copy_open(&copy, k, e);

	if (r < 0)
		return failed(k, e);
	signal(SIGPIPE, SIG_IGN); /* the container has dispositions of its own */
	copy.to[0] = f->attach_stdout ? STDOUT_FILENO : -1;
	copy.to[1] = f->attach_stderr ? STDERR_FILENO : -1;
	stdio[0] = takes_stdin(k) ? -1 : null;
	stdio[1] = copy.pipes[0][1];
	stdio[2] = copy.pipes[1][1];
	return run(k, stdio, &copy, e);
}

int dk_run_attached(struct dk_container *k, struct err *e)
{
	auto_close int null = open_null(e);

	if (null < 0)
		return failed(k, e);
	dk_container_event(k->store, k->record, "attach", (struct dk_event_fact){0});
	return k->record->options.remove ? run_directly(k, null, e) : run_through_pipes(k, null, e);
}

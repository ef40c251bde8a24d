/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hook is a vfork child (INIT may be the caller). Its stdin is a memfd with the state, so
 * nothing blocks when it does not read; stdout and stderr are one pipe that is drained until the
 * hook itself ends, whoever else holds it.
 */
#include "runtime/hooks.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/log.h"
#include "base/str.h"
#include "base/sys.h"
#include "json/writer.h"

enum { OUTPUT_KEPT = 256 };

struct output { char text[OUTPUT_KEPT + 1]; size_t n; };

static int state_fd(const struct hooks_run *h, struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	auto_close int fd = memfd_create("state", MFD_CLOEXEC);
	struct json_writer w;

	if (fd < 0)
		return err_sys(e, "make the state for the hooks");
	json_writer_init(&w, &b, false);
	spec_state_write_oci(&w, h->state, h->status, h->pid);
	if (io_write_all(fd, b.p, b.len) < 0)
		return err_sys(e, "write the state for the hooks");
	return take_fd(&fd);
}

/* Standard input, output and error. */
struct hook_fds { int in, out, err; };

/* In the child. */
static _Noreturn void exec_hook(const struct oci_hook *hook, const struct hook_fds *fds, volatile int *code)
{
	char *no_args[] = {hook->path, NULL}, *no_env[] = {NULL};
	sigset_t none;

	sigemptyset(&none);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody would ever take notice of its end */
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (lseek(fds->in, 0, SEEK_SET) == 0 && dup2(fds->in, 0) == 0 && dup2(fds->out, 1) == 1 &&
	    dup2(fds->err, 2) == 2 &&
	    sys_close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) == 0)
		execve(hook->path, hook->args.n ? hook->args.v : no_args,
		       hook->env.n ? hook->env.v : no_env);
	*code = errno;
	_exit(127);
}

static void drain(int fd, struct output *o)
{
	char buf[512];
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		size_t keep = (size_t)n < OUTPUT_KEPT - o->n ? (size_t)n : OUTPUT_KEPT - o->n;

		memcpy(o->text + o->n, buf, keep);
		o->n += keep;
	}
	o->text[o->n] = '\0';
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* 1 when it ended, 0 at the timeout. */
static int wait_for(int pidfd, int out, int64_t timeout_s, struct output *o)
{
	struct pollfd p[] = {{pidfd, POLLIN, 0}, {out, POLLIN, 0}};
	int64_t end = timeout_s > 0 ? now_ms() + timeout_s * 1000 : 0;

	for (;;) {
		int64_t left = end ? end - now_ms() : -1;
		int n = poll(p, 2, left < -1 ? 0 : left > 1000000 ? 1000000 : (int)left);

		if (end && now_ms() >= end && !(n > 0 && p[0].revents))
			return 0;
		if (n > 0 && p[1].revents) {
			drain(out, o);
			if (p[1].revents & POLLHUP)
				p[1].fd = -1;
		}
		if (n > 0 && p[0].revents)
			return 1;
	}
}

static int finish(const struct hooks_run *h, const struct oci_hook *hook, pid_t pid, int out,
		  struct err *e)
{
	auto_close int pidfd = sys_pidfd_open(pid, 0);
	struct output o = {.n = 0};
	bool timed_out = false;
	int status = 0;

	if (pidfd >= 0 && wait_for(pidfd, out, hook->timeout.set ? hook->timeout.v : 0, &o) == 0) {
		timed_out = true;
		sys_pidfd_send_signal(pidfd, SIGKILL);
	}
	while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
		;
	drain(out, &o);
	if (timed_out)
		return err_set(e, ETIMEDOUT, "%s hook %s: still running after %lld s, killed", h->kind,
			       hook->path, (long long)hook->timeout.v);
	if (WIFSIGNALED(status))
		return err_set(e, EIO, "%s hook %s: killed by signal %d%s%s", h->kind, hook->path,
			       WTERMSIG(status), *o.text ? ": " : "", o.text);
	if (WEXITSTATUS(status))
		return err_set(e, EIO, "%s hook %s: exit status %d%s%s", h->kind, hook->path,
			       WEXITSTATUS(status), *o.text ? ": " : "", o.text);
	return 0;
}

/* A function of its own, because what lives across vfork may be clobbered. */
static pid_t start(const struct oci_hook *hook, const struct hook_fds *fds, volatile int *code)
{
	pid_t pid = vfork();

	if (pid == 0)
		exec_hook(hook, fds, code);
	return pid;
}

/* The file that an annotation names for what the hooks write; fallback: none is named. */
static int open_output(const struct hooks_run *h, const char *key, int fallback, int *ret, struct err *e)
{
	const char *path = str_map_get(&h->state->annotations, key);

	*ret = fallback;
	if (!path)
		return 0;
	*ret = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0700);
	return *ret < 0 ? err_sys(e, "annotations.%s: open %s", key, path) : 0;
}

static int open_outputs(const struct hooks_run *h, int pipe, struct hook_fds *f, struct err *e)
{
	int r = open_output(h, "run.oci.hooks.stdout", pipe, &f->out, e);

	return r < 0 ? r : open_output(h, "run.oci.hooks.stderr", pipe, &f->err, e);
}

static void close_outputs(struct hook_fds *f, int pipe)
{
	if (f->out != pipe)
		cleanup_close(&f->out);
	if (f->err != pipe)
		cleanup_close(&f->err);
}

static int run_hook(const struct hooks_run *h, const struct oci_hook *hook, int in, struct err *e)
{
	auto_close int out = -1, out_write = -1;
	volatile int code = 0;
	struct hook_fds f = {in, -1, -1};
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_sys(e, "%s hook %s: pipe", h->kind, hook->path);
	out = fds[0];
	out_write = fds[1];
	if (open_outputs(h, out_write, &f, e) < 0) {
		close_outputs(&f, out_write);
		return -e->code;
	}
	pid = start(hook, &f, &code);
	close_outputs(&f, out_write);
	if (pid < 0)
		return err_sys(e, "%s hook %s: vfork", h->kind, hook->path);
	cleanup_close(&out_write);
	if (code) {
		waitpid(pid, NULL, 0);
		return err_set(e, code, "%s hook %s: %s", h->kind, hook->path, err_name(code));
	}
	return finish(h, hook, pid, out, e);
}

int hooks_run(const struct hooks_run *h, struct err *e)
{
	auto_close int in = -1;
	int r = 0;

	if (!h->list->n)
		return 0;
	in = state_fd(h, e);
	if (in < 0)
		return in;
	for (size_t i = 0; i < h->list->n && r == 0; i++)
		r = run_hook(h, &h->list->v[i], in, e);
	return r;
}

void hooks_run_all(const struct hooks_run *h)
{
	struct err e = {0};
	auto_close int in = h->list->n ? state_fd(h, &e) : -1;

	for (size_t i = 0; i < h->list->n; i++)
		if (in < 0 || run_hook(h, &h->list->v[i], in, &e) < 0)
			log_warning("%s", e.msg);
}

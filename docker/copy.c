/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/sys.h"
#include "docker/wire.h"

enum { OUT, ERR, SIGNALS, EXITED, INPUT, FEED, SOURCES, CHUNK = 32 << 10, LOW_FDS = 10 };

int dk_copy_pipe(struct dk_copy *c, int i, struct err *e)
{
	return pipe2(c->pipes[i], O_CLOEXEC) < 0 ? err_sys(e, "make a pipe for the container") : 0;
}

int dk_copy_pipes(struct dk_copy *c, struct err *e)
{
	return dk_copy_pipe(c, 0, e) < 0 ? -e->code : dk_copy_pipe(c, 1, e);
}

int dk_copy_input(struct dk_copy *c, int from, struct err *e)
{
	if (pipe2(c->in, O_CLOEXEC) < 0 || fcntl(c->in[1], F_SETFL, O_WRONLY | O_NONBLOCK) < 0)
		return err_sys(e, "make a pipe for the container");
	signal(SIGPIPE, SIG_IGN); /* it need not read all of it */
	c->from = from;
	return 0;
}

int dk_copy_open(struct dk_copy *c, const struct dk_container *k, struct err *e)
{
	int r = dk_copy_pipes(c, e);

	return r < 0 ? r : dk_log_open(&c->log, k->store, k->record, e);
}

void dk_copy_started(struct dk_copy *c)
{
	cleanup_close(&c->pipes[0][1]);
	cleanup_close(&c->pipes[1][1]);
	cleanup_close(&c->in[0]);
}

void dk_copy_close(struct dk_copy *c)
{
	for (int i = 0; i < 2; i++) {
		cleanup_close(&c->pipes[i][0]);
		cleanup_close(&c->pipes[i][1]);
		cleanup_close(&c->in[i]);
	}
	strbuf_free(&c->input);
	dk_log_close(&c->log);
}

/* 1: there may be more; 0: the end. */
static int copy_some(struct dk_copy *c, int i, struct err *e)
{
	static const char *const names[] = {"stdout", "stderr"};
	char buf[CHUNK];
	ssize_t n = read(c->pipes[i][0], buf, sizeof(buf));
	int r;

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 1;
	if (n <= 0)
		return 0;
	dk_log_write(&c->log, i, buf, (size_t)n);
	r = c->to[i] < 0 ? 0 : io_write_all(c->to[i], buf, (size_t)n);
	return r < 0 ? err_set(e, -r, "write /dev/%s: %s", names[i], r == -EPIPE ? "broken pipe" : err_name(-r)) : 1;
}

/* ---- input ---- */

static void read_input(struct dk_copy *c)
{
	char buf[CHUNK];
	ssize_t n = read(c->from, buf, sizeof(buf));

	if (n > 0)
		strbuf_add(&c->input, buf, (size_t)n);
	else if (n == 0 || (errno != EINTR && errno != EAGAIN))
		c->from = -1;
}

/* The container's end is closed: nobody wants it any more. */
static void end_input(struct dk_copy *c)
{
	c->from = -1;
	cleanup_close(&c->in[1]);
}

static void feed(struct dk_copy *c, const struct pollfd *p)
{
	ssize_t n;

	if (p[INPUT].revents)
		read_input(c);
	n = c->input.len ? write(c->in[1], c->input.p, c->input.len) : 0;
	if (n > 0)
		dk_strbuf_drop(&c->input, (size_t)n);
	if ((n < 0 && errno != EINTR && errno != EAGAIN) || (p[FEED].revents & POLLERR) ||
	    (!c->input.len && c->from < 0))
		end_input(c);
}

/* No more is read than the container takes, and nothing when it has ended. */
static void watch_input(const struct dk_copy *c, struct pollfd *p)
{
	bool ended = p[EXITED].fd < 0;

	p[INPUT] = (struct pollfd){ended || c->input.len ? -1 : c->from, POLLIN, 0};
	p[FEED] = (struct pollfd){ended ? -1 : c->in[1], c->input.len ? POLLOUT : 0, 0};
}

/* ---- all of it ---- */

static void pass_signals(const struct ns_wait *w)
{
	int sig;

	while ((sig = ns_signals_next(w->sigfd)) > 0)
		if (!w->handle || !w->handle(sig, w->arg))
			sys_pidfd_send_signal(w->pidfd, sig);
}

/* Nothing but the pipes is kept: no stream of the client, no lock. */
static void drain(struct dk_copy *c)
{
	int null = open("/dev/null", O_RDWR);
	struct pollfd p[2];
	char buf[CHUNK];
	int open_ends = 2;

	setsid();
	for (int i = 0; i < 2; i++)
		p[i] = (struct pollfd){fcntl(c->pipes[i][0], F_DUPFD, LOW_FDS), POLLIN, 0};
	for (int i = 0; i <= STDERR_FILENO; i++)
		dup2(null, i);
	for (int i = 0; i < 2; i++)
		p[i].fd = dup2(p[i].fd, STDERR_FILENO + 1 + i);
	sys_close_range(STDERR_FILENO + 3, ~0U, 0);
	while (open_ends && poll(p, 2, -1) >= 0)
		for (int i = 0; i < 2; i++)
			if (p[i].revents && read(p[i].fd, buf, sizeof(buf)) <= 0) {
				p[i].fd = -1;
				open_ends--;
			}
}

void dk_copy_leave(struct dk_copy *c)
{
	struct pollfd p[2] = {{c->pipes[0][0], 0, 0}, {c->pipes[1][0], 0, 0}};
	bool held = false;

	if (poll(p, 2, 0) < 0)
		return;
	for (int i = 0; i < 2; i++)
		held = held || (p[i].fd >= 0 && !(p[i].revents & POLLHUP));
	if (held && fork() == 0) {
		drain(c);
		_exit(0);
	}
}

/* One round; what was written before the exit is in the pipes by then, and nobody is waited for who holds
 * them open beyond it. */
static int copy_round(struct dk_copy *c, const struct ns_wait *w, struct pollfd *p, struct err *e)
{
	for (int i = 0; i < 2; i++) {
		int more = p[i].revents ? copy_some(c, i, e) : 1;

		if (more < 0)
			return more;
		if (!more)
			p[i].fd = -1;
	}
	if (c->in[1] >= 0 && (p[INPUT].revents || p[FEED].revents))
		feed(c, p);
	if (p[SIGNALS].revents)
		pass_signals(w);
	if (p[EXITED].revents)
		p[EXITED].fd = p[SIGNALS].fd = -1;
	return 0;
}

int dk_copy_until_end(struct dk_copy *c, const struct ns_wait *w, struct ns_exit *ret_exit, struct err *e)
{
	struct pollfd p[SOURCES] = {
		[OUT] = {c->pipes[0][0], POLLIN, 0},
		[ERR] = {c->pipes[1][0], POLLIN, 0},
		[SIGNALS] = {w->sigfd, POLLIN, 0},
		[EXITED] = {w->pidfd, POLLIN, 0},
	};

	for (;;) {
		int n, r;

		watch_input(c, p);
		n = poll(p, SOURCES, p[EXITED].fd < 0 ? 0 : -1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, "wait for output of the container");
		if (n == 0)
			break;
		r = copy_round(c, w, p, e);
		if (r < 0)
			return r;
	}
	dk_log_flush(&c->log);
	return ns_reap(w->pidfd, ret_exit, NULL, e);
}

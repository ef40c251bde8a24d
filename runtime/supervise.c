/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One ppoll loop without periodic wake-ups. Its time-out is the nearest of the wall deadline and
 * the earliest moment at which the CPU limit can have been reached: (limit - used) / cpus from the
 * last reading. That converges: each reading leaves at most (1 - 1/cpus) of what was left.
 *
 * The status pipe is not watched: the tiny init exits right after it has written, and then its
 * pidfd becomes readable when the kernel has ended all other processes of the namespace. So once
 * the pidfd is readable, the pipes hold all that will ever matter, and are read until they are
 * empty (not until their end: a write end may have been handed out through a socket).
 */
#include "runtime/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/sys.h"
#include "nsenter/signals.h"

enum { CHUNK = 64 * 1024 };
#define NEVER UINT64_MAX
#define NS_PER_SEC 1000000000ull
#define CPU_CHECK_MIN 1000000ull /* ns; readings are not closer than that */

enum { WATCH_PIDFD, WATCH_OUT, WATCH_ERR, WATCH_IN, WATCH_SIGNAL, WATCH_READER, WATCH_OUT_TO,
       WATCH_ERR_TO, WATCH_N };


struct watch {
	const struct supervise_input *in;
	struct supervise_output *out;
	struct pollfd fds[WATCH_N];
	uint64_t wall_deadline, cpu_check;
	size_t in_done;
	int in_fd;
	struct tap {
		struct supervise_stream *s;
		int from;      /* -1: ended, or not captured */
		int to;        /* 0: kept; -1: its reader went away */
	} out_tap, err_tap;
	bool killed;
};

uint64_t supervise_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_SEC + (uint64_t)t.tv_nsec;
}

static uint64_t add_sat(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? NEVER : sum;
}

/* True when the payload's status is in `out`: it ended before whatever the caller is about to do. */
static bool payload_ended(struct watch *w)
{
	int status;

	if (w->in->status_fd < 0 || w->out->have_status)
		return w->out->have_status;
	if (io_read_upto(w->in->status_fd, &status, sizeof(status)) != sizeof(status))
		return false;
	w->out->have_status = true;
	w->out->status = status;
	return true;
}

/* Ends everything because of `end`; the first reason stays, and a payload that is done has none. */
static void kill_all(struct watch *w, enum supervise_end end)
{
	if (w->killed)
		return;
	w->killed = true;
	w->wall_deadline = w->cpu_check = NEVER;
	if (!payload_ended(w))
		w->out->end = end;
	sys_pidfd_send_signal(w->in->pidfd, SIGKILL); /* fails only when it is dead already */
}

/* As much as the reader takes; when he is gone, the rest is dropped. */
static void pass_on(struct tap *t)
{
	struct strbuf *b = &t->s->data;
	size_t done = 0;

	while (t->to > 0 && done < b->len) {
		ssize_t n = write(t->to, b->p + done, b->len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0)
			t->to = -1;
		else
			done += (size_t)n;
	}
	if (t->to < 0)
		done = b->len;
	if (done)
		memmove(b->p, b->p + done, b->len - done);
	b->len -= done;
}

/* Keeps what fits, counts the rest. */
static void take_output(struct watch *w, struct tap *t, const char *data, size_t n)
{
	struct supervise_stream *s = t->s;
	size_t room = w->in->output_limit - s->taken;

	s->total += n;
	if (n > room && w->in->kill_on_output)
		kill_all(w, SUPERVISE_OUTPUT);
	if (n > room)
		n = room;
	s->taken += n;
	strbuf_add(&s->data, data, n);
	if (t->to)
		pass_on(t);
}

/* One read; false when there is nothing (more) to read, now or for ever. */
static bool read_stream(struct watch *w, struct tap *t)
{
	static char buf[CHUNK]; /* too much for a small stack */
	ssize_t n;

	if (t->from < 0)
		return false;
	n = read(t->from, buf, sizeof(buf));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		t->from = -1;
		return false;
	}
	take_output(w, t, buf, (size_t)n);
	return true;
}

/* What its reader has not taken yet comes before more is read. */
static void watch_tap(struct watch *w, const struct tap *t, int from, int to)
{
	bool waits = t->to > 0 && t->s->data.len > 0;

	w->fds[from].fd = waits ? -1 : t->from;
	w->fds[to].fd = waits ? t->to : -1;
}

/* A reader that went away is its own affair: the rest of the input is dropped. */
static void feed_input(struct watch *w)
{
	size_t left = w->in->in_len - w->in_done;
	ssize_t n = 0;

	if (w->in_fd < 0)
		return;
	if (left > 0) {
		n = write(w->in_fd, w->in->in + w->in_done, left);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
	}
	if (n > 0)
		w->in_done += (size_t)n;
	if (n < 0 || w->in_done == w->in->in_len) {
		cleanup_close(&w->in_fd);
		w->fds[WATCH_IN].fd = -1;
	}
}

static int check_cpu(struct watch *w, uint64_t now, struct err *e)
{
	int64_t used = w->in->cpu_usec(w->in->arg);
	uint64_t left, wait;

	if (used < 0)
		return err_set(e, (int)-used, "read the CPU time of the sandbox: %s",
			       err_name((int)-used));
	if ((uint64_t)used >= w->in->cpu_ns / 1000) {
		kill_all(w, SUPERVISE_CPU_TIME);
		return 0;
	}
	left = w->in->cpu_ns - (uint64_t)used * 1000;
	wait = left / w->in->cpus_milli * 1000;
	w->cpu_check = add_sat(now, wait > CPU_CHECK_MIN ? wait : CPU_CHECK_MIN);
	return 0;
}

/* True when one of them told us to end. */
static bool handle_signals(struct watch *w)
{
	bool stop = false;
	int sig;

	while ((sig = ns_signals_next(w->in->sigfd)) > 0) {
		if (sig != SIGTERM && sig != SIGINT && sig != SIGHUP && sig != SIGQUIT)
			continue;
		if (!w->killed)
			w->out->stop_signal = sig;
		kill_all(w, SUPERVISE_STOPPED);
		stop = true;
	}
	return stop;
}

/* status_fd too: INIT may die without a word while somebody else holds the other end. */
static int set_up(struct watch *w, struct err *e)
{
	const struct supervise_input *in = w->in;
	const int fds[] = {in->out_fd, in->err_fd, in->in_fd, in->status_fd, in->out_to, in->err_to};

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] > (i < 4 ? -1 : 0) && fcntl(fds[i], F_SETFL, O_NONBLOCK) < 0)
			return err_sys(e, "set up the supervision of the sandbox");
	w->wall_deadline = in->wall_ns ? add_sat(in->start_ns, in->wall_ns) : NEVER;
	w->cpu_check = NEVER;
	if (in->cpu_ns)
		w->cpu_check = add_sat(in->start_ns, in->cpu_ns / in->cpus_milli * 1000);
	w->fds[WATCH_PIDFD] = (struct pollfd){.fd = in->pidfd, .events = POLLIN};
	w->fds[WATCH_OUT] = w->fds[WATCH_ERR] = (struct pollfd){.events = POLLIN};
	w->fds[WATCH_OUT_TO] = w->fds[WATCH_ERR_TO] = (struct pollfd){.events = POLLOUT};
	w->fds[WATCH_IN] = (struct pollfd){.fd = in->in_fd, .events = POLLOUT};
	w->fds[WATCH_SIGNAL] = (struct pollfd){.fd = in->sigfd, .events = POLLIN};
	w->fds[WATCH_READER] = (struct pollfd){.fd = in->reader_fd};
	feed_input(w);
	return 0;
}

/* Sleeps until something is to be done; returns the time, 0 on failure. */
static uint64_t sleep_until_event(struct watch *w, struct err *e)
{
	uint64_t until = w->wall_deadline < w->cpu_check ? w->wall_deadline : w->cpu_check;
	uint64_t now = supervise_now(), wait = until > now ? until - now : 0;
	struct timespec t = {.tv_sec = (time_t)(wait / NS_PER_SEC),
			     .tv_nsec = (long)(wait % NS_PER_SEC)};

	watch_tap(w, &w->out_tap, WATCH_OUT, WATCH_OUT_TO);
	watch_tap(w, &w->err_tap, WATCH_ERR, WATCH_ERR_TO);
	for (int i = 0; i < WATCH_N; i++)
		w->fds[i].revents = 0;
	if (ppoll(w->fds, WATCH_N, until == NEVER ? NULL : &t, NULL) < 0 && errno != EINTR) {
		err_sys(e, "wait for the sandbox: ppoll");
		return 0;
	}
	return supervise_now();
}

static void move_output(struct watch *w)
{
	if (w->fds[WATCH_OUT_TO].revents)
		pass_on(&w->out_tap);
	if (w->fds[WATCH_ERR_TO].revents)
		pass_on(&w->err_tap);
	if (w->fds[WATCH_OUT].revents)
		read_stream(w, &w->out_tap);
	if (w->fds[WATCH_ERR].revents)
		read_stream(w, &w->err_tap);
}

static int loop(struct watch *w, struct err *e)
{
	int r;

	while (!w->fds[WATCH_PIDFD].revents) {
		uint64_t now = sleep_until_event(w, e);

		if (!now)
			return -e->code;
		move_output(w);
		if (w->fds[WATCH_IN].revents)
			feed_input(w);
		if (w->fds[WATCH_SIGNAL].revents)
			handle_signals(w);
		if (w->fds[WATCH_READER].revents) {
			w->fds[WATCH_READER].fd = -1;
			kill_all(w, SUPERVISE_STOPPED);
		}
		if (w->fds[WATCH_PIDFD].revents)
			break;
		if (now >= w->wall_deadline)
			kill_all(w, SUPERVISE_WALL_TIME);
		if (now >= w->cpu_check) {
			r = check_cpu(w, now, e);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

/*
 * What is left in the pipes. Their capacity bounds it unless somebody outside of the sandbox goes
 * on writing, hence the cap.
 */
static void drain(struct watch *w)
{
	w->killed = true; /* nothing left to kill: too much output is only cut from here on */
	for (int i = 0; i < 64 && read_stream(w, &w->out_tap); i++)
		;
	for (int i = 0; i < 64 && read_stream(w, &w->err_tap); i++)
		;
}

static bool is_waiting(const struct tap *t)
{
	return t->to > 0 && t->s->data.len > 0;
}

/* Until the readers have it all. A signal or a result that nobody waits for any more ends it. */
static void hand_over(struct watch *w)
{
	w->fds[WATCH_PIDFD].fd = w->fds[WATCH_IN].fd = -1;
	w->wall_deadline = w->cpu_check = NEVER;
	w->out_tap.from = w->err_tap.from = -1;
	while (is_waiting(&w->out_tap) || is_waiting(&w->err_tap)) {
		struct err ignored;

		if (!sleep_until_event(w, &ignored) || w->fds[WATCH_READER].revents ||
		    (w->fds[WATCH_SIGNAL].revents && handle_signals(w)))
			return;
		move_output(w);
	}
}

/* libc's waitid has no rusage. */
static int reap(struct watch *w, struct err *e)
{
	siginfo_t si = {0};
	long r;

	do
		r = syscall(SYS_waitid, P_PIDFD, w->in->pidfd, &si, WEXITED, &w->out->usage);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return err_sys(e, "wait for the sandbox");
	w->out->wall_ns = supervise_now() - w->in->start_ns;
	if (w->in->status_fd >= 0) {
		payload_ended(w);
		return 0;
	}
	w->out->have_status = true;
	w->out->status = si.si_code == CLD_EXITED ? W_EXITCODE(si.si_status, 0)
						  : W_EXITCODE(0, si.si_status);
	return 0;
}

int supervise(const struct supervise_input *in, struct supervise_output *out, struct err *e)
{
	struct watch w = {
		.in = in,
		.out = out,
		.in_fd = in->in_fd,
		.out_tap = {&out->out, in->out_fd, in->out_to},
		.err_tap = {&out->err, in->err_fd, in->err_to},
	};
	struct sigaction ignore = {.sa_handler = SIG_IGN}, old;
	struct err reap_err;
	int r;

	*out = (struct supervise_output){.end = SUPERVISE_ENDED};
	sigaction(SIGPIPE, &ignore, &old);
	r = set_up(&w, e);
	if (r == 0)
		r = loop(&w, e);
	if (r < 0)
		kill_all(&w, SUPERVISE_ENDED);
	if (reap(&w, r < 0 ? &reap_err : e) < 0 && r == 0)
		r = -e->code;
	drain(&w);
	hand_over(&w);
	cleanup_close(&w.in_fd);
	sigaction(SIGPIPE, &old, NULL);
	return r;
}

void supervise_free(struct supervise_output *out)
{
	strbuf_free(&out->out.data);
	strbuf_free(&out->err.data);
}

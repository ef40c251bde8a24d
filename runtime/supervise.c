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

enum { WATCH_PIDFD, WATCH_OUT, WATCH_ERR, WATCH_IN, WATCH_SIGNAL, WATCH_READER, WATCH_N };

struct watch {
	const struct supervise_input *in;
	struct supervise_output *out;
	struct pollfd fds[WATCH_N];
	uint64_t wall_deadline, cpu_check;
	size_t in_done;
	int in_fd;
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

/* Keeps what fits, counts the rest. */
static void take_output(struct watch *w, struct supervise_stream *s, const char *data, size_t n)
{
	size_t room = w->in->output_limit - s->data.len;

	s->total += n;
	if (n > room && w->in->kill_on_output)
		kill_all(w, SUPERVISE_OUTPUT);
	strbuf_add(&s->data, data, n < room ? n : room);
}

/* One read; false when there is nothing (more) to read, now or for ever. */
static bool read_stream(struct watch *w, int slot, struct supervise_stream *s)
{
	char buf[CHUNK];
	ssize_t n;

	if (w->fds[slot].fd < 0)
		return false;
	n = read(w->fds[slot].fd, buf, sizeof(buf));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		w->fds[slot].fd = -1;
		return false;
	}
	take_output(w, s, buf, (size_t)n);
	return true;
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

static void handle_signals(struct watch *w)
{
	int sig;

	while ((sig = ns_signals_next(w->in->sigfd)) > 0) {
		if (sig != SIGTERM && sig != SIGINT && sig != SIGHUP && sig != SIGQUIT)
			continue;
		if (!w->killed)
			w->out->stop_signal = sig;
		kill_all(w, SUPERVISE_STOPPED);
	}
}

/* status_fd too: INIT may die without a word while somebody else holds the other end. */
static int set_up(struct watch *w, struct err *e)
{
	const struct supervise_input *in = w->in;
	const int fds[] = {in->out_fd, in->err_fd, in->in_fd, in->status_fd};

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0 && fcntl(fds[i], F_SETFL, O_NONBLOCK) < 0)
			return err_sys(e, "set up the supervision of the sandbox");
	w->wall_deadline = in->wall_ns ? add_sat(in->start_ns, in->wall_ns) : NEVER;
	w->cpu_check = NEVER;
	if (in->cpu_ns)
		w->cpu_check = add_sat(in->start_ns, in->cpu_ns / in->cpus_milli * 1000);
	w->fds[WATCH_PIDFD] = (struct pollfd){.fd = in->pidfd, .events = POLLIN};
	w->fds[WATCH_OUT] = (struct pollfd){.fd = in->out_fd, .events = POLLIN};
	w->fds[WATCH_ERR] = (struct pollfd){.fd = in->err_fd, .events = POLLIN};
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

	for (int i = 0; i < WATCH_N; i++)
		w->fds[i].revents = 0;
	if (ppoll(w->fds, WATCH_N, until == NEVER ? NULL : &t, NULL) < 0 && errno != EINTR) {
		err_sys(e, "wait for the sandbox: ppoll");
		return 0;
	}
	return supervise_now();
}

static int loop(struct watch *w, struct err *e)
{
	int r;

	while (!w->fds[WATCH_PIDFD].revents) {
		uint64_t now = sleep_until_event(w, e);

		if (!now)
			return -e->code;
		if (w->fds[WATCH_OUT].revents)
			read_stream(w, WATCH_OUT, &w->out->out);
		if (w->fds[WATCH_ERR].revents)
			read_stream(w, WATCH_ERR, &w->out->err);
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
	for (int i = 0; i < 64 && read_stream(w, WATCH_OUT, &w->out->out); i++)
		;
	for (int i = 0; i < 64 && read_stream(w, WATCH_ERR, &w->out->err); i++)
		;
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
	struct watch w = {.in = in, .out = out, .in_fd = in->in_fd};
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
	cleanup_close(&w.in_fd);
	sigaction(SIGPIPE, &old, NULL);
	return r;
}

void supervise_free(struct supervise_output *out)
{
	strbuf_free(&out->out.data);
	strbuf_free(&out->err.data);
}

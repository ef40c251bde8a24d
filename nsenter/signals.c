/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals arrive through a signalfd, so they are ordinary events of a poll loop: no handler ever
 * runs, which also keeps a CLONE_VM child safe. INIT is addressed by pidfd only.
 */
#include "nsenter/signals.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"

static const int not_forwarded[] = {
	SIGKILL, SIGSTOP, SIGCHLD, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU,
	SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGTRAP, SIGSYS,  SIGABRT,
};

int ns_signals_open(sigset_t *ret_old, struct err *e)
{
	sigset_t set, old;
	int fd;

	/* sigfillset leaves out what libc uses itself: in musl that is 34, SIGRTMIN elsewhere. */
	memset(&set, 0xff, sizeof(set));
	for (size_t i = 0; i < sizeof(not_forwarded) / sizeof(not_forwarded[0]); i++)
		sigdelset(&set, not_forwarded[i]);
	if (signal(SIGCHLD, SIG_DFL) == SIG_ERR)
		return err_sys(e, "signals: SIGCHLD");
	if (sigprocmask(SIG_BLOCK, &set, &old) < 0)
		return err_sys(e, "signals: block");
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0) {
		err_sys(e, "signals: signalfd");
		sigprocmask(SIG_SETMASK, &old, NULL);
		return -e->code;
	}
	if (ret_old)
		*ret_old = old;
	return fd;
}

int ns_signals_next(int sigfd)
{
	struct signalfd_siginfo si;
	ssize_t n;

	do
		n = read(sigfd, &si, sizeof(si));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	return n == sizeof(si) ? (int)si.ssi_signo : -EIO;
}

int ns_reap(int pidfd, struct ns_exit *ret_exit, struct rusage *usage, struct err *e)
{
	siginfo_t si = {0};
	long r;

	do
		r = syscall(SYS_waitid, P_PIDFD, pidfd, &si, WEXITED, usage);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return err_sys(e, "wait for the container's first process");
	*ret_exit = (struct ns_exit){
		.status = si.si_code == CLD_EXITED ? si.si_status : 0,
		.signal = si.si_code == CLD_EXITED ? 0 : si.si_status,
		.core = si.si_code == CLD_DUMPED,
	};
	return 0;
}

static int forward(const struct ns_wait *w, struct err *e)
{
	int sig;

	while ((sig = ns_signals_next(w->sigfd)) > 0) {
		if (w->handle && w->handle(sig, w->arg))
			continue;
		/* ESRCH: it has just ended. EINVAL, EPERM: a signal that only we can have. */
		if (sys_pidfd_send_signal(w->pidfd, sig) < 0 && errno != ESRCH)
			return err_sys(e, "forward signal %d", sig);
	}
	return sig < 0 ? err_set(e, -sig, "read signals: %s", err_name(-sig)) : 0;
}

int ns_wait(const struct ns_wait *w, struct ns_exit *ret_exit, struct rusage *usage,
	    struct err *e)
{
	struct pollfd p[2] = {{.fd = w->pidfd, .events = POLLIN},
			      {.fd = w->sigfd, .events = POLLIN}};

	for (;;) {
		int r = poll(p, 2, -1);

		if (r < 0 && errno != EINTR)
			return err_sys(e, "wait for the container's first process: poll");
		if (r > 0 && p[0].revents)
			return ns_reap(w->pidfd, ret_exit, usage, e);
		if (r > 0 && p[1].revents) {
			r = forward(w, e);
			if (r < 0)
				return r;
		}
	}
}

const char *ns_signal_name(int sig)
{
	static const char *const names[] = {
		[SIGHUP] = "SIGHUP",       [SIGINT] = "SIGINT",     [SIGQUIT] = "SIGQUIT",
		[SIGILL] = "SIGILL",       [SIGTRAP] = "SIGTRAP",   [SIGABRT] = "SIGABRT",
		[SIGBUS] = "SIGBUS",       [SIGFPE] = "SIGFPE",     [SIGKILL] = "SIGKILL",
		[SIGUSR1] = "SIGUSR1",     [SIGSEGV] = "SIGSEGV",   [SIGUSR2] = "SIGUSR2",
		[SIGPIPE] = "SIGPIPE",     [SIGALRM] = "SIGALRM",   [SIGTERM] = "SIGTERM",
		[SIGSTKFLT] = "SIGSTKFLT", [SIGCHLD] = "SIGCHLD",   [SIGCONT] = "SIGCONT",
		[SIGSTOP] = "SIGSTOP",     [SIGTSTP] = "SIGTSTP",   [SIGTTIN] = "SIGTTIN",
		[SIGTTOU] = "SIGTTOU",     [SIGURG] = "SIGURG",     [SIGXCPU] = "SIGXCPU",
		[SIGXFSZ] = "SIGXFSZ",     [SIGVTALRM] = "SIGVTALRM", [SIGPROF] = "SIGPROF",
		[SIGWINCH] = "SIGWINCH",   [SIGIO] = "SIGIO",       [SIGPWR] = "SIGPWR",
		[SIGSYS] = "SIGSYS",
	};

	if (sig <= 0 || (size_t)sig >= sizeof(names) / sizeof(names[0]))
		return NULL;
	return names[sig];
}

char *ns_exit_text(const struct ns_exit *x, char *buf, size_t size)
{
	const char *name = ns_signal_name(x->signal);

	if (x->signal == 0)
		snprintf(buf, size, "exited with status %d", x->status);
	else if (x->signal == SIGKILL)
		snprintf(buf, size, "was killed by SIGKILL (out of memory?)");
	else if (name)
		snprintf(buf, size, "was killed by %s%s", name, x->core ? " (core dumped)" : "");
	else
		snprintf(buf, size, "was killed by signal %d", x->signal);
	return buf;
}

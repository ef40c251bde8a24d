/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals of a foreground run: everything that can be forwarded is blocked, read from a signalfd
 * and sent on to INIT by its pidfd, until INIT ends. No handlers, no polling.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/err.h"

/*
 * Blocks what is forwarded and returns a non-blocking, close-on-exec signalfd for it. Not
 * forwarded: KILL, STOP, CHLD, PIPE, the stops of job control (TSTP, TTIN, TTOU), and faults of
 * our own (SEGV, BUS, FPE, ILL, TRAP, SYS, ABRT). Also puts SIGCHLD to its default: with an
 * inherited "ignore" the kernel would reap INIT itself. *ret_old (may be NULL): the mask before.
 */
int ns_signals_open(sigset_t *ret_old, struct err *e);
/* The next signal from the signalfd, 0 when none is pending, -errno. */
int ns_signals_next(int sigfd);

/* How a process ended. */
struct ns_exit {
	int status; /* of exit, 0-255; 0 when a signal ended it */
	int signal; /* 0 = it called exit */
	bool core;
};

/* Waits for the child behind pidfd, without forwarding. usage may be NULL. */
int ns_reap(int pidfd, struct ns_exit *ret_exit, struct rusage *usage, struct err *e);

struct ns_wait {
	int pidfd, sigfd;
	/* Called in place of forwarding; returns true when it dealt with the signal. May be NULL.
	 * For SIGWINCH with a terminal, for example. */
	bool (*handle)(int sig, void *arg);
	void *arg;
};

/* Forwards until INIT ends; reaps it. */
int ns_wait(const struct ns_wait *w, struct ns_exit *ret_exit, struct rusage *usage,
	    struct err *e);

/* "exited with status 3", "was killed by SIGKILL (out of memory?)"; returns buf. */
char *ns_exit_text(const struct ns_exit *x, char *buf, size_t size);
/* "SIGTERM" for 15, no locale; "signal 70" is beyond it and gives NULL. */
const char *ns_signal_name(int sig);

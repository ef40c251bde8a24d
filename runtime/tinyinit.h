/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tiny init (tinyinit-main.c) as the runtime starts it: a program of about 1 KiB that brig
 * carries in its own executable, so there is no file to install or to find.
 *
 * INIT starts the payload as its child first and turns into the tiny init afterwards, so none of
 * this delays the payload. Between the two, INIT may share its memory with us while the payload
 * runs: the memory must be undumpable by then (PR_SET_DUMPABLE), see security 1.2.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct tinyinit {
	int fd;           /* from tinyinit_open */
	int status_fd;    /* write end of a pipe; receives the payload's wait status, an int */
	pid_t payload;    /* in INIT's pid namespace; a child of the caller */
	uint32_t uid, gid; /* to become, as seen in INIT's user namespace: the payload's */
	int pdeathsig;    /* sent to us when our parent dies, 0 = none */
};

/*
 * A sealed memfd with the program, close-on-exec; in the parent, before INIT exists. The fd or
 * -errno: the sysctl vm.memfd_noexec=2 forbids it.
 */
int tinyinit_open(struct err *e);
/*
 * INIT becomes the tiny init. Returns only on failure, -errno. Takes fd 0 of the caller (dup2);
 * raw system calls only, allocates nothing, touches no memory but its stack. The tiny init needs
 * no capability, but while it has CAP_SETUID and CAP_SETGID it takes over uid and gid. A seccomp
 * filter that is installed already must allow execveat, prctl, capset, seccomp, close_range, the
 * set*id calls, ppoll, rt_sigtimedwait, rt_sigprocmask, wait4, kill, write and exit_group.
 */
int tinyinit_exec(const struct tinyinit *t, struct err *e);

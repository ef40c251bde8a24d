/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hands over a descriptor that comes into being by the very call after which the caller may not do
 * much any more: the listener of a seccomp filter. A thread of the caller, which the filter does
 * not bind, waits for it and sends it over a unix socket with SCM_RIGHTS; the caller needs nothing
 * but write(2). (The parent could take it with pidfd_getfd, but not from an undumpable process
 * without CAP_SYS_PTRACE: never from `exec`, and rarely as a normal user.)
 */
#pragma once

#include "base/err.h"
#include "nsenter/clone.h"

struct ns_handover { /* at one address from begin to end */
	int socket;         /* where the descriptor is sent; not owned */
	int tell[2];
	unsigned page;      /* what the pipe holds */
	int fd;             /* what is sent; -1: nothing */
	int error;          /* errno of sending it, or 0 */
	struct clone_stack stack;
};

/* The caller has one thread afterwards that waits. -errno: nothing has been made. */
int ns_handover_begin(struct ns_handover *h, int socket, struct err *e);
/* Returns when fd has been sent: 0 or -errno. fd -1: sends nothing. The thread is gone after that or
 * about to go; what it used goes with the next exec. The caller keeps fd. */
int ns_handover_end(struct ns_handover *h, int fd, struct err *e);
/* What the thread used, for a parent that shares its memory with the caller; after the exec. */
void ns_handover_free(struct ns_handover *h);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the container's first process (INIT) with clone3: new namespaces, joined namespaces, its
 * cgroup and a pidfd in as few system calls and processes as the job allows.
 *
 * Nothing joined: INIT is one clone3 away, with share_vm as a CLONE_VM child on a stack of its own
 * (26 us instead of 755 us for the copied page tables). Something joined: a short-lived STAGE1
 * process, undumpable and without foreign descriptors, does the setns calls and clones INIT with
 * CLONE_PARENT, so that INIT is a child of the caller all the same; no memory is shared then.
 *
 * INIT enters `main` with every signal disposition at its default, an empty signal mask and the
 * caller's descriptors (0-2, keep_fds when something is joined). A `main` that returns exits 1.
 *
 * With shared memory errno and all other thread-local data is shared too: the caller may only call
 * into steps_run, or otherwise blocks, while INIT runs. See steps.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* A namespace to join: `fd` of ns_open with its CLONE_NEW* type; or a pidfd with several types
 * or-ed together (one setns for all of them). `path` is only for messages; may be NULL. */
struct ns_join {
	uint64_t type;
	int fd;
	const char *path;
};

struct ns_spawn {
	/* CLONE_NEW* to make. CLONE_NEWTIME is accepted but not made here: INIT calls ns_new_time.
	 * A type cannot be both made and joined. */
	uint64_t new_ns;
	const struct ns_join *joins;
	size_t n_joins;
	int cgroup_fd; /* directory of a cgroup2 for CLONE_INTO_CGROUP, or -1 */
	bool share_vm; /* a wish: see ns_shares_vm */
	int channel_fd; /* set by steps_open; kept like keep_fds; 0 = none */
	const int *keep_fds; /* what INIT needs beyond 0-2; everything else is closed when joining */
	size_t n_keep_fds;
	void (*main)(void *arg);
	void *arg;
};

/* The new process. Zero-initialise with NS_CHILD_NONE. */
struct ns_child {
	pid_t pid;      /* as the caller sees it; 0 = none */
	int pidfd;      /* close-on-exec; owned; -1 = none */
	bool in_cgroup; /* false: cgroup_fd was -1, or the kernel cannot: attach it by pid */
	void *stack;    /* of a CLONE_VM child, freed by ns_child_release */
	size_t stack_len;
};

#define NS_CHILD_NONE {.pid = 0, .pidfd = -1}

/* Whether ns_spawn will let INIT share the caller's memory: wished, nothing joined, no sanitizer
 * or valgrind in the way, and exec enters a new time namespace by itself if one is wanted. */
bool ns_shares_vm(const struct ns_spawn *s);

/*
 * Makes INIT. Errors name what is missing (see ns_userns_hint for user namespaces) or which
 * namespace could not be joined and why. On failure no process is left. INIT may run
 * before *ret_child is set and must not look there.
 */
int ns_spawn(const struct ns_spawn *s, struct ns_child *ret_child, struct err *e);

/* Frees the stack and closes the pidfd. Only after INIT has called exec or is dead. */
void ns_child_release(struct ns_child *c);
/* SIGKILL, wait, release. No process: nothing. The cleanup for an early return. */
void ns_child_kill(struct ns_child *c);
#define auto_ns_child __attribute__((cleanup(ns_child_kill)))

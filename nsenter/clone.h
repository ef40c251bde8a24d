/* SPDX-License-Identifier: Apache-2.0 */
/* The clone3 call itself, private to nsenter/. */
#pragma once

#include <linux/sched.h>
#include <stdbool.h>
#include <stddef.h>

/* What the new process does: signals to their defaults, then main(arg), then exit 1. */
struct clone_start {
	void (*main)(void *arg);
	void *arg;
};

struct clone_stack {
	void *base; /* NULL: memory is not shared */
	size_t len;
};

/* Maps a stack with a guard page below, or takes the one that was unmapped last; -errno. Nobody may
 * be running on it any more when it is unmapped. */
int clone_stack_map(struct clone_stack *ret_stack);
/* The same of another size, without a guard page; readable from its lower end on. */
int clone_buffer_map(struct clone_stack *ret_stack, size_t len);
void clone_stack_unmap(const struct clone_stack *s);

/* Whether clone3 is there (an outer seccomp filter may answer ENOSYS) and a CLONE_VM child works in
 * this build. */
bool clone_can_share_vm(void);

/*
 * clone3 with the signals blocked meanwhile; the child never returns from here. *a gets CLONE_VM
 * and the stack when stack->base is set. Returns the pid or -errno, and leaves errno alone. Falls
 * back to clone(2) where clone3 is ENOSYS and nothing is asked that only clone3 can do.
 */
long clone_process(struct clone_args *a, const struct clone_start *start,
		   const struct clone_stack *stack);

/*
 * A thread of the caller on the given stack: main(arg), then it is gone. It shares the caller's
 * thread pointer, errno with it: raw calls only. Its tid or -errno; -ENOSYS without clone3 or on an
 * architecture that is not written here. *alive becomes 0, with a FUTEX_WAKE, when it is gone and needs
 * its stack no more; alive may be NULL.
 */
long clone_thread(const struct clone_start *start, const struct clone_stack *stack, unsigned *alive);

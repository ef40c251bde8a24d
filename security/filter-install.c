/* SPDX-License-Identifier: Apache-2.0 */
/* Gives a compiled program to the kernel. */
#include "security/internal.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

bool sec_filter_first(const struct sec_plan *p)
{
	return p->filter && !p->no_new_privs;
}

static uint32_t install_flags(const struct sec_filter *f)
{
	uint32_t flags = f->flags;

	if (!f->notify)
		/* Without a listener there is nobody to wait for, and the kernel refuses it. */
		return flags & ~(uint32_t)SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
	/* The only other thread that there can be is the one that hands the listener over: it must not
	 * be bound. */
	return (flags & ~(uint32_t)SECCOMP_FILTER_FLAG_TSYNC) | SECCOMP_FILTER_FLAG_NEW_LISTENER;
}

int sec_install_filter(const struct sec_plan *p, int *ret_listener, struct err *e)
{
	const struct sec_filter *f = p->filter;
	struct sock_fprog prog;
	long r;

	if (!f) {
		*ret_listener = -1;
		return 0;
	}
	prog = (struct sock_fprog){.len = f->n, .filter = (struct sock_filter *)f->insns};
	r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, install_flags(f), &prog);
	if (r < 0 && errno == EINVAL && f->flags)
		return err_sys(e, "install the seccomp filter (does this kernel know all of "
			       "linux.seccomp.flags?)");
	if (r < 0 && errno == EBUSY)
		return err_sys(e, "install the seccomp filter (an outer filter has a listener "
			       "already, and the kernel allows only one)");
	if (r < 0)
		return err_sys(e, "install the seccomp filter");
	if (r > 0 && !f->notify)
		return err_set(e, EAGAIN, "install the seccomp filter: thread %ld cannot follow", r);
	*ret_listener = f->notify ? (int)r : -1;
	return 0;
}

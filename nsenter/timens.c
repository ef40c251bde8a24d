/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A time namespace cannot be made by clone3 usefully: a process that is born in it freezes the
 * offsets. So INIT unshares (which sets only time_for_children), writes the offsets, and enters.
 *
 * Entering by setns wants an address space that nobody shares (EUSERS otherwise), because the vDSO
 * data page changes. Since Linux 6.2 (commit 2b5f9dad32ed) exec enters time_for_children by itself,
 * so a CLONE_VM child needs no more. On older kernels ns_shares_vm says no when a time namespace is
 * wanted, and setns does it.
 */
#include "nsenter/timens.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/procfs.h"
#include "base/sys.h"

enum { NSEC_PER_SEC = 1000000000, CLOCKS = 2 };

bool ns_exec_enters_time(void)
{
	struct utsname u;
	unsigned long major, minor;
	char *end;

	if (uname(&u) < 0)
		return false;
	major = strtoul(u.release, &end, 10);
	minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
	return major > 6 || (major == 6 && minor >= 2);
}

static int format_offsets(const struct ns_time_offset *offsets, size_t n, char *buf, size_t size,
			  struct err *e)
{
	size_t len = 0;

	if (n > CLOCKS)
		return err_set(e, EINVAL, "time namespace: more than %d clocks", CLOCKS);
	for (size_t i = 0; i < n; i++) {
		const struct ns_time_offset *o = &offsets[i];

		if (o->clock != CLOCK_MONOTONIC && o->clock != CLOCK_BOOTTIME)
			return err_set(e, EINVAL, "time namespace: clock %d has no offset",
				       o->clock);
		if (o->nanosecs >= NSEC_PER_SEC)
			return err_set(e, EINVAL, "time namespace: %u nanoseconds are more than "
						  "a second", o->nanosecs);
		len += (size_t)snprintf(buf + len, size - len, "%d %lld %u\n", o->clock,
					(long long)o->secs, o->nanosecs);
	}
	return 0;
}

/* 0: entered, or exec will do it. */
static int enter(int procfs, struct err *e)
{
	auto_close int fd = procfs_openat(procfs, "self/ns", O_RDONLY | O_DIRECTORY, e);
	auto_close int ns = -1;

	if (fd < 0)
		return fd;
	/* A magic link by its nature; below a directory that procfs_openat has checked. */
	ns = openat(fd, "time_for_children", O_RDONLY | O_CLOEXEC);
	if (ns < 0)
		return err_sys(e, "time namespace: open time_for_children");
	if (setns(ns, CLONE_NEWTIME) == 0)
		return 0;
	if (errno == EUSERS)
		return err_set(e, EUSERS, "time namespace: cannot be entered by a process that "
					  "shares memory before Linux 6.2");
	return err_sys(e, "time namespace: enter");
}

int ns_new_time(int procfs, const struct ns_time_offset *offsets, size_t n, struct err *e)
{
	char buf[128] = "";
	int r = format_offsets(offsets, n, buf, sizeof(buf), e);

	if (r < 0)
		return r;
	if (syscall(SYS_unshare, CLONE_NEWTIME) < 0) {
		if (errno == EINVAL)
			return err_set(e, EINVAL, "time namespace: this kernel has none "
						  "(CONFIG_TIME_NS)");
		return err_sys(e, "time namespace: unshare");
	}
	if (n > 0) {
		r = procfs_write(procfs, "self/timens_offsets", buf, e);
		if (r == -ERANGE)
			return err_set(e, ERANGE, "time namespace: an offset is out of range (the "
						  "clock would be negative or overflow)");
		if (r < 0)
			return err_wrap(e, "time namespace");
	}
	return ns_exec_enters_time() ? 0 : enter(procfs, e);
}

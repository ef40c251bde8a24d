/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls and constants that the oldest libcs we build with (glibc 2.36, musl 1.2.3) do not
 * wrap. All return -1 with errno set, like libc's own.
 *
 * Only this file includes sys/mount.h and linux/mount.h: with some versions of glibc they clash.
 */
#pragma once

#include <linux/close_range.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <sys/mount.h> /* with fsopen, open_tree, mount_setattr, move_mount */
#else
#include "base/sys-musl.h"
#endif

/* The first real-time signal as glibc's programs know it, and everybody who writes SIGRTMIN+3 into a
 * Dockerfile or a unit; musl's SIGRTMIN is 35. */
#define SYS_SIGRTMIN 34

static inline int sys_openat2(int dirfd, const char *path, uint64_t flags, uint64_t mode,
			      uint64_t resolve)
{
	struct open_how how = {.flags = flags, .mode = mode, .resolve = resolve};

	return (int)syscall(SYS_openat2, dirfd, path, &how, sizeof(how));
}

static inline int sys_pivot_root(const char *new_root, const char *put_old)
{
	return (int)syscall(SYS_pivot_root, new_root, put_old);
}

static inline int sys_pidfd_open(pid_t pid, unsigned flags)
{
	return (int)syscall(SYS_pidfd_open, pid, flags);
}

static inline int sys_pidfd_send_signal(int pidfd, int sig)
{
	return (int)syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, 0);
}

static inline int sys_close_range(unsigned first, unsigned last, unsigned flags)
{
	return (int)syscall(SYS_close_range, first, last, flags);
}

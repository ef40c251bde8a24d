/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls and constants that the oldest libc we build with (glibc 2.36) does not wrap.
 * All return -1 with errno set, like libc's own.
 */
#pragma once

#include <linux/openat2.h>
#include <linux/sched.h>
#include <stdint.h>
#include <sys/mount.h> /* fsopen, open_tree, mount_setattr, move_mount (glibc 2.36) */
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What glibc 2.36 declares and musl does not, under glibc's names, so that nobody who includes
 * base/sys.h sees a difference. The oldest musl is 1.2.3; 1.2.5 has some of it, and then its own
 * are used. linux/mount.h repeats the MS_ constants of sys/mount.h, with the same values.
 */
#pragma once

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static inline int fsopen(const char *type, unsigned flags)
{
	return (int)syscall(SYS_fsopen, type, flags);
}

static inline int fsconfig(int fd, unsigned cmd, const char *key, const void *value, int aux)
{
	return (int)syscall(SYS_fsconfig, fd, cmd, key, value, aux);
}

static inline int fsmount(int fd, unsigned flags, unsigned attributes)
{
	return (int)syscall(SYS_fsmount, fd, flags, attributes);
}

static inline int open_tree(int dir, const char *path, unsigned flags)
{
	return (int)syscall(SYS_open_tree, dir, path, flags);
}

static inline int move_mount(int from_dir, const char *from, int to_dir, const char *to,
			     unsigned flags)
{
	return (int)syscall(SYS_move_mount, from_dir, from, to_dir, to, flags);
}

static inline int mount_setattr(int dir, const char *path, unsigned flags, struct mount_attr *a,
				size_t size)
{
	return (int)syscall(SYS_mount_setattr, dir, path, flags, a, size);
}

/* musl's macro leads to a function that wants a struct dirent for a buffer. */
#undef getdents64
static inline ssize_t getdents64(int fd, void *buf, size_t size)
{
	return syscall(SYS_getdents64, fd, buf, size);
}

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE (1 << 0)
#define RENAME_EXCHANGE (1 << 1)

static inline int renameat2(int from_dir, const char *from, int to_dir, const char *to,
			    unsigned flags)
{
	return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, flags);
}
#endif

#ifndef STATX_TYPE
#include <linux/stat.h>

static inline int statx(int dir, const char *path, int flags, unsigned mask, struct statx *ret_stat)
{
	return (int)syscall(SYS_statx, dir, path, flags, mask, ret_stat);
}
#endif

#ifndef W_EXITCODE
#define W_EXITCODE(status, signal) ((status) << 8 | (signal))
#define WCOREFLAG 0x80
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's /proc through one checked fd: the right file system type, and every path below it
 * opened with RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS, so that nothing mounted over a file and no
 * link can send a read or write elsewhere (CVE-2025-52881, CVE-2019-16884 class).
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

/*
 * An fd of a procfs root: a private detached instance (fsopen) when may_mount, else /proc itself,
 * checked by statfs and inode. May be kept across clone: /proc/self is then the child's, but pids
 * are those of the pid namespace it was made in.
 */
int procfs_open(struct err *e);
/* Opens a file below it. `path` like "self/attr/exec" or "1234/uid_map"; "self" and "thread-self"
 * as the first component are resolved to the numeric directory by us. The fd or -errno. */
int procfs_openat(int procfs, const char *path, int flags, struct err *e);
/* One write(2) of value; 0 or -errno with the path in the message. */
int procfs_write(int procfs, const char *path, const char *value, struct err *e);
/* A small file (NUL-terminated, last newline removed); length or -errno. */
ssize_t procfs_read(int procfs, const char *path, char *buf, size_t size, struct err *e);
/* We are in the first user namespace, that of the host. */
bool procfs_initial_userns(void);

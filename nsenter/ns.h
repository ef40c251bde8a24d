/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small things about namespaces: names, opening and checking a namespace file, finding out why a
 * user namespace is refused, and the first steps of a process in new namespaces.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* "user", "mnt", "pid", "net", "ipc", "uts", "cgroup", "time": the names below /proc/PID/ns. NULL
 * when type is not exactly one CLONE_NEW* flag. */
const char *ns_name(uint64_t type);

/* Opens a namespace file and checks that it is one (nsfs) and of this type; *ret_fd is
 * close-on-exec. Errors name the path. */
int ns_open(const char *path, uint64_t type, int *ret_fd, struct err *e);
/* The same below a directory, that of a process in /proc for example. */
int ns_open_at(int dir, const char *path, uint64_t type, int *ret_fd, struct err *e);
/* 1 when fd is the namespace of that type that the caller is in, 0 when not, -errno. */
int ns_is_ours(int fd, uint64_t type, struct err *e);

/*
 * Why was a user namespace, or a privileged call in one, refused with errnum? Puts one sentence
 * with the cause and the fix into buf and returns true; false (buf empty) when nothing is known.
 * Reads /proc/sys and rlimits: for the error path only, before any rootfs is entered. Ubuntu's
 * AppArmor restriction lets the clone succeed and makes the first mount or sethostname fail with
 * EPERM or EACCES: ask this function there too.
 */
bool ns_userns_hint(int errnum, char *buf, size_t size);
/* What to say when a call was refused with errnum and a seccomp filter that was there before us may have
 * done it; else NULL. */
const char *ns_filter_hint(int errnum);

/* Sets the interface "lo" of the caller's network namespace up (one ioctl). */
int ns_loopback_up(struct err *e);

/*
 * For INIT in a user namespace: no supplementary groups (unless setgroups is denied there), gid 0,
 * uid 0; checked. When `dumpable`, makes the process dumpable again, which the change of ids undid:
 * without it the files in /proc/self belong to the host's root. Never with joined namespaces.
 */
int ns_become_root(bool dumpable, struct err *e);
/* The same, and the supplementary groups stay, as far as the group map shows them. */
int ns_become_root_with_groups(bool dumpable, struct err *e);

/*
 * The process is killed when its parent ends. To be called after the last change of ids or
 * capabilities (they reset it). channel: the socket to the parent; when it is hung up already the
 * parent died before, an error (-ECHILD).
 */
int ns_die_with_parent(int channel, struct err *e);

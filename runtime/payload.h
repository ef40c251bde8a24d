/* SPDX-License-Identifier: Apache-2.0 */
/* The last things done in the container: its home directory and the exec. No libc look-ups. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

/* "HOME=..." for uid from the container's /etc/passwd: a regular file, at most 1 MiB read, fields
 * of at most 255 bytes; anything else gives "HOME=/" (CVE-2026-135844 class). After pivot_root. */
void payload_home(uid_t uid, char *buf, size_t size);
/* Looks argv[0] up in the PATH of envp when it has no slash, and execs. Returns only on failure:
 * -ENOENT or -EACCES in the words that callers match. */
int payload_exec(char **argv, char **envp, struct err *e);
/* The same look-up without the exec: `create` fails with these words, not `start`. */
int payload_find(char **argv, char **envp, struct err *e);
/*
 * A child on the caller's memory (vfork) that runs fn, which execs or fails; the caller goes on when
 * it has done either. *ret_pid is in the caller's pid namespace. The failure of fn is ours.
 */
int payload_spawn(int (*fn)(void *ctx, struct err *e), void *ctx, pid_t *ret_pid, struct err *e);

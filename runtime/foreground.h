/* SPDX-License-Identifier: Apache-2.0 */
/* What run, create and restore do around a launch: what the caller is told, and the waiting. */
#pragma once

#include "runtime/launch.h"

/* Atomically, without a newline: go-runc and conmon parse the whole file as a number. path may be
 * NULL. */
int rt_write_pid_file(const char *path, pid_t pid, struct err *e);
/* Waits for INIT with the terminal or without; its exit code, or -errno. */
int rt_wait_for_end(struct rt_launch *l, int sigfd, struct err *e);
/* Ends INIT and all that was made for it. */
void rt_kill_and_end(struct rt_launch *l);
/* A terminal needs somebody who holds its master. leave: nobody stays in the foreground. */
int rt_check_console(const struct plan *p, const char *console_socket, bool leave, struct err *e);

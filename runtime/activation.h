/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a service manager gave us for the container: sockets (LISTEN_FDS of sd_listen_fds(3), from
 * descriptor 3 on) and a socket to be told that it is ready (NOTIFY_SOCKET of sd_notify(3)).
 *
 * The container does not get the manager's socket but one of ours, in a directory of the state that
 * is mounted at /run/notify. Of what it says there only "READY=1" goes on to the manager.
 */
#pragma once

#include <sys/types.h>

#include "runtime/plan.h"
#include "runtime/runtime.h"

/* Before we open anything: checks that the sockets and `preserve_fds` more descriptors are there. */
int activation_check_fds(unsigned preserve_fds, struct err *e);
/* Sets the options' extra_env, extra_mount, listen_fds, listen_pid and notify from our environment;
 * preserve_fds grows by the sockets, which are in front of them. */
void activation_plan(struct arena *a, const struct rt_globals *g, struct plan_options *o);

/* The directory for the socket; dir: of rt_state_dir. */
int notify_make_dir(int dir, struct err *e);
/* The socket in it: an fd, or -errno. -ENOENT: there is no such directory. */
int notify_bind(int dir, struct err *e);
/*
 * Waits until the container says that it is ready or ends, and tells the manager; pid: of the
 * container, for the manager to watch from now on; 0: it goes on watching us.
 */
int notify_wait(int fd, int pidfd, pid_t pid, struct err *e);
/* The same in a child of ours that dies with us. */
int notify_wait_in_child(int fd, int pidfd, struct err *e);

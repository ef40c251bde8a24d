/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting a container from its plan: the step table, and what is undone when a step fails or the
 * container has ended.
 */
#pragma once

#include "runtime/plan.h"
#include "runtime/state.h"

struct rt_launch {
	/* in */
	const struct plan *plan;
	const struct rt_host *host;
	const struct rt_globals *globals;
	int stdio[3];            /* fds that become 0, 1, 2; -1 = the caller's own; not owned */
	bool ephemeral;          /* owned by this process: swept by the next command if we are killed */

	/* out, valid after rt_launch succeeded */
	pid_t pid;               /* INIT in our pid namespace */
	int pidfd;
	int status_fd;           /* plan.options.tiny_init: the payload's wait status arrives here (int), else -1 */
	struct cg *cgroup;       /* NULL without a cgroup */
	struct rt_state state;
	bool exec_failed;        /* on failure: the row that failed was the exec (e->code ENOENT or EACCES) */

	/* private to launch.c */
	struct step_channel *channel;
	int init_fd;             /* the tiny init's executable */
	int status_write_fd;
	struct err payload_err;
};

/* Runs all steps up to the exec of the payload. On failure everything is undone. */
int rt_launch(struct rt_launch *l, struct err *e);
/*
 * After the container ended (or to end it): kills what is left in the cgroup, removes the cgroup
 * and the state, closes all fds. Stats must be read before.
 */
int rt_launch_end(struct rt_launch *l, struct err *e);

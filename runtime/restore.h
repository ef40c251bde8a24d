/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Restoring a container from a checkpoint: like a launch, with criu in the place of INIT. The id is
 * reserved, recorded and given a cgroup in the same way; criu starts in that cgroup and makes the
 * processes, and the container is recorded as running before they go on.
 */
#pragma once

#include "runtime/criu-options.h"
#include "runtime/launch.h"

struct rt_restore {
	struct rt_launch launch; /* first: the rows of launch.c take it */
	const struct criu_options *options;
	const char *lsm_profile, *lsm_mount_context; /* NULL: those of the checkpoint */
};

/* As rt_launch: on success launch.pid, pidfd, cgroup, state and console_master are set, and the
 * caller is the parent of the first process. On failure everything is undone. */
int rt_restore(struct rt_restore *r, struct err *e);

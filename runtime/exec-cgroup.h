/* SPDX-License-Identifier: Apache-2.0 */
/* The cgroup that exec puts its process into, when it is not the container's own. */
#pragma once

#include "runtime/cli.h"
#include "runtime/container.h"

/*
 * --cgroup, in runc's form: "SUB" for all hierarchies (then it is the only one), or
 * "CONTROLLER[,CONTROLLER]:SUB" for those of v1. SUB is below the container's cgroup and must exist.
 */
int exec_open_sub_cgroup(const struct rt_container *c, struct arena *a, const struct cli_list *args,
			 struct cg **ret, struct err *e);
/* v2: where the first process is now, which has to be below the container's cgroup. */
int exec_open_init_cgroup(const struct rt_container *c, struct cg **ret, struct err *e);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes of a container without a cgroup: those of its pid namespace, and of the ones below
 * it. One that shares ours has no such border.
 */
#pragma once

#include "runtime/container.h"

/* Pids in our pid namespace, in the arena. -ENOENT: it has no pid namespace of its own. */
int rt_pidns_procs(struct arena *a, const struct rt_container *c, struct u32v *ret, struct err *e);

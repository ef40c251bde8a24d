/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A container that some earlier brig made: its record, whether its first process is still the one
 * that was recorded, and the turn that start, update, mounts, pause and delete on one id take.
 */
#pragma once

#include "cgroups/cgroup.h"
#include "runtime/runtime.h"
#include "runtime/state.h"

enum rt_status { RT_CREATING, RT_CREATED, RT_RUNNING, RT_PAUSED, RT_STOPPED };

struct rt_container {
	struct rt_state state;
	struct spec_state *doc;
	bool in_the_making; /* the record says so, and its maker lives */
	int procfs;
	int pidfd;          /* of INIT, checked by start time and boot id; -1 when it is gone, or being made */
	struct cg *cgroup;  /* NULL: none, or gone */
	enum rt_status status;
};

#define RT_CONTAINER_NONE                                                        \
	{.state = RT_STATE_NONE, .procfs = -1, .pidfd = -1}

/* "container does not exist" (-ENOENT), invalid ids (-EINVAL). Strings live in a. */
int rt_container_open(struct arena *a, const struct rt_globals *g, const char *id,
		      struct rt_container *ret, struct err *e);
/* The same, and waits for its turn: held until rt_container_close. */
int rt_container_open_locked(struct arena *a, const struct rt_globals *g, const char *id,
			     struct rt_container *ret, struct err *e);
void rt_container_close(struct rt_container *c);
/* When whoever was making it is dead: what is recorded, and there, at its end. */
int rt_container_reload(struct arena *a, struct rt_container *c, struct err *e);
#define auto_container __attribute__((cleanup(rt_container_close)))

/* "creating", "created", "running", "paused", "stopped". */
const char *rt_status_name(enum rt_status s);
/* Saves c->doc with another phase ("running"). */
int rt_container_set_phase(struct rt_container *c, const char *phase, struct err *e);
/* SIGKILL to all of it, waits until INIT is gone (not its reaping: it may be another's child). */
int rt_container_kill_all(struct rt_container *c, struct err *e);
/* After that: ends and removes its groups, removes its state, runs the poststop hooks. */
int rt_container_remove(struct rt_container *c, struct err *e);
/* Calls fn for the id of every container below g->root, in no order; stops at a negative result. */
int rt_container_each(const struct rt_globals *g, int (*fn)(const char *id, void *arg), void *arg,
		      struct err *e);

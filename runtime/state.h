/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state directory: <root>/<id>/ (0700) with `owner` (held with flock by an ephemeral
 * container's owner for as long as it lives, so that the kernel tells when the owner died) and
 * `state.json` (0600, replaced atomically). No lock is ever taken for more than one container.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "spec/state.h"

struct rt_state {
	int dir;       /* fd of <root>/<id> */
	int lock;      /* fd of <root>/<id>/owner; -1 when not owned */
	int root;      /* fd of <root> */
	const char *id;
};

/* The default state root: /run/brig as root, else $XDG_RUNTIME_DIR/brig (checked: ours, 0700). */
int rt_state_default_root(struct arena *a, const char **ret, struct err *e);
/* Where images and containers are kept: BRIG_DOCKER_DATA, else /var/lib/brig as root, else
 * $XDG_DATA_HOME/brig or ~/.local/share/brig. NULL: none of them is known. */
const char *rt_default_data_root(struct arena *a);
/* Makes <root>/<id>; -EEXIST "container with given ID already exists". owned: we hold its lock for as
 * long as we live, and the next command ends the container when we die. id must be valid. */
int rt_state_create(const char *root, const char *id, bool owned, struct rt_state *ret,
		    struct err *e);
/* Before anything is made on the host, the paths of what will be: for the sweep. */
int rt_state_intend(const struct rt_state *s, const struct spec_state *doc, struct err *e);
/* The first state.json; and any later one (replaced by rename). */
int rt_state_publish(const struct rt_state *s, const struct spec_state *doc, struct err *e);
int rt_state_save(const struct rt_state *s, const struct spec_state *doc, struct err *e);
/* init_pid, init_start_time and boot_id: what tells INIT from a later process with the same pid. */
void rt_state_fill_init(struct spec_state *doc, struct arena *a, int procfs, pid_t pid);
int rt_state_open(const char *root, const char *id, struct rt_state *ret, struct err *e);
int rt_state_load(const struct rt_state *s, struct arena *a, struct spec_state **ret, struct err *e);
/* A pidfd of the process that is making the container right now; -1: none (that we can see). */
int rt_state_owner(const struct rt_state *s);
/* Takes `owner`, when neither that process nor its INIT holds it any more; wait: for as long as it takes,
 * else -EBUSY. */
int rt_state_own(struct rt_state *s, bool wait, struct err *e);
/* Ends and removes the cgroups and the resctrl group that the record names, as far as they are there:
 * of the hierarchies of v1 some may be gone already. */
int rt_state_destroy_groups(const struct spec_state *doc, struct err *e);
/* Removes the directory; closes the fds. */
void rt_state_remove(struct rt_state *s);
void rt_state_close(struct rt_state *s);
/* Ends and removes every ephemeral container whose owner is gone; never fails the caller. */
void rt_state_sweep(const char *root);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state root has one file for each container, <root>/<id>: its record, a line of JSON when something
 * is about to be made and another one when it runs; the last whole line counts. Whoever makes the container
 * holds it with flock for as long as it lives, so that the kernel tells when it died. What only some
 * containers need is in <root>/.files/<id>/ (0700): `state.json`, which replaces the record when a later
 * command has changed something, the fifo `start`, the directory `notify`. No lock is ever taken for more than
 * one container, and a start makes and removes one file: directories cost more, on a disk much more.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "spec/state.h"

struct rt_state {
	int record;    /* fd of <root>/<id>, for reading and writing */
	int root;      /* fd of <root> */
	const char *id;
};

#define RT_STATE_FILES ".files"
#define RT_STATE_NONE {.record = -1, .root = -1}

/* The default state root: /run/brig as root, else $XDG_RUNTIME_DIR/brig (checked: ours, 0700). */
int rt_state_default_root(struct arena *a, const char **ret, struct err *e);
/* Where images and containers are kept: BRIG_DOCKER_DATA, else /var/lib/brig as root, else
 * $XDG_DATA_HOME/brig or ~/.local/share/brig. NULL: none of them is known. */
const char *rt_default_data_root(struct arena *a);
/* Makes <root>/<id>; -EEXIST "container with given ID already exists". We hold its lock for as long as we
 * live, and the next command ends the container when we die. id must be valid. */
int rt_state_create(const char *root, const char *id, struct rt_state *ret, struct err *e);
/* <root>/.files/<id>, for the caller to close; -ENOENT when there is none, unless it is to be made. */
int rt_state_dir(const struct rt_state *s, bool make, struct err *e);
/* Another line of the record: before anything is made on the host the paths of what will be, for the sweep;
 * and then what runs. For its maker. */
int rt_state_record(const struct rt_state *s, const struct spec_state *doc, struct err *e);
/* What it has become since (replaced by rename); for who has the container's turn. */
int rt_state_save(const struct rt_state *s, const struct spec_state *doc, struct err *e);
/* init_pid, init_start_time and boot_id: what tells INIT from a later process with the same pid. */
void rt_state_fill_init(struct spec_state *doc, struct arena *a, int procfs, pid_t pid);
/* A pidfd of it; -1: it is gone. */
int rt_state_init(const struct spec_state *doc, int procfs);
int rt_state_open(const char *root, const char *id, struct rt_state *ret, struct err *e);
/* -ENOENT: its maker has written nothing yet. */
int rt_state_load(const struct rt_state *s, struct arena *a, struct spec_state **ret, struct err *e);
/* A pidfd of the process that is making the container right now; -1: none (that we can see). */
int rt_state_owner(const struct rt_state *s);
/* Takes the lock, when neither that process nor its INIT holds it any more; wait: for as long as it takes,
 * else -EBUSY after two seconds. */
int rt_state_own(const struct rt_state *s, bool wait, struct err *e);
/* Whether somebody has the lock. */
bool rt_state_is_owned(const struct rt_state *s);
/* Waits until no other command works on the container; until s is closed. -ENOENT: it is gone meanwhile. */
int rt_state_take_turn(const struct rt_state *s, struct err *e);
/* The same for the maker, before it removes anything. false: a command has removed the container, and what has
 * its name, or its cgroup's, may be another one's. */
bool rt_state_claim(const struct rt_state *s);
/* Ends and removes the cgroups and the resctrl group that the record names, as far as they are there:
 * of the hierarchies of v1 some may be gone already. */
int rt_state_destroy_groups(const struct spec_state *doc, struct err *e);
/* Removes the record and what belongs to it, if they are still there (takes the turn); closes the fds. */
void rt_state_remove(struct rt_state *s);
void rt_state_close(struct rt_state *s);
/* Ends and removes every ephemeral container whose owner is gone; never fails the caller. */
void rt_state_sweep(const char *root);

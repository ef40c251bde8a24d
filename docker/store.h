/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where containers are kept, without a daemon.
 *
 *   DATA/containers/ID/   record.json, hosts, hostname, resolv.conf, log.json[.N], rw/{diff,work}
 *   DATA/names/NAME       a symbolic link whose text is the ID: making it reserves the name
 *   RUN/docker-run/ID/    `owner`, held with flock by who answers for the container right now (the
 *                         attached client, the monitor, a command that makes or removes it); its
 *                         text is how the container ended, once it has. Sockets of the monitor, too.
 *   RUN/docker/ID/        runtime/'s own state of a container that runs
 *
 * RUN does not survive a boot. A record that says "running" while nobody holds `owner` is of a crash:
 * dk_store_open ends what was left and repairs the record, or removes a --rm container. It looks at
 * RUN/docker-run only, and after a boot once at all records.
 */
#pragma once

#include <stdbool.h>

#include "docker/cli.h"
#include "docker/roots.h"
#include "runtime/runtime.h"

enum { DK_ID_SIZE = 65 };

/* BRIG_DOCKER_CONFIG, $XDG_CONFIG_HOME/brig/docker.json, /etc/brig/docker.json: the first there is. */
struct dk_config {
	char *default_network;  /* "none" */
	bool allow_privileged;
	char *stdin_;           /* "empty", "pipe": what a container without -i reads; BRIG_DOCKER_STDIN */
	char *data_root, *run_root;
	char *userns;           /* "keep", "private" */
	char *log_driver;       /* "json-file", "none" */
	struct str_map log_opts;
};

struct dk_store {
	struct arena *arena;
	struct dk_roots roots;
	struct dk_config config;
	struct rt_globals runtime; /* root: RUN/docker */
	int containers, names, owners; /* directories */
};

/* Once for each process (c->store keeps it): makes what is missing, sweeps what a crash left. */
int dk_store_open(struct dk_context *c, struct dk_store **ret, struct err *e);
int dk_config_load(struct dk_context *c, struct dk_config *ret, struct err *e);

/* 64 random hex digits. */
int dk_new_id(char ret[DK_ID_SIZE], struct err *e);
/* "DATA/containers/ID" with "/name" behind it; name may be NULL. */
char *dk_container_path(const struct dk_store *s, const char *id, const char *name);
/* "RUN/docker-run/ID" in the same way. */
char *dk_run_path(const struct dk_store *s, const char *id, const char *name);

/* ---- names (docker/names.c) ---- */

/* [a-zA-Z0-9][a-zA-Z0-9_.-]+ */
bool dk_valid_name(const char *name);
/* Reserves it for id, whose directory exists. -EEXIST: ret_other has the id of the holder. */
int dk_name_reserve(const struct dk_store *s, const char *name, const char *id,
		    char ret_other[DK_ID_SIZE], struct err *e);
/* A free name for a container without one; reserved. In s->arena. */
int dk_name_invent(const struct dk_store *s, const char *id, char **ret, struct err *e);
/* Only when it is id's. */
void dk_name_release(const struct dk_store *s, const char *name, const char *id);
/* The id behind a name, its container being there; false: none. */
bool dk_name_lookup(const struct dk_store *s, const char *name, char ret[DK_ID_SIZE]);
/* Releases all names of the id: a record that got lost. */
void dk_name_release_all(const struct dk_store *s, const char *id);

/* ---- owners (docker/owner.c) ---- */

/* Who has begun a container must be able to end it: what that opens is kept for it from the start. */
enum { DK_SPARE = 8 };
struct dk_owner {
	const struct dk_store *store;
	int dir, lock, spare[DK_SPARE];
	size_t n_spare;
	char id[DK_ID_SIZE];
};
#define DK_OWNER_NONE {.dir = -1, .lock = -1}

/* -EBUSY without a message: somebody else is (wait: waits for him instead). */
int dk_owner_take(const struct dk_store *s, const char *id, bool wait, struct dk_owner *ret,
		  struct err *e);
/* It ends: there are as many descriptors for that as there were when it was taken. */
void dk_owner_spend(struct dk_owner *o);
/* For those who wait: how it ended. */
void dk_owner_note_exit(const struct dk_owner *o, int code);
/* Removes RUN/docker-run/ID. */
void dk_owner_release(struct dk_owner *o);
#define auto_owner __attribute__((cleanup(dk_owner_release)))
/* A descriptor of the present owner's lock, for dk_owner_wait; -ENOENT: there is none. */
int dk_owner_open(const struct dk_store *s, const char *id);
/* Whether he lives. */
bool dk_owner_is_held(int lock);
/* Waits until he has gone; 1 with the code that he noted, 0 without. */
int dk_owner_wait(int lock, int *ret_code);
/* What the owners that died have left, and after a boot all. */
void dk_sweep(struct dk_store *s);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test helper: a container of rows. INIT's rows write what they see into memory that is shared in
 * any case (a MAP_SHARED page), so that each variant of the spawn can be looked at alike.
 */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "nsenter/idmap.h"
#include "nsenter/steps.h"

#define ALL_NS                                                                             \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |        \
	 CLONE_NEWUTS | CLONE_NEWCGROUP)

struct seen {
	uint64_t ns[8];     /* inode of each namespace, by index in ns_types */
	uid_t uid, euid, gid;
	pid_t pid;
	uint64_t ignored, blocked;
	int fds;            /* highest open descriptor number */
	int dumpable;
	int trail[64];      /* rows in the order in which they ran */
	int n_trail;
};

struct box {
	struct ns_spawn spawn;
	struct step_channel chan;
	const struct step_table *table;
	struct seen *seen; /* shared page */
	const char *const *argv;
	struct ns_idmaps maps;
	enum ns_map_how how;
	int procfs;
	int fail_at;    /* row that fails, -1 = none */
	int die_at;     /* row in which INIT kills itself, -1 = none */
	bool sleepy;
};

extern const uint64_t ns_types[8];

void box_init(struct box *b, const struct step_table *t, uint64_t new_ns, bool share_vm);
void box_free(struct box *b);
/* Inode of /proc/PID/ns/NAME for a pid, or "self" when 0. */
uint64_t ns_inode(pid_t pid, uint64_t type);
/* Notes all of struct seen about the calling process. */
void look(struct seen *s);
void mark(struct box *b, int row);

/* Rows. */
int row_spawn(void *ctx, struct err *e);
int row_maps(void *ctx, struct err *e);
int row_look(void *ctx, struct err *e);
int row_exec(void *ctx, struct err *e);

/* Tables of those: spawn, (maps,) look, exec. */
extern const struct step_table no_maps, with_maps;

/* The whole table must work and the program exit 0. */
void run_ok(struct box *b);
/* Exit status, 128 + signal, or -1. */
int box_reap(struct box *b);
/* Runs fn in a process of its own, as a user that owns nothing. */
void as_nobody(void (*fn)(void));
void as_user(uid_t uid, gid_t gid, void (*fn)(void));
/* Whether the test runs as root; says so when not. */
bool root(void);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A container that this process answers for: made (create.c), started and ended (start.c). `run`,
 * `start` and the monitor of a detached one are built of these.
 */
#pragma once

#include "docker/record.h"
#include "docker/share.h"
#include "runtime/launch.h"

struct dk_container {
	struct dk_context *c;
	struct dk_store *store;
	struct dk_record *record;
	struct dk_owner owner;
	/* While it runs: */
	struct rt_host host;
	struct rt_launch launch;
	struct dk_network *network;
	struct dk_share share;
	struct strv link_env;      /* what --link adds */
	bool launched;
	bool first_arena;          /* the monitor's: the context's arena is the command's own */
	int interrupt;             /* readable: give the start up; -1 */
};
/* To be filled by assignment: struct dk_container k = DK_CONTAINER_NONE(c). */
#define DK_CONTAINER_NONE(context)                                                             \
	{.c = (context), .owner = DK_OWNER_NONE,                                               \
	 .host = {.procfs = -1, .cgroups = {.root = -1}}, .launch = {RT_LAUNCH_NONE}, .share = DK_SHARE_NONE,       \
	 .interrupt = -1}

/*
 * Makes the record, the name and the directory. The caller owns the container then. start_now: the
 * record says "running" from the beginning, so that a crash before the start is one while running.
 * Engine errors; nothing is left after one.
 */
int dk_create(struct dk_container *k, struct dk_run_options *o, bool start_now, struct err *e);

/*
 * Starts it, with these descriptors as its standard streams (-1: ours). The exec has happened when it
 * returns 0. On failure it is as before, but for the record of a container that stays: status
 * "created", the exit code, the error.
 */
int dk_launch(struct dk_container *k, const int stdio[3], struct err *e);
/* Writes down that it runs (not for --rm attached ones: nobody will ever read it). */
int dk_note_started(struct dk_container *k, struct err *e);

struct dk_end { int code; bool oom_killed; };
/* INIT has been reaped: ends what is left of it in cgroup, network and state. *ret_end: with `status`, the
 * wait status of the payload. */
void dk_stopped(struct dk_container *k, int status, struct dk_end *ret_end);
/* Writes the end down, or removes a --rm container, and gives up owning it. */
int dk_finish(struct dk_container *k, const struct dk_end *end, struct err *e);
/* After a failed start: the same with the code that the client exits with. */
void dk_abandon(struct dk_container *k, const struct err *why, int code);

/* protect.c: what makes or joins a container calls it first, before anything is read that cannot be read
 * again: the container must not be able to write our executable (runtime/self.h). */
int dk_protect(struct dk_context *c, int *ret_mount, struct err *e);
/* explain.c: *e of a failed start becomes an engine error in Docker's words; the long one, too. */
int dk_explain_start(struct dk_container *k, struct err *e);
/* `exec: "x": executable file not found in $PATH` and the like from an error of the exec; NULL: it is not. */
const char *dk_exec_words(struct arena *a, const char *msg, int code);

/* [image]: gets what is not there; prints progress on stderr. Weak: NULL without it. */
__attribute__((weak)) int dk_pull_image(struct dk_context *c, const char *ref, bool quiet, struct err *e);

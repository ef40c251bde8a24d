/* SPDX-License-Identifier: Apache-2.0 */
/* What is done to a container that somebody else answers for. */
#pragma once

#include <stdint.h>

#include "docker/container.h"
#include "docker/parts.h"

/* Sends it to the first process: 0, -ESRCH: it does not run (no message). */
int dk_signal(struct dk_context *c, const struct dk_record *r, int sig, struct err *e);
/* No restart by the policy from now on; tells the monitor. */
int dk_forbid_restart(struct dk_context *c, const struct dk_record *r, struct err *e);
/* Tells the monitor, if there is one, that the record has changed. */
void dk_wake_monitor(struct dk_context *c, const struct dk_record *r);
/* The signal, then after so many seconds (-1: never) SIGKILL; returns when the owner has written the end
 * down. Nothing to do for one that does not run. */
struct dk_stop { const char *signal; struct opt_i64 seconds; };
int dk_stop(struct dk_context *c, struct dk_record *r, const struct dk_stop *how, struct err *e);
/* SIGKILL for all of it, and waits like dk_stop. */
int dk_kill_all(struct dk_context *c, struct dk_record *r, struct err *e);
/* Reads a record anew. */
int dk_reload(struct dk_context *c, struct dk_record **r, struct err *e);
/* What is true of it; the present record. */
int dk_find_and_look(struct dk_context *c, const char *ref, struct dk_record **ret, struct dk_look *look,
		     struct err *e);

/*
 * Makes a container that is not running ours, for start, rm and rename; *k is filled. 1: it runs
 * (somebody else answers for it). -ENOENT with an engine error: it is gone.
 */
int dk_take_over(struct dk_container *k, const char *ref, struct err *e);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linux.intelRdt: groups of the resctrl file system, which hand out shares of caches and memory
 * bandwidth. The group of control is named closID, or after the container (then it is ours to
 * remove); the one for monitoring is below it and always ours.
 */
#pragma once

#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "spec/oci.h"

struct resctrl {
	const char *control;    /* directory of the group */
	const char *monitor;    /* its mon_groups/<id>; NULL: not asked for */
	const char *ours;       /* what to remove at the end, all that we make lies in it; NULL: nothing */
};

/* The paths, with the mount at root; makes nothing. */
void resctrl_plan(struct arena *a, const char *root, const struct oci_intel_rdt *r, const char *id,
		  struct resctrl *ret);
/* The mount, by the host's mountinfo: NULL and an error when there is none. */
const char *resctrl_mount(struct arena *a, int procfs, struct err *e);

/* Makes the directories that the rules of config-linux.md want. 1: control is new, 0: it was there. */
int resctrl_make(const struct resctrl *g, const struct oci_intel_rdt *r, struct err *e);
/* Writes the schemata into a new group; an old one must have them already. */
int resctrl_set(const struct resctrl *g, const struct oci_intel_rdt *r, bool is_new, struct err *e);
int resctrl_attach(const struct resctrl *g, pid_t pid, struct err *e);
/* NULL and a directory that is gone are fine. */
int resctrl_remove(const char *ours, struct err *e);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Namespaces of other containers: --pid, --ipc and --network container:X. Who joins one joins the user
 * namespace of that container too: in another it would have no rights there. So all that are named
 * have to be in one.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "spec/oci.h"

struct dk_container;
struct dk_context;
struct dk_run_options;
struct rootfs_plan;

struct dk_share {
	int user, pid, ipc;  /* namespaces to join; -1 */
	int shm;             /* the other's /dev/shm, a detached mount; -1 */
	/* The maps of the user namespace, as this process sees them; when `shifted` the container's root is
	 * not this process's. */
	struct oci_id_mapping_list uid_maps, gid_maps;
	bool shifted;
};
#define DK_SHARE_NONE {.user = -1, .pid = -1, .ipc = -1, .shm = -1}

/* When a container is made: those that are named exist. Engine errors. */
int dk_share_check(struct dk_context *c, const struct dk_run_options *o, struct err *e);
/* At a start, behind dk_network_prepare. Engine errors. */
int dk_share_prepare(struct dk_container *k, struct err *e);
/* The other's /dev/shm in place of a new one. */
void dk_share_place(const struct dk_share *s, struct rootfs_plan *p);
void dk_share_release(struct dk_share *s);

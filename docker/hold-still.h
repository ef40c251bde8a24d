/* SPDX-License-Identifier: Apache-2.0 */
/* Pauses a container for as long as its files are being read. */
#pragma once

#include "docker/container.h"

struct dk_still {
	int hold;    /* everybody who reads has it; -1: the container is not paused by us */
	int keeper;  /* pid of who lets it go on */
};
#define DK_STILL_NONE {-1, -1}

/*
 * Nothing is done to one that is paused already. Children inherit the hold: the container goes on when
 * the last of them and the caller are gone, also by SIGKILL. -ENOTSUP: it has no cgroup.
 */
int dk_hold_still(struct dk_context *c, const struct dk_record *r, struct dk_still *ret, struct err *e);
void dk_let_go(struct dk_context *c, const struct dk_record *r, struct dk_still *s);

/* SPDX-License-Identifier: Apache-2.0 */
/* Where a network is kept, and which of its addresses are free. */
#pragma once

#include "docker/network-def.h"
#include "docker/network-holder.h"
#include "docker/roots.h"

struct dk_place { /* one network and where it is kept */
	struct dk_network_def def;
	struct dk_cidr subnet, range;
	uint32_t gateway;
	const char *dir;
};

/* RUN/networks */
const char *dk_networks_dir(struct arena *a, const struct dk_roots *r);
/* Of all networks: an fd to be closed. */
int dk_networks_lock(struct arena *a, const struct dk_roots *roots, struct err *e);
int dk_place_find(struct arena *a, const struct dk_roots *roots, const char *name, struct dk_place *ret,
		  struct err *e);
/* The one that is wanted, or the first that no port of the bridge has. With the lock and the holder's
 * socket open. */
int dk_place_address(const struct dk_place *p, const struct dk_holder *h, const char *wanted, uint32_t *ret,
		     struct err *e);

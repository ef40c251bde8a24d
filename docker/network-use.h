/* SPDX-License-Identifier: Apache-2.0 */
/* Who uses a network, for the commands. */
#pragma once

#include "docker/network-names.h"
#include "docker/cli.h"

struct dk_connected_list { struct dk_connected *v; size_t n; };
/* The containers that are connected now. Without privileges one that was killed just now may still be
 * among them. */
struct dk_connected_list dk_network_connected(struct arena *a, const struct dk_roots *roots, const char *id);
/* -EBUSY without a message: a container is connected. */
int dk_network_remove_unused(struct arena *a, const struct dk_roots *roots, const struct dk_network_def *d,
			     struct err *e);

/* For `system prune`: without asking. Print what they have removed. ret_bytes: what became free. */
int dk_prune_networks(struct dk_context *c, const struct str_map *filter, struct err *e);
int dk_prune_volumes(struct dk_context *c, const struct str_map *filter, bool all, uint64_t *ret_bytes,
		     struct err *e);
int dk_prune_containers(struct dk_context *c, const struct str_map *filter, uint64_t *ret_bytes,
			struct err *e);

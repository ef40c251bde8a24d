/* SPDX-License-Identifier: Apache-2.0 */
/* What `build` keeps for the next time: buildah's store, DATA/build. Nothing else is in it. */
#pragma once

#include "docker/store.h"

struct dk_build_cache {
	struct strv objects; /* ids of layers */
	uint64_t size;
	bool in_use;         /* a build is running */
};

/* For a build, which holds the descriptor: nobody prunes it meanwhile. */
int dk_build_cache_use(const struct dk_store *s, struct err *e);
void dk_build_cache_look(const struct dk_store *s, struct dk_build_cache *ret);
/* `system prune`: all of it, unless it is in use, with its size added. */
int dk_build_cache_prune(const struct dk_store *s, uint64_t *bytes, struct err *e);

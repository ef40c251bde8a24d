/* SPDX-License-Identifier: Apache-2.0 */
/* Clearing the store of what no image and no container uses. Only in brig-image. */
#pragma once

#include <stdint.h>

#include "image/store.h"

struct img_gc_result {
	struct strv layers;  /* chain ids of removed layers */
	uint64_t bytes;      /* of removed blobs and layers' files */
	bool busy;           /* somebody adds images: it will be done when they end */
};

/* Needs the exclusive lock; when others hold it nothing is removed, and the last of them does it. */
int img_gc(const struct img_store *s, struct arena *a, struct img_gc_result *ret, struct err *e);
/* The same when somebody asked for it meanwhile; also clears tmp/ of what killed programs left. */
void img_gc_if_wanted(const struct img_store *s);

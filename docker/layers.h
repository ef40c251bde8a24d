/* SPDX-License-Identifier: Apache-2.0 */
/* Looking into the layers of a container that does not run: what overlayfs would show. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/types.h"

/* layers: directories, the top one first. The text of a regular file of at most `cap` bytes; NULL when
 * there is none (or something else of that name). */
char *dk_layers_read(struct arena *a, const struct strv *layers, const char *path, size_t cap);

/* SPDX-License-Identifier: Apache-2.0 */
/* The setting `image`: a sandbox whose root file system is a loaded image. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "rootfs/rootfs.h"
#include "spec/sandbox.h"

/*
 * Puts the image that options.image names into the spec, before sandbox_defaults: its layers as the
 * root, read-only; its environment below the spec's; its command where the spec has none. The name becomes
 * the image's id, which is what the cache key counts. overlay->lower stays empty where the spec has a plain
 * root.path (or none: "host") afterwards. Errors: no such image, and a root.path beside it.
 */
int sandbox_image_apply(struct arena *a, struct sandbox *sb, struct rootfs_overlay *overlay,
			struct err *e);

/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a directory tree as a tar stream. What is in the tree is hostile. Only in brig-image. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum img_pack_mode {
	IMG_PACK_TREE,  /* as it is */
	IMG_PACK_LAYER, /* overlayfs's upper directory as an image's layer: whiteouts become .wh. files */
};

struct img_pack {
	int root;           /* the directory, or with `name` the one that has it; O_RDONLY or O_PATH */
	const char *name;   /* only this entry of root (and what is below it); NULL: all that is in root */
	const char *as;     /* the entry's name in the archive; NULL: name */
	enum img_pack_mode mode;
	int out;            /* where to */
};

int img_pack(const struct img_pack *p, struct err *e);

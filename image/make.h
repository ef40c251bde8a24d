/* SPDX-License-Identifier: Apache-2.0 */
/* Makes an image of one new layer, with or without a base: `import` and `commit`. Only in brig-image. */
#pragma once

#include "image/layers.h"

struct img_make {
	const struct img_image *base; /* NULL: none */
	/* {"config": {...}, "author": "", "comment": "", "created_by": ""}, from brig-docker */
	const char *document;
	size_t document_len;
	const char *name;             /* NULL: none */
	int fd;                       /* the layer's archive; -1: it is the file m0 of the work directory */
};

/* The new id in the work's arena. */
int img_make(struct img_work *w, const struct img_make *m, const char **ret_id, struct err *e);
/* Copies fd to the file m0 of the work directory. */
int img_spool(struct img_work *w, int fd, struct err *e);
/* `import --link`: the image is the directory itself. */
int img_make_link(struct img_work *w, const struct img_make *m, const char *path, const char **ret_id,
		  struct err *e);

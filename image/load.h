/* SPDX-License-Identifier: Apache-2.0 */
/* `brig-image load`: archives of `docker save` and OCI layouts. */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "image/store.h"

#define IMG_MANIFEST_TYPE "application/vnd.oci.image.manifest.v1+json"
#define IMG_CONFIG_TYPE "application/vnd.oci.image.config.v1+json"

struct img_load_options {
	bool quiet;
	struct strv names; /* n > 0: these instead of what the archive says (pull, build) */
	bool silent;       /* no "Loaded image" lines */
	int ids;           /* > 0: the id of each image is written there, a line each */
	int width;         /* of the terminal on which is shown how it goes on; 0: not at all */
};

/* From fd, which may be a pipe. Prints what Docker prints on stdout. */
int img_load(const struct img_store *s, int fd, const struct img_load_options *options, struct err *e);

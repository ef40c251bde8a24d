/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which images an archive holds: manifest.json of `docker save`, or index.json of an OCI layout.
 * Every digest that the documents name is checked against the document it names. Only in brig-image.
 */
#pragma once

#include <stddef.h>

#include "image/members.h"

struct img_source_layer {
	const struct img_member *member;
	const char *digest; /* "sha256:HEX" when the archive says one, else NULL */
};

struct img_source {
	struct img_image image;      /* from the configuration, with its id; sizes are missing */
	const char *config;
	size_t config_len;
	const char *manifest;        /* OCI: as it is in the archive; NULL: to be made */
	size_t manifest_len;
	const char *manifest_type;
	struct img_source_layer *layers; /* image.layers.n of them, bottom first */
	struct strv names;           /* as they stand there */
};

struct img_sources { struct img_source *v; size_t n; };

int img_sources_read(const struct img_members *m, struct img_sources *ret, struct err *e);

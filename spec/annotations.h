/* SPDX-License-Identifier: Apache-2.0 */
/* The annotations of config.json that `brig` acts on; for the documentation and `brig features`. */
#pragma once

#include <stdbool.h>

struct spec_annotation_info {
	const char *key; /* "x." is all that begin with it */
	const char *meaning;
	bool harmless;   /* changes nothing of what a container may do: not "potentially unsafe" */
};

/* Sorted by key; the last one has key NULL. */
extern const struct spec_annotation_info spec_annotations[];

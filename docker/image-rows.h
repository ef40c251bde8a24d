/* SPDX-License-Identifier: Apache-2.0 */
/* Filters of images, for `images` and `image prune`. */
#pragma once

#include "docker/cli.h"
#include "image/store.h"

struct dk_image_filter {
	struct dk_context *c;
	const struct img_store *store;
	const struct str_map *filter;
	const char *allowed;          /* names of filters, each with a blank behind it */
	int64_t before, since, until; /* seconds; 0: not asked */
	int dangling;                 /* 1 yes, 0 no, -1 not asked */
};

/* Checks the filters and looks up what they name. Docker's errors. */
int dk_image_filter_open(struct dk_image_filter *f, struct err *e);
/* labels, before, since, until, dangling; not `reference`, which is about single names. */
bool dk_image_filter_matches(const struct dk_image_filter *f, const struct img_listed *image);
/* Whether the name ("busybox:latest") matches one of the `reference` filters; true without them. */
bool dk_image_filter_name(const struct dk_image_filter *f, const char *name);
/* A name or pattern as `images NAME` takes it: "busybox", "busybox:1*", "*". */
bool dk_image_name_matches(struct arena *a, const char *pattern, const char *name);
int64_t dk_image_created(const struct img_image *image);

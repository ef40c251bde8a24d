/* SPDX-License-Identifier: Apache-2.0 */
/* The containers there are, filtered as `ps --filter` does it; for ps and the prune commands. */
#pragma once

#include "docker/record.h"

struct dk_row {
	struct dk_record *record;
	struct dk_look look;
	const char *health;   /* "healthy", ...; NULL: no healthcheck */
	bool no_trunc;
	uint64_t size, image_size; /* after dk_row_measure */
};
struct dk_rows { struct dk_row *v; size_t n; };

struct dk_row_filter {
	struct str_map filter;
	bool all;      /* also those that do not run */
	int64_t last;  /* the newest of all; < 0: no limit */
};

/* Newest first. Engine errors for a filter that makes no sense. */
int dk_rows_load(struct dk_context *c, const struct dk_row_filter *want, struct dk_rows *ret, struct err *e);
/* How much the container has written, and its image. */
void dk_row_measure(struct dk_context *c, struct dk_row *row);

/* The health of a container that runs (docker/health.c); NULL: nothing is checked. */
const char *dk_health_status(struct arena *a, const struct dk_store *s, const struct dk_record *r);

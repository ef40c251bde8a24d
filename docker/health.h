/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Healthchecks. The monitor of a container forks a child for each probe, which runs it, waits for it
 * no longer than it may take, and writes how it ended to DATA/containers/ID/health.json, which
 * inspect and ps read.
 *
 * So a container with a healthcheck has a monitor also when its client is attached.
 */
#pragma once

#include "docker/record.h"

enum { DK_HEALTH_LOG = 5, DK_HEALTH_OUTPUT = 4096 };

struct dk_health_entry {
	char *start, *end; /* RFC 3339 */
	int64_t exit_code; /* -1: it took too long, or could not be started */
	char *output;
};
struct dk_health {
	char *status; /* "starting", "healthy", "unhealthy" */
	int64_t streak; /* failures in a row */
	struct { struct dk_health_entry *v; size_t n; } log; /* oldest first */
};

/* Has it got something to check? */
bool dk_health_wanted(const struct dk_record *r);
/* "starting" with an empty log when there is none. */
void dk_health_load(const struct dk_store *s, const char *id, struct arena *a, struct dk_health *ret);
int dk_health_save(const struct dk_store *s, const char *id, const struct dk_health *h, struct err *e);

/* ---- a probe (docker/health-probe.c) ---- */

struct dk_probe_result {
	int32_t code;     /* its exit code; else one of: */
	uint32_t n;
	char output[DK_HEALTH_OUTPUT + 512];
};
enum {
	DK_PROBE_FAILED = -1,  /* output says why */
	DK_PROBE_SKIPPED = -2, /* the container is paused */
};
/* Runs the container's test; for a process of its own. timeout in nanoseconds. */
void dk_probe_run(struct dk_context *c, struct dk_record *r, int64_t timeout, struct dk_probe_result *ret);

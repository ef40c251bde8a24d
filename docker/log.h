/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of a container, in the form of Docker's json-file driver: one JSON object a line with the
 * keys log, stream and time, in DATA/containers/ID/ID-json.log. Rotated by --log-opt max-size, max-file.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "docker/record.h"

struct dk_log {
	int dir;          /* of the container */
	int fd;           /* -1: nothing is kept (--log-driver none) */
	char name[DK_ID_SIZE + 16];
	uint64_t size, max_size; /* max_size 0: no limit */
	unsigned max_files;
	struct strbuf partial[2]; /* of stdout and stderr: a line that has not ended yet */
	bool broken;      /* the disk was full: said once */
};
#define DK_LOG_NONE {.dir = -1, .fd = -1}

/* What max-size and max-file say (NULL: not given). */
int dk_log_limits(const char *size, const char *files, struct dk_log *l, struct err *e);
int dk_log_open(struct dk_log *l, const struct dk_store *s, const struct dk_record *r, struct err *e);
/* stream: 0 stdout, 1 stderr. Never fails the container. */
void dk_log_write(struct dk_log *l, int stream, const char *data, size_t n);
/* Writes what is left of unfinished lines: the container has ended, and who waits for that may read. */
void dk_log_flush(struct dk_log *l);
void dk_log_close(struct dk_log *l);

/* "ID-json.log", with ".N" for a rotated one. */
void dk_log_name(char *buf, size_t size, const char *id, unsigned n);

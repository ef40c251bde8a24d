/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the log of a container, also while it is being written and turned over (docker/log.h). */
#pragma once

#include "docker/log.h"

struct dk_log_line {
	const char *text; /* n bytes; ends with a newline unless it is a piece of a line */
	size_t n;
	int stream;       /* 0 stdout, 1 stderr */
	const char *time; /* RFC 3339 */
};

struct dk_log_reader {
	int dir;          /* of the container */
	char id[DK_ID_SIZE];
	int *fds;         /* oldest first; the last one is read by those who follow */
	size_t n, at;     /* at: which one is being read */
	struct strbuf pending;
	size_t taken;
	struct strbuf text, time; /* of the last one given out */
};
#define DK_LOG_READER_NONE {.dir = -1}

/* tail: the last so many lines; < 0: all. No log yet is an empty one. */
int dk_log_read_open(struct dk_log_reader *l, const struct dk_store *s, const char *id, int64_t tail, struct err *e);
/* 1; 0: there is none now. Valid until the next call. What is no line of a log is passed over. */
int dk_log_read_next(struct dk_log_reader *l, struct dk_log_line *ret, struct err *e);
void dk_log_read_close(struct dk_log_reader *l);
#define auto_log_reader __attribute__((cleanup(dk_log_read_close)))

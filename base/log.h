/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log: stderr as text, or --log FILE as text or one JSON object a line with the keys msg,
 * level and time (RFC 3339), in that form because go-runc, podman and conmon parse it. podman
 * parses the whole file as one object, so of a JSON log's messages only errors are in the file
 * (and everything with --debug). --log file:FILE is the same; --log syslog:NAME and journald:NAME
 * go to those daemons; without a NAME it is "brig".
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };
enum log_format { LOG_FORMAT_TEXT, LOG_FORMAT_JSON };

/* path NULL: stderr only. A file is opened for appending, 0600. level: the last one that is said. */
int log_open(const char *path, enum log_format format, enum log_level level, struct err *e);
bool log_enabled(enum log_level level);
/* Errors and warnings also go to stderr when a file is open. */
void log_msg(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define log_debug(...)                                        \
	do {                                                  \
		if (log_enabled(LOG_LEVEL_DEBUG))             \
			log_msg(LOG_LEVEL_DEBUG, __VA_ARGS__); \
	} while (0)
#define log_warning(...) log_msg(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_error(...) log_msg(LOG_LEVEL_ERROR, __VA_ARGS__)

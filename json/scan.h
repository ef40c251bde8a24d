/* SPDX-License-Identifier: Apache-2.0 */
/* Internal to json/: what is checked on the raw text, before yajl sees it. */
#pragma once

#include <stddef.h>

#include "base/err.h"

struct json_source {
	const char *text;
	size_t len;
	struct err *e;
};

/* 0 or -EINVAL with position and reason; syntax is not its business. */
int json_scan(const struct json_source *s);
/* "line L, column C: <message>" for the byte at offset; returns -EINVAL. */
int json_error_at(const struct json_source *s, size_t offset, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

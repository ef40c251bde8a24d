/* SPDX-License-Identifier: Apache-2.0 */
/* One JSON object for each request: no query, no header, no body, nothing of an environment. */
#pragma once

#include <stdint.h>

#include "base/err.h"

struct conn;

int access_log_open(struct err *e);
void access_log_write(const struct conn *c, const char *method, int status, uint64_t bytes,
		      double seconds);

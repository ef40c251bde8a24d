/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of what brigd did, as Prometheus text. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct run_result;

void metrics_started(double wait_seconds, bool warm);
void metrics_ended(const struct run_result *result);
void metrics_cut(uint64_t bytes);
void metrics_request(int status);
void metrics_write(struct strbuf *b);

/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP interface: /execute, /executions/ID, /executions/ID/cancel, /health, /metrics. */
#pragma once

#include <stdbool.h>

#include "sidecar/box.h"
#include "sidecar/server.h"

void sidecar_execute(struct conn *c);
void sidecar_status(struct conn *c);
void sidecar_cancel(struct conn *c);
void sidecar_metrics(struct conn *c);
void sidecar_health(struct conn *c);
/* Answers 401 unless the secret is right. */
bool sidecar_authorise(struct conn *c);
/* What an execution without any wishes runs in: what the pool prepares. */
void sidecar_default_spec(struct box_spec *s);

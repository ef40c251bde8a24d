/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sandboxes that are prepared ahead: for the HTTP interface everything up to the start of the
 * program, for snippets a Python interpreter that waits for its code. Each is used once.
 */
#pragma once

#include "sidecar/box.h"

/* Declares what the pool keeps `n` of; spec.args as for a cold start (empty: any program). The
 * directory for spec.copy_out is made by the pool, see pool_take. */
void pool_keep(const struct box_spec *s, size_t n);
/* A prepared box that does for s: true, and *ret is the caller's. s->copy_out becomes the box's. */
bool pool_take(struct box_spec *s, bool interpreter, struct box *ret);
size_t pool_ready(void);
void pool_close(void);

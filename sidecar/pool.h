/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sandboxes that are prepared ahead: for the HTTP interface everything up to the start of the
 * program (brig sandbox --job), for snippets a Python interpreter that waits for its code. Each is
 * used once, by an execution that wants exactly that environment (box_key).
 */
#pragma once

#include "sidecar/box.h"

enum { POOL_PATH_MAX = 512 };

/*
 * Keeps n sandboxes like s. s->args as for a cold start; empty: the job says it. When s->copy_out
 * is set, each gets a directory of its own.
 */
void pool_keep(const struct box_spec *s, size_t n);
/*
 * A prepared box that does for s: true, *ret is the caller's, and ret_out has the directory for what
 * is left ("" when there is none), the caller's as well.
 */
bool pool_take(const struct box_spec *s, struct box *ret, char ret_out[POOL_PATH_MAX]);
size_t pool_ready(void);
/* No more; those that wait end. */
void pool_close(void);

/* SPDX-License-Identifier: Apache-2.0 */
/* The containers that a command is about: one by its id, or those whose ids match --regex. */
#pragma once

#include "runtime/runtime.h"

typedef int rt_select_fn(const char *id, void *arg, struct err *e);
/*
 * Calls fn for each. With regex (POSIX, extended, as grep -E) a failure does not keep the others
 * from their turn: all but the last are logged, the last is returned. No match is no error.
 */
int rt_select(const struct rt_globals *g, const char *word, bool regex, rt_select_fn *fn, void *arg,
	      struct err *e);

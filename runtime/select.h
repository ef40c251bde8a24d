/* SPDX-License-Identifier: Apache-2.0 */
/* The containers that a command is about: one by its id, or those whose ids match --regex. */
#pragma once

#include "runtime/runtime.h"

struct rt_selection {
	const struct rt_globals *globals;
	const char *word;
	bool regex; /* word is one: POSIX, extended, as grep -E */
};

typedef int rt_select_fn(const char *id, void *arg, struct err *e);
/*
 * Calls fn for each. With a regex a failure does not keep the others from their turn: all but the
 * last are logged, the last is returned. No match is no error.
 */
int rt_select(const struct rt_selection *s, rt_select_fn *fn, void *arg, struct err *e);

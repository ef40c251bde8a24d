/* SPDX-License-Identifier: Apache-2.0 */
/* The process that exec runs: from a file or the command line, and what it takes over. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "runtime/cli.h"
#include "spec/oci.h"

struct exec_request {
	const char *process_file;                  /* NULL: the rest counts */
	const char *cwd, *user, *apparmor, *label; /* NULL: the container's */
	struct cli_list env, gids, caps;           /* added to the container's */
	bool tty, no_new_privs;
	char **args; /* NULL-terminated */
};

/*
 * A file says what is run, where, with which environment, as whom, on a terminal or not. What it
 * does not mention of capabilities, limits, no-new-privileges, labels, OOM score, scheduling and
 * priorities is the container's: never silently more than the container has.
 */
int exec_make_process(struct arena *a, const struct exec_request *q, const struct oci_process *base,
		      struct oci_process **ret, struct err *e);

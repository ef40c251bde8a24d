/* SPDX-License-Identifier: Apache-2.0 */
/* A further process in a container that runs, with what the container's own has: for exec and for
 * healthchecks. */
#pragma once

#include "docker/commands.h"
#include "docker/container-spec.h"
#include "runtime/container.h"
#include "runtime/exec.h"

struct dk_exec {
	struct dk_context *c;
	const struct dk_exec_options *o;
	char **argv;
	struct dk_record *record;
	struct rt_container container; /* open, and its pidfd valid */
	struct dk_spec spec;
	struct rt_exec x;              /* after the start */
};
/* To be filled by assignment. */
#define DK_EXEC_NONE .container = RT_CONTAINER_NONE, .x = {RT_EXEC_NONE}

/* What it is to be: user, environment, directory. */
int dk_exec_prepare(struct dk_exec *x, struct err *e);
/* With these streams (-1: ours). Its program runs when this returns 0. */
int dk_exec_start(struct dk_exec *x, const int stdio[3], struct err *e);
/* The process is left alone. */
void dk_exec_close(struct dk_exec *x);
#define auto_exec __attribute__((cleanup(dk_exec_close)))

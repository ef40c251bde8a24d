/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks (config.md#posix-platform-hooks): programs that run at points of the life cycle, with
 * exactly their environment, the container's state as JSON on stdin, no descriptor beyond 2, and a
 * bounded time when they have a timeout.
 */
#pragma once

#include "base/err.h"
#include "spec/oci.h"
#include "spec/state.h"

/* One list, in order; `kind` ("createRuntime") is for messages. The first failure ends it: a hook
 * that cannot be started, exits with another status than 0, or runs longer than its timeout (it is
 * killed). What it wrote, up to a line, is part of the message. pid: of INIT as the hook's pid
 * namespace sees it. */
struct hooks_run {
	const struct oci_hook_list *list;
	const char *kind, *status;
	const struct spec_state *state;
	pid_t pid;
};
int hooks_run(const struct hooks_run *h, struct err *e);
/* The same for poststop: failures are warnings in the log, and the rest goes on. */
void hooks_run_all(const struct hooks_run *h);

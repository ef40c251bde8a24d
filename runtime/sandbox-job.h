/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sandbox that is prepared before its program is known (--job fd:N): everything is set up to the
 * point where the program would be started; then one JSON document from the descriptor says what to
 * run, and the time limit counts from there.
 *
 *	{"args": ["python3", "-c", "print(1)"], "env": ["A=b"], "timeout_ms": 5000}
 *
 * Only args must be there. The sender closes his end behind it.
 */
#pragma once

#include "runtime/launch.h"

struct sandbox_job {
	int fd;         /* -1: none; not owned */
	int reader_fd;  /* the result's: when its reader is gone, the wait is over */
	uint64_t timeout_ms;  /* out; 0: not given */
	uint64_t came_ns;     /* out: when the program was known */
	struct sandbox_job_text *text; /* where INIT does not share our memory: what it reads */
};

/* The start will wait for the document and put it into the plan and the spec. */
int sandbox_job_prepare(struct rt_launch *l, struct sandbox_job *j, struct err *e);

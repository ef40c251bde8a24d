/* SPDX-License-Identifier: Apache-2.0 */
/* A second wall around the file system, for sandboxes. */
#pragma once

#include <stddef.h>

#include "base/err.h"

struct sec_wall {
	const char *const *writable; /* absolute paths as the process sees them, without links */
	size_t n_writable;
};

/*
 * Everything may be read and executed, devices and /proc may be written to as far as their mounts
 * let, and only what is below the writable paths may be changed or made. Abstract sockets and
 * signals stay within. Returns 1, or 0 when this kernel has no Landlock of ABI 2 (Linux 5.19).
 *
 * A row of INIT: after the last mount, since none is possible afterwards; needs CAP_SYS_ADMIN in
 * the user namespace or no-new-privileges; before or after the seccomp filter.
 */
int sec_set_landlock(const struct sec_wall *w, struct err *e);

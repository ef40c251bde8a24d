/* SPDX-License-Identifier: Apache-2.0 */
/* The time namespace and its clock offsets. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct ns_time_offset {
	int clock; /* CLOCK_MONOTONIC or CLOCK_BOOTTIME */
	int64_t secs;
	uint32_t nanosecs; /* < 1e9 */
};

/*
 * A new time namespace for the caller, in effect at the latest with its next exec. procfs: of
 * procfs_open. Needs CAP_SYS_ADMIN (new namespace) and CAP_SYS_TIME (offsets) in the user
 * namespace of the caller. For INIT, before it gives up capabilities.
 */
int ns_new_time(int procfs, const struct ns_time_offset *offsets, size_t n, struct err *e);

/* Whether exec moves a process into its time_for_children namespace on this kernel. */
bool ns_exec_enters_time(void);

/* SPDX-License-Identifier: Apache-2.0 */
/* The id maps of a running container, as /proc/PID/uid_map and gid_map show them to us. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* file: "uid_map" or "gid_map". 1 when an id of the container is our id `outside`, 0 when none is,
 * -errno. */
int idmap_has_outside(int procfs, pid_t pid, const char *file, uint32_t outside, struct err *e);
/* The same for an id as the container sees it. */
int idmap_has_inside(int procfs, pid_t pid, const char *file, uint32_t inside, struct err *e);

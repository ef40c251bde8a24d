/* SPDX-License-Identifier: Apache-2.0 */
/* linux.sysctl: only kernel parameters that belong to one of the container's own namespaces. */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "base/types.h"

/* own_ns: CLONE_NEW* of the namespaces that are the container's (new or joined by it). A host-wide
 * parameter, or one whose namespace is the host's, is an error (CVE-2022-0811 class). */
int sysctl_check(const struct str_map *m, uint64_t own_ns, struct err *e);
/* INIT, in its namespaces; procfs of base/procfs.h. */
int sysctl_apply(const struct str_map *m, int procfs, struct err *e);

/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a cgroup in the shape of `runc events --stats`, which go-runc decodes. */
#pragma once

#include "cgroups/cgroup.h"
#include "json/writer.h"

/*
 * One object: cpu (nanoseconds), cpuset, memory, pids, blkio, hugetlb, intel_rdt,
 * network_interfaces. On v1 and v2 alike; what a kernel or controller does not count is left out,
 * as runc does it.
 */
void stats_write(struct json_writer *w, struct cg *cg);

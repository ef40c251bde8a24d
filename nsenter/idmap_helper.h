/* SPDX-License-Identifier: Apache-2.0 */
/* newuidmap and newgidmap; private to nsenter/. */
#pragma once

#include "nsenter/idmap.h"

/* Runs new<what>map, what being "uid" or "gid", for pid. */
int idmap_helper(const char *what, pid_t pid, const struct ns_idmap *m, size_t n, struct err *e);

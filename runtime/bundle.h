/* SPDX-License-Identifier: Apache-2.0 */
/* From the words of a command line to a plan: the bundle, its config.json, the host, the id. */
#pragma once

#include "runtime/launch.h"

struct rt_bundle {
	const char *path;       /* absolute */
	struct oci_spec *spec;
};

/* dir as given by the user; NULL: the working directory. config: --config, in place of config.json in
 * the bundle; relative to the working directory. */
int rt_bundle_load(struct arena *a, const char *dir, const char *config, struct rt_bundle *ret,
		   struct err *e);
/* Checks that fds 3 .. 3 + n - 1 are open, so that none of ours can take their place. */
int rt_check_preserved(unsigned n, struct err *e);

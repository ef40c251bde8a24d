/* SPDX-License-Identifier: Apache-2.0 */
/* The config.json that `brig spec` prints, and the lists of hidden paths behind it. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/arena.h"
#include "spec/oci.h"

struct spec_default_options {
	bool rootless;  /* a user namespace with uid and gid mapped to the container's root */
	uid_t uid;      /* of the caller; only with rootless */
	gid_t gid;
	unsigned cpus;  /* thermal_throttle of cpu0 to cpu<cpus - 1> is masked too */
};

struct oci_spec *spec_default(struct arena *a, const struct spec_default_options *o);

/* What a container must not read, and what it must not change: NULL-terminated, absolute. */
extern const char *const spec_masked_paths[];
extern const char *const spec_readonly_paths[];

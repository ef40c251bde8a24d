/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Container Device Interface: `--device vendor.com/class=name` and `--gpus` by the JSON files that
 * a vendor's tool puts into /etc/cdi and /var/run/cdi. They are the administrator's, so trusted like a
 * config.json; what they name goes into the spec and is checked with it. A file in YAML is an error
 * that says so when its device is asked for.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/types.h"
#include "docker/run-options.h"
#include "spec/oci.h"

struct dk_cdi_want {
	const struct strv *dirs; /* later ones win; NULL: /etc/cdi, /var/run/cdi (or BRIG_CDI_DIRS, by ':') */
	struct strv devices;     /* "vendor.com/class=name" */
	const struct dk_gpu_request *gpus; /* become nvidia.com/gpu=... */
	size_t n_gpus;
};

/*
 * Puts environment, devices, mounts, hooks and groups into the spec, whose process, linux and resources
 * are there. sources: the host's paths of linux.devices, one for each; is kept so. Engine errors, with
 * the prefix.
 */
int dk_cdi_apply(struct arena *a, const struct dk_cdi_want *want, struct oci_spec *spec,
		 struct strv *sources, struct err *e);

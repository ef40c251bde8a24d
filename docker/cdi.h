/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Container Device Interface: `--device vendor.com/class=name` and `--gpus` by the JSON files that
 * a vendor's tool puts into /etc/cdi and /var/run/cdi. They are the administrator's, so trusted like a
 * config.json; what they name goes into the spec and is checked with it. A file in YAML is an error that says
 * so when its device is asked for.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/types.h"
#include "docker/run-options.h"
#include "spec/oci.h"

/* Directories to look in, later ones win; NULL: the usual two (or BRIG_CDI_DIRS, separated by ':'). */
struct dk_cdi_want {
	const struct strv *dirs;
	struct strv devices;                 /* "vendor.com/class=name" */
	const struct dk_gpu_request *gpus;   /* become nvidia.com/gpu=... */
	size_t n_gpus;
};

/* Puts environment, device nodes, mounts and hooks into the spec. Engine errors, with the prefix. */
int dk_cdi_apply(struct arena *a, const struct dk_cdi_want *want, struct oci_spec *spec, struct err *e);

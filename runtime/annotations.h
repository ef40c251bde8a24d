/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Annotations by which callers of crun (podman among them) ask for what config.json has no word for:
 *
 *   run.oci.keep_original_groups   the caller's supplementary groups stay (security/plan.c)
 *   run.oci.seccomp_bpf_data       a compiled seccomp program (security/raw-filter.c)
 *   run.oci.hooks.stdout, .stderr  files that get what the hooks write (hooks.c)
 *   run.oci.pidfd_receiver         a socket that gets a pidfd, as --pidfd-socket
 *
 * One that would change how the container is held in, and that we do not have, is an error.
 */
#pragma once

#include "base/err.h"
#include "spec/oci.h"

int annotations_check(const struct oci_spec *s, struct err *e);

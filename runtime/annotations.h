/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Annotations by which callers of crun (podman among them) ask for what config.json has no word for:
 *
 * spec/annotations.c has the list. Each is read where it has its effect; here are the checks that
 * concern no other module.
 *
 * One that would change how the container is held in, and that we do not have, is an error.
 */
#pragma once

#include "base/err.h"
#include "spec/oci.h"

int annotations_check(const struct oci_spec *s, struct err *e);

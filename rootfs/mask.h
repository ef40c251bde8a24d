/* SPDX-License-Identifier: Apache-2.0 */
/* Masked and read-only paths of a plan; both run after rootfs_pivot. */
#pragma once

#include "rootfs/rootfs.h"

int mask_paths(const struct rootfs_plan *p, struct err *e);
int readonly_paths(const struct rootfs_plan *p, struct err *e);

/* SPDX-License-Identifier: Apache-2.0 */
/* Masked and read-only paths of a plan; after rootfs_pivot. */
#pragma once

#include "rootfs/rootfs.h"

int protect_paths(const struct rootfs_plan *p, struct err *e);

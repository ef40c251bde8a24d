/* SPDX-License-Identifier: Apache-2.0 */
/* Id-mapped mounts. */
#pragma once

#include "rootfs/rootfs.h"

/* m->fd of a bind whose source is a link that is to be copied. */
enum { SOURCE_IS_LINK = -2 };

/* Shifts the ids of the detached mount fd by the maps of m. */
int mount_idmap(const struct rootfs_mount *m, int fd, struct err *e);

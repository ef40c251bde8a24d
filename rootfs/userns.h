/* SPDX-License-Identifier: Apache-2.0 */
/* Id-mapped mounts. */
#pragma once

#include "rootfs/rootfs.h"

/* m->fd of a bind whose source is a link that is to be copied. */
enum { SOURCE_IS_LINK = -2 };

/* A user namespace with the maps of m, for mount_setattr: an fd. */
int userns_open(const struct rootfs_mount *m, struct err *e);
/* Shifts the ids of the detached mount fd by those of the user namespace. */
int mount_idmap(const struct rootfs_mount *m, int fd, int userns, struct err *e);

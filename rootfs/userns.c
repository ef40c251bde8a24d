/* SPDX-License-Identifier: Apache-2.0 */
#include "rootfs/userns.h"

#include <errno.h>

int mount_idmap(const struct rootfs_mount *m, int fd, struct err *e)
{
	(void)fd;
	return err_set(e, ENOSYS, "mount %s: id-mapped mounts are not supported", m->target);
}

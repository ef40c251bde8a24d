/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "rootfs/internal.h"

int copy_up(int from, int to, const char *name, struct err *e)
{
	(void)from;
	(void)to;
	return err_set(e, ENOSYS, "mount %s: tmpcopyup is not supported", name);
}

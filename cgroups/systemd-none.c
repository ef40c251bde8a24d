/* SPDX-License-Identifier: Apache-2.0 */
/* Built without the systemd driver. */
#include "cgroups/internal.h"

int cg_attach_systemd(struct cg *cg, const char *slice, pid_t pid, struct err *e)
{
	(void)slice;
	(void)pid;
	return err_set(e, EOPNOTSUPP,
		       "make the systemd scope %s: brig was built without the systemd "
		       "driver",
		       cg->unit);
}

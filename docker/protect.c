/* SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

#include "docker/container.h"
#include "runtime/self.h"

/*
 * Before the ids of the container are known. As root it has all of them, the owner of our file too.
 * A normal user's has his own and some that are nobody else's, never root's, to whom an installed
 * program belongs.
 */
int dk_protect(struct dk_context *c, int *ret_mount, struct err *e)
{
	struct oci_id_mapping all_but_root = {1, 1, UINT32_MAX - 1};
	const struct oci_id_mapping_list maps = {&all_but_root, 1};

	if (geteuid() != 0 && !self_is_exposed_to(&maps))
		return 0;
	return self_protect(c->argv, ret_mount, e);
}

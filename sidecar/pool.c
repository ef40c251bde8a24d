/* SPDX-License-Identifier: Apache-2.0 */
#include "sidecar/pool.h"

bool pool_take(struct box_spec *s, bool interpreter, struct box *ret)
{
	(void)s;
	(void)interpreter;
	(void)ret;
	return false;
}

size_t pool_ready(void)
{
	return 0;
}

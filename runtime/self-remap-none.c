/* SPDX-License-Identifier: Apache-2.0 */
/* Where the executable is relocated or its C library is loaded beside it: an exec does it. */
#include <errno.h>

#include "runtime/self.h"

bool self_can_become(void)
{
	return false;
}

int self_become(int fd, char *const *argv)
{
	(void)fd;
	(void)argv;
	return -ENOSYS;
}

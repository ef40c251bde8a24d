/* SPDX-License-Identifier: Apache-2.0 */
/* brig-image as a normal user goes on in a user namespace of its own. */
#pragma once

#include <stdbool.h>

#include "base/err.h"

/*
 * For a normal user: goes on in a child that is root of a new user namespace, which maps 0 to the
 * caller and 1.. to the caller's subordinate ids, as his containers have it; with a single id where
 * there are none. The parent waits, and ends as the child ends. Where no user namespace can be made,
 * and for root, it returns at once: then owners are set as far as the kernel lets.
 */
int img_enter_userns(struct err *e);
/* Whether that has happened, or root of a user namespace started us: overlayfs then needs `userxattr`. */
bool img_in_own_userns(void);

/* SPDX-License-Identifier: Apache-2.0 */
/* Removes a directory with all that a container put into it. */
#pragma once

#include "base/err.h"

/* name is one component below `at`; that it is not there is no error. Links are removed, not followed;
 * other file systems are left. */
int dk_remove_tree(int at, const char *name, struct err *e);

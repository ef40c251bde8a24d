/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that do the same to each of their arguments. */
#pragma once

#include "docker/cli.h"

/* For each argument fn; the argument is printed when it went well, the error as a line of stderr when
 * not. options: the command's. 1 when one failed. */
int dk_each_argument(struct dk_context *c, const struct dk_args *args,
		     int (*fn)(struct dk_context *c, const char *ref, void *options, struct err *e), struct err *e);

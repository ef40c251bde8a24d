/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"

/* Why the options of --tmpfs are none ("invalid tmpfs option ..."); NULL: they are. */
char *dk_bad_tmpfs_option(struct arena *a, const char *options);

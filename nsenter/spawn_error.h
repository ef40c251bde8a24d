/* SPDX-License-Identifier: Apache-2.0 */
/* What a failed clone means, in words; private to nsenter/. */
#pragma once

#include "nsenter/spawn.h"

/* Fills *e for clone3's errno `code`; returns -code. */
int spawn_error(int code, const struct ns_spawn *s, struct err *e);

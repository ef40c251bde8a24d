/* SPDX-License-Identifier: Apache-2.0 */
/* Joining namespaces by way of STAGE1; private to nsenter/. */
#pragma once

#include "nsenter/spawn.h"

/* ns_spawn for s->n_joins > 0; the arguments have been checked. */
int join_and_spawn(const struct ns_spawn *s, struct ns_child *ret_child, struct err *e);

/* SPDX-License-Identifier: Apache-2.0 */
/* What exec must know of INIT's namespaces. */
#pragma once

#include "runtime/exec.h"

/* Which namespaces of the first process are not ours: x->join and x->time_ns. */
int exec_find_namespaces(struct rt_exec *x, struct err *e);
/* x->zero_is_mapped, and the options that follow from the container's user namespace. */
int exec_userns_facts(struct rt_exec *x, struct sec_options *so, struct err *e);
/* 1: INIT's user namespace is not ours; 0; -errno. */
int exec_other_userns(const struct rt_container *c, struct err *e);

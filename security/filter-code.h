/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of a profile in the form that programs are made from. */
#pragma once

#include "security/assemble.h"

enum sec_op { SEC_NE, SEC_LT, SEC_LE, SEC_EQ, SEC_GE, SEC_GT, SEC_MASKED_EQ };

/* A condition on one argument: 64-bit, as the kernel gives it. */
struct sec_cond {
	uint32_t arg;
	enum sec_op op;
	uint64_t value, mask; /* mask for SEC_MASKED_EQ only */
};

/* All conditions hold -> the action, a SECCOMP_RET_*. */
struct sec_rule {
	uint32_t action;
	const struct sec_cond *conds;
	size_t n;
};

/* If the rule holds: return its action; otherwise go on behind. */
void sec_put_rule(struct sec_program *p, const struct sec_rule *r);

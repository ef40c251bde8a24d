/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing BPF programs for seccomp: instructions are put behind each other, and a verdict for
 * every call number becomes a binary search over ranges of numbers.
 */
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "security/security.h"

/* Offsets in struct seccomp_data. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define SEC_LOW_WORD(i) (offsetof(struct seccomp_data, args) + 8 * (i))
#define SEC_HIGH_WORD(i) (SEC_LOW_WORD(i) + 4)
#else
#define SEC_HIGH_WORD(i) (offsetof(struct seccomp_data, args) + 8 * (i))
#define SEC_LOW_WORD(i) (SEC_HIGH_WORD(i) + 4)
#endif

#define SEC_LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(offset))
#define SEC_RETURN(action) BPF_STMT(BPF_RET | BPF_K, action)
#define SEC_RETURN_ERRNO(code) SEC_RETURN(SECCOMP_RET_ERRNO | (code))
/* Jump over n instructions if equal. */
#define SEC_IF_EQUAL(k, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(k), n, 0)

/* A program in the making. When it is full (max), nothing is written but n counts on. */
struct sec_program {
	struct sock_filter *v;
	size_t n, max;
};

/* Instructions that end with a return on every path. */
struct sec_code {
	const struct sock_filter *v;
	size_t n;
};

/* The calls from `first` on, up to the next range. */
struct sec_range {
	uint32_t first;
	struct sec_code code;
};

void sec_put(struct sec_program *p, const struct sock_filter *v, size_t n);
void sec_put_one(struct sec_program *p, struct sock_filter i);
/* The accumulator holds the call number; ranges are sorted, the first begins at 0; n > 0. */
void sec_put_search(struct sec_program *p, const struct sec_range *ranges, size_t n);
/* -E2BIG (no message) when the program did not fit, else it is in *f. */
int sec_program_finish(const struct sec_program *p, struct sec_filter *f);

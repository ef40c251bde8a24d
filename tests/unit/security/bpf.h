/* SPDX-License-Identifier: Apache-2.0 */
/* A classic BPF machine as seccomp runs it, for asking a program its verdict on a call. */
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* No SECCOMP_RET_*: the program did something that the kernel's checker refuses. */
#define BPF_BROKEN 0x12345678u

static bool bpf_jump(const struct sock_filter *i, uint32_t acc, uint32_t x)
{
	uint32_t k = BPF_SRC(i->code) == BPF_X ? x : i->k;

	switch (BPF_OP(i->code)) {
	case BPF_JEQ: return acc == k;
	case BPF_JGT: return acc > k;
	case BPF_JGE: return acc >= k;
	case BPF_JSET: return (acc & k) != 0;
	default: return true; /* BPF_JA */
	}
}

static uint32_t bpf_alu(const struct sock_filter *i, uint32_t acc, uint32_t x)
{
	uint32_t k = BPF_SRC(i->code) == BPF_X ? x : i->k;

	return BPF_OP(i->code) == BPF_AND ? (acc & k) : BPF_BROKEN;
}

static inline uint32_t bpf_run(const struct sock_filter *prog, size_t n,
			       const struct seccomp_data *data)
{
	uint32_t acc = 0, x = 0, mem[BPF_MEMWORDS] = {0};

	for (size_t pc = 0; pc < n; pc++) {
		const struct sock_filter *i = &prog[pc];

		switch (BPF_CLASS(i->code)) {
		case BPF_LD:
			if (BPF_MODE(i->code) == BPF_MEM) {
				acc = mem[i->k % BPF_MEMWORDS];
				break;
			}
			if (BPF_MODE(i->code) != BPF_ABS || i->k % 4 || i->k > sizeof(*data) - 4)
				return BPF_BROKEN;
			memcpy(&acc, (const char *)data + i->k, 4);
			break;
		case BPF_ST: mem[i->k % BPF_MEMWORDS] = acc; break;
		case BPF_ALU: acc = bpf_alu(i, acc, x); break;
		case BPF_MISC: x = acc; break;
		case BPF_RET: return i->k;
		case BPF_JMP:
			if (BPF_OP(i->code) == BPF_JA)
				pc += i->k;
			else
				pc += bpf_jump(i, acc, x) ? i->jt : i->jf;
			break;
		default: return BPF_BROKEN;
		}
	}
	return BPF_BROKEN;
}

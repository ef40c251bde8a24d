/* SPDX-License-Identifier: Apache-2.0 */
/* System calls by name, on the architectures whose calls this machine can make. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Architectures that the kernel reports by the same number: x86_64 and x32. */
struct sec_abi {
	const char *name; /* SCMP_ARCH_...; NULL behind the last */
	uint32_t token;   /* libseccomp's */
	uint32_t audit;   /* the kernel's, seccomp_data.arch */
};

/* The machine's own first, the others of the same `audit` next to each other. */
extern const struct sec_abi sec_abis[];

/* One way to make a call. */
struct sec_call {
	uint32_t nr;
	uint32_t mux, mux_mask; /* mask != 0: only if the masked first argument is mux */
};

enum { SEC_CALL_WAYS = 2 };

/* The ways to make the call; 0 when it does not exist there, -1 when nobody knows the name. */
int sec_call_find(const struct sec_abi *abi, const char *name, struct sec_call ret[SEC_CALL_WAYS]);

/* Changes when the names that are known change. */
uint64_t sec_calls_version(void);

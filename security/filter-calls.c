/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names come from libseccomp, and this is the only file that uses it.
 *
 * Its compiler is not used, because it is slow (26 ms for a profile of Docker's size with the
 * three x86 architectures, in a binary tree; with a list the program is what is slow) and because
 * version 2.5.4 is wrong: it merges the conditions of several rules for one call in such a way
 * that a call passes that no rule allows, when < and > on two arguments are among them.
 */
#include "security/filter-calls.h"

#include <linux/audit.h>
#include <seccomp.h>

#include "security/internal.h"

const struct sec_abi sec_abis[] = {
#if defined(__x86_64__)
	{"SCMP_ARCH_X86_64", SCMP_ARCH_X86_64, AUDIT_ARCH_X86_64},
	{"SCMP_ARCH_X32", SCMP_ARCH_X32, AUDIT_ARCH_X86_64},
	{"SCMP_ARCH_X86", SCMP_ARCH_X86, AUDIT_ARCH_I386},
#elif defined(__aarch64__)
	{"SCMP_ARCH_AARCH64", SCMP_ARCH_AARCH64, AUDIT_ARCH_AARCH64},
	{"SCMP_ARCH_ARM", SCMP_ARCH_ARM, AUDIT_ARCH_ARM},
#else
#error "which system calls can this architecture make?"
#endif
	{NULL, 0, 0}};

/* Newer than libseccomp 2.5.4; the same number on every architecture. */
static const struct sec_name newer[] = {
	{"cachestat", 451}, {"fchmodat2", 452}, {"map_shadow_stack", 453}, {"futex_wake", 454},
	{"futex_wait", 455}, {"futex_requeue", 456}, {"statmount", 457}, {"listmount", 458},
	{"lsm_get_self_attr", 459}, {"lsm_set_self_attr", 460}, {"lsm_list_modules", 461},
	{"mseal", 462}, {"setxattrat", 463}, {"getxattrat", 464}, {"listxattrat", 465},
	{"removexattrat", 466}, {"open_tree_attr", 467}, {"file_getattr", 468},
	{"file_setattr", 469}, {NULL, 0}};

enum { X32_BIT = 0x40000000 };

#ifdef __x86_64__
/*
 * i386 makes socket and System V IPC calls through socketcall and ipc, with a number in the first
 * argument, and since Linux 4.3 and 5.1 also directly. libseccomp has -(100 + number) for the
 * former and -(200 + number) for the latter.
 */
enum { SOCKETCALL = 102, IPC = 117, SOCKETCALL_BASE = 100, IPC_BASE = 200, MUX_LAST = 224 };

static const uint16_t direct[MUX_LAST + 1] = {
	[101] = 359 /* socket */, [102] = 361 /* bind */, [103] = 362 /* connect */,
	[104] = 363 /* listen */, [106] = 367 /* getsockname */, [107] = 368 /* getpeername */,
	[108] = 360 /* socketpair */, [111] = 369 /* sendto */, [112] = 371 /* recvfrom */,
	[113] = 373 /* shutdown */, [114] = 366 /* setsockopt */, [115] = 365 /* getsockopt */,
	[116] = 370 /* sendmsg */, [117] = 372 /* recvmsg */, [118] = 364 /* accept4 */,
	[119] = 337 /* recvmmsg */, [120] = 345 /* sendmmsg */,
	[202] = 393 /* semget */, [203] = 394 /* semctl */, [211] = 400 /* msgsnd */,
	[212] = 401 /* msgrcv */, [213] = 399 /* msgget */, [214] = 402 /* msgctl */,
	[221] = 397 /* shmat */, [222] = 398 /* shmdt */, [223] = 395 /* shmget */,
	[224] = 396 /* shmctl */,
};

static int multiplexed(int pseudo, struct sec_call *ret)
{
	bool ipc = pseudo > IPC_BASE;
	int n = 0;

	/* The upper half of ipc's number is a version, which the kernel ignores for most calls. */
	ret[n++] = ipc ? (struct sec_call){IPC, (uint32_t)(pseudo - IPC_BASE), 0xffff} :
			 (struct sec_call){SOCKETCALL, (uint32_t)(pseudo - SOCKETCALL_BASE), ~0u};
	if (direct[pseudo])
		ret[n++] = (struct sec_call){.nr = direct[pseudo]};
	return n;
}

static int find_pseudo(const struct sec_abi *abi, int nr, struct sec_call *ret)
{
	bool mux = abi->token == SCMP_ARCH_X86 && -nr > SOCKETCALL_BASE && -nr <= MUX_LAST;

	return mux ? multiplexed(-nr, ret) : 0;
}
#else
static int find_pseudo(const struct sec_abi *abi, int nr, struct sec_call *ret)
{
	(void)abi;
	(void)nr;
	(void)ret;
	return 0;
}
#endif

int sec_call_find(const struct sec_abi *abi, const char *name, struct sec_call ret[SEC_CALL_WAYS])
{
	int nr = seccomp_syscall_resolve_name_arch(abi->token, name);
	const struct sec_name *n;

	if (nr >= 0) {
		ret[0] = (struct sec_call){.nr = (uint32_t)nr};
		return 1;
	}
	if (nr != __NR_SCMP_ERROR)
		return find_pseudo(abi, nr, ret);
	n = sec_find_name(newer, name);
	if (!n)
		return -1;
	ret[0] = (struct sec_call){.nr = (uint32_t)n->value};
	if (abi->token == SCMP_ARCH_X32)
		ret[0].nr |= X32_BIT;
	return 1;
}

uint64_t sec_calls_version(void)
{
	const struct scmp_version *v = seccomp_version();

	return (uint64_t)v->major << 48 | (uint64_t)v->minor << 32 | (uint64_t)v->micro << 16 |
	       sizeof(newer) / sizeof(newer[0]);
}

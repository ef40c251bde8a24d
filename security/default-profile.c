/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The default profile as a table by call number, and the program made from it.
 *
 * The numbers are the target's, from its headers, so nothing must be generated on the build
 * machine. Neighbouring calls with the same verdict become one range (about a hundred), and the
 * program is a binary search over the ranges: some seven comparisons a call, and none for calls
 * that are always allowed, because the kernel (5.11) keeps those in a bitmap.
 *
 * Arguments that are ints in the kernel are compared by their low 32 bits: the kernel ignores the
 * upper half, so a filter that looks at it can be deceived.
 */
#include "security/default-profile.h"

#include <asm/unistd.h>
#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "security/assemble.h"

/* Newer than the oldest headers we build with; same number on every architecture. */
#ifndef __NR_map_shadow_stack
#define __NR_map_shadow_stack 453
#endif
#ifndef __NR_fchmodat2
#define __NR_fchmodat2 452
#endif
#ifndef __NR_futex_wake
#define __NR_futex_wake 454
#define __NR_futex_wait 455
#define __NR_futex_requeue 456
#endif
#ifndef __NR_mseal
#define __NR_mseal 462
#endif
#ifndef __NR_setxattrat
#define __NR_setxattrat 463
#define __NR_getxattrat 464
#define __NR_listxattrat 465
#define __NR_removexattrat 466
#endif

enum verdict {
	NO_SUCH_CALL, /* what is not in the table */
	ALLOW,
	REFUSE,
	LOOK_AT_CLONE,
	LOOK_AT_IOCTL,
	LOOK_AT_PERSONALITY,
	LOOK_AT_SOCKET,
	LOOK_AT_SOCKETPAIR,
};

enum { N_CALLS = 512, PROGRAM_MAX = 1024 };

#define ALLOW_ENTRY(name) [__NR_##name] = ALLOW,
#define REFUSE_ENTRY(name) [__NR_##name] = REFUSE,
static const unsigned char verdicts[N_CALLS] = {
	SEC_ALL_ALLOWED(ALLOW_ENTRY) SEC_ALL_REFUSED(REFUSE_ENTRY)
	[__NR_clone] = LOOK_AT_CLONE,
	[__NR_ioctl] = LOOK_AT_IOCTL,
	[__NR_personality] = LOOK_AT_PERSONALITY,
	[__NR_socket] = LOOK_AT_SOCKET,
	[__NR_socketpair] = LOOK_AT_SOCKETPAIR,
};

static const struct sock_filter look_at_clone[] = {
	SEC_LOAD(SEC_LOW_WORD(0)),
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, SEC_NAMESPACE_FLAGS, 0, 1),
	SEC_RETURN_ERRNO(EPERM),
	SEC_RETURN(SECCOMP_RET_ALLOW),
};

/* Typing into the caller's terminal (CVE-2017-5226), and line disciplines. */
static const struct sock_filter look_at_ioctl[] = {
	SEC_LOAD(SEC_LOW_WORD(1)),
	SEC_IF_EQUAL(TIOCSTI, 3),
	SEC_IF_EQUAL(TIOCLINUX, 2),
	SEC_IF_EQUAL(TIOCSETD, 1),
	SEC_RETURN(SECCOMP_RET_ALLOW),
	SEC_RETURN_ERRNO(EPERM),
};

/* Some domains and flags switch address space randomisation or protections off. */
static const struct sock_filter look_at_personality[] = {
	SEC_LOAD(SEC_LOW_WORD(0)),
	SEC_IF_EQUAL(0, 2),
	SEC_IF_EQUAL(SEC_ASK_PERSONALITY, 1),
	SEC_RETURN_ERRNO(EPERM),
	SEC_RETURN(SECCOMP_RET_ALLOW),
};

/* No AF_ALG, AF_VSOCK, AF_PACKET...; of IP only what a client or server needs, because SCTP, DCCP
 * and others are modules that load on demand; of netlink only routing (getifaddrs). */
static const struct sock_filter look_at_socket[] = {
	SEC_LOAD(SEC_LOW_WORD(0)),
	SEC_IF_EQUAL(AF_UNIX, 14),
	SEC_IF_EQUAL(AF_INET, 3),
	SEC_IF_EQUAL(AF_INET6, 2),
	SEC_IF_EQUAL(AF_NETLINK, 8),
	SEC_RETURN_ERRNO(EAFNOSUPPORT),
	SEC_LOAD(SEC_LOW_WORD(2)),
	SEC_IF_EQUAL(IPPROTO_IP, 8),
	SEC_IF_EQUAL(IPPROTO_TCP, 7),
	SEC_IF_EQUAL(IPPROTO_UDP, 6),
	SEC_IF_EQUAL(IPPROTO_ICMP, 5),
	SEC_IF_EQUAL(IPPROTO_ICMPV6, 4),
	SEC_RETURN_ERRNO(EPROTONOSUPPORT),
	SEC_LOAD(SEC_LOW_WORD(2)),
	SEC_IF_EQUAL(0 /* NETLINK_ROUTE */, 1),
	SEC_RETURN_ERRNO(EPROTONOSUPPORT),
	SEC_RETURN(SECCOMP_RET_ALLOW),
};

static const struct sock_filter look_at_socketpair[] = {
	SEC_LOAD(SEC_LOW_WORD(0)),
	SEC_IF_EQUAL(AF_UNIX, 1),
	SEC_RETURN_ERRNO(EAFNOSUPPORT),
	SEC_RETURN(SECCOMP_RET_ALLOW),
};

static const struct sock_filter no_such_call[] = {SEC_RETURN_ERRNO(ENOSYS)};
static const struct sock_filter allow[] = {SEC_RETURN(SECCOMP_RET_ALLOW)};
static const struct sock_filter refuse[] = {SEC_RETURN_ERRNO(EPERM)};

#define CODE(array) {array, sizeof(array) / sizeof(array[0])}
static const struct sec_code codes[] = {
	[NO_SUCH_CALL] = CODE(no_such_call),
	[ALLOW] = CODE(allow),
	[REFUSE] = CODE(refuse),
	[LOOK_AT_CLONE] = CODE(look_at_clone),
	[LOOK_AT_IOCTL] = CODE(look_at_ioctl),
	[LOOK_AT_PERSONALITY] = CODE(look_at_personality),
	[LOOK_AT_SOCKET] = CODE(look_at_socket),
	[LOOK_AT_SOCKETPAIR] = CODE(look_at_socketpair),
};

/* Architecture, and calls whose number says that they are not of this one. */
static const struct sock_filter prologue[] = {
	SEC_LOAD(offsetof(struct seccomp_data, arch)),
	SEC_IF_EQUAL(SEC_PROFILE_ARCH, 1),
	SEC_RETURN(SECCOMP_RET_KILL_PROCESS),
	SEC_LOAD(offsetof(struct seccomp_data, nr)),
#ifdef __x86_64__
	/* x32: the same kernel code by other numbers. -1 is no x32 call but simply none. */
	BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 3),
	SEC_IF_EQUAL(-1, 1),
	SEC_RETURN(SECCOMP_RET_KILL_PROCESS),
	SEC_RETURN_ERRNO(ENOSYS),
#endif
};

const struct sec_filter *sec_filter_default(struct arena *a)
{
	struct sec_filter *f = arena_new_of(a, struct sec_filter);
	struct sec_program p = {arena_array(a, PROGRAM_MAX, sizeof(*p.v)), 0, PROGRAM_MAX};
	struct sec_range ranges[N_CALLS];
	int last = -1;
	size_t n = 0;

	for (uint32_t nr = 0; nr < N_CALLS; nr++) {
		if (verdicts[nr] != last)
			ranges[n++] = (struct sec_range){nr, codes[verdicts[nr]]};
		last = verdicts[nr];
	}
	sec_put(&p, prologue, sizeof(prologue) / sizeof(prologue[0]));
	sec_put_search(&p, ranges, n);
	/* It fits: the table is constant, and a test looks at the size. */
	sec_program_finish(&p, f);
	return f;
}

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
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "security/internal.h"

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

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LOW_WORD(i) (offsetof(struct seccomp_data, args) + 8 * (i))
#else
#define LOW_WORD(i) (offsetof(struct seccomp_data, args) + 8 * (i) + 4)
#endif

#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, action)
#define RETURN_ERRNO(code) RETURN(SECCOMP_RET_ERRNO | (code))
/* Jump over n instructions if equal. */
#define IF_EQUAL(k, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)(k), n, 0)

static const struct sock_filter look_at_clone[] = {
	LOAD(LOW_WORD(0)),
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, SEC_NAMESPACE_FLAGS, 0, 1),
	RETURN_ERRNO(EPERM),
	RETURN(SECCOMP_RET_ALLOW),
};

/* Typing into the caller's terminal (CVE-2017-5226), and line disciplines. */
static const struct sock_filter look_at_ioctl[] = {
	LOAD(LOW_WORD(1)),
	IF_EQUAL(TIOCSTI, 3),
	IF_EQUAL(TIOCLINUX, 2),
	IF_EQUAL(TIOCSETD, 1),
	RETURN(SECCOMP_RET_ALLOW),
	RETURN_ERRNO(EPERM),
};

/* Some domains and flags switch address space randomisation or protections off. */
static const struct sock_filter look_at_personality[] = {
	LOAD(LOW_WORD(0)),
	IF_EQUAL(0, 2),
	IF_EQUAL(SEC_ASK_PERSONALITY, 1),
	RETURN_ERRNO(EPERM),
	RETURN(SECCOMP_RET_ALLOW),
};

/* No AF_ALG, AF_VSOCK, AF_PACKET...; of IP only what a client or server needs, because SCTP, DCCP
 * and others are modules that load on demand; of netlink only routing (getifaddrs). */
static const struct sock_filter look_at_socket[] = {
	LOAD(LOW_WORD(0)),
	IF_EQUAL(AF_UNIX, 14),
	IF_EQUAL(AF_INET, 3),
	IF_EQUAL(AF_INET6, 2),
	IF_EQUAL(AF_NETLINK, 8),
	RETURN_ERRNO(EAFNOSUPPORT),
	LOAD(LOW_WORD(2)),
	IF_EQUAL(IPPROTO_IP, 8),
	IF_EQUAL(IPPROTO_TCP, 7),
	IF_EQUAL(IPPROTO_UDP, 6),
	IF_EQUAL(IPPROTO_ICMP, 5),
	IF_EQUAL(IPPROTO_ICMPV6, 4),
	RETURN_ERRNO(EPROTONOSUPPORT),
	LOAD(LOW_WORD(2)),
	IF_EQUAL(0 /* NETLINK_ROUTE */, 1),
	RETURN_ERRNO(EPROTONOSUPPORT),
	RETURN(SECCOMP_RET_ALLOW),
};

static const struct sock_filter look_at_socketpair[] = {
	LOAD(LOW_WORD(0)),
	IF_EQUAL(AF_UNIX, 1),
	RETURN_ERRNO(EAFNOSUPPORT),
	RETURN(SECCOMP_RET_ALLOW),
};

static const struct sock_filter no_such_call[] = {RETURN_ERRNO(ENOSYS)};
static const struct sock_filter allow[] = {RETURN(SECCOMP_RET_ALLOW)};
static const struct sock_filter refuse[] = {RETURN_ERRNO(EPERM)};

#define LEAF(array) {array, sizeof(array) / sizeof(array[0])}
static const struct { const struct sock_filter *v; unsigned n; } leaves[] = {
	[NO_SUCH_CALL] = LEAF(no_such_call),
	[ALLOW] = LEAF(allow),
	[REFUSE] = LEAF(refuse),
	[LOOK_AT_CLONE] = LEAF(look_at_clone),
	[LOOK_AT_IOCTL] = LEAF(look_at_ioctl),
	[LOOK_AT_PERSONALITY] = LEAF(look_at_personality),
	[LOOK_AT_SOCKET] = LEAF(look_at_socket),
	[LOOK_AT_SOCKETPAIR] = LEAF(look_at_socketpair),
};

/* The program as far as it is written. Sizes are bounded by the table: see the checks below. */
struct program {
	struct sock_filter *v;
	unsigned n;
};

struct range { unsigned first; enum verdict verdict; };

/* Architecture, and calls whose number says that they are not of this one. */
static const struct sock_filter prologue[] = {
	LOAD(offsetof(struct seccomp_data, arch)),
	IF_EQUAL(SEC_PROFILE_ARCH, 1),
	RETURN(SECCOMP_RET_KILL_PROCESS),
	LOAD(offsetof(struct seccomp_data, nr)),
#ifdef __x86_64__
	/* x32: the same kernel code by other numbers. -1 is no x32 call but simply none. */
	BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 3),
	IF_EQUAL(-1, 1),
	RETURN(SECCOMP_RET_KILL_PROCESS),
	RETURN_ERRNO(ENOSYS),
#endif
};

static void put(struct program *p, const struct sock_filter *v, unsigned n)
{
	memcpy(p->v + p->n, v, n * sizeof(*v));
	p->n += n;
}

/* Binary search over ranges [0, n). A conditional jump reaches 255 instructions: up to SHORT
 * ranges certainly fit, above it jumps over a long jump. */
static void put_search(struct program *p, const struct range *r, unsigned n)
{
	enum { SHORT = 64 };
	unsigned half = n / 2, at = p->n;

	if (n == 1) {
		put(p, leaves[r->verdict].v, leaves[r->verdict].n);
		return;
	}
	p->n += half <= SHORT ? 1 : 2;
	put_search(p, r, half);
	if (half <= SHORT) {
		p->v[at] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, r[half].first,
							(unsigned char)(p->n - at - 1), 0);
	} else {
		p->v[at] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, r[half].first,
							0, 1);
		p->v[at + 1] = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, p->n - at - 2);
	}
	put_search(p, r + half, n - half);
}

const struct sec_filter *sec_filter_default(struct arena *a)
{
	struct sec_filter *f = arena_new_of(a, struct sec_filter);
	struct program p = {arena_array(a, PROGRAM_MAX, sizeof(*p.v)), 0};
	struct range ranges[N_CALLS];
	unsigned n = 0;

	for (unsigned nr = 0; nr < N_CALLS; nr++)
		if (n == 0 || ranges[n - 1].verdict != verdicts[nr])
			ranges[n++] = (struct range){nr, verdicts[nr]};
	put(&p, prologue, sizeof(prologue) / sizeof(prologue[0]));
	put_search(&p, ranges, n);
	f->insns = p.v;
	f->n = (unsigned short)p.n;
	return f;
}

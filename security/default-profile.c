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
#include <linux/capability.h>
#include <netinet/in.h>
#include <sched.h>
#include <string.h>
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
	/* containers: */
	LOOK_AT_SOCKET_FAMILY,
	LOOK_AT_PERSONALITY_DOMAIN,
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

/* Of a container: what its capabilities let it open in its own network. Not AF_ALG, AF_VSOCK, and what
 * loads modules. */
static const struct sock_filter look_at_socket_family[] = {
	SEC_LOAD(SEC_LOW_WORD(0)),
	SEC_IF_EQUAL(AF_UNIX, 5),
	SEC_IF_EQUAL(AF_INET, 4),
	SEC_IF_EQUAL(AF_INET6, 3),
	SEC_IF_EQUAL(AF_NETLINK, 2),
	SEC_IF_EQUAL(AF_PACKET, 1),
	SEC_RETURN_ERRNO(EAFNOSUPPORT),
	SEC_RETURN(SECCOMP_RET_ALLOW),
};

/* PER_LINUX and PER_LINUX32, with and without UNAME26, as engines allow it. */
static const struct sock_filter look_at_personality_domain[] = {
	SEC_LOAD(SEC_LOW_WORD(0)),
	SEC_IF_EQUAL(0, 5),
	SEC_IF_EQUAL(0x0008, 4),
	SEC_IF_EQUAL(0x20000, 3),
	SEC_IF_EQUAL(0x20008, 2),
	SEC_IF_EQUAL(SEC_ASK_PERSONALITY, 1),
	SEC_RETURN_ERRNO(EPERM),
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
	[LOOK_AT_SOCKET_FAMILY] = CODE(look_at_socket_family),
	[LOOK_AT_PERSONALITY_DOMAIN] = CODE(look_at_personality_domain),
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

static const struct sec_filter *assemble(struct arena *a, const unsigned char *of)
{
	struct sec_filter *f = arena_new_of(a, struct sec_filter);
	struct sec_program p = {arena_array(a, PROGRAM_MAX, sizeof(*p.v)), 0, PROGRAM_MAX};
	struct sec_range ranges[N_CALLS];
	int last = -1;
	size_t n = 0;

	for (uint32_t nr = 0; nr < N_CALLS; nr++) {
		if (of[nr] != last)
			ranges[n++] = (struct sec_range){nr, codes[of[nr]]};
		last = of[nr];
	}
	sec_put(&p, prologue, sizeof(prologue) / sizeof(prologue[0]));
	sec_put_search(&p, ranges, n);
	/* It fits: the table is constant, and a test looks at the size. */
	sec_program_finish(&p, f);
	return f;
}

const struct sec_filter *sec_filter_default(struct arena *a)
{
	return assemble(a, verdicts);
}

/* ---- containers ---- */

#define CAP(name) (1ull << CAP_##name)

/* What a container with one of these capabilities may call, too; 0: each. */
static const struct allowance { uint16_t nr; uint8_t verdict; uint64_t caps; } allowances[] = {
	{__NR_socket, LOOK_AT_SOCKET_FAMILY, 0},
	{__NR_personality, LOOK_AT_PERSONALITY_DOMAIN, 0},
	/* debuggers: since Linux 4.8 no way around a filter, and only what one's own ids allow */
	{__NR_ptrace, ALLOW, 0}, {__NR_process_vm_readv, ALLOW, 0}, {__NR_process_vm_writev, ALLOW, 0},
	{__NR_process_mrelease, ALLOW, 0}, {__NR_name_to_handle_at, ALLOW, 0}, {__NR_vmsplice, ALLOW, 0},
	{__NR_fanotify_mark, ALLOW, 0}, {__NR_adjtimex, ALLOW, 0}, {__NR_clock_adjtime, ALLOW, 0},
#ifdef __x86_64__
	{__NR_modify_ldt, ALLOW, 0},
	{__NR_iopl, ALLOW, CAP(SYS_RAWIO)}, {__NR_ioperm, ALLOW, CAP(SYS_RAWIO)},
#endif
	{__NR_chroot, ALLOW, CAP(SYS_CHROOT)},
	{__NR_kcmp, ALLOW, CAP(SYS_PTRACE)}, {__NR_pidfd_getfd, ALLOW, CAP(SYS_PTRACE)},
	{__NR_process_madvise, ALLOW, CAP(SYS_PTRACE)},
	{__NR_mbind, ALLOW, CAP(SYS_NICE)}, {__NR_get_mempolicy, ALLOW, CAP(SYS_NICE)},
	{__NR_set_mempolicy, ALLOW, CAP(SYS_NICE)},
	{__NR_open_by_handle_at, ALLOW, CAP(DAC_READ_SEARCH)},
	{__NR_settimeofday, ALLOW, CAP(SYS_TIME)}, {__NR_clock_settime, ALLOW, CAP(SYS_TIME)},
	{__NR_acct, ALLOW, CAP(SYS_PACCT)}, {__NR_reboot, ALLOW, CAP(SYS_BOOT)},
	{__NR_vhangup, ALLOW, CAP(SYS_TTY_CONFIG)}, {__NR_syslog, ALLOW, CAP(SYSLOG) | CAP(SYS_ADMIN)},
	{__NR_bpf, ALLOW, CAP(BPF) | CAP(SYS_ADMIN)},
	{__NR_perf_event_open, ALLOW, CAP(PERFMON) | CAP(SYS_ADMIN)},
	/* its own namespaces */
	{__NR_clone, ALLOW, CAP(SYS_ADMIN)}, {__NR_clone3, ALLOW, CAP(SYS_ADMIN)},
	{__NR_unshare, ALLOW, CAP(SYS_ADMIN)}, {__NR_setns, ALLOW, CAP(SYS_ADMIN)},
	{__NR_mount, ALLOW, CAP(SYS_ADMIN)}, {__NR_umount2, ALLOW, CAP(SYS_ADMIN)},
	{__NR_pivot_root, ALLOW, CAP(SYS_ADMIN)}, {__NR_fsopen, ALLOW, CAP(SYS_ADMIN)},
	{__NR_fsconfig, ALLOW, CAP(SYS_ADMIN)}, {__NR_fsmount, ALLOW, CAP(SYS_ADMIN)},
	{__NR_fspick, ALLOW, CAP(SYS_ADMIN)}, {__NR_open_tree, ALLOW, CAP(SYS_ADMIN)},
	{__NR_move_mount, ALLOW, CAP(SYS_ADMIN)}, {__NR_mount_setattr, ALLOW, CAP(SYS_ADMIN)},
	{__NR_sethostname, ALLOW, CAP(SYS_ADMIN)}, {__NR_setdomainname, ALLOW, CAP(SYS_ADMIN)},
	{__NR_fanotify_init, ALLOW, CAP(SYS_ADMIN)}, {__NR_quotactl, ALLOW, CAP(SYS_ADMIN)},
	{__NR_quotactl_fd, ALLOW, CAP(SYS_ADMIN)},
};

const struct sec_filter *sec_filter_container(struct arena *a, uint64_t caps)
{
	unsigned char of[N_CALLS];

	memcpy(of, verdicts, sizeof(of));
	for (size_t i = 0; i < sizeof(allowances) / sizeof(allowances[0]); i++)
		if (!allowances[i].caps || (allowances[i].caps & caps))
			of[allowances[i].nr] = allowances[i].verdict;
	return assemble(a, of);
}

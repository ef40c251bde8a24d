/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in profile, asked by an interpreter about every number and all it looks at. */
#include <asm/unistd.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/socket.h>

#include "security/default-profile.h"
#include "security/security.h"
#include "tests/unit/security/bpf.h"
#include "tests/unit/test.h"

#define ERRNO(n) (SECCOMP_RET_ERRNO | (n))
#define UPPER (UINT64_C(0x5a5a5a5a) << 32)

static struct arena *arena;
static const struct sec_filter *filter;

static void set_up(void)
{
	arena = arena_new();
	filter = sec_filter_default(arena);
	CHECK(filter->n > 100 && filter->n < 700);
	CHECK(filter->flags == 0 && !filter->notify);
	printf("# %u instructions\n", filter->n);
}

static uint32_t ask(uint32_t arch, uint32_t nr, const uint64_t *args)
{
	struct seccomp_data d = {.nr = (int)nr, .arch = arch};

	if (args)
		memcpy(d.args, args, sizeof(d.args));
	return bpf_run(filter->insns, filter->n, &d);
}

/* The kernel ignores the upper half of an int: so must the filter. */
static void check_args(uint32_t nr, uint64_t a0, uint64_t a1, uint64_t a2, uint32_t want)
{
	CHECK_INT(ask(SEC_PROFILE_ARCH, nr, (uint64_t[6]){a0, a1, a2}), want);
	CHECK_INT(ask(SEC_PROFILE_ARCH, nr, (uint64_t[6]){a0 | UPPER, a1 | UPPER, a2 | UPPER}),
		  want);
}

/* The lists by a plain look-up, the program by its search: the same for every number. */
static void every_number(void)
{
	static const struct { unsigned nr; uint32_t want; } list[] = {
#ifndef __NR_fchmodat2
#define __NR_fchmodat2 452
#endif
#ifndef __NR_mseal
#define __NR_mseal 462
#endif
#ifndef __NR_futex_wake
#define __NR_futex_wake 454
#define __NR_futex_wait 455
#define __NR_futex_requeue 456
#endif
#ifndef __NR_map_shadow_stack
#define __NR_map_shadow_stack 453
#endif
#ifndef __NR_setxattrat
#define __NR_setxattrat 463
#define __NR_getxattrat 464
#define __NR_listxattrat 465
#define __NR_removexattrat 466
#endif
#define YES(name) {__NR_##name, SECCOMP_RET_ALLOW},
#define NO(name) {__NR_##name, ERRNO(EPERM)},
		SEC_ALL_ALLOWED(YES) SEC_ALL_REFUSED(NO)
	};
	enum { N = sizeof(list) / sizeof(list[0]) };

	for (unsigned nr = 0; nr < 1000; nr++) {
		uint32_t want = ERRNO(ENOSYS);

		if (nr == __NR_clone || nr == __NR_ioctl || nr == __NR_personality ||
		    nr == __NR_socket || nr == __NR_socketpair)
			continue;
		for (unsigned i = 0; i < N; i++)
			if (list[i].nr == nr)
				want = list[i].want;
		if (ask(SEC_PROFILE_ARCH, nr, NULL) != want) {
			printf("# number %u\n", nr);
			CHECK_INT(ask(SEC_PROFILE_ARCH, nr, NULL), want);
		}
	}
	CHECK_INT(ask(SEC_PROFILE_ARCH, UINT32_MAX, NULL), ERRNO(ENOSYS));
}

static void other_architectures(void)
{
	static const uint32_t others[] = {AUDIT_ARCH_I386, AUDIT_ARCH_ARM, AUDIT_ARCH_RISCV64,
					  AUDIT_ARCH_X86_64, AUDIT_ARCH_AARCH64, 0};

	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		for (unsigned nr = 0; nr < 600 && others[i] != SEC_PROFILE_ARCH; nr++)
			CHECK_INT(ask(others[i], nr, NULL), SECCOMP_RET_KILL_PROCESS);
#if defined(__x86_64__)
	for (uint32_t nr = 0x40000000; nr < 0x40000400; nr++)
		CHECK_INT(ask(SEC_PROFILE_ARCH, nr, NULL), SECCOMP_RET_KILL_PROCESS);
	CHECK_INT(ask(SEC_PROFILE_ARCH, 0x80000000, NULL), SECCOMP_RET_KILL_PROCESS);
#endif
}

/* Written out by hand, against the lists: what must never be allowed. */
static void never(void)
{
	static const unsigned list[] = {
		__NR_unshare, __NR_setns, __NR_mount, __NR_umount2, __NR_pivot_root, __NR_chroot,
		__NR_fsopen, __NR_fsconfig, __NR_fsmount, __NR_fspick, __NR_open_tree, __NR_move_mount,
		__NR_mount_setattr, __NR_ptrace, __NR_process_vm_readv, __NR_process_vm_writev,
		__NR_pidfd_getfd, __NR_kcmp, __NR_add_key, __NR_request_key, __NR_keyctl,
		__NR_io_uring_setup, __NR_io_uring_enter, __NR_io_uring_register, __NR_bpf,
		__NR_userfaultfd, __NR_perf_event_open, __NR_vmsplice, __NR_fanotify_init,
		__NR_open_by_handle_at, __NR_name_to_handle_at, __NR_init_module, __NR_finit_module,
		__NR_kexec_load, __NR_kexec_file_load, __NR_reboot, __NR_swapon, __NR_acct,
		__NR_quotactl, __NR_quotactl_fd, __NR_syslog, __NR_settimeofday, __NR_clock_settime,
		__NR_sethostname, __NR_setdomainname, __NR_move_pages, __NR_migrate_pages, __NR_mbind,
		__NR_set_mempolicy, __NR_lookup_dcookie, __NR_process_madvise, __NR_vhangup,
		/* no number, but what is not allowed by name must not be either */
		__NR_clone3, __NR_memfd_secret, __NR_nfsservctl, __NR_set_mempolicy_home_node,
		451 /* cachestat */, 457 /* statmount */, 458 /* listmount */,
		467 /* open_tree_attr */,
#if defined(__x86_64__)
		__NR_modify_ldt, __NR_iopl, __NR_ioperm, __NR_uselib, __NR_ustat, __NR_sysfs,
		__NR__sysctl, __NR_create_module, __NR_set_thread_area, 334 + 1 /* uretprobe */,
#endif
	};

	for (unsigned i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		uint32_t verdict = ask(SEC_PROFILE_ARCH, list[i], NULL);

		if ((verdict & SECCOMP_RET_ACTION_FULL) != SECCOMP_RET_ERRNO)
			printf("# number %u\n", list[i]);
		CHECK_INT(verdict & SECCOMP_RET_ACTION_FULL, SECCOMP_RET_ERRNO);
	}
	CHECK_INT(ask(SEC_PROFILE_ARCH, __NR_clone3, NULL), ERRNO(ENOSYS));
}

static void clone_flags(void)
{
	static const uint64_t ns[] = {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
				      CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET};
	/* what glibc gives for fork and for threads, and vfork */
	const uint64_t fork_flags = CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID | 17;
	const uint64_t thread_flags = 0x3d0f00;

	check_args(__NR_clone, fork_flags, 0, 0, SECCOMP_RET_ALLOW);
	check_args(__NR_clone, thread_flags, 0, 0, SECCOMP_RET_ALLOW);
	check_args(__NR_clone, CLONE_VM | CLONE_VFORK | 17, 0, 0, SECCOMP_RET_ALLOW);
	for (unsigned i = 0; i < sizeof(ns) / sizeof(ns[0]); i++) {
		check_args(__NR_clone, ns[i], 0, 0, ERRNO(EPERM));
		check_args(__NR_clone, ns[i] | fork_flags, 0, 0, ERRNO(EPERM));
	}
}

static void ioctls(void)
{
	check_args(__NR_ioctl, 0, TIOCSTI, 0, ERRNO(EPERM));
	check_args(__NR_ioctl, 0, TIOCLINUX, 0, ERRNO(EPERM));
	check_args(__NR_ioctl, 0, TIOCSETD, 0, ERRNO(EPERM));
	check_args(__NR_ioctl, 0, TCGETS, 0, SECCOMP_RET_ALLOW);
	check_args(__NR_ioctl, TIOCSTI, TIOCGWINSZ, TIOCSTI, SECCOMP_RET_ALLOW);
	check_args(__NR_ioctl, 0, FIONREAD, 0, SECCOMP_RET_ALLOW);
}

static void personalities(void)
{
	check_args(__NR_personality, PER_LINUX, 0, 0, SECCOMP_RET_ALLOW);
	check_args(__NR_personality, 0xffffffff, 0, 0, SECCOMP_RET_ALLOW);
	check_args(__NR_personality, PER_LINUX32, 0, 0, ERRNO(EPERM));
	check_args(__NR_personality, ADDR_NO_RANDOMIZE, 0, 0, ERRNO(EPERM));
	check_args(__NR_personality, READ_IMPLIES_EXEC, 0, 0, ERRNO(EPERM));
}

static void sockets(void)
{
	static const int internet[] = {AF_INET, AF_INET6}, protocols[] = {0, 1, 6, 17, 58};

	check_args(__NR_socket, AF_UNIX, SOCK_STREAM, 0, SECCOMP_RET_ALLOW);
	check_args(__NR_socket, AF_NETLINK, SOCK_RAW, 0 /* ROUTE */, SECCOMP_RET_ALLOW);
	for (uint64_t p = 1; p < 32; p++)
		check_args(__NR_socket, AF_NETLINK, SOCK_RAW, p, ERRNO(EPROTONOSUPPORT));
	for (uint64_t family = 0; family < 64; family++)
		if (family != AF_UNIX && family != AF_INET && family != AF_INET6 &&
		    family != AF_NETLINK)
			check_args(__NR_socket, family, SOCK_STREAM, 0, ERRNO(EAFNOSUPPORT));
	for (int f = 0; f < 2; f++)
		for (int p = 0; p < 300; p++) {
			uint32_t want = ERRNO(EPROTONOSUPPORT);

			for (int i = 0; i < 5; i++)
				if (protocols[i] == p)
					want = SECCOMP_RET_ALLOW;
			check_args(__NR_socket, (uint64_t)internet[f], SOCK_DGRAM, (uint64_t)p, want);
		}
	check_args(__NR_socketpair, AF_UNIX, SOCK_STREAM, 0, SECCOMP_RET_ALLOW);
	check_args(__NR_socketpair, AF_INET, SOCK_STREAM, 0, ERRNO(EAFNOSUPPORT));
	check_args(__NR_socketpair, 30 /* AF_TIPC */, SOCK_STREAM, 0, ERRNO(EAFNOSUPPORT));
}

static void tear_down(void)
{
	arena_free(arena);
}

static uint32_t ask_container(uint64_t caps, uint32_t nr, uint64_t a0, uint64_t a1)
{
	const struct sec_filter *mine = filter;
	uint32_t r;

	filter = sec_filter_container(arena, caps);
	CHECK(filter->n > 100 && filter->n < 700);
	r = ask(SEC_PROFILE_ARCH, nr, (uint64_t[6]){a0, a1});
	filter = mine;
	return r;
}

static void containers(void)
{
	const uint64_t admin = 1ull << CAP_SYS_ADMIN, chroot_ = 1ull << CAP_SYS_CHROOT;

	CHECK_INT(ask_container(0, __NR_ptrace, 0, 0), SECCOMP_RET_ALLOW);
	CHECK_INT(ask_container(0, __NR_chroot, 0, 0), ERRNO(EPERM));
	CHECK_INT(ask_container(chroot_, __NR_chroot, 0, 0), SECCOMP_RET_ALLOW);
	CHECK_INT(ask_container(chroot_, __NR_mount, 0, 0), ERRNO(EPERM));
	CHECK_INT(ask_container(admin, __NR_mount, 0, 0), SECCOMP_RET_ALLOW);
	CHECK_INT(ask_container(0, __NR_clone, CLONE_NEWUSER, 0), ERRNO(EPERM));
	CHECK_INT(ask_container(admin, __NR_clone, CLONE_NEWUSER, 0), SECCOMP_RET_ALLOW);
	CHECK_INT(ask_container(0, __NR_clone3, 0, 0), ERRNO(ENOSYS));
	CHECK_INT(ask_container(~0ull, __NR_keyctl, 0, 0), ERRNO(EPERM));
	CHECK_INT(ask_container(~0ull, __NR_io_uring_setup, 0, 0), ERRNO(EPERM));
	CHECK_INT(ask_container(~0ull, __NR_ioctl, 0, TIOCSTI), ERRNO(EPERM));
	CHECK_INT(ask_container(~0ull, __NR_socket, AF_ALG, 0), ERRNO(EAFNOSUPPORT));
	CHECK_INT(ask_container(~0ull, __NR_socket, AF_PACKET, 0), SECCOMP_RET_ALLOW);
	CHECK_INT(ask_container(0, __NR_personality, 0x0008, 0), SECCOMP_RET_ALLOW);
	CHECK_INT(ask_container(0, __NR_personality, 0x0040000, 0), ERRNO(EPERM));
}

TEST_MAIN(TEST(set_up), TEST(every_number), TEST(other_architectures), TEST(never),
	  TEST(clone_flags), TEST(ioctls), TEST(personalities), TEST(sockets), TEST(containers),
	  TEST(tear_down))

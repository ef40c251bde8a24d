/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in profile, asked by an interpreter about every number and all it looks at. */
#include <errno.h>
#include <linux/audit.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/syscall.h>

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
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_mseal
#define SYS_mseal 462
#endif
#ifndef SYS_futex_wake
#define SYS_futex_wake 454
#define SYS_futex_wait 455
#define SYS_futex_requeue 456
#endif
#ifndef SYS_map_shadow_stack
#define SYS_map_shadow_stack 453
#endif
#ifndef SYS_setxattrat
#define SYS_setxattrat 463
#define SYS_getxattrat 464
#define SYS_listxattrat 465
#define SYS_removexattrat 466
#endif
#define YES(name) {SYS_##name, SECCOMP_RET_ALLOW},
#define NO(name) {SYS_##name, ERRNO(EPERM)},
		SEC_ALL_ALLOWED(YES) SEC_ALL_REFUSED(NO)
	};
	enum { N = sizeof(list) / sizeof(list[0]) };

	for (unsigned nr = 0; nr < 1000; nr++) {
		uint32_t want = ERRNO(ENOSYS);

		if (nr == SYS_clone || nr == SYS_ioctl || nr == SYS_personality ||
		    nr == SYS_socket || nr == SYS_socketpair)
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
		SYS_unshare, SYS_setns, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot,
		SYS_fsopen, SYS_fsconfig, SYS_fsmount, SYS_fspick, SYS_open_tree, SYS_move_mount,
		SYS_mount_setattr, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev,
		SYS_pidfd_getfd, SYS_kcmp, SYS_add_key, SYS_request_key, SYS_keyctl,
		SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register, SYS_bpf,
		SYS_userfaultfd, SYS_perf_event_open, SYS_vmsplice, SYS_fanotify_init,
		SYS_open_by_handle_at, SYS_name_to_handle_at, SYS_init_module, SYS_finit_module,
		SYS_kexec_load, SYS_kexec_file_load, SYS_reboot, SYS_swapon, SYS_acct,
		SYS_quotactl, SYS_quotactl_fd, SYS_syslog, SYS_settimeofday, SYS_clock_settime,
		SYS_sethostname, SYS_setdomainname, SYS_move_pages, SYS_migrate_pages, SYS_mbind,
		SYS_set_mempolicy, SYS_lookup_dcookie, SYS_process_madvise, SYS_vhangup,
		/* no number, but what is not allowed by name must not be either */
		SYS_clone3, SYS_memfd_secret, SYS_nfsservctl, SYS_set_mempolicy_home_node,
		451 /* cachestat */, 457 /* statmount */, 458 /* listmount */,
		467 /* open_tree_attr */,
#if defined(__x86_64__)
		SYS_modify_ldt, SYS_iopl, SYS_ioperm, SYS_uselib, SYS_ustat, SYS_sysfs,
		SYS__sysctl, SYS_create_module, SYS_set_thread_area, 334 + 1 /* uretprobe */,
#endif
	};

	for (unsigned i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		uint32_t verdict = ask(SEC_PROFILE_ARCH, list[i], NULL);

		if ((verdict & SECCOMP_RET_ACTION_FULL) != SECCOMP_RET_ERRNO)
			printf("# number %u\n", list[i]);
		CHECK_INT(verdict & SECCOMP_RET_ACTION_FULL, SECCOMP_RET_ERRNO);
	}
	CHECK_INT(ask(SEC_PROFILE_ARCH, SYS_clone3, NULL), ERRNO(ENOSYS));
}

static void clone_flags(void)
{
	static const uint64_t ns[] = {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
				      CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET};
	/* what glibc gives for fork and for threads, and vfork */
	const uint64_t fork_flags = CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID | 17;
	const uint64_t thread_flags = 0x3d0f00;

	check_args(SYS_clone, fork_flags, 0, 0, SECCOMP_RET_ALLOW);
	check_args(SYS_clone, thread_flags, 0, 0, SECCOMP_RET_ALLOW);
	check_args(SYS_clone, CLONE_VM | CLONE_VFORK | 17, 0, 0, SECCOMP_RET_ALLOW);
	for (unsigned i = 0; i < sizeof(ns) / sizeof(ns[0]); i++) {
		check_args(SYS_clone, ns[i], 0, 0, ERRNO(EPERM));
		check_args(SYS_clone, ns[i] | fork_flags, 0, 0, ERRNO(EPERM));
	}
}

static void ioctls(void)
{
	check_args(SYS_ioctl, 0, TIOCSTI, 0, ERRNO(EPERM));
	check_args(SYS_ioctl, 0, TIOCLINUX, 0, ERRNO(EPERM));
	check_args(SYS_ioctl, 0, TIOCSETD, 0, ERRNO(EPERM));
	check_args(SYS_ioctl, 0, TCGETS, 0, SECCOMP_RET_ALLOW);
	check_args(SYS_ioctl, TIOCSTI, TIOCGWINSZ, TIOCSTI, SECCOMP_RET_ALLOW);
	check_args(SYS_ioctl, 0, FIONREAD, 0, SECCOMP_RET_ALLOW);
}

static void personalities(void)
{
	check_args(SYS_personality, PER_LINUX, 0, 0, SECCOMP_RET_ALLOW);
	check_args(SYS_personality, 0xffffffff, 0, 0, SECCOMP_RET_ALLOW);
	check_args(SYS_personality, PER_LINUX32, 0, 0, ERRNO(EPERM));
	check_args(SYS_personality, ADDR_NO_RANDOMIZE, 0, 0, ERRNO(EPERM));
	check_args(SYS_personality, READ_IMPLIES_EXEC, 0, 0, ERRNO(EPERM));
}

static void sockets(void)
{
	static const int internet[] = {AF_INET, AF_INET6}, protocols[] = {0, 1, 6, 17, 58};

	check_args(SYS_socket, AF_UNIX, SOCK_STREAM, 0, SECCOMP_RET_ALLOW);
	check_args(SYS_socket, AF_NETLINK, SOCK_RAW, 0 /* ROUTE */, SECCOMP_RET_ALLOW);
	for (uint64_t p = 1; p < 32; p++)
		check_args(SYS_socket, AF_NETLINK, SOCK_RAW, p, ERRNO(EPROTONOSUPPORT));
	for (uint64_t family = 0; family < 64; family++)
		if (family != AF_UNIX && family != AF_INET && family != AF_INET6 &&
		    family != AF_NETLINK)
			check_args(SYS_socket, family, SOCK_STREAM, 0, ERRNO(EAFNOSUPPORT));
	for (int f = 0; f < 2; f++)
		for (int p = 0; p < 300; p++) {
			uint32_t want = ERRNO(EPROTONOSUPPORT);

			for (int i = 0; i < 5; i++)
				if (protocols[i] == p)
					want = SECCOMP_RET_ALLOW;
			check_args(SYS_socket, (uint64_t)internet[f], SOCK_DGRAM, (uint64_t)p, want);
		}
	check_args(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, SECCOMP_RET_ALLOW);
	check_args(SYS_socketpair, AF_INET, SOCK_STREAM, 0, ERRNO(EAFNOSUPPORT));
	check_args(SYS_socketpair, 30 /* AF_TIPC */, SOCK_STREAM, 0, ERRNO(EAFNOSUPPORT));
}

static void tear_down(void)
{
	arena_free(arena);
}

TEST_MAIN(TEST(set_up), TEST(every_number), TEST(other_architectures), TEST(never),
	  TEST(clone_flags), TEST(ioctls), TEST(personalities), TEST(sockets), TEST(tear_down))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decompressors and libarchive's tar reader are large C programs that read what a stranger wrote;
 * if one of them is taken over, this is what it can still reach. No path outside of the store, no
 * program, no socket, no other process. The list of system calls was made by running the tests with
 * an action that logs, and holds no call that takes a path without a directory descriptor but those
 * that libc uses itself.
 *
 * Landlock knows nothing of modes, owners and times, which can be set by any path. So there is no path
 * out: each directory becomes a copy of its mount that is attached nowhere, so that ".." ends at it, and
 * the first of them becomes the root of this process.
 */
#include "image/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/sys.h"

#ifndef LANDLOCK_ACCESS_FS_REFER
#define LANDLOCK_ACCESS_FS_REFER (1ULL << 13)
#endif

#if defined(__x86_64__)
#define OWN_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCH AUDIT_ARCH_AARCH64
#else
#define OWN_ARCH 0
#endif

static const unsigned allowed_calls[] = {
	SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_lseek, SYS_close,
	SYS_openat, SYS_openat2, SYS_fstat, SYS_newfstatat, SYS_statx, SYS_fcntl, SYS_dup, SYS_dup3,
	SYS_mkdirat, SYS_mknodat, SYS_linkat, SYS_symlinkat, SYS_unlinkat, SYS_readlinkat,
	SYS_renameat2, SYS_faccessat, SYS_fchown, SYS_fchownat, SYS_fchmod, SYS_fchmodat,
	SYS_fsetxattr, SYS_fgetxattr, SYS_flistxattr, SYS_lgetxattr, SYS_llistxattr, SYS_utimensat,
	SYS_ftruncate, SYS_fallocate, SYS_copy_file_range, SYS_fsync, SYS_fdatasync, SYS_syncfs,
	SYS_flock, SYS_getdents64, SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise,
	SYS_brk, SYS_futex, SYS_clone, SYS_set_robust_list, SYS_rt_sigaction, SYS_rt_sigprocmask,
	SYS_rt_sigreturn, SYS_sched_yield, SYS_sched_getaffinity, SYS_getpid, SYS_gettid, SYS_tgkill,
	SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getrandom, SYS_clock_gettime,
	SYS_gettimeofday, SYS_uname, SYS_prlimit64, SYS_exit, SYS_exit_group, SYS_restart_syscall,
	SYS_sysinfo, SYS_umask, SYS_fstatfs, SYS_prctl,
#ifdef SYS_rseq
	SYS_rseq,
#endif
#ifdef SYS_faccessat2
	SYS_faccessat2,
#endif
#ifdef SYS_renameat
	SYS_renameat,
#endif
#ifdef SYS_poll
	SYS_poll,
#endif
};

enum { N_ALLOWED = sizeof(allowed_calls) / sizeof(*allowed_calls) };

/* Everything else is ENOSYS: libc then does without, or the command fails and says so. */
static int install_filter(struct err *e)
{
	struct sock_filter code[N_ALLOWED + 8];
	struct sock_fprog program = {.filter = code};
	size_t n = 0;

	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCH, 1, 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < N_ALLOWED; i++)
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed_calls[i],
							 (uint8_t)(N_ALLOWED - i), 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = (unsigned short)n;
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 && errno != EINVAL)
		return err_sys(e, "install the filter of system calls");
	return 0;
}

static int install_landlock(const int *dirs, size_t n, struct err *e)
{
	struct landlock_ruleset_attr rules = {.handled_access_fs = (1ULL << 14) - 1};
	auto_close int fd = -1;
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	/* before ABI 2 no rename between directories could be allowed */
	if (abi < 2)
		return 0;
	fd = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0);
	if (fd < 0)
		return err_sys(e, "make a Landlock rule set");
	for (size_t i = 0; i < n; i++) {
		struct landlock_path_beneath_attr below = {
			.allowed_access = rules.handled_access_fs & ~(uint64_t)LANDLOCK_ACCESS_FS_EXECUTE,
			.parent_fd = dirs[i],
		};

		if (syscall(SYS_landlock_add_rule, fd, LANDLOCK_RULE_PATH_BENEATH, &below, 0) < 0)
			return err_sys(e, "make a Landlock rule");
	}
	if (syscall(SYS_landlock_restrict_self, fd, 0) < 0)
		return err_sys(e, "restrict this process with Landlock");
	return 0;
}

/* A directory for a standard stream would be a way out. */
static int check_streams(struct err *e)
{
	for (int fd = 0; fd < 3; fd++) {
		struct stat st;
		int null;

		if (fstat(fd, &st) < 0 || !S_ISDIR(st.st_mode))
			continue;
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (null < 0 || dup2(null, fd) < 0)
			return err_sys(e, "replace a standard stream that is a directory");
		close(null);
	}
	return 0;
}

/* The same number is the copy then. What is attached nowhere already stays (EINVAL before 6.15), and so does
 * all without the right to copy mounts. */
static int detach(int dir, struct err *e)
{
	auto_close int copy = open_tree(dir, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE);
	int flags = fcntl(dir, F_GETFL);
	auto_close int fd = -1;

	if (copy < 0)
		return 0;
	if (!(flags & O_PATH))
		fd = openat(copy, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dup3(fd >= 0 ? fd : copy, dir, O_CLOEXEC) < 0)
		return err_sys(e, "enter a copy of a directory");
	return 0;
}

static int leave_paths(const int *dirs, size_t n, struct err *e)
{
	struct stat st;

	if (check_streams(e) < 0)
		return -e->code;
	for (size_t i = 0; i < n; i++)
		if (detach(dirs[i], e) < 0)
			return -e->code;
	/* without the right to do it the process has no other rights either than those of its user */
	if (n && fstat(dirs[0], &st) == 0 && S_ISDIR(st.st_mode) && fchdir(dirs[0]) == 0 && chroot(".") < 0 &&
	    errno != EPERM)
		return err_sys(e, "make a directory the root of this process");
	return 0;
}

int img_confine(const int *dirs, size_t n, struct err *e)
{
	const struct rlimit no_core = {0};

	/* an image's content belongs neither into a core file nor to another user's debugger */
	setrlimit(RLIMIT_CORE, &no_core);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(e, "set no-new-privileges");
	if (leave_paths(dirs, n, e) < 0 || install_landlock(dirs, n, e) < 0)
		return -e->code;
	return OWN_ARCH ? install_filter(e) : 0;
}

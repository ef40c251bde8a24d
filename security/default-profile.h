/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The default seccomp profile, for untrusted code without any capability: which system calls are
 * allowed, and which known ones are refused with EPERM. All others, known or not, give ENOSYS,
 * so that programs fall back to what an older kernel has. Calls of another architecture, and x32
 * ones, kill the process. The calls that are looked at more closely are in default-profile.c.
 *
 * A name is in one of the lists. Refused with EPERM is what programs try and handle EPERM for,
 * or what a reader of an strace should see as forbidden; ENOSYS is for the rest.
 *
 * SEC_ALLOWED(X)       the same names on every architecture
 * SEC_ALLOWED_X86(X)   older names, which newer architectures do not have
 * SEC_REFUSED(X), SEC_REFUSED_X86(X)
 */
#pragma once

#include <linux/audit.h>
#include <sched.h>

#define SEC_ALLOWED(X)                                                                       \
	/* files */                                                                          \
	X(openat) X(openat2) X(close) X(close_range) X(read) X(write) X(readv) X(writev)     \
	X(pread64) X(pwrite64) X(preadv) X(pwritev) X(preadv2) X(pwritev2) X(lseek)          \
	X(newfstatat) X(fstat) X(statx) X(statfs) X(fstatfs) X(faccessat) X(faccessat2)      \
	X(readlinkat) X(getdents64) X(getcwd) X(chdir) X(fchdir) X(mkdirat) X(unlinkat)      \
	X(renameat) X(renameat2) X(linkat) X(symlinkat) X(mknodat) X(fchmod) X(fchmodat) X(fchmodat2) \
	X(fchown) X(fchownat) X(utimensat) X(umask) X(truncate) X(ftruncate) X(fallocate)    \
	X(fsync) X(fdatasync) X(sync) X(syncfs) X(sync_file_range) X(readahead)              \
	X(fadvise64) X(copy_file_range) X(sendfile) X(splice) X(tee) X(flock) X(fcntl)       \
	X(dup) X(dup3) X(pipe2)                                                              \
	X(setxattr) X(lsetxattr) X(fsetxattr) X(getxattr) X(lgetxattr) X(fgetxattr)          \
	X(listxattr) X(llistxattr) X(flistxattr) X(removexattr) X(lremovexattr)              \
	X(fremovexattr) X(setxattrat) X(getxattrat) X(listxattrat) X(removexattrat)          \
	X(inotify_init1) X(inotify_add_watch) X(inotify_rm_watch) X(memfd_create)            \
	X(io_setup) X(io_destroy) X(io_submit) X(io_cancel) X(io_getevents)                  \
	/* waiting */                                                                        \
	X(pselect6) X(ppoll) X(epoll_create1) X(epoll_ctl) X(epoll_pwait) X(epoll_pwait2)    \
	X(eventfd2) X(signalfd4) X(timerfd_create) X(timerfd_settime) X(timerfd_gettime)     \
	/* memory */                                                                         \
	X(brk) X(mmap) X(munmap) X(mremap) X(mprotect) X(madvise) X(msync) X(mincore)        \
	X(mlock) X(mlock2) X(munlock) X(mlockall) X(munlockall) X(membarrier) X(mseal)       \
	X(pkey_mprotect) X(pkey_alloc) X(pkey_free) X(map_shadow_stack)                      \
	/* processes and threads; clone is looked at */                                      \
	X(execve) X(execveat) X(exit) X(exit_group) X(wait4) X(waitid) X(getpid) X(getppid)  \
	X(gettid) X(set_tid_address) X(set_robust_list) X(get_robust_list) X(rseq)           \
	X(futex) X(futex_waitv) X(futex_wake) X(futex_wait) X(futex_requeue)                 \
	X(restart_syscall) X(prctl) X(getcpu) X(pidfd_open) X(pidfd_send_signal)             \
	X(setpgid) X(getpgid) X(setsid) X(getsid) X(getrusage) X(times)                      \
	X(getpriority) X(setpriority) X(ioprio_get) X(ioprio_set) X(prlimit64)               \
	X(getrlimit) X(setrlimit) X(sched_yield) X(sched_getaffinity) X(sched_setaffinity)   \
	X(sched_getparam) X(sched_setparam) X(sched_getscheduler) X(sched_setscheduler)      \
	X(sched_getattr) X(sched_setattr) X(sched_get_priority_max)                          \
	X(sched_get_priority_min) X(sched_rr_get_interval)                                   \
	/* signals and time */                                                               \
	X(kill) X(tkill) X(tgkill) X(rt_sigaction) X(rt_sigprocmask) X(rt_sigpending)        \
	X(rt_sigsuspend) X(rt_sigtimedwait) X(rt_sigqueueinfo) X(rt_tgsigqueueinfo)          \
	X(rt_sigreturn) X(sigaltstack) X(nanosleep) X(clock_nanosleep) X(clock_gettime)      \
	X(clock_getres) X(gettimeofday) X(getitimer) X(setitimer) X(timer_create)            \
	X(timer_settime) X(timer_gettime) X(timer_getoverrun) X(timer_delete)                \
	/* identity */                                                                       \
	X(getuid) X(geteuid) X(getgid) X(getegid) X(getresuid) X(getresgid) X(getgroups)     \
	X(setuid) X(setgid) X(setreuid) X(setregid) X(setresuid) X(setresgid) X(setfsuid)    \
	X(setfsgid) X(setgroups) X(capget) X(capset)                                         \
	/* sockets; socket and socketpair are looked at */                                   \
	X(bind) X(listen) X(accept) X(accept4) X(connect) X(shutdown) X(getsockname)         \
	X(getpeername) X(sendto) X(recvfrom) X(sendmsg) X(recvmsg) X(sendmmsg) X(recvmmsg)   \
	X(setsockopt) X(getsockopt)                                                          \
	/* System V and POSIX IPC, in a namespace of our own */                              \
	X(shmget) X(shmat) X(shmdt) X(shmctl) X(semget) X(semop) X(semtimedop) X(semctl)     \
	X(msgget) X(msgsnd) X(msgrcv) X(msgctl) X(mq_open) X(mq_unlink) X(mq_timedsend)      \
	X(mq_timedreceive) X(mq_notify) X(mq_getsetattr)                                     \
	/* information, and further self-restriction */                                      \
	X(uname) X(sysinfo) X(getrandom) X(seccomp) X(landlock_create_ruleset)               \
	X(landlock_add_rule) X(landlock_restrict_self)

#define SEC_ALLOWED_X86(X)                                                                   \
	X(open) X(creat) X(stat) X(lstat) X(access) X(readlink) X(getdents) X(mkdir)         \
	X(rmdir) X(unlink) X(rename) X(link) X(symlink) X(mknod) X(chmod)                    \
	X(chown) X(lchown) X(utime) X(utimes) X(futimesat) X(dup2) X(pipe) X(inotify_init)   \
	X(select) X(poll) X(epoll_create) X(epoll_wait) X(eventfd) X(signalfd)               \
	X(fork) X(vfork) X(getpgrp) X(alarm) X(pause) X(time) X(arch_prctl)

#define SEC_REFUSED(X)                                                                       \
	/* namespaces and mounts */                                                          \
	X(unshare) X(setns) X(mount) X(umount2) X(pivot_root) X(chroot) X(fsopen)            \
	X(fsconfig) X(fsmount) X(fspick) X(open_tree) X(move_mount) X(mount_setattr)         \
	X(sethostname) X(setdomainname)                                                      \
	/* other processes */                                                                \
	X(ptrace) X(process_vm_readv) X(process_vm_writev) X(process_madvise)                \
	X(process_mrelease) X(pidfd_getfd) X(kcmp)                                           \
	/* keys: only the session keyring is ours, nothing of it is namespaced */            \
	X(add_key) X(request_key) X(keyctl)                                                  \
	/* large or asynchronous kernel surface, ways around this filter */                  \
	X(io_uring_setup) X(io_uring_enter) X(io_uring_register) X(bpf) X(userfaultfd)       \
	X(perf_event_open) X(vmsplice) X(fanotify_init) X(fanotify_mark)                     \
	X(name_to_handle_at) X(open_by_handle_at) X(lookup_dcookie) X(quotactl)              \
	X(quotactl_fd)                                                                       \
	/* NUMA: page migration and placement */                                             \
	X(mbind) X(get_mempolicy) X(set_mempolicy) X(migrate_pages) X(move_pages)            \
	/* the machine: time, modules, accounting, log, swap, power */                       \
	X(adjtimex) X(clock_adjtime) X(clock_settime) X(settimeofday) X(init_module)         \
	X(finit_module) X(delete_module) X(kexec_load) X(kexec_file_load) X(acct)            \
	X(syslog) X(swapon) X(swapoff) X(reboot) X(vhangup)

#define SEC_REFUSED_X86(X)                                                                   \
	X(modify_ldt) X(iopl) X(ioperm) X(ustat) X(sysfs) X(uselib)

#if defined(__x86_64__) && defined(__LP64__)
#define SEC_PROFILE_ARCH AUDIT_ARCH_X86_64
#define SEC_PROFILE_ARCH_NAME "SCMP_ARCH_X86_64"
#define SEC_ALL_ALLOWED(X) SEC_ALLOWED(X) SEC_ALLOWED_X86(X)
#define SEC_ALL_REFUSED(X) SEC_REFUSED(X) SEC_REFUSED_X86(X)
#elif defined(__aarch64__)
#define SEC_PROFILE_ARCH AUDIT_ARCH_AARCH64
#define SEC_PROFILE_ARCH_NAME "SCMP_ARCH_AARCH64"
#define SEC_ALL_ALLOWED(X) SEC_ALLOWED(X)
#define SEC_ALL_REFUSED(X) SEC_REFUSED(X)
#else
#error "the default seccomp profile needs a list of this architecture's old calls"
#endif

enum {
	/* All that clone(2) can make; a time namespace it cannot. clone3 has its flags in memory,
	 * where no filter can look: ENOSYS makes libc use clone. */
	SEC_NAMESPACE_FLAGS = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
			  CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET,
};
#define SEC_ASK_PERSONALITY 0xffffffffu

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls that leave errno alone and return -errno. A CLONE_VM child shares errno (it shares
 * the thread pointer), so around every hand-over between the two processes, where for a moment
 * both may run, nothing may write it. These calls do not.
 *
 * RAW_SYSCALLS is 0 on an architecture that is not written here: then libc's syscall() is used and
 * memory is not shared (see clone.c).
 */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__) && !defined(__ILP32__)
#define RAW_SYSCALLS 1

static inline long raw_call6(long nr, const long a[6])
{
	register long r10 __asm__("r10") = a[3];
	register long r8 __asm__("r8") = a[4];
	register long r9 __asm__("r9") = a[5];
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"(nr), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

#elif defined(__aarch64__)
#define RAW_SYSCALLS 1

static inline long raw_call6(long nr, const long a[6])
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a[0];
	register long x1 __asm__("x1") = a[1];
	register long x2 __asm__("x2") = a[2];
	register long x3 __asm__("x3") = a[3];
	register long x4 __asm__("x4") = a[4];
	register long x5 __asm__("x5") = a[5];

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}

#else
#define RAW_SYSCALLS 0

static inline long raw_call6(long nr, const long a[6])
{
	long r = syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);

	return r < 0 ? -errno : r;
}
#endif

/* raw_call(SYS_x, up to six arguments); pointers need a cast to long. */
#define raw_call(nr, ...) raw_call6((nr), (const long[6]){__VA_ARGS__})

static inline long raw_close(int fd)
{
	return raw_call(SYS_close, fd);
}

static inline long raw_read(int fd, void *buf, size_t n)
{
	long r;

	do
		r = raw_call(SYS_read, fd, (long)buf, (long)n);
	while (r == -EINTR);
	return r;
}

static inline _Noreturn void raw_exit(int status)
{
	for (;;)
		raw_call(SYS_exit_group, status);
}

/*
 * Raw system calls for programs that run without a C library.
 *
 * Inside a virtual machine every CPUID instruction traps, and glibc's start-up
 * executes about forty of them: half a millisecond before main().  A lower
 * bound must not pay that, so bench/floor, bench/timer and bench/true0 are
 * built with -nostdlib and use this header only.
 */
#ifndef BENCH_SYS_H
#define BENCH_SYS_H

#include <asm/unistd.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)

static inline long sys_call(long n, const long a[6])
{
	register long r10 __asm__("r10") = a[3];
	register long r8 __asm__("r8") = a[4];
	register long r9 __asm__("r9") = a[5];
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(n), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

/* The child starts on its own stack in fn(arg) and never returns from here. */
static inline long sys_clone3(struct clone_args *args, int (*fn)(void *), void *arg)
{
	register int (*r8)(void *) __asm__("r8") = fn;
	register void *r9 __asm__("r9") = arg;
	long ret;

	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "mov %%r9, %%rdi\n\t"
			 "call *%%r8\n\t"
			 "mov %%eax, %%edi\n\t"
			 "mov %[exit], %%eax\n\t"
			 "syscall\n\t"
			 "hlt\n"
			 "1:"
			 : "=a"(ret)
			 : "a"(__NR_clone3), "D"(args), "S"(sizeof(*args)), "r"(r8), "r"(r9),
			   [exit] "i"(__NR_exit)
			 : "rcx", "rdx", "r11", "memory");
	return ret;
}

#define BENCH_START \
	__asm__(".globl _start\n_start:\n\t"                         \
		"xor %ebp, %ebp\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\t" \
		"call bench_start\n")

#elif defined(__aarch64__)

static inline long sys_call(long n, const long a[6])
{
	register long x8 __asm__("x8") = n;
	register long x0 __asm__("x0") = a[0];
	register long x1 __asm__("x1") = a[1];
	register long x2 __asm__("x2") = a[2];
	register long x3 __asm__("x3") = a[3];
	register long x4 __asm__("x4") = a[4];
	register long x5 __asm__("x5") = a[5];

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}

static inline long sys_clone3(struct clone_args *args, int (*fn)(void *), void *arg)
{
	register long x8 __asm__("x8") = __NR_clone3;
	register long x0 __asm__("x0") = (long)args;
	register long x1 __asm__("x1") = sizeof(*args);
	register int (*x2)(void *) __asm__("x2") = fn;
	register void *x3 __asm__("x3") = arg;

	__asm__ volatile("svc 0\n\t"
			 "cbnz x0, 1f\n\t"
			 "mov x29, xzr\n\t"
			 "mov x0, x3\n\t"
			 "blr x2\n\t"
			 "mov x8, %[exit]\n\t"
			 "svc 0\n"
			 "1:"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), [exit] "i"(__NR_exit)
			 : "x30", "memory");
	return x0;
}

#define BENCH_START \
	__asm__(".globl _start\n_start:\n\t" \
		"mov x29, xzr\n\tmov x0, sp\n\tbl bench_start\n")

#else
#error "bench/: add the system call convention of this architecture to sys.h"
#endif

/* sys(number, up to six arguments of any integer or pointer type) */
#define SYS_PICK(_1, _2, _3, _4, _5, _6, _7, name, ...) name
#define sys(...) \
	SYS_PICK(__VA_ARGS__, SYS6, SYS5, SYS4, SYS3, SYS2, SYS1, SYS0)(__VA_ARGS__)
#define SYS_ARGS(...) ((const long[6]){ __VA_ARGS__ })
#define SYS0(n) sys_call(n, SYS_ARGS(0))
#define SYS1(n, a) sys_call(n, SYS_ARGS((long)(a)))
#define SYS2(n, a, b) sys_call(n, SYS_ARGS((long)(a), (long)(b)))
#define SYS3(n, a, b, c) sys_call(n, SYS_ARGS((long)(a), (long)(b), (long)(c)))
#define SYS4(n, a, b, c, d) sys_call(n, SYS_ARGS((long)(a), (long)(b), (long)(c), (long)(d)))
#define SYS5(n, a, b, c, d, e) \
	sys_call(n, SYS_ARGS((long)(a), (long)(b), (long)(c), (long)(d), (long)(e)))
#define SYS6(n, a, b, c, d, e, f) \
	sys_call(n, SYS_ARGS((long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f)))

static inline size_t str_len(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

static inline void put_str(int fd, const char *s)
{
	sys(__NR_write, fd, s, str_len(s));
}

static inline void put_num(int fd, unsigned long n)
{
	char buf[24];
	char *p = buf + sizeof(buf);

	do {
		*--p = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	sys(__NR_write, fd, p, buf + sizeof(buf) - p);
}

static inline unsigned long now_ns(void)
{
	struct {
		long sec;
		long nsec;
	} t;

	sys(__NR_clock_gettime, 1, &t);
	return (unsigned long)t.sec * 1000000000UL + (unsigned long)t.nsec;
}

_Noreturn static inline void die(const char *what, long err)
{
	put_str(2, "bench: ");
	put_str(2, what);
	put_str(2, ": errno ");
	put_num(2, (unsigned long)-err);
	put_str(2, "\n");
	for (;;)
		sys(__NR_exit_group, 125);
}

static inline long check(const char *what, long ret)
{
	if (ret < 0)
		die(what, ret);
	return ret;
}

#endif

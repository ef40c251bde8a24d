/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clone3 for a fork-like child and for a CLONE_VM child on its own stack. libc's clone() cannot
 * pass a cgroup, and a CLONE_VM child must not return through the parent's frames, so the
 * call and the jump to the new stack are a few instructions of our own.
 *
 * Signals: all are blocked across the call (a handler of the parent must not run in the child), the
 * child puts every disposition to its default and then opens the mask. CLONE_CLEAR_SIGHAND resets
 * handlers but keeps what the caller ignored, so the child does it one by one: a leaked "ignore
 * SIGPIPE" is a known way to break programs.
 */
#include "nsenter/clone.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/raw.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
	__has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

enum {
	STACK_SIZE = 1024 * 1024, /* touched pages count only */
	SIGSET_BYTES = 8,         /* the kernel's, not libc's 128 */
	LAST_SIGNAL = 64,
};

#ifndef CLONE_CLEAR_SIGHAND
#define CLONE_CLEAR_SIGHAND 0x100000000ULL
#endif

int clone_buffer_map(struct clone_stack *ret_stack, size_t len)
{
	char *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return -errno;
	*ret_stack = (struct clone_stack){.base = p, .len = len};
	return 0;
}

/* The stack that was given back last: unmapping it beside a starting payload costs both of us. */
static struct clone_stack spare;

int clone_stack_map(struct clone_stack *ret_stack)
{
	struct clone_stack s = spare;
	int r;

	spare = (struct clone_stack){0};
	if (s.base) {
		*ret_stack = s;
		return 0;
	}
	r = clone_buffer_map(&s, STACK_SIZE);
	if (r < 0)
		return r;
	if (mprotect(s.base, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE) < 0) {
		int code = errno;

		munmap(s.base, s.len);
		return -code;
	}
	*ret_stack = s;
	return 0;
}

void clone_stack_unmap(const struct clone_stack *s)
{
	if (s->base && s->len == STACK_SIZE && !spare.base)
		spare = *s;
	else if (s->base)
		raw_call(SYS_munmap, (long)s->base, (long)s->len);
}

bool clone_can_share_vm(void)
{
	static int can = -1;

	/* clone3 without arguments is EINVAL where it exists. */
	if (can < 0)
		can = RAW_SYSCALLS && !SANITIZED && raw_call(SYS_clone3, 0, 0) != -ENOSYS;
	return can;
}

/* The kernel's struct sigaction, all zero: SIG_DFL, no flags, empty mask (32 bytes everywhere). */
static void default_signals(void)
{
	static const uint64_t dfl[4];
	static const uint64_t none;

	for (int sig = 1; sig <= LAST_SIGNAL; sig++) {
		if (sig != SIGKILL && sig != SIGSTOP)
			raw_call(SYS_rt_sigaction, sig, (long)dfl, 0, SIGSET_BYTES);
	}
	raw_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&none, 0, SIGSET_BYTES);
}

static _Noreturn void child(const struct clone_start *start)
{
	void (*run)(void *) = start->main;
	void *arg = start->arg;

	default_signals();
	run(arg);
	raw_exit(1);
}

typedef void clone_entry(const struct clone_start *start);

#if defined(__x86_64__) && RAW_SYSCALLS
/* r8 and r9 survive the system call. The new stack is 16-byte aligned at the call, as the ABI wants;
 * rbp = 0 ends a backtrace. */
static long clone3_onto(struct clone_args *a, clone_entry *entry, const struct clone_start *start)
{
	register const void *fn __asm__("r8") = (const void *)entry;
	register const void *arg __asm__("r9") = start;
	long ret;

	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "mov %%r9, %%rdi\n\t"
			 "call *%%r8\n\t"
			 "hlt\n"
			 "1:"
			 : "=a"(ret)
			 : "0"((long)SYS_clone3), "D"(a), "S"(sizeof(*a)), "r"(fn), "r"(arg)
			 : "rcx", "r11", "memory");
	return ret;
}
#elif defined(__aarch64__) && RAW_SYSCALLS
static long clone3_onto(struct clone_args *a, clone_entry *entry, const struct clone_start *start)
{
	register long x8 __asm__("x8") = SYS_clone3;
	register long x0 __asm__("x0") = (long)a;
	register long x1 __asm__("x1") = sizeof(*a);
	register const void *fn __asm__("x9") = (const void *)entry;
	register const void *arg __asm__("x10") = start;

	__asm__ volatile("svc #0\n\t"
			 "cbnz x0, 1f\n\t"
			 "mov x29, xzr\n\t"
			 "mov x30, xzr\n\t"
			 "mov x0, x10\n\t"
			 "blr x9\n\t"
			 "brk #1\n"
			 "1:"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(fn), "r"(arg)
			 : "memory");
	return x0;
}
#else
static long clone3_onto(struct clone_args *a, clone_entry *entry, const struct clone_start *start)
{
	(void)a;
	(void)entry;
	(void)start;
	return -ENOSYS;
}
#endif

/* The parent's frames are gone when the child reads its start: it gets a copy above its stack. */
static long clone_shared(struct clone_args *a, clone_entry *entry, const struct clone_start *start,
			 const struct clone_stack *stack)
{
	size_t room = (sizeof(*start) + 15) & ~(size_t)15;
	struct clone_start *copy = (void *)((char *)stack->base + stack->len - room);

	*copy = *start;
	a->flags |= CLONE_VM;
	a->stack = (uint64_t)(uintptr_t)stack->base;
	a->stack_size = stack->len - room;
	return clone3_onto(a, entry, copy);
}

/* clone(2) takes the low 32 bits of the flags and puts the pidfd where the third argument points. */
static long clone_old(const struct clone_args *a)
{
	uint64_t flags = a->flags & ~(uint64_t)CLONE_CLEAR_SIGHAND;

	if (flags >> 32 || flags & CSIGNAL)
		return -ENOSYS;
	return raw_call(SYS_clone, (long)(flags | a->exit_signal), 0, (long)a->pidfd);
}

static long clone_copied(struct clone_args *a, const struct clone_start *start)
{
	long pid = raw_call(SYS_clone3, (long)a, sizeof(*a));

	if (pid == -ENOSYS)
		pid = clone_old(a);
	if (pid == 0)
		child(start);
	return pid;
}

static long clone_blocked(struct clone_args *a, const struct clone_start *start,
			  const struct clone_stack *stack)
{
	static const uint64_t all = ~UINT64_C(0);
	uint64_t old;
	long pid;

	raw_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&old, SIGSET_BYTES);
	pid = stack->base ? clone_shared(a, child, start, stack) : clone_copied(a, start);
	raw_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&old, 0, SIGSET_BYTES);
	return pid;
}

static long last_thread;

/* A thread that has said that it is gone counts a little longer in the limits of processes. */
static void wait_for_last_thread(void)
{
	const struct timespec ms = {.tv_nsec = 1000000};

	for (int i = 0; i < 1000 && raw_call(SYS_tgkill, getpid(), last_thread, 0) == 0; i++)
		raw_call(SYS_nanosleep, (long)&ms, 0);
	last_thread = 0;
}

long clone_process(struct clone_args *a, const struct clone_start *start,
		   const struct clone_stack *stack)
{
	long pid;

	a->flags |= CLONE_CLEAR_SIGHAND;
	pid = clone_blocked(a, start, stack);
	if (pid != -EAGAIN || !last_thread)
		return pid;
	wait_for_last_thread();
	return clone_blocked(a, start, stack);
}

static _Noreturn void thread(const struct clone_start *start)
{
	start->main(start->arg);
	for (;;)
		raw_call(SYS_exit, 0);
}

/* It inherits the mask: no signal of the process is its business. */
long clone_thread(const struct clone_start *start, const struct clone_stack *stack, unsigned *alive)
{
	static const uint64_t all = ~UINT64_C(0);
	struct clone_args a = {
		.flags = CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM,
		.child_tid = (uint64_t)(uintptr_t)alive,
	};
	uint64_t old;
	long tid;

	if (alive)
		a.flags |= CLONE_CHILD_CLEARTID;
	raw_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&old, SIGSET_BYTES);
	tid = clone_shared(&a, thread, start, stack);
	raw_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&old, 0, SIGSET_BYTES);
	if (alive && tid > 0)
		last_thread = tid;
	return tid;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pid 1 of a container whose payload must not be pid 1 itself: the kernel ignores signals with the
 * default action for a pid 1, and nobody would reap orphans. A program of its own, without libc,
 * linked statically; brig carries it in its own executable (tinyinit.c).
 *
 * Arguments: the payload's pid, uid and gid, and the signal for the case that our parent dies (0:
 * none), in decimal. Descriptor 0 is the status pipe, all others are closed. The payload runs
 * already; it is our child. We reap every child, forward
 * signals to the payload, and when the payload has ended, write its raw wait status (an int) to
 * the pipe and exit, upon which the kernel kills whatever else lives in the pid namespace.
 *
 * Trust: the payload is hostile and has the same uid (so that a signal needs no capability), so we
 * make ourselves undumpable, give up all capabilities, and allow us five system calls. All that
 * could be stolen here is the exit status, which the payload chooses anyway.
 */
#include <asm/unistd.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

enum { STATUS_FD = 0, FAILED = 125 };
/* Of libc's headers, which do not go together with the kernel's. */
enum { SIGCHLD_NUMBER = 17, WNOHANG_FLAG = 1, BLOCK = 0, POLL_ERROR = 8 };
struct poll_fd { int fd; short events, revents; };
struct time_spec { int64_t seconds, nanoseconds; };

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
static long call(long n, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	long r;

	__asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return r;
}
__asm__(".globl _start\n_start: xor %ebp,%ebp\n mov %rsp,%rdi\n and $-16,%rsp\n call tinyinit\n hlt\n");
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
static long call(long n, long a, long b, long c, long d)
{
	register long x8 __asm__("x8") = n;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
}
__asm__(".globl _start\n_start: mov x29,#0\n mov x0,sp\n bl tinyinit\n brk #0\n");
#else
#error "tinyinit: the system call instruction of this architecture is missing"
#endif

#define ALLOW_CALL(name)                                             \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 1),      \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static const struct sock_filter filter[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	ALLOW_CALL(rt_sigtimedwait),
	ALLOW_CALL(wait4),
	ALLOW_CALL(kill),
	ALLOW_CALL(write),
	ALLOW_CALL(exit_group),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};

static _Noreturn void leave(int code)
{
	for (;;)
		call(__NR_exit_group, code, 0, 0, 0);
}

static long number(const char *s)
{
	long v = 0;

	while (s && *s >= '0' && *s <= '9')
		v = v * 10 + (*s++ - '0');
	return v;
}

/*
 * The changes may be refused (no capability, since we are that uid already, or the id is the
 * only one mapped): then there is nothing to give up. Everything else must work.
 */
static void drop_ids(long uid, long gid)
{
	call(__NR_setgroups, 0, 0, 0, 0);
	call(__NR_setresgid, gid, gid, gid, 0);
	call(__NR_setresuid, uid, uid, uid, 0);
	/* Behind setresuid, which resets it to the value of the sysctl fs.suid_dumpable. */
	if (call(__NR_prctl, PR_SET_DUMPABLE, 0, 0, 0))
		leave(FAILED);
}

/*
 * A change of the uid clears the signal, so it is set here. The parent may have died before:
 * then nobody holds the other end of the status pipe.
 */
static void die_with_parent(long signal)
{
	const struct time_spec now = {0};
	struct poll_fd p = {.fd = STATUS_FD};

	if (!signal)
		return;
	if (call(__NR_prctl, PR_SET_PDEATHSIG, signal, 0, 0))
		leave(FAILED);
	call(__NR_ppoll, (long)&p, 1, (long)&now, 0);
	if (p.revents & POLL_ERROR)
		leave(FAILED);
}

static void drop_privileges(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {0};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), (struct sock_filter *)filter};
	long bad;

	bad = call(__NR_capset, (long)&header, (long)none, 0, 0);
	bad |= call(__NR_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0);
	bad |= call(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, (long)&program, 0);
	if (bad)
		leave(FAILED);
}

/* Reaps what there is; true with the payload's status when it was among them. */
static int reap(long payload, int *ret_status)
{
	int status = 0;
	long pid;

	for (;;) {
		pid = call(__NR_wait4, -1, (long)&status, WNOHANG_FLAG, 0);
		if (pid == payload) {
			*ret_status = status;
			return 1;
		}
		if (pid <= 0)
			return 0;
	}
}

__attribute__((used)) _Noreturn void tinyinit(const long *stack);

_Noreturn void tinyinit(const long *stack)
{
	const char *const *argv = (const char *const *)(stack + 1);
	const uint64_t all = ~0ull;
	long payload, signal;
	int status = 0;

	if (stack[0] != 5)
		leave(FAILED);
	payload = number(argv[1]);
	/* A blocked signal is queued for a pid 1 even with the default action, so we can take it. */
	call(__NR_rt_sigprocmask, BLOCK, (long)&all, 0, sizeof(all));
	call(__NR_close_range, STATUS_FD + 1, ~0u, 0, 0);
	call(__NR_prctl, PR_SET_NAME, (long)"brig-init", 0, 0);
	drop_ids(number(argv[2]), number(argv[3]));
	die_with_parent(number(argv[4]));
	drop_privileges();
	while (!reap(payload, &status)) {
		signal = call(__NR_rt_sigtimedwait, (long)&all, 0, 0, sizeof(all));
		if (signal > 0 && signal != SIGCHLD_NUMBER)
			call(__NR_kill, payload, signal, 0, 0);
	}
	call(__NR_write, STATUS_FD, (long)&status, sizeof(status), 0);
	leave(0);
}

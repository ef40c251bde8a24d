/*
 * timer: time one command from outside.
 *
 *	timer COMMAND ARG...
 *
 * Starts the command like posix_spawn does (shared memory, own stack), waits
 * for it, and writes "WALL_NS STATUS USER_US SYS_US MAXRSS_KB" to file
 * descriptor 3; USER and SYS include whatever the command has reaped.  What this
 * program does itself is the same few system calls for every runtime.
 */
#include <sys/resource.h>

#include "bench/sys.h"

#define SIGCHLD 17

BENCH_START;

_Noreturn void bench_start(long *sp);

struct job {
	char **argv;
	char **envp;
};

static char stack[16384] __attribute__((aligned(16)));

static unsigned long micros(const struct timeval *t)
{
	return (unsigned long)t->tv_sec * 1000000UL + (unsigned long)t->tv_usec;
}

static int child(void *p)
{
	struct job *j = p;

	sys(__NR_close, 3);
	sys(__NR_execve, j->argv[0], j->argv, j->envp);
	return 127;
}

_Noreturn void bench_start(long *sp)
{
	struct job j = { .argv = (char **)(sp + 2), .envp = (char **)(sp + 2 + *sp) };
	struct clone_args args = {
		.flags = CLONE_VM | CLONE_VFORK,
		.exit_signal = SIGCHLD,
		.stack = (uintptr_t)stack,
		.stack_size = sizeof(stack),
	};
	struct rusage ru;
	unsigned long t;
	int status = 0;
	long pid;

	if (*sp < 2)
		die("usage: timer COMMAND ARG...", -22);
	t = now_ns();
	pid = check("clone3", sys_clone3(&args, child, &j));
	check("wait4", sys(__NR_wait4, pid, &status, 0, &ru));
	t = now_ns() - t;
	put_num(3, t);
	put_str(3, " ");
	put_num(3, status & 0x7f ? 128UL + (status & 0x7f) : (unsigned long)status >> 8);
	put_str(3, " ");
	put_num(3, micros(&ru.ru_utime));
	put_str(3, " ");
	put_num(3, micros(&ru.ru_stime));
	put_str(3, " ");
	put_num(3, (unsigned long)ru.ru_maxrss);
	put_str(3, "\n");
	for (;;)
		sys(__NR_exit_group, 0);
}

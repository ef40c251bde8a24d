/* SPDX-License-Identifier: Apache-2.0 */
/*
 * touched: which instructions of a static program are run.
 *
 *	touched FILE PROGRAM ARG...
 *
 * Single-steps the program, and what it forks until that executes something else, and writes the
 * address of each instruction to FILE, once, in the order of their first run. Half a million steps
 * take some seconds. For tools/startup-order.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CODE_START = 0x400000, CODE_SIZE = 0x400000 };

static unsigned char seen[CODE_SIZE];

static int start(char **argv)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return -1;
	ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC);
	return (int)ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
}

static void note(FILE *out, pid_t pid)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &r) < 0 || r.rip - CODE_START >= CODE_SIZE || seen[r.rip - CODE_START])
		return;
	seen[r.rip - CODE_START] = 1;
	fprintf(out, "%llx\n", r.rip);
}

/* The signal to go on with. */
static int signal_of(int status)
{
	int sig = WSTOPSIG(status);

	return sig == SIGTRAP || sig == SIGSTOP || status >> 16 ? 0 : sig;
}

int main(int argc, char **argv)
{
	FILE *out = argc > 2 ? fopen(argv[1], "w") : NULL;
	int status;
	pid_t pid;

	if (!out || start(argv + 2) < 0) {
		fprintf(stderr, "usage: touched FILE PROGRAM ARG...\n");
		return 2;
	}
	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		if (!WIFSTOPPED(status))
			continue;
		if (status >> 16 == PTRACE_EVENT_EXEC) {
			ptrace(PTRACE_DETACH, pid, NULL, NULL);
			continue;
		}
		note(out, pid);
		ptrace(PTRACE_SINGLESTEP, pid, NULL, (long)signal_of(status));
	}
	return fclose(out) ? 2 : 0;
}

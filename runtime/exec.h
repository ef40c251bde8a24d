/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A further process in a running container. It joins every namespace of INIT that is not ours by
 * INIT's pidfd, is born in the container's cgroup, and gets what INIT got: capabilities, filter,
 * limits, labels.
 *
 * The process that joins can be seen from inside. It shares no memory with us, is undumpable before
 * it joins, and has no descriptor but its standard streams, --preserve-fds and one end of two
 * private socket pairs (nsenter/join.c): what needs the host's /proc or a socket of the caller is
 * done by us, before it is made, and inherited, or for it.
 */
#pragma once

#include "nsenter/steps.h"
#include "runtime/cli.h"
#include "runtime/container.h"
#include "runtime/listener.h"
#include "security/security.h"

struct rt_exec {
	/* in */
	struct rt_container *container;  /* not stopped; pidfd is valid */
	const struct oci_spec *spec;     /* the container's, with the process to run */
	const struct rt_globals *globals;
	struct arena *arena;
	const struct cli_list *sub_cgroups; /* --cgroup */
	unsigned preserve_fds;
	bool new_keyring;
	bool container_seccomp;          /* the built-in profile, when the spec has none */

	/* out, valid after rt_exec succeeded */
	pid_t pid;
	int pidfd;
	int console_master;              /* process.terminal: the pty; else -1 */

	/* private to exec.c */
	struct step_channel channel;
	struct sec_plan *security;
	struct cg *cgroup;               /* --cgroup, or where INIT is; NULL: container->cgroup */
	uint64_t join;                   /* CLONE_NEW* that are not ours */
	int time_ns;                     /* of a container that has not started yet; -1 */
	bool zero_is_mapped;
	bool limits_by_parent;
	int console[2];
	int console_peer;
	struct rt_listener listener;
	char own_oom_score[16];
	char **argv, **envp;
	size_t n_env;
	bool find_home;
	char home[sizeof("HOME=") + 256];
};

#define RT_EXEC_NONE                                                                      \
	.pidfd = -1, .console_master = -1, .channel = STEP_CHANNEL_NONE, .time_ns = -1,   \
	.console = {-1, -1}, .console_peer = -1,            \
	.listener = RT_LISTENER_NONE

/* Runs all steps up to the exec of the program; on failure no process is left. */
int rt_exec(struct rt_exec *x, struct err *e);
/* SIGKILL for the program, and reaps it. */
void rt_exec_kill(struct rt_exec *x);
/* Closes what rt_exec opened; the process is left alone. */
void rt_exec_close(struct rt_exec *x);

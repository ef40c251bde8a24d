/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting a container from its plan: the step table, and what is undone when a step fails or the
 * container has ended.
 */
#pragma once

#include "cgroups/resctrl.h"
#include "nsenter/net-ahead.h"
#include "nsenter/steps.h"
#include "runtime/listener.h"
#include "runtime/plan.h"
#include "runtime/sandbox-net.h"
#include "runtime/state.h"

enum { HOME_MAX = 256 };

struct rt_launch {
	/* in */
	const struct plan *plan;
	const struct rt_host *host;
	const struct rt_globals *globals;
	struct arena *arena;
	int stdio[3];            /* fds that become 0, 1, 2; -1 = the caller's own; not owned */
	int interrupt;           /* readable: give up the set-up (EINTR); -1; not owned */
	bool ephemeral;          /* ours: ended by the next command when we are killed */
	struct sandbox_net *net; /* a way out of the new network namespace; NULL: none */
	bool keep_cwd;           /* open the program's working directory: cwd_fd */
	/* Called before the program is started; may change the plan's argv and envp. learn is called by
	 * INIT behind it; NULL where INIT shares our memory (rt_launch_shares_memory). */
	int (*hold)(struct rt_launch *l, void *arg, struct err *e);
	int (*learn)(struct rt_launch *l, void *arg, struct err *e);
	void *hold_arg;
	struct ns_net_ahead net_ahead; /* a network namespace that may have been begun; ended here */
	int exe_mount;              /* of self_protect, or -1; closed here, when INIT has it */
	const char *console_socket; /* where the pty goes; NULL: console_master */
	/* Connects a new network namespace: INIT is in it and waits. May be NULL. What it made is undone
	 * by the caller, also when a later step fails. */
	int (*network)(void *arg, int pidfd, struct err *e);
	void *network_arg;

	/* out, valid after rt_launch succeeded */
	pid_t pid;               /* INIT in our pid namespace */
	int pidfd;
	int status_fd;           /* tiny_init: the payload's wait status (an int) comes here; else -1 */
	int notify_fd;           /* plan.options.notify without create: the container's notify socket */
	int console_master;      /* process.terminal without console_socket: the pty; else -1 */
	int cwd_fd;              /* keep_cwd: O_PATH; the caller closes it; else -1 */
	struct cg *cgroup;
	struct rt_state state;
	bool no_hostname;        /* plan.options.hostname_optional: a seccomp filter around us refused it */
	bool exec_failed;        /* on failure: it was the exec of the payload */

	/* private to launch.c */
	struct step_channel channel;
	bool cgroup_by_pid;      /* INIT is put into the cgroup when it is there */
	bool devices_beside;     /* the device filter is loaded while INIT works */
	uint32_t beside_done;    /* a futex: how many rows have been done so; INIT waits for all of them */
	int netns;               /* of net_ahead, for INIT to join; -1: INIT is born in a new one */
	int lo_socket;           /* by which lo is set up there while INIT works; -1: it is not done so */
	int handler;             /* the program of run.oci.handler */
	int init_exe;            /* the tiny init's executable */
	int console[2];          /* [1]: INIT sends the pty's master there; [0]: our end */
	int console_peer;        /* INIT only */
	struct rt_listener listener;
	struct resctrl resctrl;
	struct ns_netdev *net_devices; /* moved into the network namespace */
	int net_devices_in;
	int start_fd;            /* create: the fifo `start` */
	int status_write;
	bool made;               /* there has been an INIT */
	pid_t payload;           /* tiny_init: in INIT's pid namespace */
	char created[SPEC_TIME_SIZE];
	char home[sizeof("HOME=") + HOME_MAX];
};

#define RT_LAUNCH_NONE                                                                  \
	.stdio = {-1, -1, -1}, .interrupt = -1, .pidfd = -1, .status_fd = -1,           \
	.exe_mount = -1, .init_exe = -1, .handler = -1, .net_devices_in = -1, .cwd_fd = -1, \
	.netns = -1, .lo_socket = -1, .net_ahead = NS_NET_AHEAD_NONE,                                    \
	.console_master = -1, .console = {-1, -1}, .console_peer = -1, .start_fd = -1,  \
	.listener = RT_LISTENER_NONE, .status_write = -1, .notify_fd = -1,               \
	.channel = STEP_CHANNEL_NONE,                                                   \
	.state = RT_STATE_NONE

/* Whether INIT, which follows this plan, will share our memory. */
bool rt_launch_shares_memory(const struct plan *p);

/* Begins with the network namespace, where this container will have one that can be made before. rt_launch
 * ends that in any case; without it rt_launch_drop_net has to, or the end of the process. */
void rt_launch_begin_net(struct rt_launch *l, const struct oci_spec *s);
void rt_launch_drop_net(struct rt_launch *l);

/*
 * Runs all steps up to the exec of the payload, or with plan.options.create up to where INIT waits
 * for `start`. It may share our memory and goes on when we exit, so the caller must then call
 * rt_launch_leave soon, without returning from the function that holds *l. On failure everything is
 * undone.
 */
int rt_launch(struct rt_launch *l, struct err *e);
/*
 * After the container ended, or to end it: kills what is left in the cgroup, removes the cgroup
 * and the state, closes all fds. INIT must be reaped before; read statistics before.
 */
int rt_launch_end(struct rt_launch *l, struct err *e);
/* After a successful `create`: ends this process. */
_Noreturn void rt_launch_leave(void);
/* The container goes on without us: closes all fds, keeps cgroup and state. */
void rt_launch_detach(struct rt_launch *l);
/* The names of the rows that apply, for `brig plan`. */
void rt_launch_write_steps(struct json_writer *w, const struct plan *p);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One table says what is done, by whom, in which order. The rows up to the spawn are undone in
 * reverse when a later one fails; what INIT does vanishes with its namespaces. The reasons for the
 * order of INIT's rows stand at the modules (rootfs/rootfs.h, security/security.h).
 *
 * With the tiny init the payload is INIT's child: it is cloned with CLONE_VM | CLONE_VFORK at the
 * row "start the program", runs the same last rows on its own credentials and execs, while INIT
 * waits; then INIT drops its own privileges by these rows and execs the tiny init.
 */
#include "runtime/launch-rows.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "nsenter/ns.h"
#include "runtime/console.h"
#include "runtime/hooks.h"

/* Failures of this row with "exec: " behind are about the program, not about us. */
#define START "start the program"

static const struct step rows[] = {
	{"reserve the id", STEP_PARENT, NULL, row_reserve_id, row_undo_reserve_id},
	{"compile the seccomp filter", STEP_PARENT, row_own_filter, row_compile_filter, NULL},
	{"make the notify socket", STEP_PARENT, row_has_notify, row_make_notify, row_undo_make_notify},
	{"find the resctrl group", STEP_PARENT, row_has_resctrl, row_find_resctrl, NULL},
	{"record the container", STEP_PARENT, NULL, row_record_intent, NULL},
	{"make the cgroup", STEP_PARENT, NULL, row_make_cgroup, row_undo_make_cgroup},
	{"record the cgroup", STEP_PARENT, row_has_explicit_cgroup, row_record_intent, NULL},
	{"make the resctrl group", STEP_PARENT, row_has_resctrl, row_make_resctrl, row_undo_make_resctrl},
	{"open the mount sources", STEP_PARENT, row_sources_by_parent, row_open_sources, row_undo_open_sources},
	{"open the handler", STEP_PARENT, row_has_handler, row_open_handler, row_undo_open_handler},
	{"prepare the init", STEP_PARENT, row_has_tiny_init, row_prepare_tiny_init, row_undo_tiny_init},
	{"connect the console", STEP_PARENT, row_has_terminal, row_connect_console, row_undo_connect_console},
	{"give the streams to the payload", STEP_PARENT, row_streams_change_owner, row_own_streams, NULL},
	{"connect to the seccomp agent", STEP_PARENT, row_has_listener, row_connect_listener, row_undo_connect_listener},
	{"make the start fifo", STEP_PARENT, row_is_create, row_make_start_fifo, NULL},
	{"make the first process", STEP_SPAWN, NULL, row_spawn_init, NULL},
	{"record the first process", STEP_PARENT, row_has_no_cgroup, row_record_first, NULL},
	{"map the ids", STEP_PARENT, row_new_userns, row_write_maps, NULL},
	{"enter the cgroup", STEP_PARENT, row_cgroup_by_pid, row_attach_cgroup, NULL},
	{"enter the resctrl group", STEP_PARENT, row_has_resctrl, row_enter_resctrl, NULL},
	{"move the network devices", STEP_PARENT, row_has_net_devices, row_move_net_devices, row_undo_move_net_devices},
	{"connect the network", STEP_PARENT, row_has_net, row_connect_net, row_undo_connect_net},
	{"connect the network", STEP_PARENT, row_has_network, row_connect_network, NULL},

	{"bring up the loopback device", STEP_BESIDE, row_lo_beside, row_set_lo_up, NULL},
	{"load the device filter", STEP_BESIDE, row_devices_beside, row_load_devices, NULL},
	{"open the mount sources", STEP_INIT, row_sources_by_init, row_open_sources, NULL},
	{"become root in the user namespace", STEP_INIT, row_zero_is_mapped, row_become_root, NULL},
	{"make a session", STEP_INIT, NULL, row_new_session, NULL},
	{"make a session keyring", STEP_INIT, row_new_keyring, row_join_keyring, NULL},
	{"make the cgroup namespace", STEP_INIT, row_new_cgroupns, row_make_cgroupns, NULL},
	{"enter the delegated cgroup", STEP_PARENT, row_has_child_cgroup, row_enter_child_cgroup, NULL},
	{"make the time namespace", STEP_INIT, row_new_timens, row_make_timens, NULL},
	{"join the network namespace", STEP_INIT, row_net_was_made, row_join_net, NULL},
	{"bring up the loopback device", STEP_INIT, row_lo_is_down, row_loopback_up, NULL},
	{"set the host name", STEP_INIT, row_has_names, row_set_names, NULL},
	{"prepare the root", STEP_INIT, NULL, row_prepare, NULL},
	{"mount", STEP_INIT, NULL, row_mount, NULL},
	{"make the devices", STEP_INIT, NULL, row_devices, NULL},
	{"open the console", STEP_INIT, row_has_terminal, row_open_console, NULL},
	{"run the hooks", STEP_PARENT, row_has_prestart, row_run_prestart, NULL},
	{"run the hooks", STEP_PARENT, row_has_create_runtime, row_run_create_runtime, NULL},
	{"run the hooks", STEP_INIT, row_has_create_container, row_run_create_container, NULL},
	{"pivot the root", STEP_INIT, NULL, row_pivot, NULL},
	{"go to the working directory", STEP_INIT, NULL, row_go_to_cwd, NULL},
	{"set kernel parameters", STEP_INIT, row_has_sysctl, row_set_sysctl, NULL},
	{"finish the root", STEP_INIT, NULL, row_finish, NULL},
	{"set the OOM score", STEP_INIT, row_has_oom_score, row_set_oom_score, NULL},
	{"make a core-scheduling group", STEP_INIT, row_has_core_scheduling, row_core_scheduling, NULL},
	{"set the process attributes", STEP_INIT, NULL, row_set_process, NULL},
	{"find the home directory", STEP_INIT, row_find_home, row_set_home, NULL},
	{"set LISTEN_PID", STEP_INIT, row_has_listen_fds, row_set_listen_pid, NULL},
	{"set the descriptors", STEP_INIT, NULL, row_set_descriptors, NULL},
	{"wait for the parent", STEP_INIT, row_has_beside, row_wait_for_beside, NULL},
	{"build the Landlock wall", STEP_INIT, row_has_wall, row_build_wall, NULL},
	{"open the working directory", STEP_PARENT, row_keeps_cwd, row_open_cwd, row_undo_open_cwd},
	{"wait for the program", STEP_PARENT, row_is_held, row_hold, NULL},
	{"learn the program", STEP_INIT, row_learns, row_learn, NULL},
	{START, STEP_INIT, row_has_tiny_init, row_start_payload, NULL},
	{"install the seccomp filter", STEP_INIT, row_filter_first, row_install_filter, NULL},
	{"send the seccomp listener", STEP_PARENT, row_listener_first, row_send_listener, NULL},
	{"set the ids", STEP_INIT, NULL, row_set_ids, NULL},
	{"set the capabilities", STEP_INIT, NULL, row_set_caps, NULL},
	{"die with the parent", STEP_INIT, row_die_with_parent, row_set_die_with_parent, NULL},
	{"set no-new-privileges", STEP_INIT, row_no_new_privs, row_set_no_new_privs, NULL},
	{START, STEP_INIT, row_finds_program, row_find_program, NULL},
	{"run the hooks", STEP_INIT, row_start_hooks_at_once, row_run_start_container, NULL},
	{"install the seccomp filter", STEP_INIT, row_filter_at_once, row_install_filter, NULL},
	{"send the seccomp listener", STEP_PARENT, row_listener_last, row_send_listener, NULL},
	{"become the init", STEP_INIT, row_has_tiny_init, row_exec_tiny_init, NULL},
	{START, STEP_INIT, row_is_direct, row_exec_program, NULL},

	{"record the process", STEP_PARENT, NULL, row_record_running, NULL},
	{"run the hooks", STEP_PARENT, row_poststart_at_once, row_run_poststart, NULL},

	{"wait for the start", STEP_ALONE, row_is_create, row_wait_for_start, NULL},
	{"run the hooks", STEP_ALONE, row_start_hooks_after_start, row_run_start_container, NULL},
	{"install the seccomp filter", STEP_ALONE, row_filter_after_start, row_install_filter, NULL},
	{START, STEP_ALONE, row_is_create, row_exec_program, NULL},
};

static const struct step_table table = {rows, sizeof(rows) / sizeof(rows[0]), rt_launch_alone_failed};

void rt_launch_serve(void *launch)
{
	steps_serve(&table, launch, &LAUNCH(launch)->channel);
}

/* What only the set-up needed. */
static void close_private(struct rt_launch *l)
{
	rootfs_close(l->plan->rootfs);
	cleanup_close(&l->exe_mount);
	rt_launch_drop_net(l);
	cleanup_close(&l->init_exe);
	cleanup_close(&l->handler);
	cleanup_close(&l->net_devices_in);
	cleanup_close(&l->status_write);
	cleanup_close(&l->start_fd);
	cleanup_close(&l->console[0]);
	cleanup_close(&l->console[1]);
	listener_close(&l->listener);
}

static int take_console(struct rt_launch *l, struct err *e)
{
	if (l->console[0] < 0)
		return 0;
	l->console_master = console_receive(l->console[0], e);
	return l->console_master < 0 ? l->console_master : 0;
}

bool rt_launch_shares_memory(const struct plan *p)
{
	const struct ns_spawn s = {.new_ns = p->new_ns, .n_joins = p->n_joins, .share_vm = p->share_vm};

	return ns_shares_vm(&s);
}

/* Loading a program takes the kernel longer than most of our steps. */
static bool can_load_beside(const struct plan *p)
{
	return p->cgroup->kind == CG_V2 && p->cgroup->driver == CG_DRIVER_FS &&
	       p->cgroup->filter_devices && rt_launch_shares_memory(p);
}

static void run_poststop(struct rt_launch *l)
{
	struct hooks_run h = {.list = HOOKS(l, poststop), .kind = "poststop", .status = "stopped"};

	if (!h.list->n)
		return;
	h.state = rt_launch_describe(l);
	hooks_run_all(&h);
}

/* AppArmor lets the user namespace be made and refuses what comes then: any step may be the first. */
static void name_restriction(const struct rt_launch *l, struct err *e)
{
	struct err step = *e;
	char hint[256];

	if (l->exec_failed || l->host->privileged || !(l->plan->new_ns & CLONE_NEWUSER) ||
	    (e->code != EPERM && e->code != EACCES) ||
	    !ns_userns_hint(e->code, hint, sizeof(hint)) || strstr(e->msg, hint))
		return;
	err_set(e, step.code, "%.240s: %s", step.msg, hint);
}

int rt_launch(struct rt_launch *l, struct err *e)
{
	int r;

	if (l->globals->trace_steps)
		steps_trace(STDERR_FILENO);
	l->devices_beside = can_load_beside(l->plan);
	r = steps_run(&table, l, &l->channel, e);
	if (r < 0) {
		l->exec_failed = str_starts(e->msg, START ": exec: ");
		name_restriction(l, e);
		close_private(l);
		steps_close(&l->channel);
		if (l->made) /* runtime.md: a failed creation goes on where a deletion ends */
			run_poststop(l);
		return r;
	}
	l->pid = l->channel.child.pid;
	if (l->plan->options.create) { /* INIT shares our memory until we exit: nothing may change */
		l->pidfd = l->channel.child.pidfd;
		return 0;
	}
	r = take_console(l, e);
	l->pidfd = take_fd(&l->channel.child.pidfd);
	close_private(l);
	steps_close(&l->channel);
	if (r < 0) {
		struct err ignored = {0};

		rt_launch_end(l, &ignored);
	}
	return r;
}

_Noreturn void rt_launch_leave(void)
{
	_exit(0);
}

void rt_launch_detach(struct rt_launch *l)
{
	cg_close(l->cgroup);
	l->cgroup = NULL;
	cleanup_close(&l->pidfd);
	cleanup_close(&l->status_fd);
	cleanup_close(&l->notify_fd);
	cleanup_close(&l->console_master);
	rt_state_close(&l->state);
}

int rt_launch_end(struct rt_launch *l, struct err *e)
{
	bool ours = rt_state_claim(&l->state);
	int r = ours && l->cgroup ? cg_destroy(l->cgroup, e) : 0;

	if (l->net)
		sandbox_net_end(l->net);

	if (r == 0 && ours)
		r = resctrl_remove(l->resctrl.ours, e);
	cg_close(l->cgroup);
	l->cgroup = NULL;
	cleanup_close(&l->pidfd);
	cleanup_close(&l->status_fd);
	cleanup_close(&l->notify_fd);
	cleanup_close(&l->console_master);
	if (r == 0)
		rt_state_remove(&l->state);
	else /* the next command tries again */
		rt_state_close(&l->state);
	if (ours || l->ephemeral) /* else who deleted it runs them: the record has the configuration */
		run_poststop(l);
	return r;
}

void rt_launch_write_steps(struct json_writer *w, const struct plan *p)
{
	static const char *const actors[] = {"parent", "parent", "beside", "init", "init"};
	struct rt_launch l = {.plan = p, .netns = -1, .lo_socket = -1, .devices_beside = can_load_beside(p)};

	json_begin_array(w);
	for (size_t i = 0; i < table.n; i++) {
		if (rows[i].wanted && !rows[i].wanted(&l))
			continue;
		json_begin_object(w);
		json_member_str(w, "actor", actors[rows[i].actor]);
		json_member_str(w, "name", rows[i].name);
		json_end_object(w);
	}
	json_end_array(w);
}

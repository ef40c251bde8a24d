/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of launch.c's table, one function each: launch-host.c has what the parent does,
 * launch-init.c what INIT does. Private to these three files.
 */
#pragma once

#include "runtime/launch.h"

#define LAUNCH(ctx) ((struct rt_launch *)(ctx))
#define PLAN(ctx) (((const struct rt_launch *)(ctx))->plan)
#define HOOKS(ctx, member) \
	(PLAN(ctx)->spec->hooks ? &PLAN(ctx)->spec->hooks->member : &rt_no_hooks)
extern const struct oci_hook_list rt_no_hooks;

/* INIT's main. */
void rt_launch_serve(void *launch);
/* What failed after the start goes to `brig start`, by the fifo. */
void rt_launch_alone_failed(void *launch, const struct err *e);
/* What is known of the container at this moment; the strings live as long as the launch. */
struct spec_state *rt_launch_describe(struct rt_launch *l);

#define WANTED(name) bool name(const void *ctx)
#define RUN(name) int name(void *ctx, struct err *e)
#define UNDO(name) void name(void *ctx)

WANTED(row_cgroup_by_pid);
WANTED(row_has_core_scheduling);
WANTED(row_devices_beside);
WANTED(row_has_beside);
WANTED(row_lo_beside);
WANTED(row_die_with_parent);
WANTED(row_filter_after_start);
WANTED(row_filter_at_once);
WANTED(row_filter_first);
WANTED(row_filter_last);
WANTED(row_find_home);
WANTED(row_finds_program);
WANTED(row_has_child_cgroup);
WANTED(row_has_create_container);
WANTED(row_has_create_runtime);
WANTED(row_has_explicit_cgroup);
WANTED(row_has_handler);
WANTED(row_has_listen_fds);
WANTED(row_has_listener);
WANTED(row_has_names);
WANTED(row_has_net_devices);
WANTED(row_has_network);
WANTED(row_has_notify);
WANTED(row_streams_change_owner);
WANTED(row_has_oom_score);
WANTED(row_has_poststart);
WANTED(row_has_prestart);
WANTED(row_has_resctrl);
WANTED(row_has_start_container);
WANTED(row_has_sysctl);
WANTED(row_has_terminal);
WANTED(row_has_tiny_init);
WANTED(row_has_wall);
WANTED(row_is_create);
WANTED(row_has_net);
WANTED(row_is_held);
WANTED(row_learns);
WANTED(row_keeps_cwd);
WANTED(row_is_direct);
WANTED(row_listener_first);
WANTED(row_listener_last);
WANTED(row_new_cgroupns);
WANTED(row_new_keyring);
WANTED(row_net_was_made);
WANTED(row_lo_is_down);
WANTED(row_new_timens);
WANTED(row_new_userns);
WANTED(row_no_new_privs);
WANTED(row_own_filter);
WANTED(row_poststart_at_once);
WANTED(row_sources_by_init);
WANTED(row_sources_by_parent);
WANTED(row_start_hooks_after_start);
WANTED(row_start_hooks_at_once);
WANTED(row_zero_is_mapped);

RUN(row_attach_cgroup);
WANTED(row_has_no_cgroup);
RUN(row_record_first);
RUN(row_become_root);
RUN(row_build_wall);
RUN(row_compile_filter);
RUN(row_connect_console);
RUN(row_connect_listener);
RUN(row_devices);
RUN(row_enter_child_cgroup);
RUN(row_enter_resctrl);
RUN(row_core_scheduling);
RUN(row_exec_program);
RUN(row_exec_tiny_init);
RUN(row_find_program);
RUN(row_find_resctrl);
RUN(row_finish);
RUN(row_go_to_cwd);
RUN(row_install_filter);
RUN(row_join_keyring);
RUN(row_load_devices);
RUN(row_join_net);
RUN(row_loopback_up);
RUN(row_make_cgroup);
RUN(row_make_cgroupns);
RUN(row_make_notify);
RUN(row_own_streams);
RUN(row_make_resctrl);
RUN(row_make_start_fifo);
RUN(row_make_timens);
RUN(row_mount);
RUN(row_move_net_devices);
RUN(row_connect_network);
RUN(row_new_session);
RUN(row_connect_net);
RUN(row_hold);
RUN(row_learn);
RUN(row_open_console);
RUN(row_open_handler);
RUN(row_open_cwd);
RUN(row_open_sources);
RUN(row_pivot);
RUN(row_prepare);
RUN(row_prepare_tiny_init);
RUN(row_record_intent);
RUN(row_record_running);
RUN(row_reserve_id);
RUN(row_run_create_container);
RUN(row_run_create_runtime);
RUN(row_run_poststart);
RUN(row_run_prestart);
RUN(row_run_start_container);
RUN(row_send_listener);
RUN(row_set_caps);
RUN(row_set_descriptors);
RUN(row_set_die_with_parent);
RUN(row_set_home);
RUN(row_set_ids);
RUN(row_set_listen_pid);
RUN(row_set_names);
RUN(row_set_no_new_privs);
RUN(row_set_oom_score);
RUN(row_set_process);
RUN(row_set_sysctl);
RUN(row_spawn_init);
RUN(row_start_payload);
RUN(row_wait_for_beside);
RUN(row_set_lo_up);
RUN(row_wait_for_start);
RUN(row_write_maps);

UNDO(row_undo_connect_console);
UNDO(row_undo_connect_listener);
UNDO(row_undo_make_cgroup);
UNDO(row_undo_make_notify);
UNDO(row_undo_make_resctrl);
UNDO(row_undo_move_net_devices);
UNDO(row_undo_connect_net);
UNDO(row_undo_open_cwd);
UNDO(row_undo_open_handler);
UNDO(row_undo_open_sources);
UNDO(row_undo_reserve_id);
UNDO(row_undo_tiny_init);

#undef WANTED
#undef RUN
#undef UNDO

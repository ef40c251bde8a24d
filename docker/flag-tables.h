/* SPDX-License-Identifier: Apache-2.0 */
/* Internal to the command line: the flag tables (docker/flags-*.c) and the values that have a
 * grammar of their own. */
#pragma once

#include "docker/cli.h"

extern const struct dk_flag_table dk_run_flags, dk_create_flags, dk_exec_flags, dk_update_flags;
extern const struct dk_flag_table dk_ps_flags, dk_inspect_flags, dk_container_inspect_flags,
	dk_image_inspect_flags, dk_network_inspect_flags, dk_plain_inspect_flags;
extern const struct dk_flag_table dk_rm_flags, dk_stop_flags, dk_kill_flags, dk_start_flags,
	dk_logs_flags, dk_attach_flags, dk_stats_flags, dk_cp_flags, dk_export_flags, dk_commit_flags,
	dk_container_prune_flags;
extern const struct dk_flag_table dk_images_flags, dk_pull_flags, dk_push_flags, dk_load_flags,
	dk_save_flags, dk_import_flags, dk_rmi_flags, dk_history_flags, dk_image_prune_flags,
	dk_login_flags, dk_build_flags;
extern const struct dk_flag_table dk_network_create_flags, dk_network_ls_flags, dk_network_rm_flags,
	dk_network_connect_flags, dk_network_disconnect_flags, dk_network_prune_flags;
extern const struct dk_flag_table dk_volume_create_flags, dk_volume_ls_flags, dk_volume_rm_flags,
	dk_volume_prune_flags;
extern const struct dk_flag_table dk_context_ls_flags, dk_format_flags, dk_events_flags, dk_df_flags,
	dk_system_prune_flags;
extern const struct dk_flag_table dk_global_flags; /* of struct dk_global_options */

struct dk_global_options {
	bool debug, tls, tlsverify, version;
	char *config, *context, *log_level, *tlscacert, *tlscert, *tlskey;
	struct strv host;
};

/* Values of single flags; each fills slot->out. */
dk_parse_fn dk_flag_add_host, dk_flag_attach, dk_flag_dns, dk_flag_dns_search, dk_flag_env, dk_flag_label,
	dk_flag_link, dk_flag_sysctl, dk_flag_tmpfs, dk_flag_ulimit;
dk_parse_fn dk_flag_mount;
dk_parse_fn dk_flag_network;
dk_parse_fn dk_flag_bps, dk_flag_iops, dk_flag_weight_device, dk_flag_cgroup_rule, dk_flag_gpus;

/* What follows from all flags of a command, run behind the parsing. */
dk_run_fn dk_exec_check, dk_update_check, dk_network_create_check, dk_volume_create_check;

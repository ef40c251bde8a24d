/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of all commands and what their flags are parsed into (args->options points at the
 * struct named behind each function). See docker/cli.h for how a command is added. Commands that
 * Docker has twice ("docker rm", "docker container rm") are one function.
 *
 * A function is weak here so that the table can name commands that are not written yet.
 */
#pragma once

#include "docker/cli.h"
#include "docker/run-options.h"

#define DK_COMMAND(name) __attribute__((weak)) dk_run_fn name

struct dk_exec_options {
	bool detach, interactive, privileged, tty;
	char *detach_keys, *user, *workdir;
	struct strv env_flags, env_files;
	struct strv env; /* of both, files first, no duplicates, all with "="; by the table's check */
};
struct dk_ps_options {
	bool all, latest, no_trunc, quiet, size;
	struct str_map filter;
	char *format;
	int64_t last; /* -1 */
};
struct dk_inspect_options { char *format, *type, *platform; bool size, verbose; };
struct dk_rm_options { bool force, link, volumes; };
struct dk_stop_options { char *signal; struct opt_i64 timeout; };
struct dk_kill_options { char *signal; /* NULL: KILL */ };
struct dk_start_options { bool attach, interactive; char *detach_keys, *checkpoint, *checkpoint_dir; };
struct dk_logs_options { bool details, follow, timestamps; char *since, *until, *tail; /* "all" */ };
struct dk_attach_options { char *detach_keys; bool no_stdin, sig_proxy; };
struct dk_update_options {
	uint16_t blkio_weight;
	int64_t cpu_period, cpu_quota, cpu_rt_period, cpu_rt_runtime, cpu_shares, nano_cpus;
	char *cpuset_cpus, *cpuset_mems;
	int64_t memory, memory_reservation, memory_swap, kernel_memory;
	struct opt_i64 pids_limit;
	char *restart_flag; /* as given; NULL: not */
	char *restart;      /* its policy, by the table's check */
	int64_t restart_max;
};
struct dk_stats_options { bool all, no_stream, no_trunc; char *format; };
struct dk_cp_options { bool archive, follow_link, quiet; };
struct dk_export_options { char *output; };
struct dk_commit_options { char *author, *message; struct strv change; bool pause; };
struct dk_events_options { struct str_map filter; char *format, *since, *until; };
struct dk_images_options { bool all, digests, no_trunc, quiet, tree; struct str_map filter; char *format; };
struct dk_pull_options { bool all_tags, quiet, disable_content_trust; char *platform; };
struct dk_load_options { char *input, *platform; bool quiet; };
struct dk_save_options { char *output, *platform; };
struct dk_import_options { struct strv change; char *message, *platform; bool link; };
struct dk_rmi_options { bool force, no_prune; struct strv platform; };
struct dk_history_options { char *format, *platform; bool human, no_trunc, quiet; };
struct dk_network_create_options {
	bool attachable, config_only, ingress, internal;
	struct opt_bool ipv4, ipv6;
	char *config_from, *driver, *ipam_driver, *scope;
	struct strv gateway, ip_range, subnet;
	struct str_map aux_address, ipam_opt, opt, labels;
	struct strv labels_flags;
};
struct dk_list_options { struct str_map filter; char *format; bool no_trunc, quiet; };
struct dk_network_connect_options {
	struct strv alias, driver_opt, link, link_local_ip;
	char *ip, *ip6;
	int64_t gw_priority;
};
struct dk_force_options { bool force; };
struct dk_prune_options { bool all, force, volumes; struct str_map filter; };
struct dk_volume_create_options {
	char *name, *driver;
	struct str_map opt, labels;
	struct strv labels_flags;
};
struct dk_df_options { char *format; bool verbose; };
struct dk_format_options { char *format; };
struct dk_build_options {
	struct strv tag, platform;
	bool quiet, pull, load, no_effect_bool;
	char *file, *iidfile, *network;
	/* handed over as they are */
	struct strv add_host, build_arg, build_context, label, secret, security_opt, ssh, ulimit, output;
	bool no_cache, squash;
	char *target, *cgroup_parent, *cpuset_cpus, *cpuset_mems, *memory, *memory_swap, *shm_size;
	char *cpu_period, *cpu_quota, *cpu_shares;
	char *no_effect;
	struct strv no_effect_list;
};
struct dk_login_options { char *username, *password; bool password_stdin; };

DK_COMMAND(dk_cmd_run);            /* struct dk_run_options */
DK_COMMAND(dk_cmd_create);         /* struct dk_run_options */
DK_COMMAND(dk_cmd_exec);           /* struct dk_exec_options */
DK_COMMAND(dk_cmd_ps);             /* struct dk_ps_options */
DK_COMMAND(dk_cmd_inspect);        /* struct dk_inspect_options; all kinds, by --type */
DK_COMMAND(dk_cmd_container_inspect);
DK_COMMAND(dk_cmd_image_inspect);
DK_COMMAND(dk_cmd_network_inspect);
DK_COMMAND(dk_cmd_volume_inspect);
DK_COMMAND(dk_cmd_context_inspect);
DK_COMMAND(dk_cmd_rm);             /* struct dk_rm_options */
DK_COMMAND(dk_cmd_stop);           /* struct dk_stop_options */
DK_COMMAND(dk_cmd_restart);        /* struct dk_stop_options */
DK_COMMAND(dk_cmd_kill);           /* struct dk_kill_options */
DK_COMMAND(dk_cmd_start);          /* struct dk_start_options */
DK_COMMAND(dk_cmd_logs);           /* struct dk_logs_options */
DK_COMMAND(dk_cmd_wait);           /* none */
DK_COMMAND(dk_cmd_attach);         /* struct dk_attach_options */
DK_COMMAND(dk_cmd_pause);          /* none */
DK_COMMAND(dk_cmd_unpause);        /* none */
DK_COMMAND(dk_cmd_rename);         /* none */
DK_COMMAND(dk_cmd_update);         /* struct dk_update_options */
DK_COMMAND(dk_cmd_top);            /* none; args behind the container are ps's */
DK_COMMAND(dk_cmd_stats);          /* struct dk_stats_options */
DK_COMMAND(dk_cmd_port);           /* none */
DK_COMMAND(dk_cmd_cp);             /* struct dk_cp_options */
DK_COMMAND(dk_cmd_diff);           /* none */
DK_COMMAND(dk_cmd_export);         /* struct dk_export_options */
DK_COMMAND(dk_cmd_commit);         /* struct dk_commit_options */
DK_COMMAND(dk_cmd_container_prune); /* struct dk_prune_options */
DK_COMMAND(dk_cmd_images);         /* struct dk_images_options */
DK_COMMAND(dk_cmd_pull);           /* struct dk_pull_options */
DK_COMMAND(dk_cmd_push);           /* struct dk_pull_options */
DK_COMMAND(dk_cmd_load);           /* struct dk_load_options */
DK_COMMAND(dk_cmd_save);           /* struct dk_save_options */
DK_COMMAND(dk_cmd_import);         /* struct dk_import_options */
DK_COMMAND(dk_cmd_tag);            /* none */
DK_COMMAND(dk_cmd_rmi);            /* struct dk_rmi_options */
DK_COMMAND(dk_cmd_history);        /* struct dk_history_options */
DK_COMMAND(dk_cmd_image_prune);    /* struct dk_prune_options */
DK_COMMAND(dk_cmd_build);          /* struct dk_build_options */
DK_COMMAND(dk_cmd_login);          /* struct dk_login_options */
DK_COMMAND(dk_cmd_logout);         /* none */
DK_COMMAND(dk_cmd_network_create); /* struct dk_network_create_options */
DK_COMMAND(dk_cmd_network_ls);     /* struct dk_list_options */
DK_COMMAND(dk_cmd_network_rm);     /* struct dk_force_options */
DK_COMMAND(dk_cmd_network_connect); /* struct dk_network_connect_options */
DK_COMMAND(dk_cmd_network_disconnect); /* struct dk_force_options */
DK_COMMAND(dk_cmd_network_prune);  /* struct dk_prune_options */
DK_COMMAND(dk_cmd_volume_create);  /* struct dk_volume_create_options */
DK_COMMAND(dk_cmd_volume_ls);      /* struct dk_list_options */
DK_COMMAND(dk_cmd_volume_rm);      /* struct dk_force_options */
DK_COMMAND(dk_cmd_volume_prune);   /* struct dk_prune_options */
DK_COMMAND(dk_cmd_context_ls);     /* struct dk_list_options */
DK_COMMAND(dk_cmd_info);           /* struct dk_format_options */
DK_COMMAND(dk_cmd_version);        /* struct dk_format_options */
DK_COMMAND(dk_cmd_events);         /* struct dk_events_options */
DK_COMMAND(dk_cmd_system_df);      /* struct dk_df_options */
DK_COMMAND(dk_cmd_system_prune);   /* struct dk_prune_options */
/* These two belong to the command line itself. */
dk_run_fn dk_cmd_completion;        /* none */
dk_run_fn dk_cmd_manual;            /* none; hidden: prints the manual page */

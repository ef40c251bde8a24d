/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the command lines of run and create mean. The flag table (docker/flags-run.c) fills most
 * members; dk_run_check, which the command line runs by itself, does what Docker's client does then
 * (files read, ports, devices, restart policy, contradictions; exit code 125). What Docker's engine
 * would check is dk_run_resolve's, to be called by the command when the image is known: it fills
 * `mounts` and reports engine errors ("Error response from daemon: ..." is in the message).
 *
 * All memory belongs to the arena of the context. Strings that were not given are NULL unless a
 * default is named; lists are empty.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/types.h"

enum dk_mount_type { DK_MOUNT_BIND, DK_MOUNT_VOLUME, DK_MOUNT_TMPFS };
enum dk_mount_origin { DK_FROM_VOLUME_FLAG, DK_FROM_MOUNT_FLAG, DK_FROM_TMPFS_FLAG, DK_FROM_IMAGE };

struct dk_mount {
	enum dk_mount_type type;
	enum dk_mount_origin origin;
	char *type_name;   /* "bind", ... */
	bool unknown_type; /* until dk_run_resolve */
	char *source;      /* absolute path; volume name; NULL: anonymous volume, or tmpfs */
	char *target;      /* absolute and clean; never "/" */
	char *mode;        /* as given behind -v's second colon ("ro,Z"), else "" */
	bool readonly;
	char *propagation; /* "rprivate", ...; NULL: not given */
	char *consistency; /* accepted, without effect */
	bool no_copy;      /* volume: leave it empty */
	bool create_source; /* bind: make a missing source as a directory (-v does, --mount does not) */
	bool non_recursive; /* bind-recursive=disabled */
	bool readonly_non_recursive, readonly_force_recursive; /* bind-recursive=writable, =readonly */
	char *subpath;     /* volume-subpath */
	char *driver;      /* volume-driver */
	struct str_map labels, driver_options; /* volume-label, volume-opt */
	char *tmpfs_options; /* --tmpfs: what stood behind the colon, "" if nothing */
	int64_t tmpfs_size;  /* --mount: bytes, 0: no limit */
	uint32_t tmpfs_mode; /* --mount: 0: 01777 */
};

struct dk_port {
	uint16_t container_port;
	char *proto;     /* "tcp", "udp", "sctp" */
	bool published;  /* false: --expose only */
	char *host_ip;   /* "" for all */
	char *host_port; /* "8080"; "8000-8010" picks one; "": picks any */
};

struct dk_ulimit { char *name; int64_t soft, hard; };             /* -1: unlimited */
struct dk_device { char *host, *container, *permissions; };       /* permissions: "rwm" */
struct dk_device_rate { char *path; uint64_t rate; };             /* --device-read-bps ... */
struct dk_extra_host { char *name, *ip; };                        /* ip may be "host-gateway" */
struct dk_gpu_request {
	char *driver;          /* "" any */
	int64_t count;         /* -1: all */
	struct strv ids, capabilities;
	struct str_map options;
};

struct dk_network_attach {
	char *name; /* "none", "host", "bridge", "default", "container:X", or a network's name */
	struct strv aliases, links, link_local_ips;
	char *ip, *ip6, *mac;
	struct str_map driver_options;
	int64_t gw_priority;
};

struct dk_health_options {
	bool set;  /* one of the --health flags was given */
	bool none; /* --no-healthcheck */
	char *command;
	int64_t interval, timeout, start_period, start_interval; /* nanoseconds; 0: not given */
	int64_t retries;
};

struct dk_run_options {
	/* The client's part. */
	bool detach, interactive, tty, remove, sig_proxy /* true */, quiet;
	bool disable_content_trust; /* accepted, without effect */
	struct strv attach;         /* "stdin", "stdout", "stderr", lower case */
	bool attach_stdin, attach_stdout, attach_stderr; /* what of it follows */
	char *detach_keys;
	char *name, *cidfile;
	char *pull;     /* "missing" */
	char *platform; /* as given */

	/* The process. */
	char *image;
	struct strv command; /* n == 0: none given */
	struct opt_bool init;
	bool entrypoint_set;
	char *entrypoint; /* "" clears the image's */
	char *user, *workdir;
	struct strv env_files, env_flags; /* as given; `env` is what counts */
	struct strv env; /* NAME=VALUE, files first, the last of a name wins, no duplicates; NAME alone
			  * (not set in the client) takes a variable of the image away */
	struct strv group_add;
	char *hostname, *domainname;
	char *stop_signal;
	struct opt_i64 stop_timeout;
	struct strv labels_flags, label_files;
	struct str_map labels; /* files first; no duplicates */
	struct str_map annotations;

	/* Files. */
	bool read_only;
	struct strv volume_flags, mount_flags, tmpfs_flags;
	struct strv binds;        /* HostConfig.Binds: -v with a source, made absolute */
	struct strv anonymous;    /* Config.Volumes: -v with a target only */
	struct str_map tmpfs;     /* HostConfig.Tmpfs */
	struct { struct dk_mount *v; size_t n; } mount_specs; /* --mount alone, as given */
	struct { struct dk_mount *v; size_t n; } mounts;      /* all, by dk_run_resolve; in flag order */
	struct strv volumes_from; /* as given: NAME[:ro] */
	char *volume_driver;
	struct opt_i64 shm_size; /* bytes */
	struct strv storage_opt;

	/* Limits. 0 is Docker's "not set" where no opt_ type says otherwise. */
	int64_t memory, memory_reservation, memory_swap /* -1: unlimited */, kernel_memory;
	int64_t memory_swappiness; /* -1: not set */
	int64_t nano_cpus, cpu_shares, cpu_period, cpu_quota, cpu_rt_period, cpu_rt_runtime;
	char *cpuset_cpus, *cpuset_mems;
	struct opt_i64 pids_limit;
	uint16_t blkio_weight;
	struct { struct dk_device_rate *v; size_t n; } blkio_weight_device, read_bps, write_bps,
		read_iops, write_iops;
	struct { struct dk_ulimit *v; size_t n; } ulimits; /* sorted by name, each once */
	bool oom_kill_disable;
	int64_t oom_score_adj;
	char *cgroup_parent;

	/* Isolation. */
	bool privileged;
	struct strv cap_add, cap_drop; /* CAP_NAME or ALL, sorted */
	struct strv security_opt_flags;
	struct strv security_opt; /* as inspect shows: a seccomp file has become its compact text */
	bool systempaths_unconfined;
	char *userns, *pid, *ipc, *uts, *cgroupns; /* "" or NULL: default */
	struct str_map sysctls;
	struct strv device_flags;
	struct { struct dk_device *v; size_t n; } devices;
	struct strv device_cgroup_rules;
	struct strv cdi_devices; /* --device vendor.com/class=name */
	struct { struct dk_gpu_request *v; size_t n; } gpus;
	char *runtime, *isolation;

	/* Network. */
	struct { struct dk_network_attach *v; size_t n; } networks; /* empty: no --network was given */
	struct strv network_aliases, links, link_local_ips;
	char *ip, *ip6, *mac_address;
	struct strv publish_flags, expose_flags;
	bool publish_all;
	struct { struct dk_port *v; size_t n; } ports; /* published and exposed */
	struct strv dns, dns_option, dns_search;
	struct { struct dk_extra_host *v; size_t n; } extra_hosts;

	/* The rest. */
	char *restart_flag; /* "no" */
	char *restart;      /* "no", "always", "unless-stopped", "on-failure" */
	int64_t restart_max;
	char *log_driver;
	struct str_map log_opts;
	struct dk_health_options health;
	/* Refused when given (dk_run_check): Windows' and swarm's. */
	int64_t cpu_count, cpu_percent, io_maxbandwidth, io_maxiops;
	bool use_api_socket;
};

struct dk_args;
struct dk_context;

/* The client's checks, run by the command line behind the parsing. */
int dk_run_check(struct dk_context *c, const struct dk_args *args, struct err *e);
/* The engine's checks that need no store; fills o->mounts. Messages begin with "Error response from
 * daemon: " already. ncpu: how many CPUs there are, for --cpus. */
int dk_run_resolve(struct dk_context *c, struct dk_run_options *o, unsigned ncpu, struct err *e);

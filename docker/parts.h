/* SPDX-License-Identifier: Apache-2.0 */
/* Internal to the command line: the steps of dk_run_check and dk_run_resolve, by file. */
#pragma once

#include "docker/commands.h"

bool dk_is_ip(const char *text);
/* A variable of the client's own environment; NULL. */
const char *dk_client_env(const struct dk_context *c, const char *name);
/* Absolute and clean: without "//", "." and ".."; relative paths begin at the working directory. */
char *dk_absolute(struct arena *a, const char *path, struct err *e);
/* The same without making it absolute (Go's path.Clean). */
char *dk_clean_path(struct arena *a, const char *path);

/* env-flags.c: files first, then flags; the last of a name wins, at the place of its first. An
 * entry without "=" takes a variable of the image away. */
int dk_collect_env(struct dk_context *c, const struct strv *files, const struct strv *flags,
		   struct strv *ret, struct err *e);
int dk_collect_labels(struct dk_context *c, const struct strv *files, const struct strv *flags,
		      struct str_map *ret, struct err *e);

/* mount-flags.c */
int dk_check_volumes(struct dk_context *c, struct dk_run_options *o, struct err *e);
int dk_resolve_mounts(struct dk_context *c, struct dk_run_options *o, struct err *e);
/* port-flags.c */
int dk_check_ports(struct dk_context *c, struct dk_run_options *o, struct err *e);
/* device-flags.c */
int dk_check_devices(struct dk_context *c, struct dk_run_options *o, struct err *e);
/* network-flags.c */
int dk_check_networks(struct dk_context *c, struct dk_run_options *o, struct err *e);
int dk_resolve_networks(struct dk_context *c, const struct dk_run_options *o, struct err *e);
/* security-flags.c */
int dk_check_security(struct dk_context *c, struct dk_run_options *o, struct err *e);
int dk_resolve_security(struct dk_context *c, const struct dk_run_options *o, struct err *e);

/* "POLICY[:MAX]". */
int dk_parse_restart(struct dk_context *c, const char *text, char **policy, int64_t *max, struct err *e);
/* run-resolve.c: the engine's checks that update shares. */
struct dk_limits {
	int64_t memory, memory_reservation, memory_swap, nano_cpus, cpu_period, cpu_quota;
	int64_t memory_swappiness; /* -1: not set */
	uint16_t blkio_weight;
	bool update; /* memory may come without swap's check against what is there */
};
/* "9", "KILL", "SIGKILL", "RTMIN+3", any case; -1 when it is none. */
int dk_signal_number(const char *text);
int dk_resolve_limits(struct dk_context *c, const struct dk_limits *l, unsigned ncpu, struct err *e);
int dk_resolve_restart(struct dk_context *c, const char *policy, int64_t max, struct err *e);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * brigd's settings: defaults, then the file (--config), then the environment, then the command
 * line; lists of the later replace those of the earlier. One table has them all. Secrets come from
 * files or the environment, which is cleared of them; never from the command line.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/types.h"

struct config_image { char *name, *rootfs; };

struct config {
	struct strv listen;          /* "127.0.0.1:8001", "unix:/run/brigd.sock" */
	struct strv hosts, origins;  /* names in Host, origins of pages, beyond those of loopback */
	char *brig, *state_root;
	char *sidecar_secret, *token_secret; /* NULL: none */
	char *sidecar_secret_file, *token_secret_file;
	char *tmp_root, *outputs, *open_ports, *access_log;
	struct { struct config_image *v; size_t n; } images;
	bool best_effort;
	uint64_t max_body, max_connections, max_peer_connections, max_running, max_queue, max_ids;
	uint64_t max_exec_ms, max_timeout_s, output_limit;
	uint64_t head_s, body_s; /* for a request to come */
	uint64_t files_keep_s, drain_s;
	uint64_t session_idle_s, max_sessions;
	uint64_t pool, pool_python;
	uint64_t memory_mb, max_processes; /* 0: brig's defaults */
};
extern struct config config;

enum { CONFIG_HELP = 1 };
/* 0, CONFIG_HELP when help or the version was printed, or -errno. a lives as long as brigd. */
int config_read(struct arena *a, int argc, char **argv, struct err *e);
/* The directory that an image's name stands for; NULL: none is configured. */
const char *config_rootfs(const char *image);
/* Where programs work in it: /workspace, or /tmp in a directory that has none. */
const char *config_workdir(const char *rootfs);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CRIU's RPC messages (criu's images/rpc.proto), as far as brig needs them: requests are written
 * field by field, replies are read into one struct. The encoding is that of protocol buffers,
 * version 2: a varint key (field number << 3 | wire type), then the value; fields that are not
 * known are passed over, so a newer criu is no trouble.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

/* criu_req_type */
enum criu_type {
	CRIU_DUMP = 1,
	CRIU_RESTORE = 2,
	CRIU_PRE_DUMP = 4,
	CRIU_NOTIFY = 6,
	CRIU_FEATURE_CHECK = 9,
};

/* criu_opts */
enum criu_opt {
	CRIU_OPT_IMAGES_DIR_FD = 1,
	CRIU_OPT_PID = 2,
	CRIU_OPT_LEAVE_RUNNING = 3,
	CRIU_OPT_EXT_UNIX_SK = 4,
	CRIU_OPT_TCP_ESTABLISHED = 5,
	CRIU_OPT_EVASIVE_DEVICES = 6,
	CRIU_OPT_SHELL_JOB = 7,
	CRIU_OPT_FILE_LOCKS = 8,
	CRIU_OPT_LOG_LEVEL = 9,
	CRIU_OPT_LOG_FILE = 10,
	CRIU_OPT_PAGE_SERVER = 11, /* message: address, port */
	CRIU_OPT_NOTIFY_SCRIPTS = 12,
	CRIU_OPT_ROOT = 13,
	CRIU_OPT_PARENT_IMG = 14,
	CRIU_OPT_TRACK_MEM = 15,
	CRIU_OPT_AUTO_DEDUP = 16,
	CRIU_OPT_WORK_DIR_FD = 17,
	CRIU_OPT_LINK_REMAP = 18,
	CRIU_OPT_EXT_MNT = 23,
	CRIU_OPT_MANAGE_CGROUPS = 24,
	CRIU_OPT_CG_ROOT = 25,
	CRIU_OPT_RST_SIBLING = 26,
	CRIU_OPT_INHERIT_FD = 27,
	CRIU_OPT_MANAGE_CGROUPS_MODE = 34,
	CRIU_OPT_EXTERNAL = 37,
	CRIU_OPT_EMPTY_NS = 38,
	CRIU_OPT_JOIN_NS = 39,
	CRIU_OPT_FREEZE_CGROUP = 44,
	CRIU_OPT_TCP_SKIP_IN_FLIGHT = 46,
	CRIU_OPT_LAZY_PAGES = 48,
	CRIU_OPT_STATUS_FD = 49,
	CRIU_OPT_ORPHAN_PTS_MASTER = 50,
	CRIU_OPT_CONFIG_FILE = 51,
	CRIU_OPT_LSM_PROFILE = 53,
	CRIU_OPT_LSM_MOUNT_CONTEXT = 63, /* criu 3.16 */
};

/* Fields of a message under construction; `field` is its number. */
void criu_put_uint(struct strbuf *b, unsigned field, uint64_t v);
void criu_put_bytes(struct strbuf *b, unsigned field, const void *data, size_t n);
void criu_put_str(struct strbuf *b, unsigned field, const char *s);
/* A message of two strings, its fields 1 and 2: ext_mount_map, cgroup_root, join_namespace. */
void criu_put_pair(struct strbuf *b, unsigned field, const char *first, const char *second);
/* inherit_fd: the descriptor takes the place of what was dumped by that name. */
void criu_put_inherit_fd(struct strbuf *b, const char *key, int fd);

/* A whole request; opts: the fields of criu_opts. */
void criu_put_request(struct strbuf *b, enum criu_type type, const struct strbuf *opts);
/* Asks whether memory can be tracked, and sent later. */
void criu_put_feature_check(struct strbuf *b);
/* The answer to a notification. */
void criu_put_notify_done(struct strbuf *b, bool success);

/* One field of a message that is being read; data points into the message. */
struct criu_field {
	unsigned number, wire;
	uint64_t value;              /* wire 0 */
	const unsigned char *data;   /* wire 2 */
	size_t size;
};

struct criu_reader { const unsigned char *p, *end; };

/* 1: there was one, 0: the end, -EPROTO: no such encoding. */
int criu_next_field(struct criu_reader *r, struct criu_field *ret);

/* criu_resp. Texts are cut when too long. */
struct criu_reply {
	unsigned type;
	bool success;
	int cr_errno;
	bool mem_track, lazy_pages; /* of a feature check */
	pid_t pid;         /* of a notification or restore; 0: none */
	char script[32];   /* of a notification: "post-restore" */
	char errmsg[256];
};

int criu_parse_reply(const void *data, size_t n, struct criu_reply *ret, struct err *e);

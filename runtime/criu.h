/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One conversation with criu: `criu swrk 3` is started with a socket as descriptor 3, gets one
 * request, calls back at its milestones (notifications), and answers. libcriu would do the same;
 * it is not needed for it, and not packaged everywhere.
 */
#pragma once

#include "runtime/criu-rpc.h"

/* criu's own descriptors. */
enum { CRIU_IMAGES_FD = 4, CRIU_WORK_FD = 5, CRIU_FIRST_FD = 6, CRIU_MAX_FDS = 16 };

struct criu_call {
	const char *what;        /* "checkpoint", for messages */
	enum criu_type type;
	struct strbuf opts;      /* fields of criu_opts; owned by the caller */
	int fds[CRIU_MAX_FDS];   /* criu has them as CRIU_FIRST_FD + i; not owned */
	size_t n_fds;
	const char *image_path, *work_path; /* opened as CRIU_IMAGES_FD, CRIU_WORK_FD; or NULL */
	const char *root;        /* made a mount point in a mount namespace that only criu is in; or NULL */
	bool die_with_us;        /* it waits for more than our next message */
	int log_dir;             /* where criu writes log_file; -1: none */
	const char *log_file, *log_path; /* name below log_dir; the path for messages */
	/* criu waits for its request; it may be added to opts. May be NULL. */
	int (*begin)(struct criu_call *c, pid_t criu, struct err *e);
	/* A milestone. fd: what came with it, or -1; not owned. May be NULL. */
	int (*notify)(struct criu_call *c, const struct criu_reply *r, int fd, struct err *e);
	void *arg;
};

/*
 * 0, or -errno: criu is not installed, refuses (with the last errors of its log), or a callback
 * failed. criu has ended and is reaped in any case.
 */
int criu_run(struct criu_call *c, struct criu_reply *ret, struct err *e);

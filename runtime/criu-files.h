/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a container comes from outside, and so is not in a checkpoint but given to criu again at
 * the restore: bind mounts, the covers of masked files, bound device nodes, joined namespaces, and
 * the standard streams. Each has a name that is the same at both times: for a mount its
 * destination as the configuration has it, for a stream the text in descriptors.json.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "runtime/criu.h"
#include "runtime/plan.h"

/* The process tree that is dumped. */
struct criu_tree {
	int procfs;
	pid_t pid;
	const struct plan *plan;
};

/* ext_mnt of a dump: every mount point of the tree that comes from outside. */
int criu_put_dump_mounts(const struct criu_tree *t, struct arena *a, struct strbuf *opts, struct err *e);
/* ext_mnt of a restore: where to take them from; procfs is for our own mounts. */
int criu_put_restore_mounts(const struct plan *p, int procfs, struct arena *a, struct strbuf *opts,
			    struct err *e);

/* Writes descriptors.json, external of a dump for streams that are files outside of the tree. */
int criu_dump_streams(const struct criu_tree *t, int images, struct strbuf *opts, struct err *e);
/* inherit_fd of a restore: our own standard streams take their places. */
int criu_restore_streams(int images, struct arena *a, struct strbuf *opts, struct err *e);

/* Joined network and pid namespaces stay outside of the checkpoint. */
int criu_put_dump_namespaces(const struct plan *p, struct arena *a, struct strbuf *opts, struct err *e);
/* Opens joined namespaces and adds them to c; the fds are the caller's to close. */
int criu_put_restore_namespaces(const struct plan *p, struct criu_call *c, struct err *e);

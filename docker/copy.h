/* SPDX-License-Identifier: Apache-2.0 */
/* Output of a container that goes through its owner: to the client's streams, to the log. */
#pragma once

#include "docker/container.h"
#include "docker/log.h"
#include "nsenter/signals.h"

struct dk_copy {
	int pipes[2][2]; /* of stdout and stderr; [.][1] is the container's end */
	int to[2];       /* where it goes besides the log; -1: nowhere. Not owned */
	int in[2];       /* of stdin; [0] is the container's end */
	int from;        /* what goes there; -1: nothing, or its end has come. Not owned */
	struct strbuf input;
	struct dk_log log;
};
#define DK_COPY_NONE {.pipes = {{-1, -1}, {-1, -1}}, \
	.to = {-1, -1}, .in = {-1, -1}, .from = -1, .log = DK_LOG_NONE}

int dk_copy_pipes(struct dk_copy *c, struct err *e);
/* One of them: 0, 1. */
int dk_copy_pipe(struct dk_copy *c, int i, struct err *e);
/* A pipe for stdin as well. */
int dk_copy_input(struct dk_copy *c, int from, struct err *e);
/* With the log. */
int dk_copy_open(struct dk_copy *c, const struct dk_container *k, struct err *e);
/* The container has its ends: without ours, the end of its output can be seen. */
void dk_copy_started(struct dk_copy *c);
/*
 * Copies, passes signals on as ns_wait does, until INIT has ended and what it wrote is copied; reaps it.
 * -EPIPE: a stream of the client has no reader any more ("write /dev/stdout: broken pipe").
 */
int dk_copy_until_end(struct dk_copy *c, const struct ns_wait *w, struct ns_exit *ret_exit, struct err *e);
/*
 * For who leaves while others still hold the container's ends: a process in the background reads on
 * until they are gone, so that they are not killed by SIGPIPE. Does nothing when nobody holds them.
 */
void dk_copy_leave(struct dk_copy *c);
void dk_copy_close(struct dk_copy *c);
#define auto_copy __attribute__((cleanup(dk_copy_close)))

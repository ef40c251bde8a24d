/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The streams of a detached container while it runs: output goes to the log and to attached clients,
 * their input to the container, signals and sizes too. One poll loop, no threads. What has to be done
 * beside it now and then (healthchecks) is a `struct dk_station_task`.
 */
#pragma once

#include "docker/container.h"
#include "docker/log.h"
#include "docker/wire.h"
#include "nsenter/signals.h"

enum { DK_CLIENTS_MAX = 32 };

struct dk_client {
	int fd; /* -1: none */
	unsigned flags;
	struct strbuf in, out;
};

struct dk_station;

/* Something to do beside: at `due` (monotonic nanoseconds; 0: never), or when `fd` is readable (-1: none). It
 * sets both anew. */
struct dk_station_task {
	void (*run)(struct dk_station_task *t, struct dk_station *s);
	uint64_t due;
	int fd;
	void *arg;
};

struct dk_station {
	struct dk_container *k;
	int listener, sigfd;
	int out[2][2];    /* pipes; tty: none */
	int in[2];        /* the container's standard input, where it has one */
	int master;       /* tty: its terminal */
	int null;
	bool woken;       /* a client says that the record has changed */
	bool owner_left;  /* the client that it was to die with is gone */
	struct strbuf input; /* not written to the container yet */
	bool input_ended;
	struct dk_log log;
	struct dk_client clients[DK_CLIENTS_MAX];
	struct dk_station_task *task; /* NULL: none */
};

/* listener: -1 none. first: a client that is attached from the beginning; -1. Both are owned. */
int dk_station_open(struct dk_station *s, struct dk_container *k, int listener, int first, struct err *e);
/* Before each start: new pipes. The descriptors for dk_launch. */
int dk_station_prepare(struct dk_station *s, int ret_stdio[3], struct err *e);
/* Until INIT has ended and been reaped. */
int dk_station_run(struct dk_station *s, struct ns_exit *ret_exit, struct err *e);
/* Waits so long (0: for ever) between two starts; true: it is to end now. */
bool dk_station_pause(struct dk_station *s, uint64_t ns);
/* Tells all clients how it ended. */
void dk_station_close(struct dk_station *s, int code);
uint64_t dk_now(void);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * brigd's one event loop: descriptors and timers, without threads. All of it hangs below one epoll
 * descriptor, which is itself one descriptor of the HTTP library's loop (server.c), so this file
 * knows nothing of that library. Events are taken one at a time: a handler may free any other.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct loop_fd {
	int fd;          /* -1: not watched; closed by loop_close */
	uint32_t events; /* EPOLLIN | EPOLLOUT */
	void (*ready)(struct loop_fd *f, uint32_t events);
};

struct loop_timer {
	uint64_t at_ns;  /* 0: not set */
	void (*due)(struct loop_timer *t);
	struct loop_timer *prev, *next;
};

int loop_open(struct err *e);
/* The descriptor that is readable when loop_run has something to do. */
int loop_descriptor(void);
/* Everything that is due now. */
void loop_run(void);

/* Makes fd non-blocking and watches it. */
int loop_add(struct loop_fd *f, int fd, uint32_t events, struct err *e);
void loop_change(struct loop_fd *f, uint32_t events);
void loop_close(struct loop_fd *f);
/* Does not watch it any more, and leaves it open. */
void loop_forget(int fd);

/* Nanoseconds of the monotonic clock. */
uint64_t loop_now(void);
/* Replaces an earlier setting; 0 ms: at the next turn. */
void loop_set_timer(struct loop_timer *t, uint64_t ms);
void loop_stop_timer(struct loop_timer *t);

/* The structure around a member. */
#define CONTAINER_OF(p, type, member) ((type *)(void *)((char *)(p) - offsetof(type, member)))

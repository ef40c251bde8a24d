/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The step driver. Setting up a container is one ordered table; each row is done by one actor.
 * Both sides have the same table and context. The parent drives: it runs its own rows and hands
 * consecutive INIT rows over as one batch, in one datagram; INIT answers once per batch: all
 * done, or the row that failed and its error. A row's name is the prefix of its error, the line
 * of the trace and of the log (--debug) and the documentation.
 *
 * Strict alternation: while INIT runs, the parent blocks in the kernel, and the other way round.
 * That is what makes a CLONE_VM INIT safe (errno, malloc, everything is shared), so rows need no
 * locks; but a row must leave nothing behind that the other side trips over: no locale, no cwd
 * games through libc, no half-changed global. The driver itself uses raw system calls around its
 * hand-overs and never touches errno there. Signal handlers of the parent must not exist or must
 * not touch shared state (block signals, see signals.h).
 *
 * Without shared memory INIT has the context as it was at the spawn: what later PARENT rows write
 * there does not arrive. A correct table does not depend on either.
 *
 * End of file is success in one place only, the last INIT row, which is the exec. Anywhere else it
 * is an error that names the row INIT was in and how it died.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "nsenter/spawn.h"

enum step_actor {
	STEP_PARENT,
	STEP_SPAWN, /* a PARENT row whose run() calls ns_spawn(..., &channel->child, ...); at most
		     * one. When the next wanted row is an INIT row, INIT starts with that batch at
		     * once, without a message; a PARENT row between (id maps) makes it wait. */
	STEP_BESIDE, /* PARENT rows directly before INIT rows: run while INIT is at work on those. With
		      * shared memory such a row may use raw system calls (base/raw.h) and its stack, and
		      * nothing else: no errno, no malloc, no libc state. INIT must wait for what it needs
		      * of it by itself. */
	STEP_INIT,
	STEP_ALONE, /* INIT rows after the parent has gone (`create`, then `start`); see below */
};

struct step {
	const char *name;
	enum step_actor actor;
	/* Whether the row applies; NULL = always. Pure: both sides ask it, several times. */
	bool (*wanted)(const void *ctx);
	/* 0 or -errno with *e set. The exec row does not return on success. */
	int (*run)(void *ctx, struct err *e);
	/* PARENT and SPAWN rows that were done, in reverse order, when a later row fails; INIT has
	 * been killed and reaped by then. May be NULL. */
	void (*undo)(void *ctx);
};

struct step_table {
	const struct step *rows;
	size_t n;
	/* STEP_ALONE only, called in INIT when such a row failed (nobody listens any more), before it
	 * exits 1; may be NULL. */
	void (*alone_failed)(void *ctx, const struct err *e);
};

struct step_channel {
	int parent, init; /* SOCK_SEQPACKET pair, close-on-exec; INIT keeps `init` */
	struct ns_child child;
	int interrupt; /* borrowed; when it is readable while INIT works, steps_run fails with EINTR; -1 */
	volatile uint32_t *at; /* row INIT is in; NULL when nothing may be shared */
	uint32_t at_here;
	bool init_closed; /* the parent's copy of `init` is closed (its number stays for INIT) */
	bool at_mapped;
	bool released; /* INIT has been told to go on alone */
};

#define STEP_CHANNEL_NONE {.parent = -1, .init = -1, .child = NS_CHILD_NONE, .interrupt = -1}

/* Makes the pair for this spawn, which decides how INIT reports where it is, and notes INIT's end in
 * s->channel_fd. */
int steps_open(struct step_channel *c, struct ns_spawn *s, struct err *e);
/* Closes what is open. INIT is left alone; the pidfd is closed unless taken (take_fd). The end that a
 * released INIT waits for is left to our exit when it shares our memory. */
void steps_close(struct step_channel *c);

/*
 * The parent's side. 0: all rows are done, INIT has called exec (or is on its own in STEP_ALONE
 * rows); c->child has its pid and pidfd, and is not reaped. On failure INIT is killed and reaped,
 * the undo functions have run, *e is "row name: cause".
 *
 * PARENT rows may follow the exec (post-start work). A table without SPAWN and INIT rows is fine.
 *
 * STEP_ALONE rows come last. When all else is done, INIT is released and steps_run returns; INIT
 * then waits until the parent's end of the channel is closed, by steps_close or, when memory is
 * shared, only by the parent's exit (until then context and channel must stay), and runs them. If
 * the parent dies before the release, INIT exits.
 */
int steps_run(const struct step_table *t, void *ctx, struct step_channel *c, struct err *e);

/* INIT's side, to be called from ns_spawn's main. Runs the batches it is told to, refuses rows that
 * are not its own or go backwards, reports an error once and exits 1. */
_Noreturn void steps_serve(const struct step_table *t, void *ctx, const struct step_channel *c);

/* Traces each row at its end to fd as "actor<TAB>microseconds<TAB>name<TAB>number" lines; -1 = off,
 * the default. */
void steps_trace(int fd);

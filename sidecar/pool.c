/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A prepared sandbox whose result comes before anybody took it has failed (or was killed): it is
 * dropped, and the next attempt waits a little.
 */
#include "sidecar/pool.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/cleanup.h"
#include "sidecar/loop.h"
#include "sidecar/rundir.h"

enum { KINDS_MAX = 2, AGAIN_MS = 2000 };

struct kind;

struct prepared {
	struct prepared *next;
	struct kind *kind;
	struct box box;
	struct loop_fd watch;  /* has box.result */
	char out[POOL_PATH_MAX];
};

struct kind {
	struct arena *a;
	struct box_spec spec;
	const char *key;
	size_t wanted, n;
	struct prepared *first;
	struct loop_timer refill;
};

static struct kind kinds[KINDS_MAX];
static size_t n_kinds;

static void drop(struct prepared *p)
{
	struct prepared **at = &p->kind->first;

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	p->kind->n--;
	loop_close(&p->watch);
	box_close(&p->box);
	if (p->out[0])
		rundir_remove_pool(p->out);
	free(p);
}

static void ended_early(struct loop_fd *f, uint32_t events)
{
	struct prepared *p = CONTAINER_OF(f, struct prepared, watch);
	struct kind *k = p->kind;
	(void)events;

	drop(p);
	loop_set_timer(&k->refill, AGAIN_MS);
}

static void answered(struct box *b)
{
	struct prepared *p = CONTAINER_OF(b, struct prepared, box);

	if (b->failed)
		ended_early(&p->watch, 0);
}

static int prepare(struct kind *k)
{
	struct prepared *p = xrealloc(NULL, sizeof(*p));
	struct box_spec s = k->spec;
	struct err e;

	*p = (struct prepared){.kind = k, .box = BOX_NONE, .watch = {.fd = -1, .ready = ended_early},
			       .next = k->first};
	p->box.answered = answered;
	k->first = p;
	k->n++;
	if (s.copy_out && rundir_make_pool(p->out) == 0)
		s.copy_out = p->out;
	if ((s.copy_out && !p->out[0]) || box_start(&p->box, &s, &e) < 0 ||
	    loop_add(&p->watch, p->box.result, EPOLLIN, &e) < 0) {
		drop(p);
		return -1;
	}
	p->box.result = -1;
	return 0;
}

static void refill(struct loop_timer *t)
{
	struct kind *k = CONTAINER_OF(t, struct kind, refill);

	while (k->n < k->wanted)
		if (prepare(k) < 0) {
			loop_set_timer(t, AGAIN_MS);
			return;
		}
}

void pool_keep(const struct box_spec *s, size_t n)
{
	struct kind *k = &kinds[n_kinds];

	if (n == 0 || n_kinds == KINDS_MAX)
		return;
	n_kinds++;
	*k = (struct kind){.a = arena_new(), .spec = *s, .wanted = n, .refill = {.due = refill}};
	k->key = box_key(k->a, s);
	k->spec.timeout_ms = BOX_NO_TIMEOUT;
	loop_set_timer(&k->refill, 0);
}

/* The oldest of those that the launcher has started. */
static struct prepared *find(const struct kind *k)
{
	struct prepared *found = NULL;

	for (struct prepared *p = k->first; p; p = p->next)
		if (p->box.pidfd >= 0)
			found = p;
	return found;
}

static bool fits(const struct kind *k, const struct box_spec *s, struct arena *a)
{
	const struct strv *waiting = &k->spec.args;

	if (s->n_files || s->terminal || waiting->n > s->args.n)
		return false;
	/* The program that waits there is the one that is wanted, or there is none yet. */
	for (size_t i = 0; i < waiting->n; i++)
		if (!str_eq(waiting->v[i], s->args.v[i]))
			return false;
	return str_eq(k->key, box_key(a, s));
}

bool pool_take(const struct box_spec *s, struct box *ret, char ret_out[POOL_PATH_MAX])
{
	auto_arena struct arena *a = arena_new();

	for (size_t i = 0; i < n_kinds; i++) {
		struct prepared *p = fits(&kinds[i], s, a) ? find(&kinds[i]) : NULL;

		if (!p)
			continue;
		*ret = p->box;
		ret->result = take_fd(&p->watch.fd);
		loop_forget(ret->result);
		ret->answered = NULL;
		memcpy(ret_out, p->out, POOL_PATH_MAX);
		p->box = (struct box)BOX_NONE;
		p->out[0] = '\0';
		drop(p);
		loop_set_timer(&kinds[i].refill, 0);
		return true;
	}
	return false;
}

size_t pool_ready(void)
{
	size_t n = 0;

	for (size_t i = 0; i < n_kinds; i++)
		n += kinds[i].n;
	return n;
}

void pool_close(void)
{
	for (size_t i = 0; i < n_kinds; i++) {
		loop_stop_timer(&kinds[i].refill);
		kinds[i].wanted = 0;
		while (kinds[i].first)
			drop(kinds[i].first);
		arena_free(kinds[i].a);
	}
	n_kinds = 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditional jumps of BPF reach 255 instructions forward, unconditional ones any distance. So a
 * node of the search tree is one instruction where its lower half is short and two otherwise.
 */
#include "security/assemble.h"

#include <errno.h>
#include <string.h>

enum { REACH = 255, NODE_MAX = 2 };

void sec_put(struct sec_program *p, const struct sock_filter *v, size_t n)
{
	if (p->n + n <= p->max)
		memcpy(p->v + p->n, v, n * sizeof(*v));
	p->n += n;
}

void sec_put_one(struct sec_program *p, struct sock_filter i)
{
	sec_put(p, &i, 1);
}

static void set(struct sec_program *p, size_t at, struct sock_filter i)
{
	if (at < p->max)
		p->v[at] = i;
}

/* The most that a search over these ranges can take. */
static size_t bound(const struct sec_range *r, size_t n)
{
	size_t sum = (n - 1) * NODE_MAX;

	for (size_t i = 0; i < n; i++)
		sum += r[i].code.n;
	return sum;
}

void sec_put_search(struct sec_program *p, const struct sec_range *r, size_t n)
{
	size_t half = n / 2, at = p->n;
	uint32_t middle = r[half].first;

	if (n == 1) {
		sec_put(p, r->code.v, r->code.n);
		return;
	}
	if (bound(r, half) <= REACH) {
		p->n += 1;
		sec_put_search(p, r, half);
		set(p, at, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, middle,
							(unsigned char)(p->n - at - 1), 0));
	} else {
		p->n += 2;
		sec_put_search(p, r, half);
		set(p, at, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, middle, 0, 1));
		set(p, at + 1, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA,
							    (uint32_t)(p->n - at - 2)));
	}
	sec_put_search(p, r + half, n - half);
}

int sec_program_finish(const struct sec_program *p, struct sec_filter *f)
{
	if (p->n > p->max)
		return -E2BIG;
	f->insns = p->v;
	f->n = (unsigned short)p->n;
	return 0;
}

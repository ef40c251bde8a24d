/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One rule as BPF. The machine has 32-bit registers, so a 64-bit comparison is one of the upper
 * halves and, where they leave it open, one of the lower halves.
 *
 * A condition is written with the jump targets HOLDS and FAILS, which are replaced once it is
 * known where they are: behind the condition, and behind the rule.
 */
#include "security/filter-code.h"

enum { HOLDS = 254, FAILS = 255, NEXT = 0 };

#define IF(op, k, then, otherwise) BPF_JUMP(BPF_JMP | (op) | BPF_K, (uint32_t)(k), then, otherwise)
#define PUT(p, ...) sec_put_one(p, (struct sock_filter)__VA_ARGS__)

/* The jump after the upper halves, and the one after the lower, of each operator. */
static const struct comparison {
	bool greater;                         /* upper: first "greater" is tested... */
	unsigned char if_greater;             /* ...and decides like this */
	unsigned char if_equal, if_not_equal; /* upper halves */
	uint16_t low_op;
	unsigned char low_then, low_else;
} comparisons[] = {
	[SEC_EQ] = {false, NEXT, NEXT, FAILS, BPF_JEQ, HOLDS, FAILS},
	[SEC_NE] = {false, NEXT, NEXT, HOLDS, BPF_JEQ, FAILS, HOLDS},
	[SEC_GT] = {true, HOLDS, NEXT, FAILS, BPF_JGT, HOLDS, FAILS},
	[SEC_GE] = {true, HOLDS, NEXT, FAILS, BPF_JGE, HOLDS, FAILS},
	[SEC_LT] = {true, FAILS, NEXT, HOLDS, BPF_JGE, FAILS, HOLDS},
	[SEC_LE] = {true, FAILS, NEXT, HOLDS, BPF_JGT, FAILS, HOLDS},
};

static void put_comparison(struct sec_program *p, const struct sec_cond *c)
{
	const struct comparison *k = &comparisons[c->op];
	uint32_t high = (uint32_t)(c->value >> 32), low = (uint32_t)c->value;

	PUT(p, SEC_LOAD(SEC_HIGH_WORD(c->arg)));
	if (k->greater)
		PUT(p, IF(BPF_JGT, high, k->if_greater, NEXT));
	PUT(p, IF(BPF_JEQ, high, k->if_equal, k->if_not_equal));
	PUT(p, SEC_LOAD(SEC_LOW_WORD(c->arg)));
	PUT(p, IF(k->low_op, low, k->low_then, k->low_else));
}

static void put_masked(struct sec_program *p, size_t offset, uint32_t mask, uint32_t value)
{
	if (!mask)
		return;
	PUT(p, SEC_LOAD(offset));
	if (mask != UINT32_MAX)
		PUT(p, BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask));
	PUT(p, IF(BPF_JEQ, value & mask, NEXT, FAILS));
}

/* Bits outside of the mask mean nothing, in the argument and in the value. */
static void put_masked_eq(struct sec_program *p, const struct sec_cond *c)
{
	put_masked(p, SEC_HIGH_WORD(c->arg), (uint32_t)(c->mask >> 32),
		   (uint32_t)(c->value >> 32));
	put_masked(p, SEC_LOW_WORD(c->arg), (uint32_t)c->mask, (uint32_t)c->value);
}

/* Jumps from `from` on to `label` go to the end of the program as it is. A rule has at most six
 * conditions of at most six instructions, so every distance is far below the labels. */
static void resolve(struct sec_program *p, size_t from, unsigned char label)
{
	for (size_t i = from; i < p->n && i < p->max; i++) {
		if (BPF_CLASS(p->v[i].code) != BPF_JMP)
			continue;
		if (p->v[i].jt == label)
			p->v[i].jt = (unsigned char)(p->n - i - 1);
		if (p->v[i].jf == label)
			p->v[i].jf = (unsigned char)(p->n - i - 1);
	}
}

void sec_put_rule(struct sec_program *p, const struct sec_rule *r)
{
	size_t start = p->n;

	for (size_t i = 0; i < r->n; i++) {
		size_t at = p->n;

		if (r->conds[i].op == SEC_MASKED_EQ)
			put_masked_eq(p, &r->conds[i]);
		else
			put_comparison(p, &r->conds[i]);
		resolve(p, at, HOLDS);
	}
	PUT(p, SEC_RETURN(r->action));
	resolve(p, start, FAILS);
}

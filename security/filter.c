/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A seccomp profile of config.json -> a BPF program.
 *
 *   profile -> rules -> for each architecture: (number, rule), sorted by number
 *           -> code for each number -> ranges of the same code -> a binary search over them
 *
 * Where the spec is silent we do what callers know from runc and libseccomp: a name that nobody
 * knows is skipped; a rule with the default action is dropped; conditions on the same argument are
 * alternatives, on different arguments all must hold; for one call, the first rule without
 * conditions wins over all others, then the first whose conditions hold. An architecture that is
 * not listed is killed; the machine's own is always listed.
 *
 * Architectures that this machine cannot run code of are checked and left out: no call of theirs
 * ever comes.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "security/filter-calls.h"
#include "security/filter-code.h"
#include "security/internal.h"

enum { ARGS_MAX = 6, X32_FIRST = 0x40000000 };

static const struct sec_name operators[] = {
	{"SCMP_CMP_NE", SEC_NE}, {"SCMP_CMP_LT", SEC_LT}, {"SCMP_CMP_LE", SEC_LE},
	{"SCMP_CMP_EQ", SEC_EQ}, {"SCMP_CMP_GE", SEC_GE}, {"SCMP_CMP_GT", SEC_GT},
	{"SCMP_CMP_MASKED_EQ", SEC_MASKED_EQ}, {NULL, 0}};

/* A name of the profile with its rules; several when conditions are alternatives. */
struct named {
	const char *name;
	const struct sec_rule *rules;
	size_t n;
};

struct named_list { struct named *v; size_t n; };

/*
 * The rules of one architecture, in the order of the profile, and a sort key for each: the call
 * number in the upper half, the place in `rules` in the lower.
 */
struct entry_list {
	const struct sec_rule **rules;
	uint64_t *keys;
	size_t n;
};

static uint32_t key_number(uint64_t key)
{
	return (uint32_t)(key >> 32);
}

static const struct sec_rule *key_rule(const struct entry_list *list, uint64_t key)
{
	return list->rules[(uint32_t)key];
}

struct range_list { struct sec_range *v; size_t n; };

/* ---- profile -> rules ---- */

static int convert_cond(const struct oci_seccomp_arg *a, struct sec_cond *c, struct err *e)
{
	const struct sec_name *op = sec_find_name(operators, a->op);

	if (!op)
		return err_set(e, EINVAL, "op: unknown operator %s", a->op ? a->op : "(none)");
	if (a->index >= ARGS_MAX)
		return err_set(e, EINVAL, "index: a call has arguments 0 to %d", ARGS_MAX - 1);
	*c = (struct sec_cond){.arg = a->index, .op = (enum sec_op)op->value, .value = a->value};
	if (c->op == SEC_MASKED_EQ) {
		c->mask = a->value;
		c->value = a->value_two.set ? a->value_two.v : 0;
	}
	return 0;
}

static int convert_args(struct arena *a, const struct oci_syscall *s, uint32_t action,
			struct named *ret, struct err *e)
{
	size_t n = s->args.n;
	struct sec_cond *conds = arena_array(a, n, sizeof(*conds));
	struct sec_rule *rules = arena_array(a, n ? n : 1, sizeof(*rules));
	bool seen[ARGS_MAX] = {false}, alternatives = false;

	for (size_t i = 0; i < n; i++) {
		int r = convert_cond(&s->args.v[i], &conds[i], e);

		if (r < 0)
			return err_wrap(e, "args[%zu]", i);
		alternatives |= seen[conds[i].arg];
		seen[conds[i].arg] = true;
		rules[i] = (struct sec_rule){action, &conds[i], 1};
	}
	if (!alternatives)
		rules[0] = (struct sec_rule){action, conds, n};
	ret->rules = rules;
	ret->n = alternatives ? n : 1;
	return 0;
}

static int convert_entry(struct arena *a, const struct oci_syscall *s, uint32_t default_action,
			 struct named_list *list, struct err *e)
{
	struct named named;
	uint32_t action;
	int r = sec_action(s->action, &s->errno_ret, &action, e);

	if (r < 0)
		return r;
	r = convert_args(a, s, action, &named, e);
	if (r < 0 || action == default_action)
		return r;
	for (size_t i = 0; i < s->names.n; i++) {
		named.name = s->names.v[i];
		list->v[list->n++] = named;
	}
	return 0;
}

static int convert(struct arena *a, const struct oci_seccomp *s, uint32_t default_action,
		   struct named_list *list, struct err *e)
{
	size_t n = 0;

	for (size_t i = 0; i < s->syscalls.n; i++)
		n += s->syscalls.v[i].names.n;
	list->v = arena_array(a, n, sizeof(*list->v));
	for (size_t i = 0; i < s->syscalls.n; i++) {
		int r = convert_entry(a, &s->syscalls.v[i], default_action, list, e);

		if (r < 0)
			return err_wrap(e, "linux.seccomp.syscalls[%zu]", i);
	}
	return 0;
}

/* ---- rules -> numbers ---- */

/* A multiplexed call has its arguments in memory, where no filter can look: what would be
 * allowed, refused or traced on a condition is so for all arguments. */
static const struct sec_rule *mux_rule(struct arena *a, const struct sec_call *call,
				       const struct sec_rule *rule)
{
	struct sec_cond *c = arena_new_of(a, struct sec_cond);
	struct sec_rule *r = arena_new_of(a, struct sec_rule);

	*c = (struct sec_cond){.arg = 0, .op = SEC_MASKED_EQ, .value = call->mux,
			       .mask = call->mux_mask};
	*r = (struct sec_rule){rule->action, c, 1};
	return r;
}

static void add_entries(struct arena *a, struct entry_list *list, const struct sec_call *call,
			const struct named *named)
{
	size_t n = call->mux_mask ? 1 : named->n;

	for (size_t i = 0; i < n; i++) {
		const struct sec_rule *rule = &named->rules[i];

		list->keys[list->n] = (uint64_t)call->nr << 32 | list->n;
		list->rules[list->n++] = call->mux_mask ? mux_rule(a, call, rule) : rule;
	}
}

static void collect(struct arena *a, const struct sec_abi *abi, const struct named_list *names,
		    struct entry_list *list)
{
	for (size_t i = 0; i < names->n; i++) {
		struct sec_call calls[SEC_CALL_WAYS];
		int n = sec_call_find(abi, names->v[i].name, calls);

		if (n < 0 && abi == sec_abis)
			log_debug("linux.seccomp: unknown call %s is skipped", names->v[i].name);
		for (int k = 0; k < n; k++)
			add_entries(a, list, &calls[k], &names->v[i]);
	}
}

static int by_number(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

/* ---- numbers -> code ---- */

static struct sec_code return_code(struct arena *a, uint32_t action)
{
	struct sock_filter *i = arena_new_of(a, struct sock_filter);

	*i = (struct sock_filter)SEC_RETURN(action);
	return (struct sec_code){i, 1};
}

static bool same_code(const struct sec_code *a, const struct sec_code *b)
{
	return a->n == b->n && memcmp(a->v, b->v, a->n * sizeof(*a->v)) == 0;
}

/* The calls from `first` on get this code; a range that begins there already is replaced. */
static void add_range(struct range_list *list, uint32_t first, struct sec_code code)
{
	if (list->n && list->v[list->n - 1].first == first)
		list->n--;
	if (!list->n || !same_code(&list->v[list->n - 1].code, &code))
		list->v[list->n++] = (struct sec_range){first, code};
}

/* What happens at the number of these n keys. */
static struct sec_code entry_code(struct arena *a, const struct entry_list *list,
				  const uint64_t *keys, size_t n, uint32_t default_action)
{
	static struct sock_filter scratch[BPF_MAXINSNS]; /* too much for a small stack */
	struct sock_filter *copy;
	struct sec_program p = {scratch, 0, BPF_MAXINSNS};

	for (size_t i = 0; i < n; i++)
		if (key_rule(list, keys[i])->n == 0)
			return return_code(a, key_rule(list, keys[i])->action);
	for (size_t i = 0; i < n; i++)
		sec_put_rule(&p, key_rule(list, keys[i]));
	sec_put_one(&p, (struct sock_filter)SEC_RETURN(default_action));
	/* Too long: so is the whole program, and that is noticed at its end. */
	copy = arena_array(a, p.n, sizeof(*copy));
	memcpy(copy, scratch, (p.n < p.max ? p.n : p.max) * sizeof(*copy));
	return (struct sec_code){copy, p.n};
}

static void make_ranges(struct arena *a, const struct entry_list *list, uint32_t default_action,
			struct range_list *ranges)
{
	struct sec_code other = return_code(a, default_action);
	const uint64_t *keys = list->keys;
	size_t n;

	ranges->v = arena_array(a, 2 * list->n + 3, sizeof(*ranges->v));
	add_range(ranges, 0, other);
	for (size_t i = 0; i < list->n; i += n) {
		uint32_t nr = key_number(keys[i]);

		for (n = 1; i + n < list->n && key_number(keys[i + n]) == nr; n++)
			;
		add_range(ranges, nr, entry_code(a, list, keys + i, n, default_action));
		add_range(ranges, nr + 1, other);
	}
}

/* ---- code -> program ---- */

struct compiler {
	struct arena *arena;
	const struct oci_seccomp *profile;
	struct named_list names;
	uint32_t default_action;
	struct sec_program program;
};

static bool listed(const struct compiler *c, const struct sec_abi *abi)
{
	if (abi == sec_abis)
		return true;
	for (size_t i = 0; i < c->profile->architectures.n; i++)
		if (str_eq(c->profile->architectures.v[i], abi->name))
			return true;
	return false;
}

/* The x32 half of x86_64's numbers, when it is not listed. -1 is not one of its calls: it is what
 * a tracer writes to skip a call, and what it is on every other architecture, unknown. */
static void kill_x32(struct compiler *c, struct range_list *ranges)
{
	add_range(ranges, X32_FIRST, return_code(c->arena, SECCOMP_RET_KILL_PROCESS));
	add_range(ranges, UINT32_MAX, return_code(c->arena, c->default_action));
}

/* The section of one kernel architecture, whose first ABI is this. Returns the ABI behind it. */
static const struct sec_abi *put_section(struct compiler *c, const struct sec_abi *abi)
{
	uint32_t audit = abi->audit;
	struct entry_list entries = {0};
	struct range_list ranges = {0};
	size_t room = 0, at = c->program.n, n_listed = 0;
	bool x32 = abi[1].name && abi[1].audit == audit, x32_listed = x32 && listed(c, &abi[1]);

	for (size_t i = 0; i < c->names.n; i++)
		room += SEC_CALL_WAYS * c->names.v[i].n * (1 + x32);
	entries.rules = arena_array(c->arena, room, sizeof(*entries.rules));
	entries.keys = arena_array(c->arena, room, sizeof(*entries.keys));
	for (; abi->name && abi->audit == audit; abi++)
		if (listed(c, abi)) {
			collect(c->arena, abi, &c->names, &entries);
			n_listed++;
		}
	if (n_listed == 0)
		return abi;
	qsort(entries.keys, entries.n, sizeof(*entries.keys), by_number);
	make_ranges(c->arena, &entries, c->default_action, &ranges);
	if (x32 && !x32_listed)
		kill_x32(c, &ranges);
	/* Not this architecture: over the section to what follows. */
	sec_put_one(&c->program, (struct sock_filter)SEC_IF_EQUAL(audit, 1));
	c->program.n++;
	sec_put_one(&c->program, (struct sock_filter)SEC_LOAD(offsetof(struct seccomp_data, nr)));
	sec_put_search(&c->program, ranges.v, ranges.n);
	if (c->program.n <= c->program.max)
		c->program.v[at + 1] = (struct sock_filter)BPF_STMT(
			BPF_JMP | BPF_JA, (uint32_t)(c->program.n - at - 2));
	return abi;
}

static int check_archs(const struct strv *archs, struct err *e)
{
	for (size_t i = 0; i < archs->n; i++)
		if (str_index(sec_seccomp_archs, archs->v[i]) < 0)
			return err_set(e, EINVAL, "linux.seccomp.architectures[%zu]: unknown "
				       "architecture %s", i, archs->v[i]);
	return 0;
}

int sec_filter_build(struct arena *a, const struct oci_seccomp *s, struct sec_filter **ret_filter,
		     struct err *e)
{
	struct sec_filter *f = arena_new_of(a, struct sec_filter);
	struct compiler c = {.arena = a, .profile = s};
	int r;

	if ((r = sec_filter_options(s, f, e)) < 0 || (r = check_archs(&s->architectures, e)) < 0)
		return r;
	r = sec_action(s->default_action, &s->default_errno_ret, &c.default_action, e);
	if (r < 0)
		return err_wrap(e, "linux.seccomp.defaultAction");
	r = convert(a, s, c.default_action, &c.names, e);
	if (r < 0)
		return r;
	c.program = (struct sec_program){arena_array(a, BPF_MAXINSNS, sizeof(*c.program.v)), 0,
					 BPF_MAXINSNS};
	sec_put_one(&c.program, (struct sock_filter)SEC_LOAD(offsetof(struct seccomp_data, arch)));
	for (const struct sec_abi *abi = sec_abis; abi->name; )
		abi = put_section(&c, abi);
	sec_put_one(&c.program, (struct sock_filter)SEC_RETURN(SECCOMP_RET_KILL_PROCESS));
	if (sec_program_finish(&c.program, f) < 0)
		return err_set(e, E2BIG, "linux.seccomp: the program has %zu instructions, the "
			       "kernel takes at most %d", c.program.n, BPF_MAXINSNS);
	*ret_filter = f;
	return 0;
}

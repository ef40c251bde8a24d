/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device program, run by a small interpreter, decides every access as a direct reading of the
 * rules does: for hand-made lists, and for many random ones.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>

#include "cgroups/internal.h"
#include "tests/unit/test.h"

#define ALL 7u
#define MAX 4096

static struct bpf_insn prog[MAX];

/* The forms the generator uses; -1 for anything else, so that a new one shows. */
static int interpret(int n, const uint32_t ctx[3])
{
	uint32_t r[11] = {0};

	for (int pc = 0, steps = 0; pc >= 0 && pc < n && steps < MAX; pc++, steps++) {
		const struct bpf_insn *in = &prog[pc];
		uint32_t imm = (uint32_t)in->imm;
		bool jump = false;

		switch (in->code) {
		case BPF_LDX | BPF_MEM | BPF_W:
			if (in->src_reg != 1 || in->off % 4 || in->off > 8)
				return -1;
			r[in->dst_reg] = ctx[in->off / 4];
			break;
		case BPF_ALU | BPF_MOV | BPF_X:
			r[in->dst_reg] = r[in->src_reg];
			break;
		case BPF_ALU | BPF_MOV | BPF_K:
			r[in->dst_reg] = imm;
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			r[in->dst_reg] &= imm;
			break;
		case BPF_ALU | BPF_RSH | BPF_K:
			r[in->dst_reg] >>= imm;
			break;
		case BPF_JMP32 | BPF_JEQ | BPF_K:
			jump = r[in->dst_reg] == imm;
			break;
		case BPF_JMP32 | BPF_JNE | BPF_K:
			jump = r[in->dst_reg] != imm;
			break;
		case BPF_JMP32 | BPF_JSET | BPF_K:
			jump = r[in->dst_reg] & imm;
			break;
		case BPF_JMP | BPF_JA:
			jump = true;
			break;
		case BPF_JMP | BPF_EXIT:
			return (int)r[0];
		default:
			return -1;
		}
		if (jump && in->off < 0)
			return -1;
		pc += jump ? in->off : 0;
	}
	return -1;
}

/* What the rules say: each access bit by the last rule that matches it. */
static int model(const struct cg_device_list *l, char type, unsigned access, int64_t numbers[2])
{
	for (unsigned bit = 1; bit <= CG_DEV_WRITE; bit <<= 1) {
		bool allowed = false;

		for (size_t i = 0; i < l->n; i++) {
			const struct cg_device_rule *r = &l->v[i];

			if ((r->type == 'a' || r->type == type) && (r->access & bit) &&
			    (r->major < 0 || r->major == numbers[0]) &&
			    (r->minor < 0 || r->minor == numbers[1]))
				allowed = r->allow;
		}
		if ((access & bit) && !allowed)
			return 0;
	}
	return 1;
}

static int run(int n, char type, unsigned access, int64_t numbers[2])
{
	uint32_t ctx[3] = {
		access << 16 | (type == 'b' ? BPF_DEVCG_DEV_BLOCK : BPF_DEVCG_DEV_CHAR),
		(uint32_t)numbers[0],
		(uint32_t)numbers[1],
	};

	return interpret(n, ctx);
}

static int compare(const struct cg_device_list *l)
{
	static const int64_t some[] = {0, 1, 2, 3, 5, 8, 136, 0xffffffff};
	int n = cg_bpf_generate(l, prog, MAX);
	int bad = n < 0;

	for (unsigned x = 0; x < 8 * 8 * 7 * 2 && !bad; x++) {
		int64_t numbers[2] = {some[x % 8], some[x / 8 % 8]};
		unsigned access = 1 + x / 64 % 7;
		char type = x / 448 ? 'b' : 'c';

		bad = run(n, type, access, numbers) != model(l, type, access, numbers);
		if (bad)
			printf("# %c %lld:%lld access %u differs\n", type, (long long)numbers[0],
			       (long long)numbers[1], access);
	}
	return bad;
}

static void hand_made(void)
{
	struct cg_device_rule rules[] = {
		{false, 'a', ALL, -1, -1},        {true, 'c', CG_DEV_READ, 1, 3},
		{true, 'c', CG_DEV_WRITE, 1, 3},  {true, 'b', ALL, 8, -1},
		{false, 'b', CG_DEV_WRITE, 8, 1}, {true, 'c', ALL, -1, 5},
		{false, 'c', ALL, 136, 5},        {true, 'a', CG_DEV_MKNOD, -1, -1},
		{false, 'a', ALL, 2, 2},
	};
	struct cg_device_list l = {rules, sizeof(rules) / sizeof(rules[0])};
	int64_t null[2] = {1, 3};
	int n;

	CHECK_INT(compare(&l), 0);
	n = cg_bpf_generate(&l, prog, MAX);
	/* Two rules together allow reading and writing at once. */
	CHECK_INT(run(n, 'c', CG_DEV_READ | CG_DEV_WRITE, null), 1);
	CHECK_INT(run(n, 'b', CG_DEV_READ, null), 0);
}

static struct cg_plan *default_plan(struct arena *a, struct oci_resources *r)
{
	static struct cg_host host = {.kind = CG_V2,
				      .root = -1,
				      .writable = true,
				      .base = (char *)"/",
				      .own = (char *)"/",
				      .mount = "/sys/fs/cgroup"};
	struct oci_linux lin = {.resources = r};
	struct oci_spec spec = {.linux_ = &lin};
	struct cg_request rq = {.spec = &spec, .id = "x", .host = &host};
	struct cg_plan *p = NULL;
	struct err e = {0};

	if (cg_plan_build(a, &rq, &p, &e) < 0)
		printf("# %s\n", e.msg);
	return p;
}

static void silent_config(void)
{
	struct arena *a = arena_new();
	struct cg_plan *p = default_plan(a, NULL);
	int64_t null[2] = {1, 3}, tty[2] = {5, 0}, pts[2] = {136, 7}, mem[2] = {1, 1},
		sda[2] = {8, 0};
	int n;

	CHECK(p && p->filter_devices);
	if (!p)
		return;
	CHECK_INT(compare(&p->devices), 0);
	n = cg_bpf_generate(&p->devices, prog, MAX);
	CHECK(n > 0 && n < 32);
	CHECK_INT(run(n, 'c', ALL, null), 1);
	CHECK_INT(run(n, 'c', ALL, tty), 1);
	CHECK_INT(run(n, 'c', ALL, pts), 1);
	CHECK_INT(run(n, 'c', CG_DEV_READ, mem), 0);
	CHECK_INT(run(n, 'b', CG_DEV_READ, sda), 0);
	CHECK_INT(run(n, 'b', CG_DEV_MKNOD, sda), 1);
	arena_free(a);
}

static void allow_all_has_no_program(void)
{
	struct oci_device_rule rules[] = {{.allow = false, .access = (char *)"rwm"},
					  {.allow = true, .type = (char *)"a"}};
	struct oci_resources r = {.devices = {rules, 2}};
	struct arena *a = arena_new();
	struct cg_plan *p = default_plan(a, &r);

	CHECK(p && !p->filter_devices);
	arena_free(a);
}

/* The instruction list of a short policy, as it goes to the kernel. */
static void instruction_list(void)
{
	struct cg_device_rule rules[] = {{false, 'a', ALL, -1, -1},
					 {true, 'c', ALL, 1, 3},
					 {true, 'c', CG_DEV_READ, 5, -1}};
	static const struct bpf_insn want[] = {
		{BPF_LDX | BPF_MEM | BPF_W, 2, 1, 0, 0},
		{BPF_ALU | BPF_MOV | BPF_X, 3, 2, 0, 0},
		{BPF_ALU | BPF_AND | BPF_K, 2, 0, 0, 0xffff},
		{BPF_ALU | BPF_RSH | BPF_K, 3, 0, 0, 16},
		{BPF_LDX | BPF_MEM | BPF_W, 4, 1, 4, 0},
		{BPF_LDX | BPF_MEM | BPF_W, 5, 1, 8, 0},
		{BPF_JMP32 | BPF_JNE | BPF_K, 2, 0, 5, BPF_DEVCG_DEV_CHAR},
		{BPF_JMP32 | BPF_JNE | BPF_K, 4, 0, 2, 5},
		{BPF_ALU | BPF_AND | BPF_K, 3, 0, 0, ~2},
		{BPF_JMP32 | BPF_JEQ | BPF_K, 3, 0, 5, 0},
		{BPF_JMP32 | BPF_JNE | BPF_K, 4, 0, 1, 1},
		{BPF_JMP32 | BPF_JEQ | BPF_K, 5, 0, 3, 3},
		{BPF_JMP | BPF_JA, 0, 0, 0, 0},
		{BPF_ALU | BPF_MOV | BPF_K, 0, 0, 0, 0},
		{BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
		{BPF_ALU | BPF_MOV | BPF_K, 0, 0, 0, 1},
		{BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
	};
	struct cg_device_list l = {rules, 3};
	int n = cg_bpf_generate(&l, prog, MAX);

	CHECK_INT(n, sizeof(want) / sizeof(want[0]));
	for (int i = 0; i < n && i < (int)(sizeof(want) / sizeof(want[0])); i++) {
		if (memcmp(&prog[i], &want[i], sizeof(want[0])) != 0)
			printf("# instruction %d differs\n", i);
		CHECK(memcmp(&prog[i], &want[i], sizeof(want[0])) == 0);
	}
}

static void random_rules(void)
{
	static const int64_t some[] = {-1, 0, 1, 3, 5, 136};
	struct cg_device_rule rules[20];
	int bad = 0;

	srand(1);
	for (int round = 0; round < 3000; round++) {
		struct cg_device_list l = {rules, (size_t)(rand() % 20)};

		for (size_t i = 0; i < l.n; i++)
			rules[i] = (struct cg_device_rule){rand() % 2, "abc"[rand() % 3],
							   1 + (unsigned)rand() % 7,
							   some[rand() % 6], some[rand() % 6]};
		bad += compare(&l);
	}
	CHECK_INT(bad, 0);
}

static void too_many_rules(void)
{
	static struct cg_device_rule rules[3000];
	struct cg_device_list l = {rules, 3000};

	for (size_t i = 0; i < l.n; i++)
		rules[i] = (struct cg_device_rule){true, 'c', CG_DEV_READ, (int64_t)i, 1};
	CHECK_INT(cg_bpf_generate(&l, prog, MAX), -E2BIG);
}

TEST_MAIN(TEST(hand_made), TEST(silent_config), TEST(allow_all_has_no_program),
	  TEST(instruction_list), TEST(random_rules), TEST(too_many_rules))

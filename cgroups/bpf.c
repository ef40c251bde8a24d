/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device filter of cgroup v2: a BPF_PROG_TYPE_CGROUP_DEVICE program made from the rules and
 * attached to the cgroup's directory.
 *
 * Rules are looked at from the last to the first. Register 3 holds the accesses that no rule has
 * decided yet: an allow rule clears its bits (none left: allowed), a deny rule that has one of them
 * ends with "denied", and so does the end of the list. Neighbours with the same type or major
 * number share the test for it. All jumps go forward.
 *
 *   r2 type (BPF_DEVCG_DEV_*)   r3 undecided accesses   r4 major   r5 minor
 */
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/raw.h"
#include "cgroups/internal.h"

#define ALL (CG_DEV_MKNOD | CG_DEV_READ | CG_DEV_WRITE)
#define LOAD_TRIES 5
/* Jump offsets are 16 bit; far more rules than any spec has. */
#define PROG_MAX 8192
/* Programs attached to one cgroup that we look at when replacing. */
#define ATTACHED_MAX 64

/* Where a jump goes that is patched at the end. */
enum target { NOWHERE, TO_ALLOW, TO_DENY };

struct gen {
	struct bpf_insn *prog;
	size_t n, max;
};

static size_t emit(struct gen *g, uint8_t code, uint8_t dst, int16_t off, int32_t imm)
{
	if (g->n < g->max)
		g->prog[g->n] = (struct bpf_insn){.code = code,
						  .dst_reg = dst & 0xf,
						  .off = off,
						  .imm = imm};
	return g->n++;
}

/* A jump to one of the two ends: the target waits in src_reg, which these jumps do not use. */
static void emit_end(struct gen *g, uint8_t code, uint8_t dst, int32_t imm, enum target to)
{
	size_t at = emit(g, code, dst, 0, imm);

	if (at < g->max)
		g->prog[at].src_reg = to & 0xf;
}

/* Lets the jump at `at` land on the next instruction. */
static void land(struct gen *g, size_t at)
{
	if (at < g->max)
		g->prog[at].off = (int16_t)(g->n - at - 1);
}

static void emit_load(struct gen *g)
{
	const uint8_t load = BPF_LDX | BPF_MEM | BPF_W;
	size_t at;

	for (uint8_t reg = 2, off = 0; reg <= 5; reg++) {
		if (reg == 3)
			continue;
		at = emit(g, load, reg, off, 0);
		if (at < g->max)
			g->prog[at].src_reg = BPF_REG_1;
		off += 4;
		if (reg != 2)
			continue;
		at = emit(g, BPF_ALU | BPF_MOV | BPF_X, BPF_REG_3, 0, 0);
		if (at < g->max)
			g->prog[at].src_reg = BPF_REG_2;
		emit(g, BPF_ALU | BPF_AND | BPF_K, BPF_REG_2, 0, 0xffff);
		emit(g, BPF_ALU | BPF_RSH | BPF_K, BPF_REG_3, 0, 16);
	}
}

/* One rule whose type and major number are tested already. */
static void emit_rule(struct gen *g, const struct cg_device_rule *r)
{
	enum target end = r->allow ? TO_ALLOW : TO_DENY;
	size_t skip = SIZE_MAX;

	if (r->access == ALL && r->minor >= 0) {
		emit_end(g, BPF_JMP32 | BPF_JEQ | BPF_K, BPF_REG_5, (int32_t)r->minor, end);
		return;
	}
	if (r->minor >= 0)
		skip = emit(g, BPF_JMP32 | BPF_JNE | BPF_K, BPF_REG_5, 0, (int32_t)r->minor);
	if (r->access == ALL) {
		emit_end(g, BPF_JMP | BPF_JA, 0, 0, end);
	} else if (r->allow) {
		emit(g, BPF_ALU | BPF_AND | BPF_K, BPF_REG_3, 0, (int32_t)~r->access);
		emit_end(g, BPF_JMP32 | BPF_JEQ | BPF_K, BPF_REG_3, 0, end);
	} else {
		emit_end(g, BPF_JMP32 | BPF_JSET | BPF_K, BPF_REG_3, (int32_t)r->access, end);
	}
	if (skip != SIZE_MAX)
		land(g, skip);
}

/* Rules i, i - 1, ... with the same type and major number; returns how many. */
static size_t emit_major(struct gen *g, const struct cg_device_list *l, size_t i)
{
	const struct cg_device_rule *first = &l->v[i];
	size_t skip = SIZE_MAX, n = 0;

	if (first->major >= 0)
		skip = emit(g, BPF_JMP32 | BPF_JNE | BPF_K, BPF_REG_4, 0, (int32_t)first->major);
	do
		emit_rule(g, &l->v[i - n++]);
	while (n <= i && l->v[i - n].type == first->type && l->v[i - n].major == first->major);
	if (skip != SIZE_MAX)
		land(g, skip);
	return n;
}

/* The same for one type. */
static size_t emit_type(struct gen *g, const struct cg_device_list *l, size_t i)
{
	char type = l->v[i].type;
	size_t skip = SIZE_MAX, n = 0;

	if (type != 'a')
		skip = emit(g, BPF_JMP32 | BPF_JNE | BPF_K, BPF_REG_2, 0,
			    type == 'b' ? BPF_DEVCG_DEV_BLOCK : BPF_DEVCG_DEV_CHAR);
	do
		n += emit_major(g, l, i - n);
	while (n <= i && l->v[i - n].type == type);
	if (skip != SIZE_MAX)
		land(g, skip);
	return n;
}

/* The two ends, and the jumps that wait for them. */
static void emit_ends(struct gen *g)
{
	size_t deny = emit(g, BPF_ALU | BPF_MOV | BPF_K, BPF_REG_0, 0, 0);
	size_t allow;

	emit(g, BPF_JMP | BPF_EXIT, 0, 0, 0);
	allow = emit(g, BPF_ALU | BPF_MOV | BPF_K, BPF_REG_0, 0, 1);
	emit(g, BPF_JMP | BPF_EXIT, 0, 0, 0);
	for (size_t i = 0; i < deny && g->n <= g->max; i++) {
		struct bpf_insn *in = &g->prog[i];
		uint8_t class = BPF_CLASS(in->code);

		if ((class != BPF_JMP && class != BPF_JMP32) || in->src_reg == NOWHERE)
			continue;
		in->off = (int16_t)((in->src_reg == TO_ALLOW ? allow : deny) - i - 1);
		in->src_reg = 0;
	}
}

int cg_bpf_generate(const struct cg_device_list *rules, struct bpf_insn *prog, size_t max)
{
	struct gen g = {.prog = prog, .max = max < PROG_MAX ? max : PROG_MAX};

	emit_load(&g);
	for (size_t i = rules->n; i > 0;)
		i -= emit_type(&g, rules, i - 1);
	emit_ends(&g);
	return g.n > g.max ? -E2BIG : (int)g.n;
}

/* -errno, and errno itself untouched: the program is loaded beside a process that shares our memory
 * (nsenter/steps.h). */
static int bpf(int cmd, union bpf_attr *attr)
{
	return (int)raw_call(SYS_bpf, cmd, (long)attr, sizeof(*attr));
}

static int load(const struct cg_device_list *rules, struct err *e)
{
	struct bpf_insn prog[512];
	union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE};
	int n = cg_bpf_generate(rules, prog, sizeof(prog) / sizeof(prog[0]));
	int fd = -EAGAIN;

	if (n < 0)
		return err_set(e, -n, "linux.resources.devices: too many rules for one program");
	attr.insns = (uint64_t)(uintptr_t)prog;
	attr.insn_cnt = (uint32_t)n;
	attr.license = (uint64_t)(uintptr_t) "Apache-2.0";
	memcpy(attr.prog_name, "brig_devices", sizeof("brig_devices"));
	/* The verifier gives up when a signal or a freeze is pending, also one that is then ignored. */
	for (int i = 0; fd == -EAGAIN && i < LOAD_TRIES; i++)
		fd = bpf(BPF_PROG_LOAD, &attr);
	if (fd < 0)
		return err_set(e, -fd, "load the device filter (a BPF program, needs CAP_BPF or "
				       "CAP_SYS_ADMIN and CONFIG_CGROUP_BPF): %s", err_name(-fd));
	return fd;
}

static int attach(int dir, int prog, struct err *e)
{
	union bpf_attr attr = {
		.target_fd = (uint32_t)dir,
		.attach_bpf_fd = (uint32_t)prog,
		.attach_type = BPF_CGROUP_DEVICE,
		.attach_flags = BPF_F_ALLOW_MULTI,
	};

	int r = bpf(BPF_PROG_ATTACH, &attr);

	return r < 0 ? err_set(e, -r, "attach the device filter to the cgroup: %s", err_name(-r)) : 0;
}

/* Ids of the programs on the cgroup itself; their number or -errno. */
static int attached(int dir, uint32_t ids[ATTACHED_MAX])
{
	union bpf_attr attr = {0};
	int r;

	attr.query.target_fd = (uint32_t)dir;
	attr.query.attach_type = BPF_CGROUP_DEVICE;
	attr.query.prog_ids = (uint64_t)(uintptr_t)ids;
	attr.query.prog_cnt = ATTACHED_MAX;
	r = bpf(BPF_PROG_QUERY, &attr);
	return r < 0 ? r : (int)attr.query.prog_cnt;
}

static int detach(int dir, uint32_t id, struct err *e)
{
	union bpf_attr get = {.prog_id = id};
	int fd = bpf(BPF_PROG_GET_FD_BY_ID, &get), r = fd;
	union bpf_attr attr = {
		.target_fd = (uint32_t)dir,
		.attach_bpf_fd = (uint32_t)fd,
		.attach_type = BPF_CGROUP_DEVICE,
	};

	if (fd >= 0) {
		r = bpf(BPF_PROG_DETACH, &attr);
		raw_close(fd);
	}
	return r < 0 ? err_set(e, -r, "detach the old device filter from the cgroup: %s", err_name(-r)) : 0;
}

/*
 * All programs of a cgroup have to allow. So the new one is attached before the old ones go: there
 * is no moment without a filter.
 */
int cg_bpf_apply(int dir, const struct cg_device_list *rules, bool replace, struct err *e)
{
	uint32_t ids[ATTACHED_MAX] = {0};
	int old = replace ? attached(dir, ids) : 0;
	int r;

	if (old < 0)
		return err_set(e, -old, "ask for the device filter of the cgroup: %s",
			       err_name(-old));
	if (!cg_devices_allow_all(rules)) {
		int prog = load(rules, e);

		if (prog < 0)
			return prog;
		r = attach(dir, prog, e);
		raw_close(prog);
		if (r < 0)
			return r;
	}
	for (int i = 0; i < old; i++) {
		r = detach(dir, ids[i], e);
		if (r < 0)
			return r;
	}
	return 0;
}

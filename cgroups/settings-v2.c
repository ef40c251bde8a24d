/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linux.resources -> files of cgroup v2. Pure.
 *
 * The members are named after v1; what v2 has is converted, what it has not is an error (the spec
 * demands that), but for kernel memory, which memory.max includes and the spec lets us ignore.
 * A zero in limit, reservation, swap, shares, quota and period means "not set", as all callers and
 * runtimes have it; a zero in pids.limit is a limit (runtime-spec 1.3).
 */
#include <ctype.h>
#include <string.h>

#include "base/str.h"
#include "cgroups/internal.h"

#define R "linux.resources."

static const struct cg_target memory_max = CG_TARGET(CG_MEMORY, "memory.max", R "memory.limit");
static const struct cg_target memory_low =
	CG_TARGET(CG_MEMORY, "memory.low", R "memory.reservation");
static const struct cg_target memory_swap = CG_TARGET(CG_MEMORY, "memory.swap.max", R "memory.swap",
						      .missing = CG_MISSING_OK_WITHOUT_SWAP);
/* "No limit" asks for nothing that a missing file could weaken. */
static const struct cg_target memory_swap_free =
	CG_TARGET(CG_MEMORY, "memory.swap.max", R "memory.swap", .missing = CG_MISSING_OK);

static void add_i64(struct cg_builder *b, const struct cg_target *t, int64_t v)
{
	if (v < 0)
		cg_add(b, t, "max");
	else
		cg_add(b, t, "%lld", (long long)v);
}

/* memory.swap.max counts swap alone, linux.resources.memory.swap memory and swap. */
static int swap_v2(struct cg_builder *b, const struct oci_memory *m)
{
	int64_t swap = m->swap.set ? m->swap.v : 0;
	int64_t limit = m->limit.set ? m->limit.v : 0;
	int64_t v = swap - limit;

	if (swap == 0 && limit != -1)
		return 0;
	if (swap == -1 || (swap == 0 && limit == -1))
		v = -1;
	else if (limit <= 0)
		return cg_refuse(b, memory_swap.origin,
				 "a swap limit needs %s (swap counts memory "
				 "and swap together)",
				 memory_max.origin);
	else if (swap < limit)
		return cg_refuse(b, memory_swap.origin,
				 "%lld is below %s %lld (swap counts memory "
				 "and swap together)",
				 (long long)swap, memory_max.origin, (long long)limit);
	b->no_swap = v == 0;
	add_i64(b, v < 0 ? &memory_swap_free : &memory_swap, v);
	return 0;
}

static int memory_v2(struct cg_builder *b, const struct oci_memory *m)
{
	int r;

	if (m->disable_oom_killer.set && m->disable_oom_killer.v) {
		r = cg_refuse(b, R "memory.disableOOMKiller", "not possible with cgroup v2");
		if (r < 0)
			return r;
	}
	if (m->swappiness.set) {
		r = cg_refuse(b, R "memory.swappiness", "not possible with cgroup v2");
		if (r < 0)
			return r;
	}
	if ((m->kernel.set && m->kernel.v > 0) || (m->kernel_tcp.set && m->kernel_tcp.v > 0))
		cg_warn(b,
			R "memory.kernel and kernelTCP are ignored: cgroup v2 counts kernel memory "
			  "in the memory limit");
	if (m->limit.set && m->limit.v != 0)
		add_i64(b, &memory_max, m->limit.v);
	if (m->reservation.set && m->reservation.v != 0)
		add_i64(b, &memory_low, m->reservation.v);
	b->p->check_before_update = m->check_before_update.set && m->check_before_update.v;
	return swap_v2(b, m);
}

static int cpu_bandwidth_v2(struct cg_builder *b, const struct oci_cpu *c)
{
	static const struct cg_target max =
		CG_TARGET(CG_CPU, "cpu.max", R "cpu.quota", .pair = true);
	static const struct cg_target max_alone = CG_TARGET(CG_CPU, "cpu.max", R "cpu.quota");
	static const struct cg_target burst = CG_TARGET(CG_CPU, "cpu.max.burst", R "cpu.burst");
	unsigned long long period = c->period.set ? c->period.v : 0;
	bool has_burst = c->burst.set;

	if ((c->quota.set && c->quota.v != 0) || period) {
		const struct cg_target *t = has_burst ? &max : &max_alone;
		long long quota = c->quota.set ? c->quota.v : 0;

		/* The kernel's default period, in microseconds. */
		period = period ? period : 100000;
		if (quota > 0)
			cg_add(b, t, "%lld %llu", quota, period);
		else
			cg_add(b, t, "max %llu", period);
	}
	if (has_burst)
		cg_add(b, &burst, "%llu", (unsigned long long)c->burst.v);
	return 0;
}

static int cpu_v2(struct cg_builder *b, const struct oci_cpu *c)
{
	static const struct cg_target weight = CG_TARGET(CG_CPU, "cpu.weight", R "cpu.shares");
	static const struct cg_target idle = CG_TARGET(CG_CPU, "cpu.idle", R "cpu.idle");
	static const struct cg_target cpus = CG_TARGET(CG_CPUSET, "cpuset.cpus", R "cpu.cpus");
	static const struct cg_target mems = CG_TARGET(CG_CPUSET, "cpuset.mems", R "cpu.mems");
	int r = 0;

	if ((c->realtime_runtime.set && c->realtime_runtime.v) ||
	    (c->realtime_period.set && c->realtime_period.v))
		r = cg_refuse(b, R "cpu.realtimeRuntime", "not possible with cgroup v2");
	if (r < 0)
		return r;
	if (c->idle.set)
		cg_add(b, &idle, "%lld", (long long)c->idle.v);
	/* The kernel refuses it while idle is 1, which is a weight of its own. */
	if (c->shares.set && c->shares.v && !(c->idle.set && c->idle.v == 1))
		cg_add(b, &weight, "%u", cg_weight_of_shares(c->shares.v));
	r = cpu_bandwidth_v2(b, c);
	if (c->cpus && *c->cpus)
		cg_add(b, &cpus, "%s", c->cpus);
	if (c->mems && *c->mems)
		cg_add(b, &mems, "%s", c->mems);
	return r;
}

/* blkio.weight 10 to 1000 -> io.weight 1 to 10000. */
static unsigned io_weight(unsigned blkio)
{
	return blkio < 10 ? 1 : 1 + (blkio - 10) * 9999 / 990;
}

static int io_weights_v2(struct cg_builder *b, const struct oci_block_io *io)
{
	static const struct cg_target bfq =
		CG_TARGET(CG_IO, "io.bfq.weight", R "blockIO.weight", .missing = CG_MISSING_NEXT);
	static const struct cg_target plain = CG_TARGET(CG_IO, "io.weight", R "blockIO.weight");
	int r = 0;

	if (io->leaf_weight.set && io->leaf_weight.v)
		r = cg_refuse(b, R "blockIO.leafWeight", "not possible with cgroup v2");
	if (io->weight.set && io->weight.v && r == 0) {
		cg_add(b, &bfq, "%u", io->weight.v);
		cg_add(b, &plain, "%u", io_weight(io->weight.v));
	}
	for (size_t i = 0; i < io->weight_device.n && r == 0; i++) {
		const struct oci_weight_device *d = &io->weight_device.v[i];
		long long ma = d->major, mi = d->minor;

		if (d->leaf_weight.set && d->leaf_weight.v)
			r = cg_refuse(b, R "blockIO.weightDevice.leafWeight",
				      "not possible with cgroup v2");
		if (r < 0 || !d->weight.set || !d->weight.v)
			continue;
		cg_add(b, &bfq, "%lld:%lld %u", ma, mi, d->weight.v);
		cg_add(b, &plain, "%lld:%lld %u", ma, mi, io_weight(d->weight.v));
	}
	return r;
}

static void io_max(struct cg_builder *b, const struct oci_throttle_device_list *l, const char *key,
		   const char *origin)
{
	const struct cg_target t = CG_TARGET(CG_IO, "io.max", origin);

	for (size_t i = 0; i < l->n; i++) {
		const struct oci_throttle_device *d = &l->v[i];
		long long ma = d->major, mi = d->minor;

		if (d->rate)
			cg_add(b, &t, "%lld:%lld %s=%llu", ma, mi, key,
			       (unsigned long long)d->rate);
		else
			cg_add(b, &t, "%lld:%lld %s=max", ma, mi, key);
	}
}

static int io_v2(struct cg_builder *b, const struct oci_block_io *io)
{
	int r = io_weights_v2(b, io);

	io_max(b, &io->throttle_read_bps_device, "rbps", R "blockIO.throttleReadBpsDevice");
	io_max(b, &io->throttle_write_bps_device, "wbps", R "blockIO.throttleWriteBpsDevice");
	io_max(b, &io->throttle_read_iops_device, "riops", R "blockIO.throttleReadIOPSDevice");
	io_max(b, &io->throttle_write_iops_device, "wiops", R "blockIO.throttleWriteIOPSDevice");
	return r;
}

/* "2MB", "1GB", "64KB": the kernel's own spelling, so nothing else may reach a file name. */
static bool is_page_size(const char *s)
{
	size_t n = strspn(s, "0123456789");

	return n > 0 && n < 8 && s[0] != '0' && strchr("KMG", s[n]) && s[n] && s[n + 1] == 'B' &&
	       s[n + 2] == '\0';
}

/* v2 and v1 differ in the last word of the file's name. */
int cg_settings_hugetlb(struct cg_builder *b, const struct oci_hugepage_limit_list *l,
			const char *word)
{
	const char *origin = R "hugepageLimits";
	int r = 0;

	for (size_t i = 0; i < l->n && r == 0; i++) {
		const struct oci_hugepage_limit *h = &l->v[i];
		struct cg_target t = CG_TARGET(CG_HUGETLB, NULL, origin);

		if (!h->page_size || !is_page_size(h->page_size)) {
			r = cg_refuse(b, origin, "pageSize is not like \"2MB\"");
			continue;
		}
		t.file = arena_printf(b->a, "hugetlb.%s.%s", h->page_size, word);
		cg_add(b, &t, "%llu", (unsigned long long)h->limit);
		/* Reservations since Linux 5.7; usage is limited by the first file anyway. */
		t.file = arena_printf(b->a, "hugetlb.%s.rsvd.%s", h->page_size, word);
		t.missing = CG_MISSING_OK;
		cg_add(b, &t, "%llu", (unsigned long long)h->limit);
	}
	return r;
}

void cg_settings_rdma(struct cg_builder *b, const struct oci_rdma_list *l)
{
	static const struct cg_target t = CG_TARGET(CG_RDMA, "rdma.max", R "rdma");

	for (size_t i = 0; i < l->n; i++) {
		const struct oci_rdma *d = &l->v[i];
		const char *handles = "", *objects = "";

		if (d->hca_handles.set)
			handles = arena_printf(b->a, " hca_handle=%u", d->hca_handles.v);
		if (d->hca_objects.set)
			objects = arena_printf(b->a, " hca_object=%u", d->hca_objects.v);
		cg_add(b, &t, "%s%s%s", d->device, handles, objects);
	}
}

/* Files that do something instead of limiting something. */
static const char *const verbs[] = {
	"cgroup.procs", "cgroup.threads",         "cgroup.kill", "cgroup.freeze",
	"cgroup.type",  "cgroup.subtree_control", NULL,
};

static int unified_v2(struct cg_builder *b, const struct str_map *m)
{
	for (size_t i = 0; i < m->n; i++) {
		const char *key = m->v[i].key;
		char *value = arena_strdup(b->a, m->v[i].value);
		struct cg_target t = {.file = key};
		char *save = NULL;

		t.origin = arena_printf(b->a, R "unified[\"%s\"]", key);
		if (strchr(key, '/') || !strchr(key, '.') || key[0] == '.' || !isalpha(key[0]))
			return err_set(b->e, EINVAL, "%s is not a cgroup file name", t.origin);
		if (str_index(verbs, key) >= 0)
			return err_set(b->e, EINVAL, "%s is not a limit", t.origin);
		t.controller = cg_controller_of_file(key);
		/* A zswap store needs a swap entry, so swap.max 0 says the same. */
		if (str_eq(key, "memory.zswap.max") && b->no_swap)
			t.missing = CG_MISSING_OK;
		/* The kernel takes one device a write. */
		for (char *v = strtok_r(value, "\n", &save); v; v = strtok_r(NULL, "\n", &save))
			cg_add(b, &t, "%s", v);
	}
	return 0;
}

static int network_v2(struct cg_builder *b, const struct oci_network *n)
{
	if ((n->class_id.set && n->class_id.v) || n->priorities.n)
		return cg_refuse(b, R "network",
				 "classID and priorities are not possible with "
				 "cgroup v2");
	return 0;
}

int cg_settings_v2(struct cg_builder *b, const struct oci_resources *r)
{
	static const struct cg_target pids = CG_TARGET(CG_PIDS, "pids.max", R "pids.limit");
	int x = 0;

	if (r->memory)
		x = memory_v2(b, r->memory);
	if (x == 0 && r->cpu)
		x = cpu_v2(b, r->cpu);
	if (x == 0 && r->pids && r->pids->limit.set)
		add_i64(b, &pids, r->pids->limit.v);
	if (x == 0 && r->block_io)
		x = io_v2(b, r->block_io);
	if (x == 0)
		x = cg_settings_hugetlb(b, &r->hugepage_limits, "max");
	if (x == 0 && r->network)
		x = network_v2(b, r->network);
	if (x < 0)
		return x;
	cg_settings_rdma(b, &r->rdma);
	return unified_v2(b, &r->unified);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linux.resources -> files of cgroup v1. Pure. The members have v1's units, so most are written as
 * they are. `unified` does not exist here, and is an error.
 */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cgroups/internal.h"

#define R "linux.resources."

static int memory_v1(struct cg_builder *b, const struct oci_memory *m)
{
	static const struct cg_target limit =
		CG_TARGET(CG_MEMORY, "memory.limit_in_bytes", R "memory.limit", .pair = true);
	static const struct cg_target limit_alone =
		CG_TARGET(CG_MEMORY, "memory.limit_in_bytes", R "memory.limit");
	static const struct cg_target memsw =
		CG_TARGET(CG_MEMORY, "memory.memsw.limit_in_bytes", R "memory.swap",
			  .missing = CG_MISSING_OK_WITHOUT_SWAP);
	static const struct cg_target memsw_free =
		CG_TARGET(CG_MEMORY, "memory.memsw.limit_in_bytes", R "memory.swap",
			  .missing = CG_MISSING_OK);
	long long lim = m->limit.set ? m->limit.v : 0;
	long long swap = m->swap.set ? m->swap.v : 0;

	if (lim == -1 && swap == 0)
		swap = -1;
	if (swap > 0 && lim <= 0)
		return cg_refuse(b, memsw.origin,
				 "a swap limit needs %s (swap counts memory and "
				 "swap together)",
				 limit.origin);
	if (swap > 0 && swap < lim)
		return cg_refuse(b, memsw.origin,
				 "%lld is below %s %lld (swap counts memory and "
				 "swap together)",
				 swap, limit.origin, lim);
	if (lim)
		cg_add(b, swap ? &limit : &limit_alone, "%lld", lim);
	if (swap)
		cg_add(b, swap < 0 ? &memsw_free : &memsw, "%lld", swap);
	return 0;
}

static int memory_rest_v1(struct cg_builder *b, const struct oci_memory *m)
{
	static const struct cg_target soft =
		CG_TARGET(CG_MEMORY, "memory.soft_limit_in_bytes", R "memory.reservation");
	static const struct cg_target tcp =
		CG_TARGET(CG_MEMORY, "memory.kmem.tcp.limit_in_bytes", R "memory.kernelTCP");
	static const struct cg_target swappiness =
		CG_TARGET(CG_MEMORY, "memory.swappiness", R "memory.swappiness");
	static const struct cg_target oom =
		CG_TARGET(CG_MEMORY, "memory.oom_control", R "memory.disableOOMKiller");

	if (m->reservation.set && m->reservation.v)
		cg_add(b, &soft, "%lld", (long long)m->reservation.v);
	if (m->kernel.set && m->kernel.v > 0)
		cg_warn(b,
			R "memory.kernel is ignored: the kernel counts kernel memory in the memory "
			  "limit (the own limit went away in Linux 5.16)");
	if (m->kernel_tcp.set && m->kernel_tcp.v)
		cg_add(b, &tcp, "%lld", (long long)m->kernel_tcp.v);
	if (m->swappiness.set)
		cg_add(b, &swappiness, "%llu", (unsigned long long)m->swappiness.v);
	if (m->disable_oom_killer.set && m->disable_oom_killer.v)
		cg_add(b, &oom, "1");
	return 0;
}

static void bandwidth_v1(struct cg_builder *b, const struct oci_cpu *c)
{
	struct cg_target period = CG_TARGET(CG_CPU, "cpu.cfs_period_us", R "cpu.period");
	struct cg_target quota = CG_TARGET(CG_CPU, "cpu.cfs_quota_us", R "cpu.quota");
	static const struct cg_target burst = CG_TARGET(CG_CPU, "cpu.cfs_burst_us", R "cpu.burst");
	bool has_quota = c->quota.set && c->quota.v;

	period.pair = has_quota;
	quota.pair = c->burst.set;
	if (c->period.set && c->period.v)
		cg_add(b, &period, "%llu", (unsigned long long)c->period.v);
	if (has_quota)
		cg_add(b, &quota, "%lld", c->quota.v < 0 ? -1LL : (long long)c->quota.v);
	if (c->burst.set)
		cg_add(b, &burst, "%llu", (unsigned long long)c->burst.v);
}

static void cpu_v1(struct cg_builder *b, const struct oci_cpu *c)
{
	static const struct cg_target shares = CG_TARGET(CG_CPU, "cpu.shares", R "cpu.shares");
	static const struct cg_target idle = CG_TARGET(CG_CPU, "cpu.idle", R "cpu.idle");
	static const struct cg_target rt_period =
		CG_TARGET(CG_CPU, "cpu.rt_period_us", R "cpu.realtimePeriod");
	static const struct cg_target rt_runtime =
		CG_TARGET(CG_CPU, "cpu.rt_runtime_us", R "cpu.realtimeRuntime");
	static const struct cg_target cpus = CG_TARGET(CG_CPUSET, "cpuset.cpus", R "cpu.cpus");
	static const struct cg_target mems = CG_TARGET(CG_CPUSET, "cpuset.mems", R "cpu.mems");

	if (c->idle.set)
		cg_add(b, &idle, "%lld", (long long)c->idle.v);
	/* The kernel refuses it while idle is 1, which is a weight of its own. */
	if (c->shares.set && c->shares.v && !(c->idle.set && c->idle.v == 1))
		cg_add(b, &shares, "%llu", (unsigned long long)c->shares.v);
	bandwidth_v1(b, c);
	if (c->realtime_period.set && c->realtime_period.v)
		cg_add(b, &rt_period, "%llu", (unsigned long long)c->realtime_period.v);
	if (c->realtime_runtime.set && c->realtime_runtime.v)
		cg_add(b, &rt_runtime, "%lld", (long long)c->realtime_runtime.v);
	if (c->cpus && *c->cpus)
		cg_add(b, &cpus, "%s", c->cpus);
	if (c->mems && *c->mems)
		cg_add(b, &mems, "%s", c->mems);
}

static void io_weights_v1(struct cg_builder *b, const struct oci_block_io *io)
{
	static const struct cg_target bfq = CG_TARGET(CG_IO, "blkio.bfq.weight", R "blockIO.weight",
						      .missing = CG_MISSING_NEXT);
	static const struct cg_target plain = CG_TARGET(CG_IO, "blkio.weight", R "blockIO.weight");
	static const struct cg_target bfq_device =
		CG_TARGET(CG_IO, "blkio.bfq.weight_device", R "blockIO.weightDevice",
			  .missing = CG_MISSING_NEXT);
	static const struct cg_target device =
		CG_TARGET(CG_IO, "blkio.weight_device", R "blockIO.weightDevice");
	static const struct cg_target leaf =
		CG_TARGET(CG_IO, "blkio.leaf_weight", R "blockIO.leafWeight");
	static const struct cg_target leaf_device =
		CG_TARGET(CG_IO, "blkio.leaf_weight_device", R "blockIO.weightDevice.leafWeight");

	if (io->weight.set && io->weight.v) {
		cg_add(b, &bfq, "%u", io->weight.v);
		cg_add(b, &plain, "%u", io->weight.v);
	}
	if (io->leaf_weight.set && io->leaf_weight.v)
		cg_add(b, &leaf, "%u", io->leaf_weight.v);
	for (size_t i = 0; i < io->weight_device.n; i++) {
		const struct oci_weight_device *d = &io->weight_device.v[i];
		long long ma = d->major, mi = d->minor;

		if (d->weight.set && d->weight.v) {
			cg_add(b, &bfq_device, "%lld:%lld %u", ma, mi, d->weight.v);
			cg_add(b, &device, "%lld:%lld %u", ma, mi, d->weight.v);
		}
		if (d->leaf_weight.set && d->leaf_weight.v)
			cg_add(b, &leaf_device, "%lld:%lld %u", ma, mi, d->leaf_weight.v);
	}
}

static void throttle_v1(struct cg_builder *b, const struct oci_throttle_device_list *l,
			const char *file, const char *origin)
{
	const struct cg_target t = CG_TARGET(CG_IO, file, origin);

	for (size_t i = 0; i < l->n; i++)
		cg_add(b, &t, "%lld:%lld %llu", (long long)l->v[i].major, (long long)l->v[i].minor,
		       (unsigned long long)l->v[i].rate);
}

static void io_v1(struct cg_builder *b, const struct oci_block_io *io)
{
	io_weights_v1(b, io);
	throttle_v1(b, &io->throttle_read_bps_device, "blkio.throttle.read_bps_device",
		    R "blockIO.throttleReadBpsDevice");
	throttle_v1(b, &io->throttle_write_bps_device, "blkio.throttle.write_bps_device",
		    R "blockIO.throttleWriteBpsDevice");
	throttle_v1(b, &io->throttle_read_iops_device, "blkio.throttle.read_iops_device",
		    R "blockIO.throttleReadIOPSDevice");
	throttle_v1(b, &io->throttle_write_iops_device, "blkio.throttle.write_iops_device",
		    R "blockIO.throttleWriteIOPSDevice");
}

static void network_v1(struct cg_builder *b, const struct oci_network *n)
{
	static const struct cg_target class =
		CG_TARGET(CG_NET_CLS, "net_cls.classid", R "network.classID");
	static const struct cg_target prio =
		CG_TARGET(CG_NET_PRIO, "net_prio.ifpriomap", R "network.priorities");

	if (n->class_id.set && n->class_id.v)
		cg_add(b, &class, "%u", n->class_id.v);
	for (size_t i = 0; i < n->priorities.n; i++)
		cg_add(b, &prio, "%s %u", n->priorities.v[i].name, n->priorities.v[i].priority);
}

int cg_settings_v1(struct cg_builder *b, const struct oci_resources *r)
{
	static const struct cg_target pids = CG_TARGET(CG_PIDS, "pids.max", R "pids.limit");
	int x = 0;

	if (r->memory)
		x = memory_v1(b, r->memory);
	if (x == 0 && r->memory)
		x = memory_rest_v1(b, r->memory);
	if (r->cpu)
		cpu_v1(b, r->cpu);
	if (r->pids && r->pids->limit.set && r->pids->limit.v < 0)
		cg_add(b, &pids, "max");
	else if (r->pids && r->pids->limit.set)
		cg_add(b, &pids, "%lld", (long long)r->pids->limit.v);
	if (r->block_io)
		io_v1(b, r->block_io);
	if (r->network)
		network_v1(b, r->network);
	cg_settings_rdma(b, &r->rdma);
	if (x == 0)
		x = cg_settings_hugetlb(b, &r->hugepage_limits, "limit_in_bytes");
	for (size_t i = 0; i < r->unified.n && x == 0; i++)
		x = cg_refuse(b, arena_printf(b->a, R "unified[\"%s\"]", r->unified.v[i].key),
			      "this host has cgroup v1, unified needs v2");
	return x;
}

/* ---- devices ---- */

static bool same_key(const struct cg_device_rule *x, const struct cg_device_rule *y)
{
	return x->type == y->type && x->major == y->major && x->minor == y->minor;
}

static bool overlap(const struct cg_device_rule *x, const struct cg_device_rule *y)
{
	return (x->type == y->type || x->type == 'a' || y->type == 'a') &&
	       (x->major == y->major || x->major < 0 || y->major < 0) &&
	       (x->minor == y->minor || x->minor < 0 || y->minor < 0) && (x->access & y->access);
}

/*
 * v1 has a default and a set of exceptions to it. A rule that goes back to the default takes away
 * only exceptions with exactly its numbers; one that would have to cut a hole into a wider
 * exception cannot be said.
 */
static int check_hole(struct cg_builder *b, const struct cg_device_list *l, size_t i)
{
	const struct cg_device_rule *r = &l->v[i];

	for (size_t k = 1; k < i && r->allow == l->v[0].allow; k++) {
		const struct cg_device_rule *before = &l->v[k];

		if (before->allow != r->allow && overlap(before, r) && !same_key(before, r))
			return err_set(b->e, EOPNOTSUPP,
				       "linux.resources.devices: cgroup v1 cannot "
				       "make the exception %c %lld:%lld to a wider rule",
				       r->type, (long long)r->major, (long long)r->minor);
	}
	return 0;
}

static void number(char buf[16], int64_t v)
{
	if (v < 0)
		memcpy(buf, "*", 2);
	else
		snprintf(buf, 16, "%u", (unsigned)v);
}

static void add_device(struct cg_builder *b, const struct cg_device_rule *r, char type)
{
	static const struct cg_target to[2] = {
		CG_TARGET(CG_DEVICES, "devices.deny", R "devices"),
		CG_TARGET(CG_DEVICES, "devices.allow", R "devices"),
	};
	char major[16], minor[16];

	number(major, r->major);
	number(minor, r->minor);
	cg_add(b, &to[r->allow], "%c %s:%s %s%s%s", type, major, minor,
	       r->access & CG_DEV_READ ? "r" : "", r->access & CG_DEV_WRITE ? "w" : "",
	       r->access & CG_DEV_MKNOD ? "m" : "");
}

int cg_settings_devices_v1(struct cg_builder *b)
{
	const struct cg_device_list *l = &b->p->devices;
	static const struct cg_target deny = CG_TARGET(CG_DEVICES, "devices.deny", R "devices");
	static const struct cg_target allow = CG_TARGET(CG_DEVICES, "devices.allow", R "devices");

	if (!(b->rq->host->controllers & CG_BIT(CG_DEVICES)))
		return cg_refuse(b, R "devices",
				 "the cgroup controller devices is on no v1 hierarchy "
				 "of this host");
	/* The first rule of the list is always one for everything. */
	cg_add(b, l->v[0].allow ? &allow : &deny, "a");
	for (size_t i = 1; i < l->n; i++) {
		const struct cg_device_rule *r = &l->v[i];
		int x = check_hole(b, l, i);

		if (x < 0)
			return x;
		/* "a" means everything to v1, whatever numbers follow. */
		if (r->type == 'a') {
			add_device(b, r, 'b');
			add_device(b, r, 'c');
		} else {
			add_device(b, r, r->type);
		}
	}
	return 0;
}

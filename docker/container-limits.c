/* SPDX-License-Identifier: Apache-2.0 */
/* --memory, --cpus and their like as linux.resources. A limit that the host has no controller for is an
 * error of the plan (cgroups/), never passed over. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/str.h"
#include "docker/container-spec.h"

enum { CPU_PERIOD = 100000, NANO = 1000000000 };

static struct opt_i64 given(int64_t v)
{
	return (struct opt_i64){v != 0, v};
}

/* Without --memory-swap as much swap as memory; the same number for both means no swap. */
static struct oci_memory *memory(struct arena *a, const struct dk_run_options *o)
{
	struct oci_memory *m = arena_new_of(a, struct oci_memory);
	int64_t swap = o->memory_swap;

	if (o->memory > 0 && swap == 0)
		swap = o->memory > INT64_MAX / 2 ? -1 : 2 * o->memory;
	m->limit = given(o->memory);
	m->swap = given(swap);
	m->reservation = given(o->memory_reservation);
	if (o->memory_swappiness >= 0)
		m->swappiness = (struct opt_u64){true, (uint64_t)o->memory_swappiness};
	if (o->oom_kill_disable)
		m->disable_oom_killer = (struct opt_bool){true, true};
	return m->limit.set || m->swap.set || m->reservation.set || m->swappiness.set ||
			       m->disable_oom_killer.set ? m : NULL;
}

static struct oci_cpu *cpu(struct arena *a, const struct dk_run_options *o)
{
	struct oci_cpu *c = arena_new_of(a, struct oci_cpu);

	if (o->nano_cpus > 0) {
		c->period = (struct opt_u64){true, CPU_PERIOD};
		c->quota = (struct opt_i64){true, o->nano_cpus / (NANO / CPU_PERIOD)};
	}
	if (o->cpu_period > 0)
		c->period = (struct opt_u64){true, (uint64_t)o->cpu_period};
	if (o->cpu_quota != 0)
		c->quota = (struct opt_i64){true, o->cpu_quota};
	if (o->cpu_shares > 0)
		c->shares = (struct opt_u64){true, (uint64_t)o->cpu_shares};
	if (o->cpu_rt_period > 0)
		c->realtime_period = (struct opt_u64){true, (uint64_t)o->cpu_rt_period};
	if (o->cpu_rt_runtime != 0)
		c->realtime_runtime = (struct opt_i64){true, o->cpu_rt_runtime};
	c->cpus = o->cpuset_cpus && *o->cpuset_cpus ? o->cpuset_cpus : NULL;
	c->mems = o->cpuset_mems && *o->cpuset_mems ? o->cpuset_mems : NULL;
	return c->period.set || c->quota.set || c->shares.set || c->realtime_period.set ||
			       c->realtime_runtime.set || c->cpus || c->mems ? c : NULL;
}

static int device(const char *path, dev_t *ret, struct err *e)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return err_sys(e, "device %s", path);
	if (!S_ISBLK(st.st_mode))
		return err_set(e, ENOTBLK, "device %s: it is not a block device", path);
	*ret = st.st_rdev;
	return 0;
}

struct rates { const struct dk_device_rate *v; size_t n; };

static int throttles(struct arena *a, struct rates from, struct oci_throttle_device_list *to, struct err *e)
{
	to->v = arena_array(a, from.n + 1, sizeof(*to->v));
	for (size_t i = 0; i < from.n; i++) {
		dev_t d;

		if (device(from.v[i].path, &d, e) < 0)
			return -e->code;
		to->v[to->n++] = (struct oci_throttle_device){major(d), minor(d), from.v[i].rate};
	}
	return 0;
}

static int weights(struct arena *a, struct rates from, struct oci_weight_device_list *to, struct err *e)
{
	to->v = arena_array(a, from.n + 1, sizeof(*to->v));
	for (size_t i = 0; i < from.n; i++) {
		dev_t d;

		if (device(from.v[i].path, &d, e) < 0)
			return -e->code;
		to->v[to->n++] = (struct oci_weight_device){
			.major = major(d), .minor = minor(d), .weight = {true, (uint16_t)from.v[i].rate}};
	}
	return 0;
}

#define RATES(list) (struct rates){(list).v, (list).n}

static int block_io(struct arena *a, const struct dk_run_options *o, struct oci_resources *r, struct err *e)
{
	struct oci_block_io *b;

	if (!o->blkio_weight && !o->blkio_weight_device.n && !o->read_bps.n && !o->write_bps.n &&
	    !o->read_iops.n && !o->write_iops.n)
		return 0;
	b = r->block_io = arena_new_of(a, struct oci_block_io);
	if (o->blkio_weight)
		b->weight = (struct opt_u16){true, o->blkio_weight};
	if (weights(a, RATES(o->blkio_weight_device), &b->weight_device, e) < 0 ||
	    throttles(a, RATES(o->read_bps), &b->throttle_read_bps_device, e) < 0 ||
	    throttles(a, RATES(o->write_bps), &b->throttle_write_bps_device, e) < 0 ||
	    throttles(a, RATES(o->read_iops), &b->throttle_read_iops_device, e) < 0 ||
	    throttles(a, RATES(o->write_iops), &b->throttle_write_iops_device, e) < 0)
		return -e->code;
	return 0;
}

struct oci_resources *dk_spec_resources(struct arena *a, const struct dk_run_options *o, struct err *e)
{
	struct oci_resources *r = arena_new_of(a, struct oci_resources);

	r->memory = memory(a, o);
	r->cpu = cpu(a, o);
	if (o->pids_limit.set && o->pids_limit.v > 0) {
		r->pids = arena_new_of(a, struct oci_pids);
		r->pids->limit = o->pids_limit;
	}
	return block_io(a, o, r, e) < 0 ? NULL : r;
}

struct oci_rlimit_list dk_spec_rlimits(struct arena *a, const struct dk_run_options *o)
{
	struct oci_rlimit_list l = {.v = arena_array(a, o->ulimits.n + 1, sizeof(*l.v))};

	for (size_t i = 0; i < o->ulimits.n; i++) {
		char *type = arena_printf(a, "RLIMIT_%s", o->ulimits.v[i].name);

		for (char *p = type; *p; p++)
			if (*p >= 'a' && *p <= 'z')
				*p = (char)(*p - 'a' + 'A');
		/* -1 is "unlimited", which is all ones. */
		l.v[l.n++] = (struct oci_rlimit){type, (uint64_t)o->ulimits.v[i].soft,
						 (uint64_t)o->ulimits.v[i].hard};
	}
	return l;
}

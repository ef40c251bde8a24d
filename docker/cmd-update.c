/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `docker update`: what was given is laid over what the container has, checked like the options of run,
 * written to its cgroup if it runs, and then to its record. What the host cannot do is refused whether
 * it runs or not.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "docker/commands.h"
#include "docker/container-spec.h"
#include "docker/control.h"
#include "docker/each.h"
#include "docker/events.h"
#include "docker/parts.h"
#include "runtime/container.h"
#include "spec/spec.h"

struct change {
	struct dk_context *c;
	const struct dk_update_options *o;
};

/* ---- laying it over ---- */

static int refuse(struct dk_context *c, struct err *e, const char *what, const char *has)
{
	return dk_daemon_error(c, e, EINVAL, "Conflicting options: %s cannot be updated as %s has already been set", what,
			       has);
}

static int lay_cpu(const struct change *ch, struct dk_run_options *to, struct err *e)
{
	const struct dk_update_options *o = ch->o;

	if (o->nano_cpus && to->cpu_period)
		return refuse(ch->c, e, "Nano CPUs", "CPU Period");
	if (o->nano_cpus && to->cpu_quota)
		return refuse(ch->c, e, "Nano CPUs", "CPU Quota");
	if (o->cpu_period && to->nano_cpus)
		return refuse(ch->c, e, "CPU Period", "NanoCPUs");
	if (o->cpu_quota && to->nano_cpus)
		return refuse(ch->c, e, "CPU Quota", "NanoCPUs");
#define LAY(member)                                                                          \
	do {                                                                                 \
		if (o->member)                                                               \
			to->member = o->member;                                              \
	} while (0)
	LAY(nano_cpus);
	LAY(cpu_period);
	LAY(cpu_quota);
	LAY(cpu_shares);
	LAY(cpu_rt_period);
	LAY(cpu_rt_runtime);
	LAY(blkio_weight);
	if (o->cpuset_cpus && *o->cpuset_cpus)
		to->cpuset_cpus = o->cpuset_cpus;
	if (o->cpuset_mems && *o->cpuset_mems)
		to->cpuset_mems = o->cpuset_mems;
	return 0;
}

/* A limit without --memory-swap had twice as much for both; that has to grow with it by name. */
static int lay_memory(const struct change *ch, struct dk_run_options *to, struct err *e)
{
	const struct dk_update_options *o = ch->o;
	int64_t both = to->memory_swap ? to->memory_swap : to->memory > 0 ? 2 * to->memory : 0;

	if (o->memory > 0 && !o->memory_swap && both > 0 && o->memory > both)
		return dk_daemon_error(ch->c, e, EINVAL, "Memory limit should be smaller than already set memoryswap limit, "
				       "update the memoryswap at the same time");
	if (o->memory && !o->memory_swap)
		to->memory_swap = both; /* it stays */
	LAY(memory);
	LAY(memory_swap);
	LAY(memory_reservation);
	LAY(kernel_memory);
#undef LAY
	return 0;
}

static int lay_restart(const struct change *ch, struct dk_run_options *to, struct err *e)
{
	const struct dk_update_options *o = ch->o;

	if (!o->restart_flag || !*o->restart_flag)
		return 0;
	if (dk_resolve_restart(ch->c, o->restart, o->restart_max, e) < 0)
		return -e->code;
	if (to->remove && !str_eq(o->restart, "no"))
		return dk_daemon_error(ch->c, e, EINVAL, "Restart policy cannot be updated because AutoRemove is enabled for "
				       "the container");
	to->restart = o->restart;
	to->restart_max = o->restart_max;
	return 0;
}

static int check(const struct change *ch, const struct dk_run_options *o, struct err *e)
{
	const struct dk_limits l = {
		.memory = o->memory, .memory_reservation = o->memory_reservation, .memory_swap = o->memory_swap,
		.nano_cpus = o->nano_cpus, .cpu_period = o->cpu_period, .cpu_quota = o->cpu_quota,
		.memory_swappiness = o->memory_swappiness, .blkio_weight = o->blkio_weight, .update = true,
	};

	return dk_resolve_limits(ch->c, &l, (unsigned)sysconf(_SC_NPROCESSORS_ONLN), e);
}

/* ---- the cgroup ---- */

/* Only the groups of which something was given: the others may hold what this host cannot write. */
static struct oci_resources *resources(const struct change *ch, const struct dk_run_options *all, struct err *e)
{
	const struct dk_update_options *o = ch->o;
	struct oci_resources *r = dk_spec_resources(ch->c->arena, all, e);

	if (!r)
		return NULL;
	if (!o->memory && !o->memory_swap && !o->memory_reservation)
		r->memory = NULL;
	if (!o->nano_cpus && !o->cpu_period && !o->cpu_quota && !o->cpu_shares && !o->cpu_rt_period &&
	    !o->cpu_rt_runtime && !(o->cpuset_cpus && *o->cpuset_cpus) && !(o->cpuset_mems && *o->cpuset_mems))
		r->cpu = NULL;
	if (!o->blkio_weight)
		r->block_io = NULL;
	if (!o->pids_limit.set)
		r->pids = NULL;
	else if (!r->pids) {
		r->pids = arena_new_of(ch->c->arena, struct oci_pids);
		r->pids->limit = (struct opt_i64){true, -1};
	}
	return r;
}

static int apply(const struct change *ch, const char *id, const struct oci_resources *r, struct err *e)
{
	auto_container struct rt_container k = RT_CONTAINER_NONE;
	auto_cg_host struct cg_host host = {.root = -1};
	struct err none = {0};
	bool runs = rt_container_open_locked(ch->c->arena, &ch->c->store->runtime, id, &k, &none) == 0 && k.pidfd >= 0;
	struct cg_request rq = {.id = id, .host = &host, .rootless = runs ? k.doc->rootless : geteuid() != 0,
				.systemd = runs && k.doc->systemd};
	struct cg_plan *p;

	if (spec_validate_resources(r, e) < 0 || cg_probe(ch->c->arena, &host, e) < 0 ||
	    cg_plan_update(ch->c->arena, r, &rq, &p, e) < 0)
		return -e->code;
	if (!runs || !p->settings.n)
		return 0;
	if (!k.cgroup)
		return err_set(e, ENOENT, "%s: the container has no cgroup", p->settings.v[0].origin);
	return cg_apply(k.cgroup, p, e);
}

/* ---- the command ---- */

static int update(struct dk_record *r, void *arg, struct err *e)
{
	const struct change *ch = arg;
	struct dk_run_options *o = &r->options;
	struct oci_resources *res;
	const char *why;

	if (lay_cpu(ch, o, e) < 0 || lay_memory(ch, o, e) < 0 || lay_restart(ch, o, e) < 0 || check(ch, o, e) < 0)
		return -e->code;
	if (ch->o->pids_limit.set)
		o->pids_limit = ch->o->pids_limit;
	res = resources(ch, o, e);
	if (res && apply(ch, r->id, res, e) == 0)
		return 0;
	why = arena_strdup(ch->c->arena, e->msg);
	return dk_daemon_error(ch->c, e, e->code, "Cannot update container %s: %s", r->id, why);
}

static int update_one(struct dk_context *c, const char *ref, void *options, struct err *e)
{
	struct change ch = {c, options};
	struct dk_record *r;

	if (dk_container_find(c, ref, &r, e) < 0 || dk_record_update(c->store, r->id, update, &ch, e) < 0)
		return -e->code;
	if (ch.o->restart_flag)
		dk_wake_monitor(c, r); /* it may be waiting for a restart that is not to come any more */
	dk_container_event(c->store, r, "update", (struct dk_event_fact){0});
	return 0;
}

int dk_cmd_update(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	return dk_each_argument(c, args, update_one, e);
}

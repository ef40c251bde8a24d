/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/update.h"

#include <string.h>

#include "base/str.h"

#define TAKE_SET(member)                     \
	do {                                 \
		if (u->member.set)           \
			m->member = u->member; \
	} while (0)
#define TAKE_NON_ZERO(member)                      \
	do {                                       \
		if (u->member.set && u->member.v)  \
			m->member = u->member;     \
	} while (0)
#define TAKE_TEXT(member)                        \
	do {                                     \
		if (u->member && *u->member)     \
			m->member = u->member;   \
	} while (0)

static struct oci_memory *merge_memory(struct arena *a, const struct oci_memory *saved,
				       const struct oci_memory *u)
{
	struct oci_memory *m = arena_new_of(a, struct oci_memory);

	if (saved)
		*m = *saved;
	TAKE_NON_ZERO(limit);
	TAKE_NON_ZERO(reservation);
	TAKE_NON_ZERO(swap);
	TAKE_NON_ZERO(kernel);
	TAKE_NON_ZERO(kernel_tcp);
	TAKE_SET(swappiness);
	TAKE_SET(disable_oom_killer);
	TAKE_SET(use_hierarchy);
	TAKE_SET(check_before_update);
	return m;
}

static struct oci_cpu *merge_cpu(struct arena *a, const struct oci_cpu *saved,
				 const struct oci_cpu *u)
{
	struct oci_cpu *m = arena_new_of(a, struct oci_cpu);

	if (saved)
		*m = *saved;
	TAKE_NON_ZERO(shares);
	TAKE_NON_ZERO(quota);
	TAKE_NON_ZERO(period);
	TAKE_SET(burst);
	TAKE_NON_ZERO(realtime_runtime);
	TAKE_NON_ZERO(realtime_period);
	TAKE_SET(idle);
	TAKE_TEXT(cpus);
	TAKE_TEXT(mems);
	return m;
}

static struct oci_block_io *merge_block_io(struct arena *a, const struct oci_block_io *saved,
					   const struct oci_block_io *u)
{
	struct oci_block_io *m = arena_new_of(a, struct oci_block_io);

	if (saved)
		*m = *saved;
	TAKE_NON_ZERO(weight);
	TAKE_NON_ZERO(leaf_weight);
	if (u->weight_device.n)
		m->weight_device = u->weight_device;
	if (u->throttle_read_bps_device.n)
		m->throttle_read_bps_device = u->throttle_read_bps_device;
	if (u->throttle_write_bps_device.n)
		m->throttle_write_bps_device = u->throttle_write_bps_device;
	if (u->throttle_read_iops_device.n)
		m->throttle_read_iops_device = u->throttle_read_iops_device;
	if (u->throttle_write_iops_device.n)
		m->throttle_write_iops_device = u->throttle_write_iops_device;
	return m;
}

static struct str_map merge_unified(struct arena *a, const struct str_map *saved,
				    const struct str_map *u)
{
	struct str_map m = {.v = arena_array(a, saved->n + u->n + 1, sizeof(*m.v)), .n = saved->n};

	if (saved->n)
		memcpy(m.v, saved->v, saved->n * sizeof(*m.v));
	for (size_t i = 0; i < u->n; i++) {
		size_t at = 0;

		while (at < m.n && !str_eq(m.v[at].key, u->v[i].key))
			at++;
		m.v[at] = u->v[i];
		m.n += at == m.n;
	}
	return m;
}

/* The groups that are not looked into. */
static void merge_rest(struct arena *a, struct oci_resources *saved, const struct oci_resources *u)
{
	if (u->pids && u->pids->limit.set)
		saved->pids = u->pids;
	if (u->block_io)
		saved->block_io = merge_block_io(a, saved->block_io, u->block_io);
	if (u->hugepage_limits.n)
		saved->hugepage_limits = u->hugepage_limits;
	if (u->network)
		saved->network = u->network;
	if (u->rdma.n)
		saved->rdma = u->rdma;
	if (u->unified.n)
		saved->unified = merge_unified(a, &saved->unified, &u->unified);
}

struct oci_resources *update_merge(struct arena *a, struct oci_resources *saved,
				   const struct oci_resources *with)
{
	struct oci_resources *apply = arena_new_of(a, struct oci_resources);

	*apply = *with;
	apply->devices = (struct oci_device_rule_list){0};
	if (with->memory)
		apply->memory = saved->memory = merge_memory(a, saved->memory, with->memory);
	if (with->cpu)
		apply->cpu = saved->cpu = merge_cpu(a, saved->cpu, with->cpu);
	merge_rest(a, saved, with);
	return apply;
}

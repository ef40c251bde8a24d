/* SPDX-License-Identifier: Apache-2.0 */
/* What config-linux.md says about `linux.resources`, for start and update alike. */
#include <string.h>

#include "base/str.h"
#include "spec/check.h"
#include "spec/spec.h"

/* -1 is how callers of docker's --device-cgroup-rule write "all". */
static bool is_device_number(const struct opt_i64 *n)
{
	return !n->set || (n->v >= -1 && n->v <= UINT32_MAX);
}

static int check_device_rule(const struct oci_device_rule *d, size_t i, struct err *e)
{
	if (d->type && (strlen(d->type) != 1 || !strchr("abc", *d->type)))
		return check_fail(
			e, "linux.resources.devices[%zu].type: \"%.64s\" is not one of a, b, c", i,
			d->type);
	if (!is_device_number(&d->major))
		return check_fail(e,
				  "linux.resources.devices[%zu].major: %lld is not a device number",
				  i, (long long)d->major.v);
	if (!is_device_number(&d->minor))
		return check_fail(e,
				  "linux.resources.devices[%zu].minor: %lld is not a device number",
				  i, (long long)d->minor.v);
	if (d->access && (!*d->access || d->access[strspn(d->access, "rwm")]))
		return check_fail(
			e,
			"linux.resources.devices[%zu].access: \"%.64s\" is not made of r, "
			"w and m",
			i, d->access);
	return 0;
}

static int check_memory(const struct oci_memory *m, struct err *e)
{
	const struct {
		const char *key;
		const struct opt_i64 *value;
	} limits[] = {
		{"limit", &m->limit},   {"reservation", &m->reservation}, {"swap", &m->swap},
		{"kernel", &m->kernel}, {"kernelTCP", &m->kernel_tcp},
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (limits[i].value->v < -1)
			return check_fail(
				e, "linux.resources.memory.%s: %lld is neither a size nor -1",
				limits[i].key, (long long)limits[i].value->v);
	if (m->swappiness.v > 100)
		return check_fail(e, "linux.resources.memory.swappiness: %llu is larger than 100",
				  (unsigned long long)m->swappiness.v);
	if (m->swap.v > 0 && m->limit.v > 0 && m->swap.v < m->limit.v)
		return check_fail(
			e, "linux.resources.memory.swap: is memory and swap together, and so "
			   "must not be smaller than limit");
	return 0;
}

static int check_cpu(const struct oci_cpu *c, struct err *e)
{
	if (c->quota.v > 0 && c->burst.v > (uint64_t)c->quota.v)
		return check_fail(e, "linux.resources.cpu.burst: must not be larger than quota");
	if (c->period.set && c->period.v == 0 && c->quota.v > 0)
		return check_fail(e, "linux.resources.cpu.period: must be larger than 0");
	if (c->idle.set && c->idle.v != 0 && c->idle.v != 1)
		return check_fail(e, "linux.resources.cpu.idle: %lld is neither 0 nor 1",
				  (long long)c->idle.v);
	if (c->cpus && !check_is_list(c->cpus))
		return check_fail(e, "linux.resources.cpu.cpus: \"%.64s\" is not a list of CPUs",
				  c->cpus);
	if (c->mems && !check_is_list(c->mems))
		return check_fail(
			e, "linux.resources.cpu.mems: \"%.64s\" is not a list of memory nodes",
			c->mems);
	return 0;
}

static int check_io_device(const char *list, size_t i, int64_t major, int64_t minor, struct err *e)
{
	if (major < 0 || major > UINT32_MAX)
		return check_fail(
			e, "linux.resources.blockIO.%s[%zu].major: %lld is not a device number",
			list, i, (long long)major);
	if (minor < 0 || minor > UINT32_MAX)
		return check_fail(
			e, "linux.resources.blockIO.%s[%zu].minor: %lld is not a device number",
			list, i, (long long)minor);
	return 0;
}

static int check_weights(const struct oci_weight_device_list *list, struct err *e)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < list->n; i++) {
		const struct oci_weight_device *d = &list->v[i];

		r = check_io_device("weightDevice", i, d->major, d->minor, e);
		if (r == 0 && !d->weight.set && !d->leaf_weight.set)
			r = check_fail(e,
				       "linux.resources.blockIO.weightDevice[%zu]: needs weight or "
				       "leafWeight",
				       i);
	}
	return r;
}

static int check_block_io(const struct oci_block_io *b, struct err *e)
{
	const struct {
		const char *name;
		const struct oci_throttle_device_list *list;
	} lists[] = {
		{"throttleReadBpsDevice", &b->throttle_read_bps_device},
		{"throttleWriteBpsDevice", &b->throttle_write_bps_device},
		{"throttleReadIOPSDevice", &b->throttle_read_iops_device},
		{"throttleWriteIOPSDevice", &b->throttle_write_iops_device},
	};
	int r = check_weights(&b->weight_device, e);

	for (size_t k = 0; k < sizeof(lists) / sizeof(lists[0]); k++) {
		const struct oci_throttle_device_list *list = lists[k].list;

		for (size_t i = 0; r == 0 && i < list->n; i++)
			r = check_io_device(lists[k].name, i, list->v[i].major, list->v[i].minor,
					    e);
	}
	return r;
}

/* "64KB", "2MB", "1GB": it becomes part of a file name. */
static bool is_page_size(const char *s)
{
	size_t n = strspn(s, "0123456789");

	return n > 0 && n < 8 && *s != '0' && s[n] && strchr("KMG", s[n]) && str_eq(s + n + 1, "B");
}

static int check_hugepages(const struct oci_hugepage_limit_list *list, struct err *e)
{
	for (size_t i = 0; i < list->n; i++)
		if (!is_page_size(list->v[i].page_size))
			return check_fail(
				e,
				"linux.resources.hugepageLimits[%zu].pageSize: \"%.64s\" is "
				"not a size like 2MB",
				i, list->v[i].page_size);
	return 0;
}

static int check_network(const struct oci_network *n, struct err *e)
{
	for (size_t i = 0; i < n->priorities.n; i++)
		if (!check_is_interface(n->priorities.v[i].name))
			return check_fail(
				e,
				"linux.resources.network.priorities[%zu].name: \"%.64s\" is "
				"not an interface name",
				i, n->priorities.v[i].name);
	return 0;
}

static int check_rdma(const struct oci_rdma_list *list, struct err *e)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct oci_rdma *d = &list->v[i];

		if (!*d->device || check_has_control(d->device) || strchr(d->device, ' '))
			return check_fail(e, "linux.resources.rdma: \"%.64s\" is not a device name",
					  d->device);
		if (!d->hca_handles.set && !d->hca_objects.set)
			return check_fail(
				e, "linux.resources.rdma.%.64s: needs hcaHandles or hcaObjects",
				d->device);
	}
	return 0;
}

/* Keys are file names in the container's cgroup and must stay there (crun 1.28 class). */
static int check_unified(const struct str_map *m, struct err *e)
{
	for (size_t i = 0; i < m->n; i++) {
		const char *key = m->v[i].key;

		if (!*key || *key == '.' || strchr(key, '/') || check_has_control(key))
			return check_fail(e,
					  "linux.resources.unified: \"%.64s\" is not the name of a "
					  "cgroup file",
					  key);
	}
	return 0;
}

int spec_validate_resources(const struct oci_resources *res, struct err *e)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < res->devices.n; i++)
		r = check_device_rule(&res->devices.v[i], i, e);
	if (r == 0 && res->memory)
		r = check_memory(res->memory, e);
	if (r == 0 && res->cpu)
		r = check_cpu(res->cpu, e);
	if (r == 0 && res->pids && res->pids->limit.v < -1)
		r = check_fail(e, "linux.resources.pids.limit: %lld is neither a number nor -1",
			       (long long)res->pids->limit.v);
	if (r == 0 && res->block_io)
		r = check_block_io(res->block_io, e);
	if (r == 0)
		r = check_hugepages(&res->hugepage_limits, e);
	if (r == 0 && res->network)
		r = check_network(res->network, e);
	if (r == 0)
		r = check_rdma(&res->rdma, e);
	return r == 0 ? check_unified(&res->unified, e) : r;
}

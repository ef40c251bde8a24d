/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `brig update`: new limits for a live container, from options or as the JSON object
 * linux.resources. What was written is saved, so that the next update starts from it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/log.h"
#include "base/str.h"
#include "cgroups/resctrl.h"
#include "json/json.h"
#include "runtime/cli.h"
#include "runtime/commands.h"
#include "runtime/container.h"
#include "runtime/pidns.h"
#include "runtime/update.h"
#include "spec/spec.h"

struct update_options {
	const char *id, *file;
	const char *blkio_weight, *cpu_period, *cpu_quota, *cpu_burst, *cpu_share, *cpu_rt_period,
		*cpu_rt_runtime, *cpu_idle, *cpuset_cpus, *cpuset_mems, *kernel_memory,
		*kernel_memory_tcp, *memory, *memory_reservation, *memory_swap, *pids_limit,
		*l3_cache, *mem_bw;
};

/* ---- the resources ---- */

static int read_resources(struct arena *a, const char *path, struct oci_resources **ret,
			  struct err *e)
{
	auto_strbuf struct strbuf text = {0};
	bool in = str_eq(path, "-");
	int r = in ? io_read_fd(STDIN_FILENO, JSON_MAX_BYTES, &text, "stdin", e)
		   : io_read_file(AT_FDCWD, path, JSON_MAX_BYTES, &text, e);

	if (r == 0)
		r = spec_parse_resources(strbuf_str(&text), text.len, a, ret, e);
	return r < 0 ? err_wrap(e, "--resources %s", path) : 0;
}

static int set_number(const char *name, const char *text, struct opt_i64 *ret, struct err *e)
{
	int64_t v;

	if (!text || !*text)
		return 0;
	if (str_i64(text, &v) < 0)
		return err_set(e, EINVAL, "--%s: \"%s\" is not a number", name, text);
	*ret = (struct opt_i64){true, v};
	return 0;
}

static int set_unsigned(const char *name, const char *text, struct opt_u64 *ret, struct err *e)
{
	uint64_t v;

	if (!text || !*text)
		return 0;
	if (str_u64(text, UINT64_MAX, &v) < 0)
		return err_set(e, EINVAL, "--%s: \"%s\" is not a number of 0 or more", name, text);
	*ret = (struct opt_u64){true, v};
	return 0;
}

/* "-1", "1048576", "64m", "64MiB": powers of 1024. */
static int set_bytes(const char *name, const char *text, struct opt_i64 *ret, struct err *e)
{
	static const char units[] = "kmgtp";
	const char *unit;
	size_t n = text ? strspn(text, "0123456789") : 0;
	char digits[24];
	uint64_t v;
	int shift = 0;

	if (!text || !*text)
		return 0;
	if (str_eq(text, "-1")) {
		*ret = (struct opt_i64){true, -1};
		return 0;
	}
	unit = text[n] ? strchr(units, text[n] | 0x20) : NULL;
	if (unit)
		shift = 10 * (int)(unit - units + 1);
	if (n == 0 || n >= sizeof(digits) || (text[n] && !unit && strcasecmp(text + n, "b") != 0) ||
	    (unit && text[n + 1] && strcasecmp(text + n + 1, "b") != 0 &&
	     strcasecmp(text + n + 1, "ib") != 0))
		return err_set(e, EINVAL, "--%s: \"%s\" is not a number of bytes", name, text);
	memcpy(digits, text, n);
	digits[n] = '\0';
	if (str_u64(digits, (uint64_t)INT64_MAX >> shift, &v) < 0)
		return err_set(e, ERANGE, "--%s: %s is too large", name, text);
	*ret = (struct opt_i64){true, (int64_t)(v << shift)};
	return 0;
}

static int memory_of(const struct update_options *o, struct oci_memory *m, struct err *e)
{
	int r = set_bytes("memory", o->memory, &m->limit, e);

	if (r == 0)
		r = set_bytes("memory-reservation", o->memory_reservation, &m->reservation, e);
	if (r == 0)
		r = set_bytes("memory-swap", o->memory_swap, &m->swap, e);
	if (r == 0 && (o->kernel_memory || o->kernel_memory_tcp))
		log_warning("--kernel-memory and --kernel-memory-tcp are ignored: the kernel counts them in "
			    "the memory limit");
	return r;
}

static int cpu_of(const struct update_options *o, struct oci_cpu *c, struct err *e)
{
	int r = set_unsigned("cpu-share", o->cpu_share, &c->shares, e);

	if (r == 0)
		r = set_number("cpu-quota", o->cpu_quota, &c->quota, e);
	if (r == 0)
		r = set_unsigned("cpu-period", o->cpu_period, &c->period, e);
	if (r == 0)
		r = set_unsigned("cpu-burst", o->cpu_burst, &c->burst, e);
	if (r == 0)
		r = set_number("cpu-rt-runtime", o->cpu_rt_runtime, &c->realtime_runtime, e);
	if (r == 0)
		r = set_unsigned("cpu-rt-period", o->cpu_rt_period, &c->realtime_period, e);
	if (r == 0)
		r = set_number("cpu-idle", o->cpu_idle, &c->idle, e);
	c->cpus = (char *)o->cpuset_cpus;
	c->mems = (char *)o->cpuset_mems;
	return r;
}

static int weight_of(const struct update_options *o, struct oci_block_io *io, struct err *e)
{
	struct opt_u64 v = {0};
	int r = set_unsigned("blkio-weight", o->blkio_weight, &v, e);

	if (r == 0 && v.v > UINT16_MAX)
		return err_set(e, ERANGE, "--blkio-weight: %s is not from 10 to 1000", o->blkio_weight);
	io->weight = (struct opt_u16){v.set, (uint16_t)v.v};
	return r;
}

static int from_options(struct arena *a, const struct update_options *o, struct oci_resources **ret,
			struct err *e)
{
	struct oci_resources *u = arena_new_of(a, struct oci_resources);
	struct oci_memory m = {0};
	struct oci_cpu c = {0};
	struct oci_pids p = {0};
	struct oci_block_io io = {0};
	int r = memory_of(o, &m, e);

	if (r == 0)
		r = cpu_of(o, &c, e);
	if (r == 0)
		r = set_number("pids-limit", o->pids_limit, &p.limit, e);
	if (r == 0)
		r = weight_of(o, &io, e);
	if (r < 0)
		return r;
#define KEEP_IF(condition, member, value)                                        \
	do {                                                                     \
		if (condition) {                                                 \
			u->member = arena_alloc(a, sizeof(value));               \
			memcpy(u->member, &(value), sizeof(value));              \
		}                                                                \
	} while (0)
	KEEP_IF(o->memory || o->memory_reservation || o->memory_swap, memory, m);
	KEEP_IF(o->cpu_share || o->cpu_quota || o->cpu_period || o->cpu_burst || o->cpu_rt_runtime ||
			o->cpu_rt_period || o->cpu_idle || o->cpuset_cpus || o->cpuset_mems, cpu, c);
	KEEP_IF(p.limit.set, pids, p);
	KEEP_IF(io.weight.set, block_io, io);
#undef KEEP_IF
	*ret = u;
	return spec_validate_resources(u, e);
}

/* ---- the container ---- */

/* What it was made with; sandboxes have not kept it. */
static struct oci_resources *saved_resources(struct arena *a, struct rt_container *c)
{
	struct oci_spec *s = c->doc->config;

	if (!s || !s->linux_)
		return arena_new_of(a, struct oci_resources);
	if (!s->linux_->resources)
		s->linux_->resources = arena_new_of(a, struct oci_resources);
	return s->linux_->resources;
}

static int apply(struct arena *a, struct rt_container *c, const struct oci_resources *r,
		 struct err *e)
{
	auto_cg_host struct cg_host host = {.root = -1};
	struct cg_request rq = {.id = c->state.id, .host = &host, .rootless = c->doc->rootless,
				.systemd = c->doc->systemd};
	struct cg_plan *p;
	int x = cg_probe(a, &host, e);

	if (x == 0)
		x = cg_plan_update(a, r, &rq, &p, e);
	if (x < 0)
		return x;
	for (size_t i = 0; i < p->warnings.n; i++)
		log_warning("%s", p->warnings.v[i]);
	if (!c->cgroup && p->settings.n)
		return err_set(e, ENOENT, "%s: the container has no cgroup", p->settings.v[0].origin);
	return c->cgroup ? cg_apply(c->cgroup, p, e) : 0;
}

/* ---- resctrl ---- */

/* The group it was made in, or a new one with the processes that it has now. */
static int enter_group(struct arena *a, struct rt_container *c, const struct resctrl *group,
		       const struct oci_intel_rdt *change, struct err *e)
{
	struct u32v pids = {0};
	int r = resctrl_make(group, change, e);

	if (r < 0)
		return r;
	c->doc->intel_rdt_dir = (char *)group->ours;
	r = resctrl_set(group, change, true, e);
	if (r == 0)
		r = c->cgroup ? cg_procs(c->cgroup, a, &pids, e) : rt_pidns_procs(a, c, &pids, e);
	for (size_t i = 0; i < pids.n && r == 0; i++)
		r = resctrl_attach(group, (pid_t)pids.v[i], e);
	if (r < 0) {
		struct err ignored;

		(void)resctrl_remove(group->ours, &ignored);
		c->doc->intel_rdt_dir = NULL;
	}
	return r;
}

static int update_resctrl(struct arena *a, struct rt_container *c, const struct update_options *o,
			  struct err *e)
{
	struct oci_linux *l = c->doc->config ? c->doc->config->linux_ : NULL;
	struct oci_intel_rdt change = {.l3_cache_schema = (char *)o->l3_cache,
				       .mem_bw_schema = (char *)o->mem_bw};
	const char *root;
	struct resctrl group;
	int r;

	if (!o->l3_cache && !o->mem_bw)
		return 0;
	if (!l)
		return err_set(e, ENOTSUP, "linux.intelRdt: the configuration of %s was not kept", o->id);
	root = resctrl_mount(a, c->procfs, e);
	if (!root)
		return -e->code;
	if (l->intel_rdt) {
		resctrl_plan(a, root, l->intel_rdt, o->id, &group);
		r = resctrl_set(&group, &change, true, e);
	} else {
		resctrl_plan(a, root, &change, o->id, &group);
		r = enter_group(a, c, &group, &change, e);
	}
	if (r < 0)
		return r;
	if (!l->intel_rdt)
		l->intel_rdt = arena_new_of(a, struct oci_intel_rdt);
	if (o->l3_cache)
		l->intel_rdt->l3_cache_schema = change.l3_cache_schema;
	if (o->mem_bw)
		l->intel_rdt->mem_bw_schema = change.mem_bw_schema;
	return 0;
}

static int update(struct arena *a, const struct rt_globals *g, const struct update_options *o,
		  const struct oci_resources *with, struct err *e)
{
	auto_container struct rt_container c = RT_CONTAINER_NONE;
	int r = rt_container_open_locked(a, g, o->id, &c, e);

	if (r < 0)
		return r;
	if (c.status == RT_STOPPED || c.status == RT_CREATING)
		return err_set(e, EINVAL, "container not running");
	r = update_resctrl(a, &c, o, e);
	if (r == 0)
		r = apply(a, &c, update_merge(a, saved_resources(a, &c), with), e);
	return r < 0 || !c.doc->config ? r : rt_state_save(&c.state, c.doc, e);
}

static int update_command(struct arena *a, const struct rt_globals *g, char **words, void *options,
			  struct err *e)
{
	struct update_options *o = options;
	struct oci_resources *with;
	int r = o->file ? read_resources(a, o->file, &with, e) : from_options(a, o, &with, e);

	o->id = words[0];
	return r < 0 ? r : update(a, g, o, with, e);
}

int cmd_update(int argc, char **argv, const struct rt_globals *g)
{
	struct update_options o = {0};
	const struct cli_option options[] = {
		{"resources", 'r', CLI_STRING, &o.file, "FILE", "linux.resources as JSON (-: stdin), in place of options"},
		{"memory", 0, CLI_STRING, &o.memory, "BYTES", "memory limit (k, m, g may follow; -1: none)"},
		{"memory-reservation", 0, CLI_STRING, &o.memory_reservation, "BYTES", "memory that is kept for it"},
		{"memory-swap", 0, CLI_STRING, &o.memory_swap, "BYTES", "memory and swap together (-1: any swap)"},
		{"cpu-quota", 0, CLI_STRING, &o.cpu_quota, "US", "CPU time in each period"},
		{"cpu-period", 0, CLI_STRING, &o.cpu_period, "US", "length of a period"},
		{"cpu-burst", 0, CLI_STRING, &o.cpu_burst, "US", "time that may be saved for a later period"},
		{"cpu-share", 0, CLI_STRING, &o.cpu_share, "N", "relative weight"},
		{"cpu-idle", 0, CLI_STRING, &o.cpu_idle, "0|1", "1: only when nobody else wants the CPU"},
		{"cpu-rt-period", 0, CLI_STRING, &o.cpu_rt_period, "US", "period of real-time tasks (v1)"},
		{"cpu-rt-runtime", 0, CLI_STRING, &o.cpu_rt_runtime, "US", "time of real-time tasks (v1)"},
		{"cpuset-cpus", 0, CLI_STRING, &o.cpuset_cpus, "LIST", "CPUs, as 0-3,7"},
		{"cpuset-mems", 0, CLI_STRING, &o.cpuset_mems, "LIST", "memory nodes"},
		{"blkio-weight", 0, CLI_STRING, &o.blkio_weight, "N", "weight for block devices, 10 to 1000"},
		{"pids-limit", 0, CLI_STRING, &o.pids_limit, "N", "number of processes (-1: any)"},
		{"kernel-memory", 0, CLI_STRING, &o.kernel_memory, "BYTES", NULL},
		{"kernel-memory-tcp", 0, CLI_STRING, &o.kernel_memory_tcp, "BYTES", NULL},
		{"l3-cache-schema", 0, CLI_STRING, &o.l3_cache, "SCHEMA", "L3 cache by resctrl, as L3:0=f0;1=f"},
		{"mem-bw-schema", 0, CLI_STRING, &o.mem_bw, "SCHEMA", "memory bandwidth by resctrl, as MB:0=20;1=70"},
	};
	const struct command_spec s = {
		.cli = {
			.usage = "brig update [OPTION...] ID",
			.summary = "Changes the limits of a container.",
			.options = options,
			.n = sizeof(options) / sizeof(options[0]),
			.min_args = 1,
			.max_args = 1,
		},
		.body = update_command,
		.options = &o,
	};

	return command_run(&s, argc, argv, g);
}

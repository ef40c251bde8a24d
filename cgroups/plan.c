/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spec and probe result -> plan: checks the values, chooses driver and path, collects settings.
 * Pure: `brig plan` and the golden tests run it anywhere.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/sha256.h"
#include "base/str.h"
#include "cgroups/internal.h"

#define R "linux.resources."

static const char *const names_v2[CG_CONTROLLERS] = {
	[CG_CPU] = "cpu",
	[CG_CPUSET] = "cpuset",
	[CG_MEMORY] = "memory",
	[CG_PIDS] = "pids",
	[CG_IO] = "io",
	[CG_HUGETLB] = "hugetlb",
	[CG_RDMA] = "rdma",
	[CG_MISC] = "misc",
	[CG_CPUACCT] = "cpuacct",
	[CG_DEVICES] = "devices",
	[CG_FREEZER] = "freezer",
	[CG_NET_CLS] = "net_cls",
	[CG_NET_PRIO] = "net_prio",
	[CG_PERF_EVENT] = "perf_event",
	[CG_CORE] = "cgroup",
};

const char *cg_controller_name(enum cg_controller c, enum cg_kind kind)
{
	return c == CG_IO && kind == CG_V1 ? "blkio" : names_v2[c];
}

enum cg_controller cg_controller_of_file(const char *file)
{
	size_t n = strcspn(file, ".");

	for (unsigned c = 0; c < CG_CORE; c++) {
		/* Pressure files belong to every cgroup. */
		if (strlen(names_v2[c]) == n && !memcmp(names_v2[c], file, n) &&
		    !str_eq(file + n, ".pressure"))
			return (enum cg_controller)c;
	}
	return CG_CORE;
}

/* ---- the builder ---- */

void cg_add(struct cg_builder *b, const struct cg_target *t, const char *fmt, ...)
{
	struct cg_setting_list *l = &b->p->settings;
	char value[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	if (l->n == b->settings_cap) {
		struct cg_setting *v;

		b->settings_cap = b->settings_cap ? b->settings_cap * 2 : 16;
		v = arena_array(b->a, b->settings_cap, sizeof(*v));
		if (l->n)
			memcpy(v, l->v, l->n * sizeof(*v));
		l->v = v;
	}
	l->v[l->n++] = (struct cg_setting){
		.controller = t->controller,
		.file = t->file,
		.value = arena_strdup(b->a, value),
		.origin = t->origin,
		.missing = t->missing,
		.pair = t->pair,
	};
	if (t->controller != CG_CORE)
		b->p->controllers |= CG_BIT(t->controller);
}

static void add_warning(struct cg_builder *b, const char *text)
{
	struct strv *w = &b->p->warnings;

	if (w->n + 1 >= b->warnings_cap) {
		char **v;

		b->warnings_cap = b->warnings_cap ? b->warnings_cap * 2 : 8;
		v = arena_array(b->a, b->warnings_cap, sizeof(*v));
		if (w->n)
			memcpy(v, w->v, w->n * sizeof(*v));
		w->v = v;
	}
	w->v[w->n++] = arena_strdup(b->a, text);
}

void cg_warn(struct cg_builder *b, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	add_warning(b, text);
}

int cg_refuse(struct cg_builder *b, const char *origin, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!b->rq->best_effort)
		return err_set(b->e, EOPNOTSUPP, "%s: %s", origin, text);
	cg_warn(b, "%s is not enforced: %s", origin, text);
	return 0;
}

/* ---- checks that hold for both kinds ---- */

static bool is_cpu_list(const char *s)
{
	return !s || s[strspn(s, "0123456789,-")] == '\0';
}

static int out_of_range(struct cg_builder *b, const char *member, long long v, const char *range)
{
	return err_set(b->e, ERANGE, "%s%s: %lld is not %s", R, member, v, range);
}

static int check_memory(struct cg_builder *b, const struct oci_memory *m)
{
	const struct {
		const char *name;
		struct opt_i64 v;
	} values[] = {
		{"memory.limit", m->limit},
		{"memory.reservation", m->reservation},
		{"memory.swap", m->swap},
		{"memory.kernel", m->kernel},
		{"memory.kernelTCP", m->kernel_tcp},
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		if (values[i].v.set && values[i].v.v < -1)
			return out_of_range(b, values[i].name, values[i].v.v,
					    "a number of bytes or -1");
	}
	if (m->swappiness.set && m->swappiness.v > 100)
		return out_of_range(b, "memory.swappiness", (long long)m->swappiness.v,
				    "from 0 to 100");
	return 0;
}

/* The kernel's limits for one period, in microseconds. */
static int check_cpu(struct cg_builder *b, const struct oci_cpu *c)
{
	if (c->quota.set && c->quota.v > 0 && c->quota.v < 1000)
		return out_of_range(b, "cpu.quota", c->quota.v, "at least 1000 microseconds");
	if (c->period.set && c->period.v && (c->period.v < 1000 || c->period.v > 1000000))
		return out_of_range(b, "cpu.period", (long long)c->period.v,
				    "from 1000 to 1000000 microseconds");
	if (c->burst.set && c->quota.set && c->quota.v > 0 && c->burst.v > (uint64_t)c->quota.v)
		return out_of_range(b, "cpu.burst", (long long)c->burst.v, "within cpu.quota");
	if (c->idle.set && c->idle.v != 0 && c->idle.v != 1)
		return out_of_range(b, "cpu.idle", c->idle.v, "0 or 1");
	if (!is_cpu_list(c->cpus))
		return err_set(b->e, EINVAL, R "cpu.cpus is not a list like \"0-3,7\"");
	if (!is_cpu_list(c->mems))
		return err_set(b->e, EINVAL, R "cpu.mems is not a list like \"0-3,7\"");
	return 0;
}

static int check_io(struct cg_builder *b, const struct oci_block_io *io)
{
	const char *const range = "from 10 to 1000";

	if (io->weight.set && io->weight.v && (io->weight.v < 10 || io->weight.v > 1000))
		return out_of_range(b, "blockIO.weight", io->weight.v, range);
	for (size_t i = 0; i < io->weight_device.n; i++) {
		const struct opt_u16 *w = &io->weight_device.v[i].weight;

		if (w->set && w->v && (w->v < 10 || w->v > 1000))
			return out_of_range(b, "blockIO.weightDevice.weight", w->v, range);
	}
	return 0;
}

static int check_values(struct cg_builder *b, const struct oci_resources *r)
{
	int x = 0;

	if (r->memory)
		x = check_memory(b, r->memory);
	if (x == 0 && r->cpu)
		x = check_cpu(b, r->cpu);
	if (x == 0 && r->block_io)
		x = check_io(b, r->block_io);
	if (x == 0 && r->pids && r->pids->limit.set && r->pids->limit.v < -1)
		x = out_of_range(b, "pids.limit", r->pids->limit.v, "a number or -1");
	return x;
}

/* ---- controllers ---- */

static int missing_controller(struct cg_builder *b, const struct cg_setting *s)
{
	const struct cg_host *h = b->rq->host;
	const char *name = cg_controller_name(s->controller, h->kind);

	if (h->kind == CG_V1)
		return cg_refuse(b, s->origin,
				 "the cgroup controller %s is on no v1 hierarchy of "
				 "this host (see /proc/cgroups): mount it, or boot with cgroup v2",
				 name);
	return cg_refuse(b, s->origin,
			 "the cgroup controller %s is missing in "
			 "%s/cgroup.controllers: it is not delegated to us (systemd: "
			 "Delegate=yes), in use by a cgroup v1 "
			 "hierarchy, or switched off in the kernel (cgroup_enable=%s)",
			 name, h->mount, name);
}

/* Errors out (or drops, with best effort) what the host has no controller for. */
static int drop_missing(struct cg_builder *b)
{
	struct cg_setting_list *l = &b->p->settings;
	uint32_t have = b->rq->host->controllers | CG_BIT(CG_CORE);
	const char *told = NULL;
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct cg_setting s = l->v[i];

		if (have & CG_BIT(s.controller)) {
			l->v[n++] = s;
			continue;
		}
		/* One limit may be several settings: one message is enough. */
		if (told && str_eq(told, s.origin))
			continue;
		told = s.origin;
		if (missing_controller(b, &s) < 0)
			return -b->e->code;
	}
	l->n = n;
	b->p->controllers &= have;
	return 0;
}

static int add_settings(struct cg_builder *b, const struct oci_resources *r)
{
	int x;

	if (!r)
		return 0;
	x = check_values(b, r);
	if (x < 0)
		return x;
	return b->rq->host->kind == CG_V1 ? cg_settings_v1(b, r) : cg_settings_v2(b, r);
}

/* ---- place ---- */

/*
 * "brig-ID"; where that is longer than a file name may be, the id's beginning and its hash. tail: what a
 * unit's name has behind it.
 */
static const char *default_name(const struct cg_builder *b, const char *tail)
{
	char hex[SHA256_HEX + 1];

	if (strlen("brig-") + strlen(b->rq->id) + strlen(tail) <= NAME_MAX)
		return arena_printf(b->a, "brig-%s%s", b->rq->id, tail);
	sha256_hex(b->rq->id, strlen(b->rq->id), hex);
	return arena_printf(b->a, "brig-%.200s-%.16s%s", b->rq->id, hex, tail);
}

static int plan_path(struct cg_builder *b, const char *wish)
{
	const struct cg_host *h = b->rq->host;
	const char *base = h->base && h->base[1] ? h->base : "";
	struct cg_plan *p = b->p;

	p->explicit_path = wish != NULL;
	if (!wish)
		p->path = arena_printf(b->a, "%s/%s", base, default_name(b, ""));
	else if (*wish == '/')
		p->path = arena_strdup(b->a, wish);
	else
		p->path = arena_printf(b->a, "%s/%s", base, wish);
	/* "/a//b/" is the same as "/a/b": squeeze, for saved paths have to be clean. */
	for (char *from = p->path, *to = p->path;;) {
		while (*from == '/' && (from[1] == '/' || (from[1] == '\0' && from != p->path)))
			from++;
		*to++ = *from;
		if (*from++ == '\0')
			break;
	}
	if (!cg_path_is_clean(p->path) || p->path[1] == '\0')
		return err_set(b->e, EINVAL,
			       "linux.cgroupsPath is not a path to a cgroup below "
			       "the root (no \"..\", no \".\")");
	return 0;
}

/* Errors in the properties are told before anything is made. */
static int plan_properties(struct cg_builder *b)
{
	auto_strbuf struct strbuf scratch = {0};

	b->p->annotations = b->rq->spec->annotations;
	return cg_put_properties(&scratch, &b->p->annotations, b->e);
}

/* "slice:prefix:name" -> slice and prefix-name.scope. */
static int plan_unit(struct cg_builder *b, const char *wish)
{
	const char *slice_end = wish ? strchr(wish, ':') : NULL;
	const char *prefix_end = slice_end ? strchr(slice_end + 1, ':') : NULL;
	struct cg_plan *p = b->p;
	int n;

	p->explicit_path = wish != NULL;
	if (!wish) {
		p->slice = arena_strdup(b->a, b->rq->host->euid ? "user.slice" : "system.slice");
		p->unit = (char *)default_name(b, ".scope");
		return 0;
	}
	if (!prefix_end || strchr(wish, '/') || prefix_end[1] == '\0')
		return err_set(b->e, EINVAL,
			       "linux.cgroupsPath is not of the form "
			       "slice:prefix:name, which the systemd driver needs");
	n = (int)(prefix_end - slice_end - 1);
	p->slice = arena_strndup(b->a, wish, (size_t)(slice_end - wish));
	if (!*p->slice)
		p->slice = arena_strdup(b->a, b->rq->host->euid ? "user.slice" : "system.slice");
	p->unit = arena_printf(b->a, "%.*s%s%s.scope", n, slice_end + 1, n ? "-" : "",
			       prefix_end + 1);
	return 0;
}

/* One warning for each limit: settings of one origin stand together. */
static void warn_of_each(struct cg_builder *b, const char *why)
{
	const struct cg_setting_list *l = &b->p->settings;

	for (size_t i = 0; i < l->n; i++)
		if (i == 0 || !str_eq(l->v[i].origin, l->v[i - 1].origin))
			cg_warn(b, "%s is not enforced: %s", l->v[i].origin, why);
	if (b->p->filter_devices)
		cg_warn(b, "the device filter is not enforced: %s", why);
}

static const char *way_out(const struct cg_builder *b)
{
	if (!b->p->settings.n && b->p->filter_devices)
		return "make /sys/fs/cgroup writable, or go without cgroups and without the filter: "
		       "--cgroup-manager=disabled";
	if (b->rq->host->euid == 0)
		return "leave it out (brig sandbox, brigd: --best-effort), or make /sys/fs/cgroup writable (in a "
		       "container: a cgroup mount that is read-write)";
	if (b->rq->host->kind == CG_V1)
		return "leave it out (brig sandbox, brigd: --best-effort)";
	return "leave it out (brig sandbox, brigd: --best-effort), or start from a unit that is delegated to "
	       "you, for example systemd-run --user --scope -p Delegate=yes brig ...";
}

static int cannot(struct cg_builder *b)
{
	const struct cg_host *h = b->rq->host;
	const struct cg_plan *p = b->p;
	const char *what = p->settings.n       ? p->settings.v[0].origin
			   : p->filter_devices ? "the device filter"
					       : "linux.cgroupsPath";

	if (b->rq->best_effort) {
		warn_of_each(b, h->why_none ? h->why_none : "there is no cgroup");
		return 0;
	}
	return err_set(b->e, EACCES, "%s needs a cgroup, but %s; %s", what,
		       h->why_none ? h->why_none : "there is none", way_out(b));
}

static int choose_driver(struct cg_builder *b, const char *wish)
{
	const struct cg_host *h = b->rq->host;
	struct cg_plan *p = b->p;
	bool needed = p->settings.n || p->filter_devices || wish;

	p->driver = CG_DRIVER_NONE;
	if (b->rq->disabled && p->settings.n)
		return cg_refuse(b, p->settings.v[0].origin,
				 "cgroups are disabled on the command line");
	if (b->rq->disabled)
		return 0;
	if (b->rq->systemd && h->kind != CG_V2)
		return err_set(b->e, EOPNOTSUPP,
			       "the systemd driver needs cgroup v2, which is not "
			       "mounted on %s",
			       h->mount);
	if (b->rq->systemd || (!h->writable && needed && h->bus && h->kind == CG_V2)) {
		p->driver = CG_DRIVER_SYSTEMD;
		return plan_properties(b) < 0 ? -b->e->code
					      : plan_unit(b, b->rq->systemd ? wish : NULL);
	}
	if (h->kind == CG_NONE || !h->writable)
		return needed ? cannot(b) : 0;
	p->driver = CG_DRIVER_FS;
	return plan_path(b, wish);
}

/* ---- ownership ---- */

static bool new_namespace(const struct oci_linux *l, const char *type)
{
	for (size_t i = 0; i < l->namespaces.n; i++) {
		if (str_eq(l->namespaces.v[i].type, type) && !l->namespaces.v[i].path)
			return true;
	}
	return false;
}

static bool mounts_cgroup_writable(const struct oci_spec *s)
{
	for (size_t i = 0; i < s->mounts.n; i++) {
		const struct oci_mount *m = &s->mounts.v[i];
		bool ro = false;

		if (!str_eq(m->destination, "/sys/fs/cgroup") || !m->type ||
		    !str_starts(m->type, "cgroup"))
			continue;
		for (size_t o = 0; o < m->options.n; o++)
			ro |= str_eq(m->options.v[o], "ro");
		return !ro;
	}
	return false;
}

/* The host's uid of the program's user; false: it has none. */
static bool owner_of(const struct oci_spec *s, uint32_t *ret)
{
	const struct oci_linux *l = s->linux_;
	uint32_t uid = s->process ? s->process->user.uid : 0;

	if (!l || !new_namespace(l, "user")) {
		*ret = uid;
		return true;
	}
	for (size_t i = 0; i < l->uid_mappings.n; i++) {
		const struct oci_id_mapping *m = &l->uid_mappings.v[i];

		if (uid >= m->container_id && uid - m->container_id < m->size) {
			*ret = m->host_id + (uid - m->container_id);
			return true;
		}
	}
	return false;
}

/* config-linux.md "Cgroup ownership": v2, new cgroup namespace, cgroup mount that is not ro. */
static void plan_owner(struct cg_builder *b)
{
	const struct oci_spec *s = b->rq->spec;
	const struct oci_linux *l = s->linux_;
	uint32_t uid;

	if (!l || b->rq->host->kind != CG_V2 || !new_namespace(l, "cgroup") ||
	    !mounts_cgroup_writable(s))
		return;
	/* Without root only our own uid works, and that owns it already. */
	if (!owner_of(s, &uid) || uid == b->rq->host->euid || b->rq->host->euid != 0)
		return;
	b->p->delegate = true;
	b->p->owner_uid = uid;
}

/* ---- annotations ---- */

static int check_name(struct cg_builder *b, const char *key, const char *name)
{
	if (!strchr(name, '/') && !str_eq(name, ".") && !str_eq(name, "..") && strlen(name) <= NAME_MAX)
		return 0;
	return err_set(b->e, EINVAL, "annotations.%s: \"%.64s\" is not the name of one cgroup", key, name);
}

static int plan_names(struct cg_builder *b)
{
	const struct str_map *m = &b->rq->spec->annotations;
	const char *leaf = str_map_get(m, CG_ANNOTATION_LEAF), *child = str_map_get(m, CG_ANNOTATION_CHILD);
	struct cg_plan *p = b->p;

	p->leaf = leaf ? leaf : "container";
	if (check_name(b, CG_ANNOTATION_LEAF, p->leaf) < 0)
		return -b->e->code;
	if (!child || !*child)
		return 0;
	if (p->kind != CG_V2 || p->driver == CG_DRIVER_NONE)
		return err_set(b->e, EOPNOTSUPP, "annotations." CG_ANNOTATION_CHILD " needs cgroup v2, and one that we may "
						 "write: on v1 delegation is not safe");
	if (!owner_of(b->rq->spec, &p->child_uid) || b->rq->host->euid)
		p->child_uid = b->rq->host->euid;
	p->child = child;
	return check_name(b, CG_ANNOTATION_CHILD, child);
}

/* ---- entry points ---- */

/*
 * For numbers and for later: a caller that names the place is a manager that reads statistics and
 * updates limits. v1 cannot join a hierarchy later, so it then joins all that have limits.
 */
static void set_wanted(struct cg_builder *b)
{
	static const uint32_t v2 =
		CG_BIT(CG_CPU) | CG_BIT(CG_MEMORY) | CG_BIT(CG_PIDS) | CG_BIT(CG_IO);
	static const uint32_t v1 =
		CG_BIT(CG_CPUACCT) | CG_BIT(CG_MEMORY) | CG_BIT(CG_PIDS) | CG_BIT(CG_FREEZER);
	static const uint32_t v1_managed =
		CG_BIT(CG_CPU) | CG_BIT(CG_CPUSET) | CG_BIT(CG_IO) | CG_BIT(CG_HUGETLB);
	const struct cg_host *h = b->rq->host;
	uint32_t mask = h->kind == CG_V1 ? v1 : v2;

	if (h->kind == CG_V1 && (b->p->explicit_path || b->rq->managed))
		mask |= v1_managed;
	b->p->wanted = mask & h->controllers;
}

int cg_plan_build(struct arena *a, const struct cg_request *rq, struct cg_plan **ret_plan,
		  struct err *e)
{
	struct cg_builder b = {.a = a, .rq = rq, .p = arena_new_of(a, struct cg_plan), .e = e};
	const struct oci_linux *l = rq->spec->linux_;
	const struct oci_resources *r = l ? l->resources : NULL;
	const char *wish = l && l->cgroups_path && *l->cgroups_path ? l->cgroups_path : NULL;
	int x;

	b.p->kind = rq->host->kind;
	x = add_settings(&b, r);
	if (x == 0 && !rq->rootless && !rq->disabled)
		x = cg_plan_devices(&b, r);
	if (x == 0)
		x = choose_driver(&b, wish);
	if (x == 0 && b.p->driver != CG_DRIVER_NONE)
		x = drop_missing(&b);
	if (x == 0 && b.p->driver != CG_DRIVER_NONE && b.p->filter_devices && b.p->kind == CG_V1)
		x = cg_settings_devices_v1(&b);
	if (x == 0)
		x = plan_names(&b);
	if (x < 0)
		return x;
	if (b.p->driver == CG_DRIVER_NONE)
		b.p->filter_devices = false;
	set_wanted(&b);
	plan_owner(&b);
	*ret_plan = b.p;
	return 0;
}

int cg_plan_update(struct arena *a, const struct oci_resources *r, const struct cg_request *rq,
		   struct cg_plan **ret_plan, struct err *e)
{
	struct cg_builder b = {.a = a, .rq = rq, .p = arena_new_of(a, struct cg_plan), .e = e};
	int x;

	b.p->kind = rq->host->kind;
	b.p->driver = CG_DRIVER_FS;
	x = add_settings(&b, r);
	if (x == 0 && r->devices.n && !rq->rootless)
		x = cg_plan_devices(&b, r);
	if (x == 0)
		x = drop_missing(&b);
	if (x == 0 && b.p->filter_devices && b.p->kind == CG_V1)
		x = cg_settings_devices_v1(&b);
	if (x < 0)
		return x;
	*ret_plan = b.p;
	return 0;
}

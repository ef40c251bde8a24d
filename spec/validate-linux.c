/* SPDX-License-Identifier: Apache-2.0 */
/* What config-linux.md says about `linux`, but for resources and seccomp. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "spec/check.h"
#include "spec/spec.h"

static int check_namespaces(const struct oci_namespace_list *list, struct err *e)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct oci_namespace *n = &list->v[i];

		if (n->path && !check_is_absolute(n->path))
			return check_fail(
				e,
				"linux.namespaces[%zu].path: \"%.64s\" is not an absolute "
				"path",
				i, n->path);
		for (size_t k = 0; k < i; k++)
			if (str_eq(n->type, list->v[k].type))
				return check_fail(e,
						  "linux.namespaces[%zu].type: %s is there twice",
						  i, n->type);
	}
	return 0;
}

static int check_mappings(const struct oci_linux *l, struct err *e)
{
	int r;

	if ((l->uid_mappings.n == 0) != (l->gid_mappings.n == 0))
		return check_fail(e, "linux: uidMappings and gidMappings must be given together");
	if (l->uid_mappings.n && !check_find_namespace(l, "user"))
		return check_fail(
			e, "linux.uidMappings: linux.namespaces has no user namespace to map");
	r = check_id_mappings("linux.uidMappings", &l->uid_mappings, e);
	return r == 0 ? check_id_mappings("linux.gidMappings", &l->gid_mappings, e) : r;
}

/* Linux has 12 bits for the major and 20 for the minor number. */
static int check_device_numbers(const struct oci_device *d, size_t i, struct err *e)
{
	if (str_eq(d->type, "p"))
		return 0;
	if (!d->major.set || !d->minor.set)
		return check_fail(e, "linux.devices[%zu].%s: is missing", i,
				  d->major.set ? "minor" : "major");
	if (d->major.v < 0 || d->major.v > 0xfff)
		return check_fail(e, "linux.devices[%zu].major: %lld is not between 0 and 4095", i,
				  (long long)d->major.v);
	if (d->minor.v < 0 || d->minor.v > 0xfffff)
		return check_fail(e, "linux.devices[%zu].minor: %lld is not between 0 and 1048575",
				  i, (long long)d->minor.v);
	return 0;
}

static int check_device(const struct oci_device *d, size_t i, struct err *e)
{
	char path[64];
	int r;

	if (!check_is_absolute(d->path) || check_has_dotdot(d->path) || str_ends(d->path, "/"))
		return check_fail(
			e, "linux.devices[%zu].path: \"%.64s\" is not the full path of a file", i,
			d->path);
	/* podman gives st_mode as it is, with the type in it. */
	if ((d->file_mode.v & ~(unsigned)S_IFMT) > 0777)
		return check_fail(e, "linux.devices[%zu].fileMode: %u is larger than 511 (0777)", i,
				  d->file_mode.v);
	r = check_device_numbers(d, i, e);
	snprintf(path, sizeof(path), "linux.devices[%zu].uid", i);
	if (r == 0)
		r = check_id(path, d->uid.v, e);
	snprintf(path, sizeof(path), "linux.devices[%zu].gid", i);
	return r == 0 ? check_id(path, d->gid.v, e) : r;
}

/* The name inside may hold one "%d", for which the kernel puts in a number. */
static bool is_interface_template(const char *name)
{
	const char *percent = strchr(name, '%');

	return check_is_interface(name) &&
	       (!percent || (percent[1] == 'd' && !strchr(percent + 1, '%')));
}

static int check_net_devices(const struct oci_linux *l, struct err *e)
{
	const struct oci_net_device_list *list = &l->net_devices;

	if (list->n && !check_find_namespace(l, "network"))
		return check_fail(e, "linux.netDevices: linux.namespaces has no network namespace");
	for (size_t i = 0; i < list->n; i++) {
		const struct oci_net_device *d = &list->v[i];

		if (!check_is_interface(d->host_name))
			return check_fail(e, "linux.netDevices: \"%.64s\" is not an interface name",
					  d->host_name);
		if (d->name && *d->name && !is_interface_template(d->name))
			return check_fail(e,
					  "linux.netDevices.%s.name: \"%.64s\" is not an interface "
					  "name",
					  d->host_name, d->name);
	}
	return 0;
}

/*
 * As sysctl(8) has it: whichever of '.' and '/' comes first separates, the other one then belongs to
 * a name ("net/ipv4/conf/eth0.1/forwarding" is "net.ipv4.conf.eth0/1.forwarding").
 */
static void separate_by_dots(char *key)
{
	if (key[strcspn(key, "./")] != '/')
		return;
	for (; *key; key++)
		*key = *key == '/' ? '.' : *key == '.' ? '/' : *key;
}

/* "a.b.c": becomes a path below /proc/sys, where '/' is a dot, so no component is empty or made of
 * dots ("..", CVE-2022-0811). */
static bool is_sysctl_key(const char *key)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_-./@:";
	bool begins = true;

	if (!strchr(key, '.') || strspn(key, allowed) != strlen(key))
		return false;
	for (; *key; key++) {
		if (begins && (*key == '.' || *key == '/'))
			return false;
		begins = *key == '.';
	}
	return !begins;
}

static int check_sysctl(const struct str_map *m, struct err *e)
{
	for (size_t i = 0; i < m->n; i++) {
		separate_by_dots(m->v[i].key);
		if (!is_sysctl_key(m->v[i].key))
			return check_fail(
				e, "linux.sysctl: \"%.64s\" is not a key like net.core.somaxconn",
				m->v[i].key);
		if (strpbrk(m->v[i].value, "\r\n"))
			return check_fail(e, "linux.sysctl.%s: the value has more than one line",
					  m->v[i].key);
	}
	return 0;
}

static int check_paths(const char *key, const struct strv *list, struct err *e)
{
	for (size_t i = 0; i < list->n; i++)
		if (!check_is_absolute(list->v[i]))
			return check_fail(e, "linux.%s[%zu]: \"%.64s\" is not an absolute path",
					  key, i, list->v[i]);
	return 0;
}

static int check_cgroups_path(const char *path, struct err *e)
{
	if (check_has_dotdot(path))
		return check_fail(e, "linux.cgroupsPath: \"%.64s\" has a \"..\" component", path);
	if (check_has_control(path))
		return check_fail(e, "linux.cgroupsPath: contains a control character");
	return 0;
}

static bool is_clos_id(const char *id)
{
	return str_eq(id, "/") || (*id && !str_eq(id, ".") && !str_eq(id, "..") &&
				   !strchr(id, '/') && !check_has_control(id));
}

static int check_intel_rdt(const struct oci_intel_rdt *r, struct err *e)
{
	if (r->clos_id && *r->clos_id && !is_clos_id(r->clos_id))
		return check_fail(e,
				  "linux.intelRdt.closID: \"%.64s\" is not the name of a directory",
				  r->clos_id);
	if (r->l3_cache_schema && strchr(r->l3_cache_schema, '\n'))
		return check_fail(e, "linux.intelRdt.l3CacheSchema: has more than one line");
	if (r->mem_bw_schema && *r->mem_bw_schema && !str_starts(r->mem_bw_schema, "MB:"))
		return check_fail(e, "linux.intelRdt.memBwSchema: must start with \"MB:\"");
	if (r->mem_bw_schema && strchr(r->mem_bw_schema, '\n'))
		return check_fail(e, "linux.intelRdt.memBwSchema: has more than one line");
	for (size_t i = 0; i < r->schemata.n; i++)
		if (strchr(r->schemata.v[i], '\n'))
			return check_fail(e, "linux.intelRdt.schemata[%zu]: has more than one line",
					  i);
	return 0;
}

static bool has(const struct strv *list, const char *s)
{
	for (size_t i = 0; i < list->n; i++)
		if (str_eq(list->v[i], s))
			return true;
	return false;
}

/* set_mempolicy(2): which modes take nodes. MPOL_PREFERRED does with and without. */
static int check_memory_policy(const struct oci_memory_policy *p, struct err *e)
{
	static const char *const without[] = {"MPOL_DEFAULT", "MPOL_LOCAL", NULL};
	bool nodes = p->nodes && *p->nodes;

	if (nodes && !check_is_list(p->nodes))
		return check_fail(
			e, "linux.memoryPolicy.nodes: \"%.64s\" is not a list of memory nodes",
			p->nodes);
	if (nodes && str_index(without, p->mode) >= 0)
		return check_fail(e, "linux.memoryPolicy.nodes: must be empty with %s", p->mode);
	if (!nodes && str_index(without, p->mode) < 0 && !str_eq(p->mode, "MPOL_PREFERRED"))
		return check_fail(e, "linux.memoryPolicy.nodes: %s needs at least one node",
				  p->mode);
	if (has(&p->flags, "MPOL_F_STATIC_NODES") && has(&p->flags, "MPOL_F_RELATIVE_NODES"))
		return check_fail(e, "linux.memoryPolicy.flags: MPOL_F_STATIC_NODES and "
				     "MPOL_F_RELATIVE_NODES exclude each other");
	return 0;
}

static int check_time_offsets(const struct oci_linux *l, struct err *e)
{
	const struct oci_time_offsets *t = l->time_offsets;
	const struct oci_namespace *ns = check_find_namespace(l, "time");

	if (!t->boottime && !t->monotonic)
		return 0;
	if (!ns || ns->path)
		return check_fail(e,
				  "linux.timeOffsets: linux.namespaces has no new time namespace");
	if (t->boottime && t->boottime->nanosecs.v > 999999999)
		return check_fail(e,
				  "linux.timeOffsets.boottime.nanosecs: must be below 1000000000");
	if (t->monotonic && t->monotonic->nanosecs.v > 999999999)
		return check_fail(e,
				  "linux.timeOffsets.monotonic.nanosecs: must be below 1000000000");
	return 0;
}

static int check_objects(const struct oci_linux *l, struct err *e)
{
	int r = 0;

	if (l->resources)
		r = spec_validate_resources(l->resources, e);
	if (r == 0 && l->cgroups_path)
		r = check_cgroups_path(l->cgroups_path, e);
	if (r == 0 && l->seccomp)
		r = check_seccomp(l->seccomp, e);
	if (r == 0 && l->intel_rdt)
		r = check_intel_rdt(l->intel_rdt, e);
	if (r == 0 && l->memory_policy)
		r = check_memory_policy(l->memory_policy, e);
	if (r == 0 && l->personality && l->personality->flags.n)
		r = check_fail(e, "linux.personality.flags[0]: \"%.64s\" is not known, no flag is",
			       l->personality->flags.v[0]);
	if (r == 0 && l->time_offsets)
		r = check_time_offsets(l, e);
	return r;
}

int check_linux(const struct oci_linux *l, struct err *e)
{
	int r = check_namespaces(&l->namespaces, e);

	if (r == 0)
		r = check_mappings(l, e);
	if (r == 0)
		r = check_sysctl(&l->sysctl, e);
	for (size_t i = 0; r == 0 && i < l->devices.n; i++)
		r = check_device(&l->devices.v[i], i, e);
	if (r == 0)
		r = check_net_devices(l, e);
	if (r == 0)
		r = check_paths("maskedPaths", &l->masked_paths, e);
	if (r == 0)
		r = check_paths("readonlyPaths", &l->readonly_paths, e);
	return r == 0 ? check_objects(l, e) : r;
}

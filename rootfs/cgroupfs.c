/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mount of type cgroup. With cgroup v2 it is one cgroup2 instance in the container's cgroup
 * namespace, or a bind of its cgroup without one. A host with v1 hierarchies has no single file
 * system to show: a tmpfs with the container's own directory of each hierarchy, always read-only,
 * for release_agent and the device list of a v1 hierarchy are host-wide (CVE-2022-0492), and links
 * for controllers that share a hierarchy.
 */
#include <string.h>

#include "base/str.h"
#include "rootfs/internal.h"

enum {
	NO_EXTRAS = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC,
	LINKS_PER_HIERARCHY = 4,
};

static size_t plan_v2(const struct rootfs_mount *m, const struct rootfs_options *o,
		      struct rootfs_mount *v)
{
	*v = *m;
	v->fstype = "cgroup2";
	v->data = NULL; /* what a caller gives for v1 ("nsdelegate", controllers) has no meaning */
	v->propagation = m->propagation;
	v->fd = -1;
	if (o->cgroup_ns) {
		v->kind = ROOTFS_CGROUP;
		return 1;
	}
	v->kind = ROOTFS_BIND;
	v->source = o->cgroup_dir ? o->cgroup_dir : "/sys/fs/cgroup";
	v->recursive = true;
	v->attr_rec.set |= v->attr.set;
	v->attr = (struct rootfs_attr){0};
	if (!o->cgroup_dir) /* all of the host's: never writable (CVE-2023-25809) */
		v->attr_rec.set |= MOUNT_ATTR_RDONLY | NO_EXTRAS;
	return 1;
}

static size_t plan_v1_links(struct arena *a, const char *dir, const char *name,
			    struct rootfs_mount *v)
{
	size_t n = 0;
	const char *s = name;

	if (!strchr(name, ','))
		return 0;
	while (*s && n < LINKS_PER_HIERARCHY) {
		size_t len = strcspn(s, ",");

		v[n++] = (struct rootfs_mount){
			.kind = ROOTFS_LINK,
			.target = arena_printf(a, "%s/%.*s", dir, (int)len, s),
			.source = name,
			.fd = -1,
		};
		s += len;
		s += *s == ',';
	}
	return n;
}

static size_t plan_v1(struct arena *a, const struct rootfs_mount *m,
		      const struct rootfs_options *o, struct rootfs_mount *v)
{
	size_t n = 0;

	v[n++] = (struct rootfs_mount){
		.kind = ROOTFS_FS, .target = m->target, .source = "tmpfs", .fstype = "tmpfs",
		.data = "mode=755,size=64k,nr_inodes=64", .attr = {.set = NO_EXTRAS}, .fd = -1,
		.propagation = m->propagation, .propagation_rec = m->propagation_rec,
	};
	for (size_t i = 0; i < o->n_cgroup_v1; i++) {
		const struct rootfs_cgroup_v1 *c = &o->cgroup_v1[i];

		v[n++] = (struct rootfs_mount){
			.kind = ROOTFS_BIND,
			.target = arena_printf(a, "%s/%s", m->target, c->name),
			.source = c->dir,
			.attr_rec = {.set = MOUNT_ATTR_RDONLY | NO_EXTRAS},
			.recursive = true,
			.fd = -1,
		};
		n += plan_v1_links(a, m->target, c->name, v + n);
	}
	v[n++] = (struct rootfs_mount){
		.kind = ROOTFS_REMOUNT, .target = m->target, .fd = -1,
		.attr = {.set = MOUNT_ATTR_RDONLY},
	};
	return n;
}

size_t plan_cgroup_entries(const struct rootfs_options *o)
{
	return 2 + o->n_cgroup_v1 * (1 + LINKS_PER_HIERARCHY);
}

size_t plan_cgroup(struct arena *a, const struct rootfs_mount *m, const struct rootfs_options *o,
		   struct rootfs_mount *v)
{
	return o->n_cgroup_v1 > 0 ? plan_v1(a, m, o, v) : plan_v2(m, o, v);
}

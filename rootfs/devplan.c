/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the spec requires in /dev (config-linux.md, default devices) and linux.devices. An entry of
 * the spec replaces a default of the same path, except /dev/ptmx: that of the host would open the
 * host's terminals, and containerd lists it for privileged containers. Nothing is added when the
 * spec binds a directory over /dev: what is there then belongs to somebody else.
 */
#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "rootfs/internal.h"

static const struct { const char *path; unsigned major, minor; } default_nodes[] = {
	{"/dev/null", 1, 3},   {"/dev/zero", 1, 5},    {"/dev/full", 1, 7},
	{"/dev/random", 1, 8}, {"/dev/urandom", 1, 9}, {"/dev/tty", 5, 0},
};

static const struct { const char *path, *to; } default_links[] = {
	{"/dev/fd", "/proc/self/fd"},
	{"/dev/stdin", "/proc/self/fd/0"},
	{"/dev/stdout", "/proc/self/fd/1"},
	{"/dev/stderr", "/proc/self/fd/2"},
	{"/dev/ptmx", "pts/ptmx"},
};

enum { N_NODES = sizeof(default_nodes) / sizeof(default_nodes[0]),
       N_LINKS = sizeof(default_links) / sizeof(default_links[0]) };

static bool dev_is_bound(const struct rootfs_plan *p)
{
	for (size_t i = 0; i < p->n_mounts; i++)
		if (p->mounts[i].kind == ROOTFS_BIND && str_eq(p->mounts[i].target, "/dev"))
			return true;
	return false;
}

static bool in_spec(const struct oci_device_list *l, const char *path)
{
	for (size_t i = 0; l && i < l->n; i++)
		if (str_eq(l->v[i].path, path))
			return true;
	return false;
}

static int plan_device(struct arena *a, const struct oci_device *d, struct rootfs_mount *m,
		       struct err *e)
{
	char buf[4096];
	uint64_t major = d->major.set ? (uint64_t)d->major.v : 0;
	uint64_t minor = d->minor.set ? (uint64_t)d->minor.v : 0;

	if (path_clean(d->path, buf, sizeof(buf)) < 0 || str_eq(buf, "/"))
		return err_set(e, EINVAL, "linux.devices: \"%.200s\" is not a path for a device",
			       d->path);
	if (str_starts(buf, "/proc/") || str_starts(buf, "/sys/"))
		return err_set(e, EINVAL, "device %.200s: not below /proc or /sys", buf);
	if (major > UINT32_MAX >> 12 || minor > 0xfffff)
		return err_set(e, ERANGE, "device %.200s: the number %lld:%lld does not exist", buf,
			       (long long)d->major.v, (long long)d->minor.v);
	*m = (struct rootfs_mount){
		.kind = ROOTFS_NODE, .fd = -1, .target = arena_strdup(a, buf),
		.type = d->type[0] == 'u' ? 'c' : d->type[0],
		.major = (unsigned)major, .minor = (unsigned)minor,
		.mode = d->file_mode.set ? d->file_mode.v & 07777 : 0666,
		.uid = d->uid.set ? d->uid.v : 0, .gid = d->gid.set ? d->gid.v : 0,
	};
	m->source = m->target;
	return 0;
}

static void plan_defaults(const struct oci_device_list *list, struct rootfs_plan *p)
{
	for (size_t i = 0; i < N_NODES; i++)
		if (!in_spec(list, default_nodes[i].path))
			p->devices[p->n_devices++] = (struct rootfs_mount){
				.kind = ROOTFS_NODE, .fd = -1, .target = default_nodes[i].path,
				.source = default_nodes[i].path, .type = 'c', .mode = 0666,
				.major = default_nodes[i].major, .minor = default_nodes[i].minor,
				.default_device = true,
			};
	for (size_t i = 0; i < N_LINKS; i++)
		p->devices[p->n_devices++] = (struct rootfs_mount){
			.kind = ROOTFS_LINK, .fd = -1, .target = default_links[i].path,
			.source = default_links[i].to,
		};
}

int plan_devices(struct arena *a, const struct oci_spec *s, struct rootfs_plan *p, struct err *e)
{
	const struct oci_device_list *list = s->linux_ ? &s->linux_->devices : NULL;
	size_t n = list ? list->n : 0;

	p->devices = arena_array(a, n + N_NODES + N_LINKS, sizeof(*p->devices));
	if (dev_is_bound(p))
		return 0;
	plan_defaults(list, p);
	for (size_t i = 0; i < n; i++) {
		if (plan_device(a, &list->v[i], &p->devices[p->n_devices], e) < 0)
			return -e->code;
		p->n_devices += !str_eq(p->devices[p->n_devices].target, "/dev/ptmx");
	}
	return 0;
}

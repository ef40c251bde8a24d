/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --device: nodes of the host, or all nodes of a directory. A container can open no others, for its
 * root and its binds are nodev; so a filter by cgroup is needed only to take a right away from one of
 * these ("r" without "w").
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/str.h"
#include "docker/container-spec.h"

enum { DEVICES_MAX = 1024, DEPTH_MAX = 4 };

struct gather {
	struct arena *a;
	struct dk_spec *spec;
	const char *permissions;
	int depth;
};

static void add_node(struct gather *g, const char *host, const char *inside, const struct stat *st)
{
	struct oci_linux *l = g->spec->oci->linux_;
	char *type = (char *)(S_ISBLK(st->st_mode) ? "b" : "c");

	if (l->devices.n >= DEVICES_MAX)
		return;
	g->spec->device_sources.v[l->devices.n] = (char *)host;
	l->devices.v[l->devices.n++] = (struct oci_device){
		.type = type, .path = (char *)inside,
		.major = {true, major(st->st_rdev)}, .minor = {true, minor(st->st_rdev)},
		.file_mode = {true, st->st_mode & 07777},
	};
	l->resources->devices.v[l->resources->devices.n++] = (struct oci_device_rule){
		.allow = true, .type = type, .access = (char *)g->permissions,
		.major = {true, major(st->st_rdev)}, .minor = {true, minor(st->st_rdev)},
	};
}

static void gather(struct gather *g, const char *host, const char *inside);

static void gather_dir(struct gather *g, const char *host, const char *inside)
{
	DIR *d = ++g->depth <= DEPTH_MAX ? opendir(host) : NULL;

	for (struct dirent *de; d && (de = readdir(d));)
		if (de->d_name[0] != '.')
			gather(g, arena_printf(g->a, "%s/%s", host, de->d_name),
			       arena_printf(g->a, "%s/%s", inside, de->d_name));
	if (d)
		closedir(d);
	g->depth--;
}

static void gather(struct gather *g, const char *host, const char *inside)
{
	struct stat st;

	if (lstat(host, &st) < 0)
		return;
	if (S_ISDIR(st.st_mode))
		gather_dir(g, host, inside);
	else if (S_ISBLK(st.st_mode) || S_ISCHR(st.st_mode))
		add_node(g, host, inside, &st);
}

static int add_device(struct gather *g, const struct dk_device *d, struct err *e)
{
	struct oci_linux *l = g->spec->oci->linux_;
	size_t before = l->devices.n;
	struct stat st;

	g->permissions = d->permissions && *d->permissions ? d->permissions : "rwm";
	if (!strchr(g->permissions, 'r') || !strchr(g->permissions, 'w'))
		g->spec->options.nodev = false;
	/* Links are Docker's business to follow: /dev/cdrom. */
	if (stat(d->host, &st) < 0)
		return err_set(e, errno, "Error response from daemon: error gathering device information while "
			       "adding custom device \"%s\": %s", d->host,
			       errno == ENOENT ? "no such file or directory" : err_name(errno));
	if (S_ISDIR(st.st_mode))
		gather_dir(g, d->host, d->container);
	else if (S_ISBLK(st.st_mode) || S_ISCHR(st.st_mode))
		add_node(g, d->host, d->container, &st);
	if (l->devices.n == before)
		return err_set(e, ENODEV, "Error response from daemon: error gathering device information while "
			       "adding custom device \"%s\": not a device node", d->host);
	return 0;
}

int dk_spec_devices(const struct dk_spec_input *in, struct dk_spec *ret, struct err *e)
{
	const struct dk_run_options *o = &in->record->options;
	struct oci_linux *l = ret->oci->linux_;
	struct gather g = {.a = in->c->arena, .spec = ret};

	if (!o->devices.n)
		return 0;
	l->devices.v = arena_array(g.a, DEVICES_MAX, sizeof(*l->devices.v));
	ret->device_sources.v = arena_array(g.a, DEVICES_MAX, sizeof(char *));
	l->resources->devices.v = arena_array(g.a, DEVICES_MAX + 1, sizeof(*l->resources->devices.v));
	l->resources->devices.v[l->resources->devices.n++] = (struct oci_device_rule){
		.allow = false, .type = (char *)"a", .access = (char *)"rwm"};
	for (size_t i = 0; i < o->devices.n; i++)
		if (add_device(&g, &o->devices.v[i], e) < 0)
			return -e->code;
	ret->device_sources.n = l->devices.n;
	if (!ret->options.nodev && !in->host->privileged)
		return dk_daemon_error(in->c, e, EPERM, "a device without the right to read or write needs the "
				       "device filter of cgroups, which takes root");
	return 0;
}

void dk_spec_place_devices(const struct dk_spec *s, struct rootfs_plan *p)
{
	for (size_t i = 0; i < s->device_sources.n; i++)
		for (size_t k = 0; k < p->n_devices; k++)
			if (p->devices[k].kind == ROOTFS_NODE &&
			    str_eq(p->devices[k].target, s->oci->linux_->devices.v[i].path))
				p->devices[k].source = s->device_sources.v[i];
}

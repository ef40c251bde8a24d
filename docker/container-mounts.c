/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mounts of a container: the kernel's file systems, the three files of /etc, then what was asked
 * for. Those are made by the depth of their targets, whatever the order of the flags: a bind below a
 * --tmpfs is not hidden by it. Of two for one target the last one counts.
 *
 * Host directories are bound without device nodes, so that the tree of a container has none but
 * those that were put there for it: no device filter is needed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "docker/container-spec.h"
#include "docker/volume.h"

enum { DEFAULT_SHM = 64 << 20, OWN_MOUNTS = 16 };

struct builder {
	const struct dk_spec_input *in;
	struct arena *a;
	struct oci_mount_list *list;
	const struct rootfs_overlay *shifted;
};

static void add(struct builder *b, const char *target, const char *type, const char *source,
		const char *options)
{
	struct oci_mount *m = &b->list->v[b->list->n++];

	*m = (struct oci_mount){.destination = (char *)target, .type = (char *)type, .source = (char *)source};
	m->options.v = arena_array(b->a, 40, sizeof(char *));
	while (options && *options && m->options.n < 39) {
		size_t n = strcspn(options, ",");

		if (n)
			m->options.v[m->options.n++] = arena_strndup(b->a, options, n);
		options += n;
		options += *options == ',';
	}
}

/* What is in the store has the ids that the container sees. */
static void shift_last(struct builder *b)
{
	struct oci_mount *m = &b->list->v[b->list->n - 1];

	if (!b->shifted->idmap)
		return;
	m->uid_mappings = b->shifted->uid_maps;
	m->gid_mappings = b->shifted->gid_maps;
	m->options.v[m->options.n++] = (char *)"idmap";
}

static bool host_mode(const char *mode)
{
	return str_eq(mode, "host");
}

/* ---- the kernel's ---- */

static void add_shm(struct builder *b)
{
	const struct dk_run_options *o = &b->in->record->options;
	int64_t size = o->shm_size.set && o->shm_size.v > 0 ? o->shm_size.v : DEFAULT_SHM;

	if (host_mode(o->ipc)) {
		add(b, "/dev/shm", "bind", "/dev/shm", "rbind,rnosuid,rnodev,rnoexec");
		return;
	}
	if (str_eq(o->ipc, "none"))
		return;
	add(b, "/dev/shm", "tmpfs", "shm", arena_printf(b->a, "nosuid,noexec,nodev,mode=1777,size=%lld",
							(long long)size));
}

static void add_kernel(struct builder *b)
{
	const struct dk_run_options *o = &b->in->record->options;
	const char *ro = o->privileged ? "" : ",ro";

	add(b, "/proc", "proc", "proc", "nosuid,noexec,nodev");
	add(b, "/dev", "tmpfs", "tmpfs", "nosuid,strictatime,mode=755,size=65536k");
	add(b, "/dev/pts", "devpts", "devpts", "nosuid,noexec,newinstance,ptmxmode=0666,mode=0620,gid=5");
	add(b, "/sys", "sysfs", "sysfs", arena_printf(b->a, "nosuid,noexec,nodev%s", ro));
	add(b, "/sys/fs/cgroup", "cgroup", "cgroup", arena_printf(b->a, "nosuid,noexec,nodev%s", ro));
	/* With the host's IPC namespace it is the host's, which not every host has mounted. */
	if (!str_eq(o->ipc, "none") && (!host_mode(o->ipc) || access("/dev/mqueue", F_OK) == 0))
		add(b, "/dev/mqueue", "mqueue", "mqueue", "nosuid,noexec,nodev");
	add_shm(b);
}

/* ---- /etc ---- */

static bool is_covered(const struct dk_run_options *o, const char *target)
{
	for (size_t i = 0; i < o->mounts.n; i++)
		if (str_eq(o->mounts.v[i].target, target))
			return true;
	return false;
}

static void add_files(struct builder *b)
{
	static const char *const names[] = {"resolv.conf", "hostname", "hosts"};
	const struct dk_record *r = b->in->record;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *target = arena_printf(b->a, "/etc/%s", names[i]);

		if (is_covered(&r->options, target))
			continue;
		add(b, target, "bind", dk_container_path(b->in->store, r->id, names[i]), "bind,nodev,nosuid,private");
		if (r->layers.n) /* the host's programs can do without, so nothing is asked of the file system */
			shift_last(b);
	}
}

/* ---- what was asked for ---- */

static const char *propagation(const struct dk_mount *m)
{
	return m->propagation && *m->propagation ? m->propagation : "rprivate";
}

/* Docker's defaults, which what is given replaces. */
static char *tmpfs_options(struct arena *a, const struct dk_mount *m)
{
	static const char *const defaults[][2] = {
		{"nosuid", "suid"}, {"nodev", "dev"}, {"noexec", "exec"},
	};
	auto_strbuf struct strbuf s = {0};
	char *list = arena_printf(a, ",%s,", m->tmpfs_options ? m->tmpfs_options : "");

	for (size_t i = 0; i < 3; i++)
		if (!strstr(list, arena_printf(a, ",%s,", defaults[i][1])))
			strbuf_printf(&s, "%s,", defaults[i][0]);
	if (!strstr(list, ",mode="))
		strbuf_printf(&s, "mode=%o,", m->tmpfs_mode ? m->tmpfs_mode : 01777);
	if (m->tmpfs_size > 0)
		strbuf_printf(&s, "size=%lld,", (long long)m->tmpfs_size);
	if (m->readonly)
		strbuf_adds(&s, "ro,");
	strbuf_adds(&s, m->tmpfs_options ? m->tmpfs_options : "");
	return arena_strdup(a, strbuf_str(&s));
}

static int add_volume(struct builder *b, const struct dk_mount *m, const char *path, struct err *e)
{
	struct dk_volume v;

	if (dk_volume_find(b->a, &b->in->store->roots, m->source, &v, e) < 0)
		return err_wrap(e, "Error response from daemon");
	add(b, m->target, "bind", path,
	    arena_printf(b->a, "rbind,rnodev%s%s", m->readonly ? ",ro" : "",
			 v.fresh && !m->no_copy && !b->in->record->host_rootfs ? ",tmpcopyup" : ""));
	shift_last(b);
	return 0;
}

static int add_one(struct builder *b, size_t i, struct err *e)
{
	const struct dk_record *r = b->in->record;
	const struct dk_mount *m = &r->options.mounts.v[i];
	const char *ro = !m->readonly ? "" : m->readonly_force_recursive ? ",rro" : ",ro";

	switch (m->type) {
	case DK_MOUNT_TMPFS:
		add(b, m->target, "tmpfs", "tmpfs", tmpfs_options(b->a, m));
		return 0;
	case DK_MOUNT_VOLUME:
		return add_volume(b, m, r->mount_paths.v[i], e);
	case DK_MOUNT_BIND:
		break;
	}
	add(b, m->target, "bind", r->mount_paths.v[i],
	    arena_printf(b->a, "%s,rnodev,%s%s", m->non_recursive ? "bind" : "rbind", propagation(m), ro));
	return 0;
}

static size_t depth(const char *path)
{
	size_t n = 0;

	for (; *path; path++)
		n += *path == '/' && path[1];
	return n;
}

static bool is_last(const struct dk_run_options *o, size_t i)
{
	for (size_t k = i + 1; k < o->mounts.n; k++)
		if (str_eq(o->mounts.v[k].target, o->mounts.v[i].target))
			return false;
	return true;
}

static int add_asked(struct builder *b, struct err *e)
{
	const struct dk_run_options *o = &b->in->record->options;
	size_t deepest = 0;

	for (size_t i = 0; i < o->mounts.n; i++)
		if (depth(o->mounts.v[i].target) > deepest)
			deepest = depth(o->mounts.v[i].target);
	for (size_t d = 0; d <= deepest; d++)
		for (size_t i = 0; i < o->mounts.n; i++)
			if (depth(o->mounts.v[i].target) == d && is_last(o, i) && add_one(b, i, e) < 0)
				return -e->code;
	return 0;
}

int dk_spec_mounts(const struct dk_spec_input *in, const struct dk_spec *spec, struct err *e)
{
	struct oci_spec *s = spec->oci;
	struct builder b = {in, in->c->arena, &s->mounts, &spec->overlay};

	s->mounts.v = arena_array(b.a, in->record->options.mounts.n + OWN_MOUNTS, sizeof(*s->mounts.v));
	add_kernel(&b);
	add_files(&b);
	return add_asked(&b, e);
}

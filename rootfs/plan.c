/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the spec to the list of what will be mounted. Pure: whatever depends on the host comes in
 * as an option or is left to a flag of the entry (`optional`, `keep_link`) for the apply step.
 */
#include "rootfs/rootfs.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "rootfs/internal.h"

/* What may be mounted below /proc besides the kernel's own: files that lxcfs emulates and two
 * that container engines provide. */
static const char *const proc_files[] = {
	"/proc/cpuinfo", "/proc/diskstats", "/proc/loadavg", "/proc/meminfo", "/proc/slabinfo",
	"/proc/stat", "/proc/swaps", "/proc/uptime", "/proc/sys/crypto/fips_enabled",
	"/proc/sys/kernel/ns_last_pid", NULL,
};

struct builder {
	struct arena *a;
	const struct oci_spec *s;
	const struct rootfs_options *o;
	struct rootfs_plan *p;
};

static char *clean_path(struct arena *a, const char *path)
{
	char buf[PATH_MAX];

	return path_clean(path, buf, sizeof(buf)) < 0 ? NULL : arena_strdup(a, buf);
}

static bool id_mapped(const struct oci_id_mapping *v, size_t n, uint64_t id)
{
	if (n == 0)
		return true;
	for (size_t i = 0; i < n; i++)
		if (id >= v[i].container_id && id - v[i].container_id < v[i].size)
			return true;
	return false;
}

/* devpts: "gid=5" names a group that a small map does not have; the tty then belongs to the
 * opener's group, which is what its owner can have at most. */
static void drop_unmapped_gid(struct builder *b, struct rootfs_mount *m)
{
	const char *data = m->data;

	m->data = NULL;
	while (data && *data) {
		size_t n = strcspn(data, ",");
		char *option = arena_strndup(b->a, data, n);
		uint64_t gid;

		if (!str_starts(option, "gid=") || str_u64(option + 4, UINT32_MAX, &gid) < 0 ||
		    id_mapped(b->o->gid_maps, b->o->n_gid_maps, gid))
			mount_add_data(b->a, m, option);
		data += n;
		data += *data == ',';
	}
}

static void bind_instead(struct rootfs_mount *m, const char *source)
{
	m->kind = ROOTFS_BIND;
	m->source = source;
	m->recursive = true;
	m->data = NULL;
	m->sb_flags = 0;
	m->attr_rec.set |= m->attr.set;
	m->attr = (struct rootfs_attr){0};
}

/*
 * A user namespace may mount an instance of these only when it also owns the namespace that the
 * instance shows, and a procfs only when a whole one is visible already (mount_too_revealing in
 * fs/namespace.c), for which bind_proc is the way out; else the host's own is bound, read-only where it is about the host.
 */
static void plan_kernel_fs(struct builder *b, struct rootfs_mount *m)
{
	const struct rootfs_options *o = b->o;

	if (str_eq(m->fstype, "devpts")) {
		drop_unmapped_gid(b, m);
	} else if (str_eq(m->fstype, "proc")) {
		if (o->user_ns && (!o->pid_ns || o->bind_proc))
			bind_instead(m, "/proc");
		else if (o->hidepid)
			mount_add_data(b->a, m, "hidepid=invisible");
		if (m->kind == ROOTFS_FS && o->proc_subset)
			mount_add_data(b->a, m, "subset=pid");
	} else if (str_eq(m->fstype, "sysfs") && o->user_ns && !o->net_ns) {
		bind_instead(m, "/sys");
		m->attr_rec.set |= MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
				   MOUNT_ATTR_NOEXEC;
	} else if (str_eq(m->fstype, "mqueue") && o->user_ns && !o->ipc_ns) {
		bind_instead(m, "/dev/mqueue");
	}
}

static bool is_kernel_fs(const struct rootfs_mount *m)
{
	static const char *const types[] = {"devpts", "proc", "sysfs", "mqueue", NULL};

	return m->kind == ROOTFS_FS && str_index(types, m->fstype) >= 0;
}

static int check_proc_target(const struct rootfs_mount *m, struct err *e)
{
	if (str_eq(m->target, "/proc")) {
		if (m->kind == ROOTFS_REMOUNT || m->kind == ROOTFS_BIND ||
		    str_eq(m->fstype, "proc"))
			return 0; /* a bind's source is checked to be a procfs when it is opened */
		return err_set(e, EINVAL, "mount /proc: the type is %s, only proc may be there",
			       m->fstype);
	}
	if (str_starts(m->target, "/proc/") && !m->checked_target && m->kind != ROOTFS_REMOUNT)
		return err_set(e, EINVAL, "mount %s: nothing may be mounted below /proc but the "
			       "files that lxcfs emulates", m->target);
	return 0;
}

static int plan_bind(struct builder *b, const struct oci_mount *in, struct rootfs_mount *m,
		     struct err *e)
{
	m->kind = ROOTFS_BIND;
	if (!in->source || !*in->source)
		return err_set(e, EINVAL, "mount %s: a bind needs a source", m->target);
	m->source = *in->source == '/' ? in->source
				       : arena_printf(b->a, "%s/%s", b->o->bundle, in->source);
	m->fstype = NULL;
	m->data = NULL; /* a bind has no data of its own */
	m->sb_flags = 0;
	if (b->o->binds_recursive_ro && (m->attr.set & MOUNT_ATTR_RDONLY)) {
		m->attr.set &= ~(uint64_t)MOUNT_ATTR_RDONLY;
		m->attr_rec.set |= MOUNT_ATTR_RDONLY;
	}
	return 0;
}

/* Without mappings of its own an id-mapped mount takes those of the container. */
static int plan_idmap(struct builder *b, const struct oci_mount *in, struct rootfs_mount *m,
		      const char *maps, struct err *e)
{
	bool container = m->idmap && !maps && in->uid_mappings.n == 0 && in->gid_mappings.n == 0;

	m->uid_maps = in->uid_mappings.v;
	m->n_uid_maps = in->uid_mappings.n;
	m->gid_maps = in->gid_mappings.v;
	m->n_gid_maps = in->gid_mappings.n;
	if (maps && !m->n_uid_maps && !m->n_gid_maps && idmap_option_parse(b->a, maps, b->o, m, e) < 0)
		return -e->code;
	if ((m->n_uid_maps > 0) != (m->n_gid_maps > 0))
		return err_set(e, EINVAL, "mount %s: uidMappings and gidMappings are needed both",
			       m->target);
	if (container) {
		m->uid_maps = b->o->uid_maps;
		m->n_uid_maps = b->o->n_uid_maps;
		m->gid_maps = b->o->gid_maps;
		m->n_gid_maps = b->o->n_gid_maps;
	}
	if (m->idmap && m->n_uid_maps == 0)
		return err_set(e, EINVAL, "mount %s: idmap needs uidMappings and gidMappings, or a "
			       "user namespace", m->target);
	if (m->n_uid_maps > 0)
		m->idmap = true;
	if (m->idmap && !b->o->parent_privileged)
		return err_set(e, EPERM, "mount %s: an id-mapped mount needs root", m->target);
	b->p->sources_by_parent |= m->idmap;
	return 0;
}

static int plan_mount(struct builder *b, const struct oci_mount *in, struct err *e)
{
	struct rootfs_mount *m = &b->p->mounts[b->p->n_mounts];
	struct option_result r;

	*m = (struct rootfs_mount){.kind = ROOTFS_FS, .fd = -1, .fstype = in->type};
	m->target = clean_path(b->a, in->destination);
	if (!m->target)
		return err_set(e, ENAMETOOLONG, "mount %.60s...: the path is too long",
			       in->destination);
	if (str_eq(m->target, "/"))
		return err_set(e, EINVAL, "mount /: the root itself cannot be a mount destination");
	m->checked_target = str_index(proc_files, m->target) >= 0;
	m->source = in->source;
	r = mount_options_parse(b->a, &in->options, m);
	if (r.remount) {
		m->kind = ROOTFS_REMOUNT;
	} else if (r.bind || str_eq(in->type, "bind")) {
		if (plan_bind(b, in, m, e) < 0)
			return -e->code;
	} else if (!in->type || !*in->type) {
		return err_set(e, EINVAL, "mount %s: neither a type nor the option bind",
			       m->target);
	} else if (str_eq(in->type, "cgroup") || str_eq(in->type, "cgroup2")) {
		struct rootfs_mount first = *m;

		b->p->n_mounts += plan_cgroup(b->a, &first, b->o, m);
		return 0;
	}
	if (is_kernel_fs(m))
		plan_kernel_fs(b, m);
	if (m->kind == ROOTFS_FS && str_eq(m->target, "/dev") &&
	    (m->attr.set & MOUNT_ATTR_RDONLY)) {
		m->attr.set &= ~(uint64_t)MOUNT_ATTR_RDONLY;
		b->p->dev_readonly = true;
	}
	if (plan_idmap(b, in, m, r.idmap, e) < 0 || check_proc_target(m, e) < 0)
		return -e->code;
	b->p->n_mounts++;
	return 0;
}

static int plan_mounts(struct builder *b, struct err *e)
{
	const struct oci_mount_list *in = &b->s->mounts;
	struct rootfs_mount *host = NULL;
	size_t n_host = 0;

	if (b->o->host_rootfs)
		n_host = rootfs_host_mounts(b->a, b->o, &host);
	b->p->mounts = arena_array(b->a, n_host + in->n * plan_cgroup_entries(b->o) + 1,
				   sizeof(*b->p->mounts));
	if (n_host > 0)
		memcpy(b->p->mounts, host, n_host * sizeof(*host));
	b->p->n_mounts = n_host;
	for (size_t i = 0; i < in->n; i++)
		if (plan_mount(b, &in->v[i], e) < 0)
			return -e->code;
	return 0;
}

static int plan_propagation(struct builder *b, struct err *e)
{
	static const struct { const char *name; unsigned long flags; } names[] = {
		{"shared", MS_SHARED},     {"rshared", MS_SHARED | MS_REC},
		{"slave", MS_SLAVE},       {"rslave", MS_SLAVE | MS_REC},
		{"private", MS_PRIVATE},   {"rprivate", MS_PRIVATE | MS_REC},
		{"unbindable", MS_UNBINDABLE}, {"runbindable", MS_UNBINDABLE | MS_REC},
	};
	const char *want = b->s->linux_ ? b->s->linux_->rootfs_propagation : NULL;

	if (!want || !*want)
		return 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (str_eq(names[i].name, want)) {
			b->p->propagation = names[i].flags;
			return 0;
		}
	return err_set(e, EINVAL, "linux.rootfsPropagation: \"%s\" is not known", want);
}

static int plan_overlay(struct builder *b, struct err *e)
{
	const struct rootfs_overlay *o = b->o->overlay;

	if (!o->lower.n || (!o->upper && o->lower.n < 2))
		return err_set(e, EINVAL, "the root has too few layers");
	if (!o->upper != !o->work)
		return err_set(e, EINVAL, "the root has an upper or a work directory, but not both");
	b->p->overlay = o;
	b->p->root = o->upper ? o->upper : o->lower.v[0];
	return 0;
}

static int plan_root(struct builder *b, struct err *e)
{
	const struct oci_root *root = b->s->root;

	b->p->root_attr = b->o->root_attr;
	if (root && root->readonly.set && root->readonly.v)
		b->p->root_attr |= MOUNT_ATTR_RDONLY;
	if (b->o->host_rootfs)
		return 0;
	if (b->o->overlay)
		return plan_overlay(b, e);
	if (!root || !root->path || !*root->path)
		return err_set(e, EINVAL, "root.path is missing");
	b->p->root = *root->path == '/' ? root->path
					: arena_printf(b->a, "%s/%s", b->o->bundle, root->path);
	return 0;
}

static bool is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return strncmp(path, dir, n) == 0 && path[n] == '/';
}

/* Whether the last thing before entry i that its target lies below is a tmpfs of our own, in
 * which nothing of that name was made yet. Only a hint: it saves looking before making. */
static bool is_fresh(const struct rootfs_plan *p, size_t i)
{
	const char *target = p->mounts[i].target;

	while (i-- > 0) {
		const struct rootfs_mount *m = &p->mounts[i];

		if (str_eq(m->target, target))
			return false;
		if (m->kind <= ROOTFS_CGROUP && m->kind != ROOTFS_REMOUNT &&
		    is_below(target, m->target))
			return m->kind == ROOTFS_FS && str_eq(m->fstype, "tmpfs") && !m->copy_up;
	}
	return !p->root;
}

static void plan_fresh(struct rootfs_plan *p)
{
	for (size_t i = 0; i < p->n_mounts; i++)
		p->mounts[i].fresh = is_fresh(p, i);
}

/* Terminals and the SELinux label of file systems that are made anew. */
static int plan_label(struct builder *b, struct err *e)
{
	static const char *const types[] = {"tmpfs", "devpts", "mqueue", NULL};
	static const char *const kinds[] = {"context", "fscontext", "defcontext", "rootcontext", NULL};
	const char *label = b->s->linux_ ? b->s->linux_->mount_label : NULL;
	const char *kind = str_map_get(&b->s->annotations, "run.oci.mount_context_type");

	if (kind && str_index(kinds, kind) < 0)
		return err_set(e, EINVAL, "annotations.run.oci.mount_context_type: it is none of context, fscontext, "
					  "defcontext, rootcontext");
	if (!label || !*label)
		return 0;
	for (size_t i = 0; i < b->p->n_mounts; i++) {
		struct rootfs_mount *m = &b->p->mounts[i];

		if (m->kind == ROOTFS_FS && str_index(types, m->fstype) >= 0)
			mount_add_data(b->a, m, arena_printf(b->a, "%s=\"%s\"", kind ? kind : "context", label));
	}
	return 0;
}

static int plan_layers(struct builder *b, struct err *e)
{
	const struct rootfs_overlay *o = b->o->overlay;
	struct rootfs_mount *m;

	if (!o || !o->idmap)
		return 0;
	if (!b->o->parent_privileged)
		return err_set(e, EPERM, "the root: only root outside of a user namespace can shift the ids of its "
			       "layers");
	m = arena_new_of(b->a, struct rootfs_mount);
	*m = (struct rootfs_mount){
		.target = "/", .idmap = true, .fd = -1,
		.uid_maps = o->uid_maps.n ? o->uid_maps.v : b->o->uid_maps,
		.n_uid_maps = o->uid_maps.n ? o->uid_maps.n : b->o->n_uid_maps,
		.gid_maps = o->gid_maps.n ? o->gid_maps.v : b->o->gid_maps,
		.n_gid_maps = o->gid_maps.n ? o->gid_maps.n : b->o->n_gid_maps,
	};
	if (!m->n_uid_maps || !m->n_gid_maps)
		return err_set(e, EINVAL, "the root: its layers cannot be shifted without a user namespace");
	b->p->layer_map = m;
	b->p->sources_by_parent = true;
	return 0;
}

int rootfs_plan(struct arena *a, const struct oci_spec *s, const struct rootfs_options *o,
		struct rootfs_plan **ret, struct err *e)
{
	struct builder b = {a, s, o, arena_new_of(a, struct rootfs_plan)};
	struct rootfs_plan *p = b.p;

	/* In one user namespace with those that it shows, /proc/PID/root leads out. */
	if (o->bind_proc && !o->user_ns)
		return err_set(e, EINVAL, "org.brig.proc: bind is only possible in a new user namespace: "
			       "else the processes of the container could enter those that it shows");
	p->root_fd = p->null_fd = p->leaving = p->new_root = -1;
	p->user_ns = o->user_ns;
	p->no_pivot = o->no_pivot;
	p->sources_by_parent = o->user_ns && o->parent_privileged;
	p->terminal = o->terminal;
	if (plan_root(&b, e) < 0 || plan_layers(&b, e) < 0 || plan_propagation(&b, e) < 0 || plan_mounts(&b, e) < 0 ||
	    plan_devices(a, s, p, e) < 0 || plan_label(&b, e) < 0)
		return -e->code;
	plan_fresh(p);
	if (s->linux_) {
		p->masked = s->linux_->masked_paths;
		p->readonly = s->linux_->readonly_paths;
	}
	*ret = p;
	return 0;
}

bool rootfs_sources_by_parent(const struct rootfs_plan *p)
{
	return p->sources_by_parent;
}

const char *rootfs_kind_name(enum rootfs_mount_kind kind)
{
	static const char *const names[] = {
		[ROOTFS_BIND] = "bind", [ROOTFS_FS] = "fs",     [ROOTFS_REMOUNT] = "remount",
		[ROOTFS_CGROUP] = "cgroup", [ROOTFS_DIR] = "dir", [ROOTFS_FILE] = "file",
		[ROOTFS_LINK] = "link", [ROOTFS_NODE] = "node",
	};

	return names[kind];
}

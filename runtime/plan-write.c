/* SPDX-License-Identifier: Apache-2.0 */
/* The plan as JSON: for `brig plan`, the golden tests, and people who ask what will happen. */
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/sys.h"
#include "runtime/launch.h"

static void write_strings(struct json_writer *w, const char *key, char *const *v)
{
	json_key(w, key);
	json_begin_array(w);
	for (; v && *v; v++)
		json_str(w, *v);
	json_end_array(w);
}

static void write_strv(struct json_writer *w, const char *key, const struct strv *l)
{
	if (!l->n)
		return;
	json_key(w, key);
	json_begin_array(w);
	for (size_t i = 0; i < l->n; i++)
		json_str(w, l->v[i]);
	json_end_array(w);
}

static void write_namespaces(struct json_writer *w, const struct plan *p)
{
	json_key(w, "namespaces");
	json_begin_array(w);
	for (int bit = 0; bit < 32; bit++)
		if (p->new_ns & 1ull << bit) {
			json_begin_object(w);
			json_member_str(w, "new", plan_ns_name(1ull << bit));
			json_end_object(w);
		}
	for (size_t i = 0; i < p->n_joins; i++) {
		json_begin_object(w);
		json_member_str(w, "join", p->joins[i].type);
		json_member_str(w, "path", p->joins[i].path);
		json_end_object(w);
	}
	json_end_array(w);
	json_member_bool(w, "sharedMemory", p->share_vm);
}

static void write_maps(struct json_writer *w, const char *key, const struct oci_id_mapping_list *l)
{
	if (!l->n)
		return;
	json_key(w, key);
	json_begin_array(w);
	for (size_t i = 0; i < l->n; i++) {
		char line[64];

		snprintf(line, sizeof(line), "%u %u %u", l->v[i].container_id, l->v[i].host_id,
			 l->v[i].size);
		json_str(w, line);
	}
	json_end_array(w);
}

static void write_cgroup(struct json_writer *w, const struct cg_plan *c)
{
	static const char *const kinds[] = {"none", "v2", "v1"};
	static const char *const drivers[] = {"none", "fs", "systemd"};

	json_key(w, "cgroup");
	json_begin_object(w);
	json_member_str(w, "kind", kinds[c->kind]);
	json_member_str(w, "driver", drivers[c->driver]);
	if (c->path)
		json_member_str(w, "path", c->path);
	if (c->unit)
		json_member_str(w, "unit", c->unit);
	json_key(w, "settings");
	json_begin_array(w);
	for (size_t i = 0; i < c->settings.n; i++) {
		json_begin_object(w);
		json_member_str(w, "file", c->settings.v[i].file);
		json_member_str(w, "value", c->settings.v[i].value);
		json_end_object(w);
	}
	json_end_array(w);
	json_member_bool(w, "deviceFilter", c->filter_devices);
	write_strv(w, "warnings", &c->warnings);
	json_end_object(w);
}

static void write_attr(struct arena *a, struct json_writer *w, const char *key, uint64_t attr)
{
	if (attr)
		json_member_str(w, key, rootfs_attr_names(a, attr));
}

static const char *propagation_name(unsigned long flag)
{
	static const struct { unsigned long flag; const char *name; } names[] = {
		{MS_PRIVATE, "private"}, {MS_SLAVE, "slave"}, {MS_SHARED, "shared"},
		{MS_UNBINDABLE, "unbindable"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (flag & names[i].flag)
			return names[i].name;
	return NULL;
}

static void write_mount(struct arena *a, struct json_writer *w, const struct rootfs_mount *m)
{
	json_begin_object(w);
	json_member_str(w, "kind", rootfs_kind_name(m->kind));
	json_member_str(w, "target", m->target);
	if (m->source)
		json_member_str(w, "source", m->source);
	if (m->fstype)
		json_member_str(w, "type", m->fstype);
	if (m->data && m->kind != ROOTFS_FILE)
		json_member_str(w, "data", m->data);
	write_attr(a, w, "attributes", m->attr.set);
	write_attr(a, w, "attributesCleared", m->attr.clear);
	write_attr(a, w, "attributesRecursive", m->attr_rec.set);
	if (propagation_name(m->propagation))
		json_member_str(w, "propagation", propagation_name(m->propagation));
	if (m->recursive)
		json_member_bool(w, "recursive", true);
	if (m->copy_up)
		json_member_bool(w, "copyUp", true);
	if (m->kind == ROOTFS_NODE) {
		char dev[48];

		snprintf(dev, sizeof(dev), "%c %u:%u", m->type, m->major, m->minor);
		json_member_str(w, "device", dev);
	}
	json_end_object(w);
}

static void write_mounts(struct arena *a, struct json_writer *w, const char *key,
			 const struct rootfs_mount *v, size_t n)
{
	json_key(w, key);
	json_begin_array(w);
	for (size_t i = 0; i < n; i++)
		write_mount(a, w, &v[i]);
	json_end_array(w);
}

static void write_overlay(struct json_writer *w, const struct rootfs_overlay *o)
{
	json_key(w, "overlay");
	json_begin_object(w);
	write_strv(w, "lower", &o->lower);
	if (o->upper) {
		json_member_str(w, "upper", o->upper);
		json_member_str(w, "work", o->work);
		json_member_bool(w, "unsynced", o->unsynced);
	}
	json_end_object(w);
}

static void write_rootfs(struct arena *a, struct json_writer *w, const struct rootfs_plan *r)
{
	json_key(w, "rootfs");
	json_begin_object(w);
	if (r->overlay)
		write_overlay(w, r->overlay);
	else
		json_member_str(w, "path", r->root);
	write_attr(a, w, "attributes", r->root_attr);
	if (propagation_name(r->propagation))
		json_member_str(w, "propagation", propagation_name(r->propagation));
	json_member_bool(w, "sourcesByParent", r->sources_by_parent);
	write_mounts(a, w, "mounts", r->mounts, r->n_mounts);
	write_mounts(a, w, "devices", r->devices, r->n_devices);
	write_strv(w, "masked", &r->masked);
	write_strv(w, "readonly", &r->readonly);
	json_end_object(w);
}

static void write_caps(struct json_writer *w, const char *key, uint64_t set)
{
	json_key(w, key);
	json_begin_array(w);
	for (int cap = 0; cap < 64; cap++)
		if (set & 1ull << cap)
			json_str(w, sec_cap_name(cap));
	json_end_array(w);
}

static void write_rlimits(struct json_writer *w, const struct sec_plan *s)
{
	json_key(w, "rlimits");
	json_begin_object(w);
	for (size_t i = 0; i < s->rlimits.n; i++) {
		char value[64];

		snprintf(value, sizeof(value), "%llu:%llu", (unsigned long long)s->rlimits.v[i].soft,
			 (unsigned long long)s->rlimits.v[i].hard);
		json_member_str(w, sec_rlimit_name(s->rlimits.v[i].resource), value);
	}
	json_end_object(w);
}

static void write_security(struct json_writer *w, const struct sec_plan *s)
{
	json_key(w, "security");
	json_begin_object(w);
	json_member_u64(w, "uid", s->uid);
	json_member_u64(w, "gid", s->gid);
	json_key(w, "groups");
	json_begin_array(w);
	for (size_t i = 0; i < s->groups.n; i++)
		json_u64(w, s->groups.v[i]);
	json_end_array(w);
	json_member_bool(w, "setGroups", s->set_groups);
	write_caps(w, "bounding", s->caps.bounding);
	write_caps(w, "permitted", s->caps.permitted);
	write_caps(w, "effective", s->caps.effective);
	write_caps(w, "inheritable", s->caps.inheritable);
	write_caps(w, "ambient", s->caps.ambient);
	json_member_bool(w, "noNewPrivileges", s->no_new_privs);
	json_member_str(w, "seccomp", s->filter ? "built-in" : s->seccomp ? "config" : "none");
	json_member_bool(w, "newKeyring", s->new_keyring);
	if (s->oom_score_adj.set)
		json_member_i64(w, "oomScoreAdj", s->oom_score_adj.v);
	write_rlimits(w, s);
	json_end_object(w);
}

static void write_process(struct json_writer *w, const struct plan *p)
{
	json_key(w, "process");
	json_begin_object(w);
	if (p->handler)
		json_member_str(w, "handler", p->handler);
	write_strings(w, "args", p->argv);
	write_strings(w, "env", p->envp);
	json_member_bool(w, "homeFromPasswd", p->find_home);
	json_member_str(w, "cwd", p->cwd);
	json_end_object(w);
}

void plan_write(struct json_writer *w, const struct plan *p)
{
	auto_arena struct arena *a = arena_new();

	json_begin_object(w);
	json_member_str(w, "id", p->options.id);
	write_namespaces(w, p);
	write_maps(w, "uidMaps", &p->uid_maps);
	write_maps(w, "gidMaps", &p->gid_maps);
	write_cgroup(w, p->cgroup);
	write_rootfs(a, w, p->rootfs);
	write_security(w, p->security);
	write_process(w, p);
	json_key(w, "steps");
	rt_launch_write_steps(w, p);
	json_end_object(w);
}

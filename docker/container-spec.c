/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/container-spec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/procfs.h"
#include "base/str.h"
#include "docker/cdi.h"
#include "docker/layers.h"
#include "docker/user.h"
#include "spec/default.h"
#include "spec/spec.h"

enum { ACCOUNTS_MAX = 1 << 20 };

#define DEFAULT_PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* ---- security options ---- */

const char *dk_security_opt(const struct dk_run_options *o, const char *key)
{
	size_t n = strlen(key);

	for (size_t i = o->security_opt.n; i-- > 0;) {
		const char *s = o->security_opt.v[i];

		if (str_starts(s, key) && (s[n] == '=' || s[n] == ':'))
			return s + n + 1;
		if (str_eq(s, key))
			return "";
	}
	return NULL;
}

bool dk_no_new_privileges(const struct dk_run_options *o)
{
	const char *v = dk_security_opt(o, "no-new-privileges");

	return v && (!*v || str_eq(v, "true") || str_eq(v, "1"));
}

/* Docker's set; of these a user namespace gives power over its own things only. */
static const char *const default_caps[] = {
	"CAP_AUDIT_WRITE", "CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL",
	"CAP_MKNOD", "CAP_NET_BIND_SERVICE", "CAP_NET_RAW", "CAP_SETFCAP", "CAP_SETGID", "CAP_SETPCAP",
	"CAP_SETUID", "CAP_SYS_CHROOT", NULL,
};
enum { CAPS_MAX = 64 };

static char *cap_name(struct arena *a, const char *given)
{
	char *s = arena_strdup(a, given);

	for (char *p = s; *p; p++)
		if (*p >= 'a' && *p <= 'z')
			*p = (char)(*p - 'a' + 'A');
	return str_eq(s, "ALL") || str_starts(s, "CAP_") ? s : arena_printf(a, "CAP_%s", s);
}

static int cap_mask(struct arena *a, const struct strv *names, uint64_t *ret, struct err *e)
{
	*ret = 0;
	for (size_t i = 0; i < names->n; i++) {
		char *name = cap_name(a, names->v[i]);
		int cap = str_eq(name, "ALL") ? -2 : sec_cap_number(name);

		if (cap == -1)
			return err_set(e, EINVAL, "Error response from daemon: invalid capability: \"%.64s\"",
				       names->v[i]);
		*ret |= cap == -2 ? ~0ull : 1ull << cap;
	}
	return 0;
}

int dk_spec_capabilities(struct arena *a, const struct dk_run_options *o, struct strv *ret, struct err *e)
{
	struct strv l = {.v = arena_array(a, CAPS_MAX + 1, sizeof(char *))};
	uint64_t add, drop, have = 0;

	for (size_t i = 0; default_caps[i]; i++)
		have |= 1ull << sec_cap_number(default_caps[i]);
	if (cap_mask(a, &o->cap_add, &add, e) < 0 || cap_mask(a, &o->cap_drop, &drop, e) < 0)
		return -e->code;
	/* "ALL" of one list leaves the single names to the other; else what is added stays. */
	if (drop == ~0ull)
		have = add;
	else if (add == ~0ull)
		have = ~drop;
	else
		have = (have & ~drop) | add;
	if (o->privileged)
		have = ~0ull;
	for (int cap = 0; cap < CAPS_MAX; cap++)
		if ((have & 1ull << cap) && sec_cap_name(cap))
			l.v[l.n++] = (char *)sec_cap_name(cap);
	*ret = l;
	return 0;
}

static int add_capabilities(const struct dk_spec_input *in, struct oci_process *p, struct err *e)
{
	struct oci_capabilities *caps = arena_new_of(in->c->arena, struct oci_capabilities);
	struct strv have;

	if (dk_spec_capabilities(in->c->arena, &in->record->options, &have, e) < 0)
		return -e->code;
	/* No inheritable ones (CVE-2022-24769), so no ambient ones either. */
	caps->bounding = caps->permitted = caps->effective = have;
	p->capabilities = caps;
	return 0;
}

/* ---- the process ---- */

static void put_env(struct arena *a, struct strv *env, const char *entry)
{
	size_t key = strcspn(entry, "=") + 1;
	(void)a;

	for (size_t i = 0; i < env->n; i++)
		if (strncmp(env->v[i], entry, key) == 0) {
			env->v[i] = (char *)entry;
			return;
		}
	env->v[env->n++] = (char *)entry;
}

static void add_env(const struct dk_spec_input *in, struct oci_process *p)
{
	const struct dk_container_config *f = &in->record->config;
	struct arena *a = in->c->arena;
	const struct strv none = {0}, *links = in->link_env ? in->link_env : &none;

	p->env.v = arena_array(a, f->env.n + links->n + 4, sizeof(char *));
	put_env(a, &p->env, DEFAULT_PATH);
	put_env(a, &p->env, arena_printf(a, "HOSTNAME=%s", f->hostname));
	if (f->tty)
		put_env(a, &p->env, "TERM=xterm");
	for (size_t i = 0; i < links->n; i++)
		put_env(a, &p->env, links->v[i]);
	for (size_t i = 0; i < f->env.n; i++)
		put_env(a, &p->env, f->env.v[i]);
}

/* The built-in root has an /etc/passwd of its own, made at the start. */
static const struct dk_accounts host_accounts = {
	.passwd = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
	.group = "root:x:0:\ntty:x:5:\nnogroup:x:65534:\n",
};

/* The upper directory is the container's own, from its earlier starts. */
static int add_user(const struct dk_spec_input *in, struct oci_process *p, struct err *e)
{
	const struct dk_record *r = in->record;
	struct dk_user_want want = {.user = r->config.user, .groups = &r->options.group_add};
	struct strv layers = {.v = arena_array(in->c->arena, r->layers.n + 2, sizeof(char *))};
	struct dk_accounts acc = host_accounts;

	if (!r->host_rootfs) {
		layers.v[layers.n++] = dk_container_path(in->store, r->id, "rw/diff");
		for (size_t i = 0; i < r->layers.n; i++)
			layers.v[layers.n++] = r->layers.v[i];
		acc.passwd = dk_layers_read(in->c->arena, &layers, "etc/passwd", ACCOUNTS_MAX);
		acc.group = dk_layers_read(in->c->arena, &layers, "etc/group", ACCOUNTS_MAX);
	}
	return dk_user_find(in->c->arena, &acc, &want, &p->user, e) < 0
		       ? err_wrap(e, "Error response from daemon") : 0;
}

static int add_process(const struct dk_spec_input *in, struct oci_spec *s, struct err *e)
{
	const struct dk_record *r = in->record;
	struct oci_process *p = s->process = arena_new_of(in->c->arena, struct oci_process);
	const char *apparmor = dk_security_opt(&r->options, "apparmor");

	p->terminal = (struct opt_bool){true, r->config.tty};
	p->cwd = r->config.workdir && *r->config.workdir ? r->config.workdir : (char *)"/";
	if (*p->cwd != '/')
		p->cwd = arena_printf(in->c->arena, "/%s", p->cwd);
	p->args.v = arena_array(in->c->arena, r->args.n + 2, sizeof(char *));
	p->args.v[p->args.n++] = r->path;
	for (size_t i = 0; i < r->args.n; i++)
		p->args.v[p->args.n++] = r->args.v[i];
	p->rlimits = dk_spec_rlimits(in->c->arena, &r->options);
	p->no_new_privileges = (struct opt_bool){true, dk_no_new_privileges(&r->options)};
	if (apparmor && *apparmor && !str_eq(apparmor, "unconfined"))
		p->apparmor_profile = (char *)apparmor;
	if (r->options.oom_score_adj)
		p->oom_score_adj = (struct opt_i32){true, (int32_t)r->options.oom_score_adj};
	add_env(in, p);
	return add_capabilities(in, p, e);
}

/* ---- namespaces and ids ---- */

static void add_ns(struct oci_linux *l, const char *type, const char *path)
{
	l->namespaces.v[l->namespaces.n++] = (struct oci_namespace){(char *)type, (char *)path};
}

static bool is_host(const char *mode)
{
	return str_eq(mode, "host");
}

/* A new one, or that of another container. */
static void add_or_join(const struct dk_spec_input *in, struct oci_linux *l, const char *type, int join)
{
	add_ns(l, type, join < 0 ? NULL : arena_printf(in->c->arena, "/proc/self/fd/%d", join));
}

static void add_namespaces(const struct dk_spec_input *in, struct oci_linux *l)
{
	static const struct dk_share nothing = DK_SHARE_NONE;
	const struct dk_run_options *o = &in->record->options;
	const struct dk_share *s = in->share ? in->share : &nothing;

	l->namespaces.v = arena_array(in->c->arena, 9, sizeof(*l->namespaces.v));
	add_or_join(in, l, "user", s->user);
	add_ns(l, "mount", NULL);
	if (in->network && in->network->join_net)
		add_ns(l, "network", in->network->join_net);
	else if (!in->network || in->network->own_netns)
		add_ns(l, "network", NULL);
	if (!is_host(o->pid))
		add_or_join(in, l, "pid", s->pid);
	if (!is_host(o->ipc))
		add_or_join(in, l, "ipc", s->ipc);
	if (!is_host(o->uts))
		add_ns(l, "uts", NULL);
	if (!is_host(o->cgroupns))
		add_ns(l, "cgroup", NULL);
}

static void add_map(struct arena *a, struct oci_id_mapping_list *l, struct oci_id_mapping m)
{
	struct oci_id_mapping *v = arena_array(a, l->n + 1, sizeof(*v));

	if (l->n)
		memcpy(v, l->v, l->n * sizeof(*v));
	v[l->n] = m;
	l->v = v;
	l->n++;
}

/* Every id that we have is the container's, too, so that what belongs to root stays usable. */
static int map_same(const struct dk_spec_input *in, const char *file, struct oci_id_mapping_list *l,
		    struct err *e)
{
	char text[4096], *line, *save = NULL;

	if (in->host->initial_userns) {
		add_map(in->c->arena, l, (struct oci_id_mapping){0, 0, UINT32_MAX});
		return 0;
	}
	if (procfs_read(in->host->procfs, file, text, sizeof(text), e) < 0)
		return -e->code;
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		unsigned inside, outside, n;

		if (sscanf(line, "%u %u %u", &inside, &outside, &n) == 3)
			add_map(in->c->arena, l, (struct oci_id_mapping){inside, inside, n});
	}
	return 0;
}

/* The caller is root inside; what follows are his subordinate ids. */
static void map_user(const struct dk_spec_input *in, struct oci_linux *l)
{
	const struct rt_host *h = in->host;
	struct arena *a = in->c->arena;

	add_map(a, &l->uid_mappings, (struct oci_id_mapping){0, h->euid, 1});
	add_map(a, &l->gid_mappings, (struct oci_id_mapping){0, h->egid, 1});
	if (!h->have_subids)
		return;
	add_map(a, &l->uid_mappings, (struct oci_id_mapping){1, h->subuid.host_id, h->subuid.size});
	add_map(a, &l->gid_mappings, (struct oci_id_mapping){1, h->subgid.host_id, h->subgid.size});
}

static int add_maps(const struct dk_spec_input *in, struct oci_linux *l, struct dk_spec *ret, struct err *e)
{
	const struct dk_record *r = in->record;
	const char *mode = r->options.userns && *r->options.userns ? r->options.userns
								 : in->store->config.userns;

	ret->options.userns = PLAN_USERNS_SPEC;
	if (in->share && in->share->user >= 0) {
		ret->overlay.idmap = in->share->shifted && in->host->privileged;
		ret->overlay.uid_maps = in->share->uid_maps;
		ret->overlay.gid_maps = in->share->gid_maps;
		return 0;
	}
	if (in->network && in->network->nested) {
		l->uid_mappings = in->network->uid_maps;
		l->gid_mappings = in->network->gid_maps;
		return 0;
	}
	if (str_eq(mode, "private")) {
		if (r->layers.n && !in->host->privileged)
			return dk_daemon_error(in->c, e, ENOTSUP, "--userns=private is not supported with an "
					       "image that has layers: the kernel lets only root shift the ids of "
					       "their files: leave it out, or use the image host");
		ret->options.userns = PLAN_USERNS_RANGE;
		ret->overlay.idmap = in->host->privileged;
		return 0;
	}
	if (!in->host->privileged) {
		map_user(in, l);
		return 0;
	}
	return map_same(in, "self/uid_map", &l->uid_mappings, e) < 0
		       ? -e->code : map_same(in, "self/gid_map", &l->gid_mappings, e);
}

/* ---- the rest of linux ---- */

static struct strv copy_paths(struct arena *a, const char *const *list)
{
	struct strv v = {0};

	while (list[v.n])
		v.n++;
	v.v = arena_array(a, v.n + 1, sizeof(char *));
	memcpy(v.v, list, v.n * sizeof(char *));
	return v;
}

static int add_seccomp(const struct dk_spec_input *in, struct oci_spec *s, struct dk_spec *ret, struct err *e)
{
	const struct dk_run_options *o = &in->record->options;
	const char *profile = dk_security_opt(o, "seccomp");

	if (o->privileged || str_eq(profile, "unconfined"))
		return 0;
	if (!profile || !*profile || str_eq(profile, "builtin")) {
		ret->options.container_seccomp = true;
		return 0;
	}
	if (dk_spec_seccomp(in->c->arena, profile, &s->process->capabilities->bounding,
			    &s->linux_->seccomp, e) < 0)
		return err_wrap(e, "Error response from daemon: Decoding seccomp profile failed");
	return 0;
}

static int add_linux(const struct dk_spec_input *in, struct oci_spec *s, struct dk_spec *ret, struct err *e)
{
	const struct dk_run_options *o = &in->record->options;
	struct oci_linux *l = s->linux_ = arena_new_of(in->c->arena, struct oci_linux);

	add_namespaces(in, l);
	if (add_maps(in, l, ret, e) < 0)
		return -e->code;
	l->resources = dk_spec_resources(in->c->arena, o, e);
	if (!l->resources)
		return err_wrap(e, "Error response from daemon");
	l->sysctl = o->sysctls;
	if (o->cgroup_parent && *o->cgroup_parent)
		l->cgroups_path = arena_printf(in->c->arena, "%s/%s", o->cgroup_parent, in->record->id);
	if (!o->privileged && !o->systempaths_unconfined) {
		l->masked_paths = copy_paths(in->c->arena, spec_masked_paths);
		l->readonly_paths = copy_paths(in->c->arena, spec_readonly_paths);
	}
	if (dk_spec_devices(in, ret, e) < 0)
		return -e->code;
	return add_seccomp(in, s, ret, e);
}

/* ---- the root ---- */

static void add_root(const struct dk_spec_input *in, struct oci_spec *s, struct dk_spec *ret)
{
	const struct dk_record *r = in->record;
	struct rootfs_overlay *o = &ret->overlay;
	struct arena *a = in->c->arena;

	s->root = arena_new_of(a, struct oci_root);
	s->root->readonly = (struct opt_bool){true, r->options.read_only};
	ret->options.host_rootfs = r->host_rootfs;
	if (r->host_rootfs)
		return;
	/* On top of the image, as in Docker: the mount points that every container needs. */
	o->lower.v = arena_array(a, r->layers.n + 2, sizeof(char *));
	o->lower.v[o->lower.n++] = arena_printf(a, "%s/mount-points", in->store->roots.data);
	for (size_t i = 0; i < r->layers.n; i++)
		o->lower.v[o->lower.n++] = r->layers.v[i];
	if (!r->options.read_only || r->needs_upper) {
		o->upper = dk_container_path(in->store, r->id, "rw/diff");
		o->work = dk_container_path(in->store, r->id, "rw/work");
	}
	o->unsynced = r->options.remove;
	ret->options.overlay = o;
}

int dk_spec_build(const struct dk_spec_input *in, struct dk_spec *ret, struct err *e)
{
	const struct dk_record *r = in->record;
	const struct dk_cdi_want cdi = {.devices = r->options.cdi_devices, .gpus = r->options.gpus.v,
					.n_gpus = r->options.gpus.n};
	struct oci_spec *s = ret->oci = arena_new_of(in->c->arena, struct oci_spec);

	s->oci_version = (char *)OCI_VERSION;
	ret->options.id = r->id;
	ret->options.bundle = dk_container_path(in->store, r->id, NULL);
	ret->options.nodev = true;
	ret->options.die_with_parent = true;
	ret->options.tiny_init = r->options.init.set && r->options.init.v;
	s->annotations = r->options.annotations;
	if (!is_host(r->options.uts)) {
		s->hostname = r->config.hostname;
		s->domainname = r->config.domainname;
	}
	add_root(in, s, ret);
	if (add_process(in, s, e) < 0 || add_user(in, s->process, e) < 0 || add_linux(in, s, ret, e) < 0)
		return -e->code;
	if (dk_spec_mounts(in, ret, e) < 0)
		return -e->code;
	/* What the files say comes on top of everything else. */
	return dk_cdi_apply(in->c->arena, &cdi, s, &ret->device_sources, e);
}

int dk_spec_process(const struct dk_spec_input *in, struct dk_spec *ret, struct err *e)
{
	ret->oci = arena_new_of(in->c->arena, struct oci_spec);
	ret->oci->linux_ = arena_new_of(in->c->arena, struct oci_linux);
	return add_process(in, ret->oci, e) < 0 ? -e->code : add_seccomp(in, ret->oci, ret, e);
}

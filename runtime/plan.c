/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each part of the plan is made by one function from the spec and the facts about the host; the
 * modules make theirs. Nothing here asks the kernel anything, so plans can be compared with golden
 * files on any machine.
 */
#include "runtime/plan.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "base/str.h"
#include "base/sys.h"
#include "runtime/handler.h"
#include "runtime/listener.h"
#include "runtime/sysctl.h"

static const struct { const char *type; uint64_t flag; } ns_types[] = {
	{"user", CLONE_NEWUSER},  {"pid", CLONE_NEWPID}, {"mount", CLONE_NEWNS},
	{"network", CLONE_NEWNET}, {"ipc", CLONE_NEWIPC}, {"uts", CLONE_NEWUTS},
	{"cgroup", CLONE_NEWCGROUP}, {"time", CLONE_NEWTIME},
};

static uint64_t ns_flag(const char *type)
{
	for (size_t i = 0; i < sizeof(ns_types) / sizeof(ns_types[0]); i++)
		if (str_eq(ns_types[i].type, type))
			return ns_types[i].flag;
	return 0;
}

const char *plan_ns_name(uint64_t flag)
{
	for (size_t i = 0; i < sizeof(ns_types) / sizeof(ns_types[0]); i++)
		if (ns_types[i].flag == flag)
			return ns_types[i].type;
	return "?";
}

uint64_t plan_joined(const struct plan *p)
{
	uint64_t flags = 0;

	for (size_t i = 0; i < p->n_joins; i++)
		flags |= p->joins[i].flag;
	return flags;
}

static int plan_namespaces(struct arena *a, struct plan *p, const struct rt_host *h, struct err *e)
{
	const struct oci_namespace_list *list = &p->spec->linux_->namespaces;

	p->joins = arena_array(a, list->n + 1, sizeof(p->joins[0]));
	for (size_t i = 0; i < list->n; i++) {
		const struct oci_namespace *ns = &list->v[i];
		uint64_t flag = ns_flag(ns->type);

		if (ns->path && *ns->path)
			p->joins[p->n_joins++] = (struct plan_join){ns->type, ns->path, flag};
		else
			p->new_ns |= flag;
	}
	if (!h->privileged && !((p->new_ns | plan_joined(p)) & CLONE_NEWUSER)) {
		p->new_ns |= CLONE_NEWUSER;
		p->options.userns = PLAN_USERNS_CALLER;
	}
	/* Memory is shared with INIT only where no foreign process can see it: all that could lies
	 * in namespaces that are made for it. */
	p->share_vm = p->n_joins == 0;
	if (!(p->new_ns & CLONE_NEWNS) && p->spec->root)
		return err_set(e, EINVAL, "linux.namespaces: a root file system needs a new mount "
					  "namespace: add {\"type\": \"mount\"}");
	return 0;
}

/* ---- ids ---- */

/* A private range by id: 4096 slots of 65536 ids, above what useradd hands out as subordinate ids
 * (SUB_UID_MAX) and inside of what systemd sets aside for containers. */
enum { RANGE_BASE = 0x60000000, RANGE_SIZE = 65536, RANGE_SLOTS = 4096 };

static uint32_t range_for(const char *id)
{
	uint32_t h = 2166136261u; /* FNV-1a */

	for (; *id; id++)
		h = (h ^ (unsigned char)*id) * 16777619u;
	return RANGE_BASE + (h % RANGE_SLOTS) * RANGE_SIZE;
}

static struct oci_id_mapping_list one_mapping(struct arena *a, uint32_t inside, uint32_t outside,
					      uint32_t size)
{
	struct oci_id_mapping *m = arena_new_of(a, struct oci_id_mapping);

	*m = (struct oci_id_mapping){inside, outside, size};
	return (struct oci_id_mapping_list){m, 1};
}

static int map_range(struct arena *a, struct plan *p, const struct rt_host *h, struct err *e)
{
	if (h->privileged && h->initial_userns) {
		uint32_t base = range_for(p->options.id);

		p->uid_maps = one_mapping(a, 0, base, RANGE_SIZE);
		p->gid_maps = one_mapping(a, 0, base, RANGE_SIZE);
		return 0;
	}
	if (!h->have_subids)
		return err_set(e, ENOENT, "a private id range needs entries for this user in /etc/subuid "
					  "and /etc/subgid and the programs newuidmap and newgidmap "
					  "(package uidmap); or choose a single id");
	p->uid_maps = one_mapping(a, 0, h->subuid.host_id, h->subuid.size);
	p->gid_maps = one_mapping(a, 0, h->subgid.host_id, h->subgid.size);
	return 0;
}

static void map_single(struct arena *a, struct plan *p, const struct rt_host *h)
{
	const struct oci_user *u = &p->spec->process->user;

	p->uid_maps = one_mapping(a, u->uid, h->euid, 1);
	p->gid_maps = one_mapping(a, u->gid, h->egid, 1);
	p->setgroups_denied = !h->privileged;
}

/* As crun does: what a normal user gets whose configuration has no user namespace. */
static void map_caller(struct arena *a, struct plan *p, const struct rt_host *h)
{
	struct oci_id_mapping *m = arena_array(a, 4, sizeof(*m));

	m[0] = (struct oci_id_mapping){0, h->euid, 1};
	m[1] = (struct oci_id_mapping){1, h->subuid.host_id, h->subuid.size};
	m[2] = (struct oci_id_mapping){0, h->egid, 1};
	m[3] = (struct oci_id_mapping){1, h->subgid.host_id, h->subgid.size};
	p->uid_maps = (struct oci_id_mapping_list){m, 2};
	p->gid_maps = (struct oci_id_mapping_list){m + 2, 2};
}

/* crun's "intermediate user namespace": the only id that there is belongs to the program's user. */
static void give_single_id(struct arena *a, struct oci_id_mapping_list *l, uint32_t id)
{
	*l = one_mapping(a, id, l->v[0].host_id, 1);
}

static bool is_single_root(const struct oci_id_mapping_list *l)
{
	return l->n == 1 && l->v[0].container_id == 0 && l->v[0].size == 1;
}

static bool in_range(const struct oci_id_mapping_list *l, uint32_t id)
{
	for (size_t i = 0; i < l->n; i++)
		if (id >= l->v[i].container_id && id - l->v[i].container_id < l->v[i].size)
			return true;
	return false;
}

static int choose_maps(struct arena *a, struct plan *p, const struct rt_host *h, struct err *e)
{
	const struct oci_linux *l = p->spec->linux_;
	bool range = (h->privileged && h->initial_userns) || h->have_subids;

	if (l->uid_mappings.n || l->gid_mappings.n || p->options.userns == PLAN_USERNS_SPEC) {
		p->uid_maps = l->uid_mappings;
		p->gid_maps = l->gid_mappings;
		if (is_single_root(&p->uid_maps) && is_single_root(&p->gid_maps)) {
			give_single_id(a, &p->uid_maps, p->spec->process->user.uid);
			give_single_id(a, &p->gid_maps, p->spec->process->user.gid);
		}
	} else if (p->options.userns == PLAN_USERNS_CALLER && h->have_subids) {
		map_caller(a, p, h);
	} else if (p->options.userns == PLAN_USERNS_RANGE ||
		   (p->options.userns == PLAN_USERNS_AUTO && range)) {
		return map_range(a, p, h, e);
	} else {
		map_single(a, p, h);
	}
	if (!p->uid_maps.n || !p->gid_maps.n)
		return err_set(e, EINVAL, "linux.%s: is missing, a new user namespace needs it",
			       p->uid_maps.n ? "gidMappings" : "uidMappings");
	/* One line that maps only the caller's own gid is written without help, and the kernel wants
	 * setgroups denied for that. */
	if (!h->privileged && p->gid_maps.n == 1 && p->gid_maps.v[0].size == 1 &&
	    p->gid_maps.v[0].host_id == h->egid)
		p->setgroups_denied = true;
	return 0;
}

static int plan_ids(struct arena *a, struct plan *p, const struct rt_host *h, struct err *e)
{
	const struct oci_user *u = &p->spec->process->user;
	const struct oci_linux *l = p->spec->linux_;
	int r;

	if (!(p->new_ns & CLONE_NEWUSER)) {
		if ((l->uid_mappings.n || l->gid_mappings.n) && !(plan_joined(p) & CLONE_NEWUSER))
			return err_set(e, EINVAL, "linux.uidMappings: given without a user namespace: "
						  "add {\"type\": \"user\"} to linux.namespaces");
		return 0;
	}
	r = choose_maps(a, p, h, e);
	if (r < 0)
		return r;
	if (!in_range(&p->uid_maps, u->uid))
		return err_set(e, EINVAL, "process.user.uid: %u is not mapped in the user namespace",
			       u->uid);
	if (!in_range(&p->gid_maps, u->gid))
		return err_set(e, EINVAL, "process.user.gid: %u is not mapped in the user namespace",
			       u->gid);
	return 0;
}

static int check_net_devices(const struct plan *p, const struct rt_host *h, struct err *e)
{
	const struct oci_net_device_list *l = &p->spec->linux_->net_devices;

	if (l->n && !h->privileged)
		return err_set(e, EPERM, "linux.netDevices: only root can move the host's devices");
	return 0;
}

/* ---- process ---- */

static bool has_home(const struct strv *env)
{
	for (size_t i = 0; i < env->n; i++)
		if (str_starts(env->v[i], "HOME="))
			return true;
	return false;
}

static bool is_replaced(const struct strv *by, const char *entry)
{
	size_t key = strcspn(entry, "=") + 1;

	for (size_t i = 0; i < by->n; i++)
		if (strncmp(by->v[i], entry, key) == 0)
			return true;
	return false;
}

static bool is_module_name(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot && (strcasecmp(dot, ".wasm") == 0 || strcasecmp(dot, ".wat") == 0);
}

/* Images with a WebAssembly module say so by an annotation of their own, which crun follows. In one pod
 * with other containers it is "compat-smart", and the name of the program decides. */
static const char *handler_name(const struct oci_spec *s)
{
	const char *name = str_map_get(&s->annotations, HANDLER_ANNOTATION);
	const char *variant = str_map_get(&s->annotations, "module.wasm.image/variant");
	bool smart = variant && str_eq(variant, "compat-smart");

	if (name || !variant || !(smart || str_eq(variant, "compat")))
		return name;
	return !smart || (s->process->args.n && is_module_name(s->process->args.v[0])) ? "wasm" : NULL;
}

static int plan_handler(struct plan *p, struct err *e)
{
	const char *name = p->options.handler_dir ? handler_name(p->spec) : NULL;

	if (name && !str_valid_id(name))
		return err_set(e, EINVAL, "annotations." HANDLER_ANNOTATION ": \"%.64s\" is not a name of letters, digits and "
					  "_.-", name);
	p->handler = name;
	return 0;
}

static char **with_handler(struct arena *a, const char *handler, const struct strv *args)
{
	char **argv = arena_array(a, args->n + 2, sizeof(char *));

	argv[0] = (char *)handler;
	memcpy(argv + 1, args->v, args->n * sizeof(char *));
	return argv;
}

static void plan_process(struct arena *a, struct plan *p)
{
	const struct oci_process *proc = p->spec->process;
	const struct strv *extra = &p->options.extra_env;
	size_t n = 0;

	p->argv = p->handler ? with_handler(a, p->handler, &proc->args) : proc->args.v;
	p->envp = arena_array(a, proc->env.n + extra->n + 2, sizeof(char *)); /* room for HOME and NULL */
	for (size_t i = 0; i < proc->env.n; i++) {
		char *entry = proc->env.v[i];
		size_t at = 0;

		/* Without '=': never filled from our own environment. */
		if (!strchr(entry, '=') || is_replaced(extra, entry))
			continue;
		/* The last one of a name wins, as under runc and crun. */
		while (at < n && strncmp(p->envp[at], entry, strcspn(entry, "=") + 1) != 0)
			at++;
		p->envp[at] = entry;
		n += at == n;
	}
	for (size_t i = 0; i < extra->n; i++)
		p->envp[n++] = extra->v[i];
	p->n_env = n;
	p->find_home = !has_home(&proc->env);
	p->cwd = proc->cwd;
}

static int plan_uts(struct plan *p, struct err *e)
{
	uint64_t own = p->new_ns | plan_joined(p);

	p->hostname = p->spec->hostname && *p->spec->hostname ? p->spec->hostname : NULL;
	p->domainname = p->spec->domainname && *p->spec->domainname ? p->spec->domainname : NULL;
	if ((p->hostname || p->domainname) && !(own & CLONE_NEWUTS))
		return err_set(e, EINVAL, "%s: cannot be set without a uts namespace",
			       p->hostname ? "hostname" : "domainname");
	return 0;
}

/* ---- the modules' parts ---- */

static const struct oci_spec *with_mount(struct arena *a, const struct oci_spec *s,
					 const struct oci_mount *m)
{
	struct oci_spec *copy = arena_new_of(a, struct oci_spec);

	*copy = *s;
	copy->mounts.v = arena_array(a, s->mounts.n + 1, sizeof(*m));
	if (s->mounts.n)
		memcpy(copy->mounts.v, s->mounts.v, s->mounts.n * sizeof(*m));
	copy->mounts.v[copy->mounts.n++] = *m;
	return copy;
}

/* For callers of the OCI commands, which have no option for it. */
static int read_proc_annotation(const struct str_map *m, bool *ret_bind, struct err *e)
{
	static const char *const words[] = {"new", "bind", NULL};
	int word = 0;

	for (size_t i = 0; i < m->n && word >= 0; i++)
		if (str_eq(m->v[i].key, "org.brig.proc"))
			word = str_index(words, m->v[i].value);
	if (word < 0)
		return err_set(e, EINVAL, "annotations.org.brig.proc: it is neither new nor bind");
	*ret_bind = word;
	return 0;
}

static int plan_rootfs(struct arena *a, struct plan *p, const struct rt_host *h, struct err *e)
{
	const struct plan_options *o = &p->options;
	uint64_t own = p->new_ns | plan_joined(p);
	struct rootfs_options ro = {
		.user_ns = own & CLONE_NEWUSER,
		.pid_ns = own & CLONE_NEWPID,
		.net_ns = own & CLONE_NEWNET,
		.ipc_ns = own & CLONE_NEWIPC,
		.cgroup_ns = own & CLONE_NEWCGROUP,
		.parent_privileged = h->may_copy_mounts,
		.no_pivot = o->no_pivot,
		.host_rootfs = o->host_rootfs,
		/* the options of proc are the pid namespace's: a joined one is not ours to change */
		.hidepid = o->sandbox && p->new_ns & CLONE_NEWPID,
		.bind_proc = o->bind_proc,
		.terminal = p->spec->process->terminal.v,
		.binds_recursive_ro = o->sandbox,
		.overlay = o->overlay,
		.root_attr = o->sandbox ? MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV
					: o->nodev ? MOUNT_ATTR_NODEV : 0,
		.uid_maps = p->uid_maps.v,
		.n_uid_maps = p->uid_maps.n,
		.gid_maps = p->gid_maps.v,
		.n_gid_maps = p->gid_maps.n,
		.user_uid = p->spec->process->user.uid,
		.user_gid = p->spec->process->user.gid,
	};

	if (!o->sandbox && read_proc_annotation(&p->spec->annotations, &ro.bind_proc, e) < 0)
		return -e->code;
	plan_cgroup_dirs(a, p, h, &ro);
	ro.bundle = o->bundle;
	return rootfs_plan(a, o->extra_mount ? with_mount(a, p->spec, o->extra_mount) : p->spec, &ro,
			   &p->rootfs, e);
}

static int plan_cgroup(struct arena *a, struct plan *p, const struct rt_host *h, struct err *e)
{
	struct cg_request rq = {
		.spec = p->spec,
		.id = p->options.id,
		.host = &h->cgroups,
		/* In a user namespace of its own nobody can make device nodes, and the tree has none
		 * but those that we put there. */
		.rootless = !h->privileged || !h->initial_userns ||
			    ((p->options.sandbox || p->options.nodev) && p->new_ns & CLONE_NEWUSER),
		.systemd = p->options.systemd_cgroup,
		.disabled = p->options.no_cgroup,
		.best_effort = p->options.best_effort,
		.managed = p->options.limits_change,
	};
	int r = cg_plan_build(a, &rq, &p->cgroup, e);

	for (size_t i = 0; r == 0 && i < p->cgroup->warnings.n; i++)
		log_warning("%s", p->cgroup->warnings.v[i]);
	return r;
}

static int plan_security(struct arena *a, struct plan *p, const struct rt_host *h, struct err *e)
{
	struct sec_options so = {
		.spec = p->spec,
		.host = &h->security,
		.new_userns = (p->new_ns | plan_joined(p)) & CLONE_NEWUSER,
		.setgroups_denied = p->setgroups_denied || h->setgroups_denied,
		.new_keyring = !p->options.no_new_keyring,
		.pdeathsig = p->options.die_with_parent ? SIGKILL : 0,
	};
	int r = sec_plan_build(a, &so, &p->security, e);

	if (r == 0 && p->options.default_seccomp && !p->spec->linux_->seccomp)
		p->security->filter = sec_filter_default(a);
	if (r == 0 && p->options.container_seccomp && !p->spec->linux_->seccomp)
		p->security->filter = sec_filter_container(a, p->security->caps.bounding);
	return r;
}

/* A sandbox may write where something writable is mounted, and nowhere else. */
static void plan_wall(struct arena *a, struct plan *p)
{
	const struct rootfs_plan *r = p->rootfs;
	const char **paths = arena_array(a, r->n_mounts + 1, sizeof(char *));

	if (!p->options.sandbox)
		return;
	p->wall = arena_new_of(a, struct sec_wall);
	p->wall->writable = paths;
	for (size_t i = 0; i < r->n_mounts; i++) {
		const struct rootfs_mount *m = &r->mounts[i];
		/* Nothing of a procfs is to be written, be it bound or new. */
		bool tree = m->kind == ROOTFS_BIND || (m->kind == ROOTFS_FS && str_eq(m->fstype, "tmpfs"));

		if (tree && !str_eq(m->target, "/proc") &&
		    !((m->attr.set | m->attr_rec.set) & MOUNT_ATTR_RDONLY))
			paths[p->wall->n_writable++] = m->target;
	}
}

/* What cannot be done is refused, never passed over. */
static int check_supported(const struct oci_linux *l, const struct plan_options *o, struct err *e)
{
	if (!listener_wanted(l->seccomp))
		return 0;
	if (o->tiny_init)
		return err_set(e, ENOTSUP, "linux.seccomp: SCMP_ACT_NOTIFY is not possible in a sandbox");
	return listener_check(l->seccomp, e);
}

/* Parts of the document that the engine needs. */
static int check_complete(const struct oci_spec *s, const struct plan_options *o, struct err *e)
{
	if (!s->process || !s->process->args.n)
		return err_set(e, EINVAL, "process.args: is missing");
	if (!s->process->cwd)
		return err_set(e, EINVAL, "process.cwd: is missing");
	if (!s->linux_)
		return err_set(e, EINVAL, "linux: is missing");
	if (!s->root && !o->host_rootfs && !o->overlay)
		return err_set(e, EINVAL, "root: is missing");
	return check_supported(s->linux_, o, e);
}

int plan_build(struct arena *a, const struct plan_input *in, struct plan **ret, struct err *e)
{
	const struct oci_spec *s = in->spec;
	const struct plan_options *o = in->options;
	const struct rt_host *h = in->host;
	struct plan *p = arena_new_of(a, struct plan);
	int r = check_complete(s, o, e);

	if (r < 0)
		return r;
	p->spec = s;
	p->options = *o;
	r = plan_namespaces(a, p, h, e);
	if (r == 0)
		r = plan_ids(a, p, h, e);
	if (r == 0)
		r = check_net_devices(p, h, e);
	if (r == 0)
		r = plan_uts(p, e);
	if (r == 0)
		r = sysctl_check(&s->linux_->sysctl, p->new_ns | plan_joined(p), e);
	if (r == 0)
		r = plan_cgroup(a, p, h, e);
	if (r == 0)
		r = plan_rootfs(a, p, h, e);
	if (r == 0)
		r = plan_security(a, p, h, e);
	if (r < 0)
		return r;
	r = plan_handler(p, e);
	if (r < 0)
		return r;
	plan_process(a, p);
	plan_wall(a, p);
	*ret = p;
	return 0;
}

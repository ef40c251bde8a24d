/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hardened default of everything that a sandbox spec leaves out. Where a value is not obvious:
 *
 * - /proc is whole, not subset=pid: multiprocessing, psutil, BLAS and JVMs read cpuinfo, meminfo
 *   and stat. What is sensitive in it is masked, and hidepid=invisible hides pid 1.
 * - No /sys, no mqueue: nothing a program needs. (libc falls back to sched_getaffinity.)
 * - The work directory is a tmpfs of its own, so that filling /tmp does not fill it. A root file
 *   system that has no such directory keeps its shape: then /tmp is the work directory.
 * - HOME is /tmp, not the work directory, which belongs to the job.
 * - All tmpfs count inodes, too: empty files cost kernel memory.
 * - An own time namespace changes how a machine looks, not what can be done to it: not made.
 * - memory.oom.group, on v2: half a program that lost a process to the OOM killer hangs more often
 *   than it recovers. cgroup.max.descendants: nobody should get there; should he, no cgroups.
 */
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "spec/default.h"
#include "spec/names.h"
#include "spec/sandbox-internal.h"
#include "spec/spec.h"

#define MIB (1ull << 20)
#define SEC 1000000000ull
enum { CPU_PERIOD = 100000, OOM_SCORE = 500 };

struct build {
	struct arena *a;
	struct oci_spec *s;
	struct sandbox_options *o;
	const struct sandbox_host *h;
};

#define DEFAULT(member, value)                    \
	do {                                      \
		if (!(member).set) {              \
			(member).set = true;      \
			(member).v = (value);     \
		}                                 \
	} while (0)

static void default_options(struct build *b)
{
	struct sandbox_options *o = b->o;

	DEFAULT(o->timeout_ns, 300 * SEC);
	DEFAULT(o->cpu_time_ns, 0);
	DEFAULT(o->output_limit, MIB);
	DEFAULT(o->output_action, SANDBOX_OUTPUT_TRUNCATE);
	DEFAULT(o->tmp_size, 64 * MIB);
	DEFAULT(o->work_size, 64 * MIB);
	DEFAULT(o->shm_size, 64 * MIB);
	DEFAULT(o->network, SANDBOX_NETWORK_NONE);
	DEFAULT(o->userns, SANDBOX_USERNS_AUTO);
	DEFAULT(o->proc, SANDBOX_PROC_NEW);
	DEFAULT(o->init, true);
	DEFAULT(o->best_effort, false);
	DEFAULT(o->core_scheduling, false);
	if (o->outputs && !o->outputs_at)
		o->outputs_at = arena_strdup(b->a, SANDBOX_OUTPUTS);
	o->host_rootfs = !b->s->root->path;
	o->default_seccomp = !b->s->linux_->seccomp;
}

/* ---- process ---- */

/* The entry of `env` for the name in front of the '=' of `entry` is replaced, or one is added;
 * env has room. */
static void put_env(struct strv *env, char *entry)
{
	size_t n = strcspn(entry, "=");

	for (size_t i = 0; i < env->n; i++)
		if (strncmp(env->v[i], entry, n) == 0 && env->v[i][n] == '=') {
			env->v[i] = entry;
			return;
		}
	env->v[env->n++] = entry;
}

static const char *caller_variable(const struct sandbox_host *h, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; h->environ && h->environ[i]; i++)
		if (strncmp(h->environ[i], name, n) == 0 && h->environ[i][n] == '=')
			return h->environ[i];
	return NULL;
}

enum { ENV_MAX = 4096 }; /* entries; put_env looks at all of them */

static int default_env(struct build *b, struct err *e)
{
	static const char *const always[] = {
		"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/tmp", "LANG=C.UTF-8",
	};
	const struct strv *given = &b->s->process->env, *allow = &b->o->env_allow;
	size_t most = 3 + given->n + allow->n + b->o->secrets.n;
	struct strv env = {.v = arena_array(b->a, most + 1, sizeof(char *))};

	if (most > ENV_MAX)
		return err_set(e, E2BIG, "process.env: more than %d variables", ENV_MAX);
	for (size_t i = 0; i < 3; i++)
		put_env(&env, arena_strdup(b->a, always[i]));
	for (size_t i = 0; i < allow->n; i++) {
		const char *entry = caller_variable(b->h, allow->v[i]);

		if (entry) /* allowed is not required */
			put_env(&env, arena_strdup(b->a, entry));
	}
	for (size_t i = 0; i < b->o->secrets.n; i++)
		put_env(&env, arena_printf(b->a, "%s_FILE=" SANDBOX_SECRETS "/%s",
					   b->o->secrets.v[i], b->o->secrets.v[i]));
	for (size_t i = 0; i < given->n; i++) {
		if (!strchr(given->v[i], '=') || given->v[i][0] == '=')
			return err_set(e, EINVAL, "process.env[%zu]: is not of the form NAME=value", i);
		put_env(&env, given->v[i]);
	}
	b->s->process->env = env;
	return 0;
}

static const struct oci_rlimit default_rlimits[] = {
	{(char *)"RLIMIT_CORE", 0, 0},
	{(char *)"RLIMIT_NOFILE", 1024, 1024},
	{(char *)"RLIMIT_MEMLOCK", 65536, 65536},
	{(char *)"RLIMIT_MSGQUEUE", 0, 0},
	{(char *)"RLIMIT_SIGPENDING", 1024, 1024},
	{(char *)"RLIMIT_NICE", 0, 0},
	{(char *)"RLIMIT_RTPRIO", 0, 0},
	{(char *)"RLIMIT_STACK", 8 * MIB, 64 * MIB},
};
enum { N_RLIMITS = sizeof(default_rlimits) / sizeof(default_rlimits[0]) };

static const struct oci_rlimit *find_rlimit(const struct oci_rlimit_list *l, const char *type)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_eq(l->v[i].type, type))
			return &l->v[i];
	return NULL;
}

static uint64_t at_most(uint64_t v, uint64_t max)
{
	return v < max ? v : max;
}

/* A default is never above what the caller has: raising needs a privilege. l has room. */
static void add_rlimit(struct build *b, struct oci_rlimit_list *l, const struct oci_rlimit *limit)
{
	const struct oci_rlimit *own = find_rlimit(&b->h->rlimits, limit->type);
	struct oci_rlimit *r;

	if (find_rlimit(l, limit->type))
		return;
	r = &l->v[l->n++];
	*r = *limit;
	if (own) {
		r->hard = at_most(r->hard, own->hard);
		r->soft = at_most(r->soft, own->hard);
	}
}

/*
 * RLIMIT_NPROC is the second wall behind pids.max, and the only one without a cgroup: it counts
 * per user namespace since Linux 5.14.
 */
static void default_process_limits(struct build *b)
{
	const struct oci_rlimit_list *given = &b->s->process->rlimits;
	struct oci_rlimit_list l = {.v = arena_array(b->a, given->n + N_RLIMITS + 1, sizeof(*l.v))};
	int64_t pids = b->s->linux_->resources->pids->limit.v;

	l.n = given->n;
	if (l.n)
		memcpy(l.v, given->v, l.n * sizeof(*l.v));
	for (size_t i = 0; i < N_RLIMITS; i++)
		add_rlimit(b, &l, &default_rlimits[i]);
	if (pids > 0)
		add_rlimit(b, &l, &(struct oci_rlimit){(char *)"RLIMIT_NPROC", (uint64_t)pids,
						       (uint64_t)pids});
	b->s->process->rlimits = l;
}

static int default_process(struct build *b, struct err *e)
{
	struct oci_process *p = b->s->process;
	bool workspace = b->o->host_rootfs || b->h->root_has_workspace;

	if (!p->args.n || !*p->args.v[0])
		return err_set(e, EINVAL, "process.args: is missing, there is nothing to run");
	if (p->terminal.v)
		return err_set(e, EINVAL, "process.terminal: a sandbox has no terminal");
	if (!p->cwd)
		p->cwd = arena_strdup(b->a, workspace ? SANDBOX_WORKSPACE : "/tmp");
	DEFAULT(p->user.umask, 022); /* not the caller's */
	DEFAULT(p->no_new_privileges, true);
	DEFAULT(p->oom_score_adj, b->h->oom_score_adj > OOM_SCORE ? (int32_t)b->h->oom_score_adj
								  : OOM_SCORE);
	default_process_limits(b);
	return default_env(b, e);
}

/* ---- mounts ---- */

struct default_mount {
	const char *destination, *type;
	size_t size;         /* offset in struct sandbox_options; 0: none */
	const char *options; /* comma-separated, without size */
};
#define SIZE_OF(member) offsetof(struct sandbox_options, member)

/* Modes instead of uid= and gid=: those are ids of whoever makes the mount. */
static const struct default_mount proc_and_dev[] = {
	{"/proc", "proc", 0, "nosuid,noexec,nodev"},
	{"/dev", "tmpfs", 0, "nosuid,noexec,mode=755,size=65536,nr_inodes=128"},
	{"/dev/pts", "devpts", 0, "nosuid,noexec,newinstance,ptmxmode=0666,mode=0620,max=64"},
	{"/dev/shm", "tmpfs", SIZE_OF(shm_size), "nosuid,noexec,nodev,mode=1777"},
	{"/tmp", "tmpfs", SIZE_OF(tmp_size), "nosuid,nodev,mode=1777"},
};
static const struct default_mount work_mount = {
	SANDBOX_WORKSPACE, "tmpfs", SIZE_OF(work_size), "nosuid,nodev,mode=1777"};
static const struct default_mount secrets_mount = {
	SANDBOX_SECRETS, "tmpfs", 0, "nosuid,noexec,nodev,mode=755,size=1048576,nr_inodes=128"};

static struct strv split(struct arena *a, const char *s)
{
	struct strv list = {0};

	for (;;) {
		size_t n = strcspn(s, ",");

		sandbox_strv_add(a, &list, arena_strndup(a, s, n));
		s += n;
		if (!*s++)
			return list;
	}
}

static void add_default_mount(struct build *b, struct oci_mount_list *l,
			      const struct default_mount *d)
{
	struct oci_mount *m = &l->v[l->n++];

	m->destination = arena_strdup(b->a, d->destination);
	m->type = arena_strdup(b->a, d->type);
	m->source = m->type;
	m->options = split(b->a, d->options);
	if (d->size) {
		uint64_t size = ((const struct opt_u64 *)((const char *)b->o + d->size))->v;
		unsigned long long bytes = size, inodes = size / 4096 < 64 ? 64 : size / 4096;

		sandbox_strv_add(b->a, &m->options, arena_printf(b->a, "size=%llu", bytes));
		sandbox_strv_add(b->a, &m->options, arena_printf(b->a, "nr_inodes=%llu", inodes));
	}
}

static void add_outputs(struct build *b, struct oci_mount_list *l)
{
	struct oci_mount *m = &l->v[l->n++];

	m->destination = b->o->outputs_at;
	m->type = arena_strdup(b->a, "bind");
	m->source = b->o->outputs;
	m->options = split(b->a, "bind,rw,nosuid,nodev");
}

static bool has_option(const struct oci_mount *m, const char *one, const char *other)
{
	for (size_t i = 0; i < m->options.n; i++)
		if (str_eq(m->options.v[i], one) || (other && str_eq(m->options.v[i], other)))
			return true;
	return false;
}

/* A given mount: what it does not say, it gets. */
static void harden_mount(struct arena *a, struct oci_mount *m)
{
	static const struct { const char *on, *off; bool bind_only; } wanted[] = {
		{"ro", "rw", true}, {"nosuid", "suid", false}, {"nodev", "dev", false},
	};
	bool bind = str_eq(m->type, "bind") || has_option(m, "bind", "rbind");
	struct strv options = {0};

	for (size_t i = 0; i < m->options.n; i++)
		sandbox_strv_add(a, &options, m->options.v[i]);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if ((bind || !wanted[i].bind_only) && !has_option(m, wanted[i].on, wanted[i].off))
			sandbox_strv_add(a, &options, arena_strdup(a, wanted[i].on));
	m->options = options;
}

/* Given mounts take the place of a default with the same destination, else follow behind. */
static void place_mount(struct oci_mount_list *l, const struct oci_mount *m)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_eq(l->v[i].destination, m->destination)) {
			l->v[i] = *m;
			return;
		}
	l->v[l->n++] = *m;
}

static void default_mounts(struct build *b)
{
	enum { FIXED = sizeof(proc_and_dev) / sizeof(proc_and_dev[0]), MOST = FIXED + 3 };
	const struct oci_mount_list *given = &b->s->mounts;
	struct oci_mount_list l = {.v = arena_array(b->a, MOST + given->n, sizeof(*l.v))};

	for (size_t i = 0; i < FIXED; i++)
		add_default_mount(b, &l, &proc_and_dev[i]);
	if (b->o->host_rootfs || b->h->root_has_workspace)
		add_default_mount(b, &l, &work_mount);
	if (b->o->secrets.n)
		add_default_mount(b, &l, &secrets_mount);
	if (b->o->outputs)
		add_outputs(b, &l);
	for (size_t i = 0; i < given->n; i++) {
		harden_mount(b->a, &given->v[i]);
		place_mount(&l, &given->v[i]);
	}
	b->s->mounts = l;
}

/* ---- linux ---- */

static void default_namespaces(struct build *b)
{
	static const char *const types[] = {"user", "pid", "mount", "ipc", "uts", "cgroup", "network"};
	enum { N = sizeof(types) / sizeof(types[0]) };
	const struct oci_namespace_list *given = &b->s->linux_->namespaces;
	struct oci_namespace_list l = {.v = arena_array(b->a, N + given->n, sizeof(*l.v))};
	size_t n = b->o->network.v == SANDBOX_NETWORK_HOST ? N - 1 : N;

	if (given->n)
		memcpy(l.v, given->v, given->n * sizeof(*l.v));
	l.n = given->n;
	for (size_t i = 0; i < n; i++) {
		bool there = false;

		for (size_t k = 0; k < given->n; k++)
			there |= str_eq(given->v[k].type, types[i]);
		if (!there)
			l.v[l.n++].type = arena_strdup(b->a, types[i]);
	}
	b->s->linux_->namespaces = l;
}

#define ENSURE(a, pointer) ((pointer) = (pointer) ? (pointer) : arena_alloc((a), sizeof(*(pointer))))

static void default_memory(struct build *b, struct oci_resources *res)
{
	struct oci_memory *m = ENSURE(b->a, res->memory);

	if (b->o->memory.set) {
		m->limit = (struct opt_i64){true, (int64_t)b->o->memory.v};
		m->swap = (struct opt_i64){0};
	}
	DEFAULT(m->limit, (int64_t)(512 * MIB));
	if (m->limit.v > 0)
		DEFAULT(m->swap, m->limit.v); /* memory and swap together: no swap */
}

static void default_cpu_and_pids(struct build *b, struct oci_resources *res)
{
	struct oci_cpu *c = ENSURE(b->a, res->cpu);
	struct oci_pids *p = ENSURE(b->a, res->pids);

	if (b->o->cpu_quota.set) {
		c->quota = (struct opt_i64){true, (int64_t)b->o->cpu_quota.v};
		c->period = (struct opt_u64){0};
	}
	if (!c->period.set)
		DEFAULT(c->quota, CPU_PERIOD);
	DEFAULT(c->period, CPU_PERIOD);
	if (b->o->pids.set || !p->limit.set) {
		uint64_t pids = b->o->pids.set ? b->o->pids.v : 64;

		p->limit = (struct opt_i64){true, (int64_t)pids + b->o->init.v};
	}
}

/* Adds what is not there yet; room for n more is made at once. */
static void default_map(struct arena *a, struct str_map *m, const struct str_pair *more, size_t n)
{
	struct str_pair *v = arena_array(a, m->n + n, sizeof(*v));
	size_t given = m->n;

	if (given)
		memcpy(v, m->v, given * sizeof(*v));
	m->v = v;
	for (size_t i = 0; i < n; i++) {
		bool there = false;

		for (size_t k = 0; k < given; k++)
			there |= str_eq(v[k].key, more[i].key);
		if (!there)
			v[m->n++] = more[i];
	}
}

static void default_linux(struct build *b)
{
	static const struct str_pair v2_files[] = {
		{(char *)"memory.oom.group", (char *)"1"},
		{(char *)"cgroup.max.descendants", (char *)"0"},
	};
	static const struct str_pair sysctls[] = {
		{(char *)"user.max_user_namespaces", (char *)"0"},
	};
	struct oci_linux *l = b->s->linux_;
	struct oci_resources *res = ENSURE(b->a, l->resources);

	default_namespaces(b);
	default_memory(b, res);
	default_cpu_and_pids(b, res);
	if (b->h->cgroup_v2)
		default_map(b->a, &res->unified, v2_files, 2);
	/* Where /proc cannot be new, /proc/sys is read-only; then the built-in filter alone refuses
	 * further user namespaces. */
	if (b->o->proc.v != SANDBOX_PROC_BIND || !b->o->default_seccomp)
		default_map(b->a, &l->sysctl, sysctls, 1);
	if (!b->o->given_masked)
		l->masked_paths = oci_names_to_strv(b->a, spec_masked_paths);
	if (!b->o->given_readonly)
		l->readonly_paths = oci_names_to_strv(b->a, spec_readonly_paths);
	if (!l->rootfs_propagation)
		l->rootfs_propagation = arena_strdup(b->a, "private");
}

static int check_secrets(const struct sandbox_options *o, struct err *e)
{
	for (size_t i = 0; i < o->secrets.n; i++)
		if (!sandbox_valid_variable(o->secrets.v[i]))
			return err_set(e, EINVAL, "--secret: \"%.40s\" is not a name of letters, digits "
						  "and _", o->secrets.v[i]);
	return 0;
}

int sandbox_defaults(struct arena *a, struct sandbox *sb, const struct sandbox_host *h,
		     struct err *e)
{
	struct build b = {a, sb->spec, &sb->options, h};
	struct oci_spec *s = sb->spec, checked;
	int r = check_secrets(b.o, e);

	if (r < 0)
		return r;
	if (b.o->outputs_at && !b.o->outputs)
		return err_set(e, EINVAL, "outputs-at: there is no directory for outputs to be seen there");
	default_options(&b);
	if (b.o->ports && b.o->network.v == SANDBOX_NETWORK_HOST)
		return err_set(e, EINVAL, "ports: with the host's network every port can be reached");
	default_linux(&b);
	r = default_process(&b, e);
	if (r < 0)
		return r;
	if (!s->oci_version)
		s->oci_version = arena_strdup(a, OCI_VERSION);
	b.o->default_hostname = !s->hostname;
	if (!s->hostname)
		s->hostname = arena_strdup(a, "sandbox");
	DEFAULT(s->root->readonly, true);
	default_mounts(&b);
	checked = *s;
	if (b.o->host_rootfs) /* a root without a path is not OCI */
		checked.root = NULL;
	return spec_validate(&checked, e);
}

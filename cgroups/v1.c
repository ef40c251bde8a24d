/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup v1 (legacy and hybrid hosts): the fallback behind the same interface.
 *
 * One directory on each hierarchy that has a limit to hold, a number to give, or processes to
 * freeze. There is no CLONE_INTO_CGROUP here: the new process is moved in by cg_attach, before it
 * runs foreign code. There are no events either: for the end of processes we wait on their pidfds.
 * Killing is freeze, signal all, thaw, so that no fork can escape.
 *
 * v1 hierarchies are never delegated, so nobody below us makes sub-cgroups or links.
 */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "base/sys.h"
#include "cgroups/internal.h"

#define CGROUP1_MAGIC 0x27e0eb
/* What "no limit" reads as: PAGE_COUNTER_MAX pages. */
#define NO_LIMIT (UINT64_MAX / 4)
/* A task that ends leaves its cgroup a moment before or after its pidfd says so; since Linux 6.18 when it
 * has left the processor for the last time, which takes some 10 ms where others want it, too. */
#define RMDIR_PATIENCE_MS 2000
#define RMDIR_YIELDS 200
/* A task in an uninterruptible wait does not freeze, and cannot fork either. */
#define KILL_PATIENCE_MS 200

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static const struct cg_dir *dir_of(const struct cg *cg, enum cg_controller c)
{
	for (size_t i = 0; i < cg->n; i++) {
		if (cg->dirs[i].controllers & CG_BIT(c))
			return &cg->dirs[i];
	}
	return NULL;
}

/* All hierarchies have the same members. */
static const struct cg_dir *member_dir(const struct cg *cg)
{
	const struct cg_dir *d = dir_of(cg, CG_FREEZER);

	return d ? d : &cg->dirs[0];
}

/* ---- creation ---- */

static char *copy(const char *s)
{
	char *c = strdup(s);

	if (!c)
		die_out_of_memory();
	return c;
}

/* Fills in d's root; the hierarchy is where distributions have it, and really is one. */
static int open_hierarchy(struct cg_dir *d, const char *name, uint32_t mask, struct err *e)
{
	char path[64];
	struct statfs sf;

	snprintf(path, sizeof(path), CG_MOUNT "/%s", name);
	d->controllers = mask;
	d->hierarchy = copy(name);
	d->root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (d->root < 0 || fstatfs(d->root, &sf) < 0)
		return err_sys(e, "open the cgroup hierarchy %s", path);
	if (sf.f_type != CGROUP1_MAGIC)
		return err_set(e, EMEDIUMTYPE, "%s is not a cgroup v1 hierarchy", path);
	return 0;
}

/* A cpuset takes no process before it has CPUs and memory nodes; a new one has none. */
static int inherit_cpuset(int parent, int dir)
{
	static const char *const files[] = {"cpuset.cpus", "cpuset.mems"};
	char text[4096];

	for (size_t i = 0; i < 2; i++) {
		int r = (int)io_read_small(parent, files[i], text, sizeof(text));

		if (r >= 0)
			r = io_write_value(dir, files[i], text);
		if (r < 0)
			return r;
	}
	return 0;
}

static int check_empty(const struct cg_dir *d, struct err *e)
{
	auto_free pid_t *v = NULL;
	struct cg_pids pids = {0};
	int r = cg_read_procs(d->fd, &pids);

	v = pids.v;
	if (r < 0)
		return err_set(e, -r, "read the processes of cgroup %s", d->path);
	if (pids.n > 0)
		return err_set(e, EEXIST, "cgroup %s exists and has processes in it", d->path);
	return 0;
}

static int create_dir(struct cg_dir *d, const struct cg_plan *p, struct err *e)
{
	struct cg_mkdir m = {.root = d->root, .path = p->path};
	int r = 0;

	if (d->controllers & CG_BIT(CG_CPUSET))
		m.made = inherit_cpuset;
	d->path = copy(p->path);
	d->fd = cg_mkdir_path(&m, e);
	if (d->fd < 0)
		return d->fd;
	if (!m.fresh)
		r = check_empty(d, e);
	if (r == 0)
		r = cg_write_settings(d, &p->settings, d->controllers, e);
	/* Whoever comes to the clean-up has made or emptied it. */
	if (r < 0 && m.fresh)
		(void)cg_remove_path(d->root, d->path, &(struct err){0});
	return r;
}

int cg_create_v1(const struct cg_host *h, const struct cg_plan *p, struct cg *cg, struct err *e)
{
	uint32_t use = p->controllers | p->wanted;
	int r = 0;

	for (size_t i = 0; i < h->v1_n && r == 0; i++) {
		const struct cg_hierarchy *v1 = &h->v1[i];
		struct cg_dir *d = &cg->dirs[cg->n];

		if (!(v1->controllers & use))
			continue;
		r = open_hierarchy(d, v1->dir, v1->controllers, e);
		if (r == 0)
			r = create_dir(d, p, e);
		if (r == 0)
			cg->n++;
	}
	for (size_t i = 0; i < cg->n && r < 0; i++)
		(void)cg_remove_path(cg->dirs[i].root, cg->dirs[i].path, &(struct err){0});
	return r;
}

/* "v1:memory:/path" */
static int open_saved(struct cg_dir *d, const char *saved, struct err *e)
{
	const char *name = saved + strlen("v1:");
	size_t n = strcspn(name, ":");
	char hierarchy[32];
	uint32_t mask;

	if (n == 0 || n >= sizeof(hierarchy) || name[n] != ':' || !cg_path_is_clean(name + n + 1) ||
	    name[n + 2] == '\0')
		return err_set(e, EINVAL, "a saved cgroup path is not of the form v1:memory:/path");
	memcpy(hierarchy, name, n);
	hierarchy[n] = '\0';
	mask = cg_parse_controllers(hierarchy);
	if (!mask)
		return err_set(e, EINVAL, "a saved cgroup path names no controller");
	d->path = copy(name + n + 1);
	if (open_hierarchy(d, hierarchy, mask, e) < 0)
		return -e->code;
	d->fd = cg_open_below(d->root, d->path);
	if (d->fd < 0)
		return err_set(e, -d->fd, "open cgroup %s: %s", d->path, err_name(-d->fd));
	return 0;
}

/* A directory name has one controller; those that share its hierarchy are in /proc/self/cgroup. */
static int widen_masks(struct cg *cg, struct err *e)
{
	auto_arena struct arena *a = arena_new();
	struct cg_host h = {.root = -1};
	char text[16 * 1024];
	ssize_t n = io_read_small(AT_FDCWD, "/proc/self/cgroup", text, sizeof(text));
	int r = n < 0 ? err_set(e, (int)-n, "read /proc/self/cgroup")
		      : cg_parse_self(a, text, &h, e);

	for (size_t i = 0; i < cg->n && r == 0; i++) {
		for (size_t k = 0; k < h.v1_n; k++) {
			if (h.v1[k].controllers & cg->dirs[i].controllers)
				cg->dirs[i].controllers |= h.v1[k].controllers;
		}
	}
	return r;
}

int cg_open_v1(const struct strv *paths, struct cg *cg, struct err *e)
{
	for (size_t i = 0; i < paths->n; i++) {
		int r;

		if (!str_starts(paths->v[i], "v1:") || cg->n == CG_CONTROLLERS)
			return err_set(e, EINVAL, "the saved cgroup paths are not of one kind");
		r = open_saved(&cg->dirs[cg->n], paths->v[i], e);
		if (r < 0)
			return r;
		cg->n++;
	}
	return widen_masks(cg, e);
}

static int v1_apply(struct cg *cg, const struct cg_plan *p, struct err *e)
{
	int r = 0;

	for (size_t i = 0; i < p->settings.n; i++) {
		if (!dir_of(cg, p->settings.v[i].controller))
			return err_set(e, ENOENT,
				       "%s: the container has no cgroup on that hierarchy",
				       p->settings.v[i].origin);
	}
	for (size_t i = 0; i < cg->n && r == 0; i++)
		r = cg_write_settings(&cg->dirs[i], &p->settings, cg->dirs[i].controllers, e);
	return r;
}

/* The device rules are settings here, written with the others. */
static int v1_devices(struct cg *cg, const struct cg_plan *p, struct err *e)
{
	(void)cg;
	(void)p;
	(void)e;
	return 0;
}

/* ---- freeze, kill ---- */

/* Negative: the cgroup is gone. */
static int state_is(const struct cg_dir *d, const char *state)
{
	char text[32];
	int r = io_read_small(d->fd, "freezer.state", text, sizeof(text));

	return r < 0 ? -ENODEV : str_eq(text, state);
}

/*
 * FREEZING becomes FROZEN when the last task stops, which v1 tells nobody; reading the file makes
 * the kernel look again. Tasks need a time slice to stop, so we give ours away.
 */
static int wait_state(const struct cg_dir *d, const char *state, int patience_ms)
{
	int64_t end = now_ms() + patience_ms;
	int r;

	while ((r = state_is(d, state)) == 0) {
		if (now_ms() > end)
			return -ETIMEDOUT;
		sched_yield();
	}
	return r < 0 ? r : 0;
}

static int set_state(const struct cg_dir *d, bool frozen, int patience_ms)
{
	const char *state = frozen ? "FROZEN" : "THAWED";
	int r = io_write_value(d->fd, "freezer.state", state);

	if (r >= 0)
		r = wait_state(d, state, patience_ms);
	/* What was killed while it was frozen ends now, and its owner removes the cgroup. */
	return r == -ENODEV && !frozen ? 0 : r;
}

static int v1_freeze(struct cg *cg, bool frozen, struct err *e)
{
	const struct cg_dir *d = dir_of(cg, CG_FREEZER);
	int r;

	if (!d)
		return err_set(e, EOPNOTSUPP,
			       "%s needs the cgroup v1 controller freezer, which is "
			       "not mounted",
			       frozen ? "pause" : "resume");
	r = set_state(d, frozen, CG_PATIENCE_MS);
	if (r == -ETIMEDOUT && frozen)
		(void)io_write_value(d->fd, "freezer.state", "THAWED");
	if (r < 0)
		return err_set(e, -r, "%s cgroup %s: %s", frozen ? "freeze" : "thaw", d->path,
			       err_name(-r));
	return 0;
}

static int v1_is_frozen(struct cg *cg, struct err *e)
{
	const struct cg_dir *d = dir_of(cg, CG_FREEZER);
	char text[8];

	if (!d)
		return 0;
	if (io_read_small(d->fd, "freezer.self_freezing", text, sizeof(text)) < 0)
		return err_set(e, ENOENT, "cgroup %s is gone", d->path);
	return text[0] == '1';
}

static int visit_procs(int dir, void *arg)
{
	return cg_read_procs(dir, arg);
}

static int members(const struct cg *cg, struct cg_pids *pids, struct err *e)
{
	return cg_walk(member_dir(cg)->fd, visit_procs, pids, e);
}

/* A pid that was read a moment ago may be another process by now, unless its cgroup is frozen. */
static int v1_kill(struct cg *cg, struct err *e)
{
	const struct cg_dir *freezer = dir_of(cg, CG_FREEZER);
	auto_free pid_t *v = NULL;
	struct cg_pids pids = {0};
	int r;

	if (freezer)
		(void)set_state(freezer, true, KILL_PATIENCE_MS);
	r = members(cg, &pids, e);
	v = pids.v;
	for (size_t i = 0; i < pids.n && r == 0; i++) {
		if (v[i] > 0 && kill(v[i], SIGKILL) < 0 && errno != ESRCH)
			r = err_sys(e, "kill process %d of cgroup %s", v[i], member_dir(cg)->path);
	}
	if (freezer)
		(void)io_write_value(freezer->fd, "freezer.state", "THAWED");
	return r;
}

static int v1_procs_dir(const struct cg *cg)
{
	return member_dir(cg)->fd;
}

/* ---- destroy ---- */

static int wait_pids(const struct cg_pids *pids, int64_t end)
{
	for (size_t i = 0; i < pids->n; i++) {
		auto_close int fd = pids->v[i] > 0 ? sys_pidfd_open(pids->v[i], 0) : -1;
		struct pollfd p = {.fd = fd, .events = POLLIN};
		int64_t left = end - now_ms();

		if (fd >= 0 && poll(&p, 1, left > 0 ? (int)left : 0) == 0)
			return -ETIMEDOUT;
	}
	return 0;
}

/* Kills and waits until nobody is left; without a freezer forks need more than one pass. */
static int empty(struct cg *cg, struct err *e)
{
	int64_t end = now_ms() + CG_PATIENCE_MS;

	for (;;) {
		auto_free pid_t *v = NULL;
		struct cg_pids pids = {0};
		int r = members(cg, &pids, e);

		v = pids.v;
		if (r < 0 || pids.n == 0)
			return r;
		r = v1_kill(cg, e);
		if (r < 0)
			return r;
		if (wait_pids(&pids, end) < 0 || now_ms() > end)
			return err_set(e, ETIMEDOUT, "remove cgroup %s: its processes do not end",
				       member_dir(cg)->path);
	}
}

static int remove_dir(const struct cg_dir *d, struct err *e)
{
	const struct timespec pause = {.tv_nsec = 500000};
	int64_t end = now_ms() + RMDIR_PATIENCE_MS;
	struct err busy;
	int r = cg_remove_path(d->root, d->path, &busy);

	for (int i = 0; r == -EBUSY && now_ms() < end; i++) {
		if (i < RMDIR_YIELDS)
			sched_yield();
		else
			nanosleep(&pause, NULL);
		(void)cg_remove_children(d->fd);
		r = cg_remove_path(d->root, d->path, &busy);
	}
	if (r < 0)
		*e = busy;
	return r;
}

static int v1_destroy(struct cg *cg, struct err *e)
{
	bool emptied = false;
	int result = 0;

	for (size_t i = 0; i < cg->n; i++) {
		const struct cg_dir *d = &cg->dirs[i];
		struct err one;
		int r = cg_remove_path(d->root, d->path, &one);

		if (r == -EBUSY && !emptied) {
			emptied = true;
			r = empty(cg, &one);
			r = r < 0 ? r : -EBUSY;
		}
		if (r == -EBUSY)
			r = remove_dir(d, &one);
		/* The others go all the same; the first error is the one to tell. */
		if (r < 0 && result == 0) {
			*e = one;
			result = r;
		}
	}
	return result;
}

/* ---- statistics ---- */

static struct opt_u64 read_of(const struct cg *cg, enum cg_controller c, const char *file)
{
	const struct cg_dir *d = dir_of(cg, c);

	return d ? cg_read_u64(d->fd, file) : (struct opt_u64){0};
}

static struct opt_u64 nsec_to_usec(struct opt_u64 v)
{
	v.v /= 1000;
	return v;
}

static void stats_memory(const struct cg *cg, struct cg_stats *s)
{
	struct opt_u64 memsw = read_of(cg, CG_MEMORY, "memory.memsw.usage_in_bytes");
	int64_t kills = cg_ops_v1.oom_kills((struct cg *)cg);

	s->memory_current = read_of(cg, CG_MEMORY, "memory.usage_in_bytes");
	s->memory_peak = read_of(cg, CG_MEMORY, "memory.max_usage_in_bytes");
	s->memory_limit = read_of(cg, CG_MEMORY, "memory.limit_in_bytes");
	if (s->memory_limit.v > NO_LIMIT)
		s->memory_limit.v = UINT64_MAX;
	if (memsw.set && memsw.v >= s->memory_current.v)
		s->memory_swap = (struct opt_u64){true, memsw.v - s->memory_current.v};
	if (kills >= 0)
		s->oom_kill = (struct opt_u64){true, (uint64_t)kills};
}

static void stats_cpu(const struct cg *cg, struct cg_stats *s)
{
	const struct cg_dir *cpu = dir_of(cg, CG_CPU);
	char text[256];

	s->cpu_usage_usec = nsec_to_usec(read_of(cg, CG_CPUACCT, "cpuacct.usage"));
	s->cpu_user_usec = nsec_to_usec(read_of(cg, CG_CPUACCT, "cpuacct.usage_user"));
	s->cpu_system_usec = nsec_to_usec(read_of(cg, CG_CPUACCT, "cpuacct.usage_sys"));
	if (!cpu || io_read_small(cpu->fd, "cpu.stat", text, sizeof(text)) < 0)
		return;
	s->cpu_periods.set = cg_find_value(text, "nr_periods", &s->cpu_periods.v);
	s->cpu_throttled.set = cg_find_value(text, "nr_throttled", &s->cpu_throttled.v);
	s->cpu_throttled_usec.set = cg_find_value(text, "throttled_time", &s->cpu_throttled_usec.v);
	s->cpu_throttled_usec = nsec_to_usec(s->cpu_throttled_usec);
}

static void stats_pids(const struct cg *cg, struct cg_stats *s)
{
	const struct cg_dir *d = dir_of(cg, CG_PIDS);
	char text[64];

	s->pids_current = read_of(cg, CG_PIDS, "pids.current");
	s->pids_peak = read_of(cg, CG_PIDS, "pids.peak");
	s->pids_limit = read_of(cg, CG_PIDS, "pids.max");
	if (d && io_read_small(d->fd, "pids.events", text, sizeof(text)) >= 0)
		s->pids_max_events.set = cg_find_value(text, "max", &s->pids_max_events.v);
}

/* Lines "8:0 Read 123". */
static void sum_io(const char *text, const char *word, struct opt_u64 *to)
{
	for (const char *p = strstr(text, word); p; p = strstr(p + 1, word))
		to->v += strtoull(p + strlen(word), NULL, 10);
	to->set = true;
}

static void stats_io(const struct cg *cg, struct cg_stats *s)
{
	const struct {
		const char *file;
		struct opt_u64 *read, *write;
	} files[] = {
		{"blkio.throttle.io_service_bytes", &s->io_read_bytes, &s->io_write_bytes},
		{"blkio.throttle.io_serviced", &s->io_reads, &s->io_writes},
	};
	const struct cg_dir *d = dir_of(cg, CG_IO);

	for (size_t i = 0; d && i < 2; i++) {
		auto_strbuf struct strbuf b = {0};

		if (io_read_file(d->fd, files[i].file, 64 * 1024, &b, &(struct err){0}) < 0)
			continue;
		sum_io(strbuf_str(&b), " Read ", files[i].read);
		sum_io(strbuf_str(&b), " Write ", files[i].write);
	}
}

static int v1_stats(struct cg *cg, unsigned what, struct cg_stats *s, struct err *e)
{
	const struct cg_dir *d = member_dir(cg);

	if (faccessat(d->fd, "cgroup.procs", F_OK, 0) < 0)
		return err_sys(e, "read statistics of cgroup %s", d->path);
	if (what & CG_STATS_MEMORY)
		stats_memory(cg, s);
	if (what & CG_STATS_CPU)
		stats_cpu(cg, s);
	if (what & CG_STATS_PIDS)
		stats_pids(cg, s);
	if (what & CG_STATS_IO)
		stats_io(cg, s);
	return 0;
}

static int64_t v1_cpu_usec(struct cg *cg)
{
	const struct cg_dir *d = dir_of(cg, CG_CPUACCT);
	char text[32];
	ssize_t n;

	if (cg->cpu_stat < 0 && d)
		cg->cpu_stat = openat(d->fd, "cpuacct.usage", O_RDONLY | O_CLOEXEC);
	if (cg->cpu_stat < 0)
		return d ? -errno : -ENOENT;
	n = pread(cg->cpu_stat, text, sizeof(text) - 1, 0);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	return (int64_t)(strtoull(text, NULL, 10) / 1000);
}

/* oom_kill is in memory.oom_control since Linux 4.13. */
static int64_t v1_oom_kills(struct cg *cg)
{
	const struct cg_dir *d = dir_of(cg, CG_MEMORY);
	char text[128];
	uint64_t v;

	if (!d)
		return -ENOENT;
	if (io_read_small(d->fd, "memory.oom_control", text, sizeof(text)) < 0)
		return -EIO;
	return cg_find_value(text, "oom_kill", &v) ? (int64_t)v : -ENODATA;
}

const struct cg_ops cg_ops_v1 = {
	.apply = v1_apply,
	.devices = v1_devices,
	.kill = v1_kill,
	.freeze = v1_freeze,
	.is_frozen = v1_is_frozen,
	.procs_dir = v1_procs_dir,
	.stats = v1_stats,
	.cpu_usec = v1_cpu_usec,
	.oom_kills = v1_oom_kills,
	.destroy = v1_destroy,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup v2 by file system.
 *
 * Creation is optimistic: mkdir, open, write the limits. Only when a file is missing are the
 * controllers enabled from the top of the hierarchy down to our parent, and the limits written
 * again; so a start below a parent that is set up already reads nothing at all.
 *
 * A cgroup with processes cannot give controllers to children ("no internal processes"). When that
 * cgroup is our own (a container's root, a delegated unit), all its processes move to the leaf
 * CG_LEAF; another one is an error.
 *
 * The kernel tells about the end of processes and of freezing by a change of cgroup.events, for
 * which we poll; there is no sleep here.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "cgroups/internal.h"

#ifndef CGROUP2_SUPER_MAGIC
#define CGROUP2_SUPER_MAGIC 0x63677270
#endif

/* Processes may be born while we move them; each pass finds fewer. */
#define VACATE_PASSES 100

int cg_open_root(struct err *e)
{
	auto_close int fd = open(CG_MOUNT, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct statfs sf;

	if (fd < 0 || fstatfs(fd, &sf) < 0)
		return err_sys(e, "open %s", CG_MOUNT);
	if (sf.f_type != CGROUP2_SUPER_MAGIC)
		return err_set(e, EMEDIUMTYPE, "%s is not a cgroup2 file system", CG_MOUNT);
	return take_fd(&fd);
}

/* ---- enabling controllers ---- */

struct enabling {
	int root;
	const char *own; /* our own cgroup, the only one we may vacate */
	struct err *e;
};

static void controllers_text(uint32_t mask, char *buf, size_t size, const char *prefix)
{
	size_t n = 0;

	buf[0] = '\0';
	for (unsigned c = 0; c < CG_CORE && n < size; c++) {
		if (mask & CG_BIT(c))
			n += (size_t)snprintf(buf + n, size - n, "%s%s%s", n ? " " : "", prefix,
					      cg_controller_name(c, CG_V2));
	}
}

static int move_all(int from, int to)
{
	auto_free pid_t *free_pids = NULL;
	struct cg_pids pids = {0};
	int r = cg_read_procs(from, &pids);

	free_pids = pids.v;
	for (size_t i = 0; i < pids.n && r >= 0; i++) {
		char text[16];

		/* 0: a process that our pid namespace does not show, nobody here can move it. */
		if (pids.v[i] == 0)
			return -EPERM;
		snprintf(text, sizeof(text), "%d", pids.v[i]);
		r = io_write_value(to, "cgroup.procs", text);
		if (r == -ESRCH)
			r = 0;
	}
	return r < 0 ? r : (int)pids.n;
}

/* Moves every process of our own cgroup into the leaf below it. */
static int vacate(const struct enabling *en, int dir, const char *path)
{
	auto_close int leaf = -1;
	int r = 1;

	if (mkdirat(dir, CG_LEAF, 0755) < 0 && errno != EEXIST)
		return err_sys(en->e, "make the leaf %s in cgroup %s", CG_LEAF, path);
	leaf = openat(dir, CG_LEAF, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (leaf < 0)
		return err_sys(en->e, "open the leaf %s in cgroup %s", CG_LEAF, path);
	for (int i = 0; i < VACATE_PASSES && r > 0; i++)
		r = move_all(dir, leaf);
	if (r < 0)
		return err_set(en->e, -r,
			       "move the processes of cgroup %s to its leaf %s, so that "
			       "it can give controllers to its children: %s",
			       path, CG_LEAF, err_name(-r));
	return 0;
}

static int enable_error(const struct enabling *en, const char *path, uint32_t mask, int code)
{
	char names[128];

	controllers_text(mask, names, sizeof(names), "");
	if (code == EBUSY)
		return err_set(en->e, EBUSY,
			       "cgroup %s has processes of its own, so the controllers "
			       "%s cannot be enabled below it: move them to a child cgroup or use "
			       "another cgroupsPath",
			       path, names);
	if (code == EACCES || code == EPERM || code == EROFS)
		return err_set(en->e, code,
			       "the cgroup controllers %s are not delegated: %s of "
			       "cgroup %s cannot be written: %s; start from a delegated unit, for "
			       "example systemd-run --user --scope -p Delegate=yes",
			       names, "cgroup.subtree_control", path, err_name(code));
	return err_set(en->e, code, "enable the cgroup controllers %s below cgroup %s: %s", names,
		       path, err_name(code));
}

static int write_control(const struct enabling *en, int dir, const char *path, uint32_t mask)
{
	char text[160];
	int r;

	controllers_text(mask, text, sizeof(text), "+");
	r = io_write_value(dir, "cgroup.subtree_control", text);
	if (r != -EBUSY || !str_eq(path, en->own))
		return r;
	if (vacate(en, dir, path) < 0)
		return -ECANCELED; /* the error is set */
	return io_write_value(dir, "cgroup.subtree_control", text);
}

static uint32_t read_mask(int dir, const char *file)
{
	char text[256];

	return io_read_small(dir, file, text, sizeof(text)) > 0 ? cg_parse_controllers(text) : 0;
}

static char *parent_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *up = strndup(path, slash == path ? 1 : (size_t)(slash - path));

	if (!up)
		die_out_of_memory();
	return up;
}

static int missing_error(const struct enabling *en, const char *path, uint32_t mask)
{
	char names[128];

	controllers_text(mask, names, sizeof(names), "");
	return err_set(en->e, ENOENT,
		       "the cgroup controllers %s are missing in cgroup.controllers "
		       "of cgroup %s: not delegated to this cgroup tree, in use by cgroup v1, or "
		       "switched off in the kernel",
		       names, path);
}

static int enable_below(const struct enabling *en, const char *path, uint32_t need, uint32_t want);

/* Asks the levels above for what is missing here. */
static int enable_above(const struct enabling *en, const char *path, uint32_t need, uint32_t want)
{
	auto_free char *up = parent_of(path);

	return enable_below(en, up, need, want);
}

/*
 * Makes need available to the children of path, and want where that works. Goes up only as far
 * as controllers are missing.
 */
static int enable_below(const struct enabling *en, const char *path, uint32_t need, uint32_t want)
{
	auto_close int dir = cg_open_below(en->root, path);
	uint32_t have, on;
	int r;

	if (dir < 0)
		return err_set(en->e, -dir, "open cgroup %s: %s", path, err_name(-dir));
	have = read_mask(dir, "cgroup.controllers");
	if (((need | want) & ~have) && path[1]) {
		r = enable_above(en, path, need & ~have, want & ~have);
		if (r < 0)
			return r;
		have = read_mask(dir, "cgroup.controllers");
	}
	if (need & ~have)
		return missing_error(en, path, need & ~have);
	on = read_mask(dir, "cgroup.subtree_control");
	need &= ~on;
	want &= have & ~on & ~need;
	if (want && write_control(en, dir, path, need | want) == 0)
		return 0;
	r = need ? write_control(en, dir, path, need) : 0;
	if (r == -ECANCELED)
		return r;
	return r < 0 ? enable_error(en, path, need, -r) : 0;
}

/* ---- creation ---- */

/* An existing cgroup: used when empty and named by the caller; ours from a crash: made anew. */
static int check_existing(const struct cg *cg, const struct cg_plan *p, struct err *e)
{
	const struct cg_dir *d = &cg->dirs[0];
	char events[256];
	uint64_t v = 0;
	int r;

	if (io_read_small(d->fd, "cgroup.events", events, sizeof(events)) < 0)
		return err_set(e, EBUSY, "cgroup %s cannot hold a container", d->path);
	if (cg_find_value(events, "populated", &v) && v)
		return err_set(e, EEXIST, "cgroup %s exists and has processes in it", d->path);
	if (cg_find_value(events, "frozen", &v) && v)
		return err_set(e, EBUSY, "cgroup %s is frozen", d->path);
	if (p->explicit_path)
		return 0;
	r = cg_remove_children(d->fd);
	if (r == 0 && unlinkat(cg->dirs[0].root, d->path + 1, AT_REMOVEDIR) < 0)
		r = -errno;
	if (r < 0 && r != -ENOENT)
		return err_set(e, -r, "remove the left-over cgroup %s: %s", d->path, err_name(-r));
	return 1;
}

static int make_dir(struct cg *cg, const struct cg_plan *p, struct err *e)
{
	struct cg_mkdir m = {.root = cg->dirs[0].root, .path = p->path};
	struct cg_dir *d = &cg->dirs[0];
	int r = 1;

	cg->n = 1;
	d->path = strdup(p->path);
	if (!d->path)
		die_out_of_memory();
	/* Twice at most: the second time only somebody else's new cgroup can be in the way. */
	for (int i = 0; i < 2 && r == 1; i++) {
		d->fd = cg_mkdir_path(&m, e);
		if (d->fd < 0)
			return d->fd;
		if (m.fresh)
			return 1;
		r = check_existing(cg, p, e);
		if (r == 1)
			close(d->fd);
		if (r == 1)
			d->fd = -1;
	}
	if (r == 1)
		return err_set(e, EEXIST, "cgroup %s is in use by another start", d->path);
	return r;
}

/* Writes the limits; enables controllers when a file is missing, or for the wanted ones. */
static int write_limits(struct cg *cg, const char *own, const struct cg_plan *p, struct err *e)
{
	struct enabling en = {.root = cg->dirs[0].root, .own = own, .e = e};
	struct cg_dir *d = &cg->dirs[0];
	auto_free char *parent = parent_of(d->path);
	bool look = p->driver == CG_DRIVER_SYSTEMD || p->explicit_path;
	struct err first;
	int r;

	/* With a place of our choice nobody counts on numbers, so we do not even look. */
	if (!look || !(p->wanted & ~read_mask(d->fd, "cgroup.controllers"))) {
		r = cg_write_settings(d, &p->settings, ~0u, &first);
		if (r < 0)
			*e = first;
		if (r != -ENOENT || !p->controllers)
			return r;
	}
	r = enable_below(&en, parent, p->controllers, p->wanted);
	return r < 0 ? r : cg_write_settings(d, &p->settings, ~0u, e);
}

/*
 * OCI "Cgroup ownership": the container's user may make sub-cgroups, not change limits. The files
 * are those of /sys/kernel/cgroup/delegate.
 */
static int give_away(const struct cg_dir *d, uid_t uid, struct err *e)
{
	char list[1024] = "cgroup.procs\ncgroup.subtree_control\ncgroup.threads";
	char *save = NULL;

	(void)io_read_small(AT_FDCWD, "/sys/kernel/cgroup/delegate", list, sizeof(list));
	if (fchownat(d->fd, ".", uid, (gid_t)-1, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(e, "give cgroup %s to uid %u", d->path, uid);
	for (char *f = strtok_r(list, "\n", &save); f; f = strtok_r(NULL, "\n", &save)) {
		if (fchownat(d->fd, f, uid, (gid_t)-1, AT_SYMLINK_NOFOLLOW) < 0 && errno != ENOENT)
			return err_sys(e, "give %s of cgroup %s to uid %u", f, d->path, uid);
	}
	return 0;
}

int cg_settle_v2(struct cg *cg, const char *own, const struct cg_plan *p, struct err *e)
{
	int r = write_limits(cg, own, p, e);

	return r == 0 && p->delegate ? give_away(&cg->dirs[0], p->owner_uid, e) : r;
}

int cg_enter_child(struct cg *cg, const struct cg_plan *p, pid_t pid, struct err *e)
{
	auto_free char *path = NULL;
	auto_close int fd = -1;
	struct cg_dir d = {.root = cg->dirs[0].root};
	int r;

	if (asprintf(&path, "%s/%s", cg->dirs[0].path, p->child) < 0)
		die_out_of_memory();
	if (mkdirat(cg->dirs[0].fd, p->child, 0755) < 0 && errno != EEXIST)
		return err_sys(e, "make the cgroup %s", path);
	fd = openat(cg->dirs[0].fd, p->child, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, "open the cgroup %s", path);
	d.fd = fd;
	d.path = path;
	r = p->child_uid == geteuid() ? 0 : give_away(&d, p->child_uid, e);
	return r < 0 ? r : cg_join_dir(&d, pid, e);
}

int cg_make_v2(int root, const struct cg_plan *p, struct cg *cg, struct err *e)
{
	int r;

	cg->dirs[0].root = root >= 0 ? fcntl(root, F_DUPFD_CLOEXEC, 3) : cg_open_root(e);
	if (cg->dirs[0].root < 0)
		return root >= 0 ? err_sys(e, "keep %s open", CG_MOUNT) : cg->dirs[0].root;
	r = make_dir(cg, p, e);
	cg->unfiltered = r == 1;
	return r < 0 ? r : 0;
}

int cg_create_v2(const struct cg_host *h, const struct cg_plan *p, struct cg *cg, struct err *e)
{
	int r = cg_make_v2(h->root, p, cg, e);

	if (r < 0)
		return r;
	r = cg_settle_v2(cg, h->own, p, e);
	if (r < 0 && cg->unfiltered) {
		struct err ignored;

		(void)cg_remove_path(cg->dirs[0].root, cg->dirs[0].path, &ignored);
	}
	return r;
}

int cg_open_v2(const char *path, struct cg *cg, struct err *e)
{
	struct cg_dir *d = &cg->dirs[0];

	if (!cg_path_is_clean(path) || path[1] == '\0')
		return err_set(e, EINVAL, "the saved cgroup path is not a clean absolute path");
	cg->dirs[0].root = cg_open_root(e);
	if (cg->dirs[0].root < 0)
		return cg->dirs[0].root;
	cg->n = 1;
	d->path = strdup(path);
	if (!d->path)
		die_out_of_memory();
	d->fd = cg_open_below(cg->dirs[0].root, path);
	if (d->fd < 0)
		return err_set(e, -d->fd, "open cgroup %s: %s", path, err_name(-d->fd));
	return 0;
}

static int v2_apply(struct cg *cg, const struct cg_plan *p, struct err *e)
{
	const struct cg_dir *d = &cg->dirs[0];
	struct opt_u64 now, want = {0};

	for (size_t i = 0; p->check_before_update && i < p->settings.n; i++) {
		const struct cg_setting *s = &p->settings.v[i];

		if (str_eq(s->file, "memory.max") && str_u64(s->value, UINT64_MAX, &want.v) == 0)
			want.set = true;
	}
	now = want.set ? cg_read_u64(d->fd, "memory.current") : (struct opt_u64){0};
	if (now.set && now.v > want.v)
		return err_set(e, EBUSY,
			       "linux.resources.memory.limit: %llu is below the current "
			       "usage of %llu bytes",
			       (unsigned long long)want.v, (unsigned long long)now.v);
	if (cg->unit && cg_update_scope(cg, p, e) < 0)
		return -e->code;
	return write_limits(cg, "", p, e);
}

static int v2_devices(struct cg *cg, const struct cg_plan *p, struct err *e)
{
	bool replace = !cg->unfiltered;

	cg->unfiltered = false;
	return cg_bpf_apply(cg->dirs[0].fd, &p->devices, replace, e);
}

/* ---- kill, freeze, destroy ---- */

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Waits until key of cgroup.events has the value. 0, -ETIMEDOUT, -errno; a removed cgroup: 0. */
static int wait_event(int dir, const char *key, uint64_t value)
{
	auto_close int fd = openat(dir, "cgroup.events", O_RDONLY | O_CLOEXEC);
	int64_t end = now_ms() + CG_PATIENCE_MS;
	struct pollfd p = {.fd = fd, .events = POLLPRI};

	if (fd < 0)
		return errno == ENOENT || errno == ENODEV ? 0 : -errno;
	for (;;) {
		char text[256];
		ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
		uint64_t v = ~value;
		int64_t left = end - now_ms();

		if (n < 0)
			return errno == ENODEV ? 0 : -errno;
		text[n] = '\0';
		if (!cg_find_value(text, key, &v))
			return -EOPNOTSUPP;
		if (v == value)
			return 0;
		if (left <= 0 || poll(&p, 1, (int)left) == 0)
			return -ETIMEDOUT;
	}
}

static int v2_kill(struct cg *cg, struct err *e)
{
	const struct cg_dir *d = &cg->dirs[0];
	int r = io_write_value(d->fd, "cgroup.kill", "1");

	if (r < 0 && r != -ENOENT && r != -ENODEV)
		return err_set(e, -r, "kill the processes of cgroup %s: %s", d->path, err_name(-r));
	/* No file but a living directory: older than Linux 5.14. */
	if (r == -ENOENT && faccessat(d->fd, "cgroup.procs", F_OK, 0) == 0)
		return err_set(e, ENOSYS, "cgroup %s has no cgroup.kill (Linux 5.14)", d->path);
	return 0;
}

static int v2_freeze(struct cg *cg, bool frozen, struct err *e)
{
	const struct cg_dir *d = &cg->dirs[0];
	int r = io_write_value(d->fd, "cgroup.freeze", frozen ? "1" : "0");

	if (r == 0)
		r = wait_event(d->fd, "frozen", frozen);
	if (r == -ETIMEDOUT && frozen)
		(void)io_write_value(d->fd, "cgroup.freeze", "0");
	if (r < 0)
		return err_set(e, -r, "%s cgroup %s: %s", frozen ? "freeze" : "thaw", d->path,
			       err_name(-r));
	return 0;
}

/* Our own wish: cgroup.events says "frozen" also when a parent is. */
static int v2_is_frozen(struct cg *cg, struct err *e)
{
	struct opt_u64 v = cg_read_u64(cg->dirs[0].fd, "cgroup.freeze");

	if (!v.set)
		return err_set(e, ENOENT, "cgroup %s is gone", cg->dirs[0].path);
	return v.v != 0;
}

static int v2_procs_dir(const struct cg *cg)
{
	return cg->dirs[0].fd;
}

static int remove_all(struct cg *cg, struct err *e)
{
	const struct cg_dir *d = &cg->dirs[0];
	struct err busy;
	int r = cg_remove_path(cg->dirs[0].root, d->path, &busy);

	if (r != -EBUSY) {
		if (r < 0)
			*e = busy;
		return r;
	}
	r = v2_kill(cg, e);
	if (r < 0)
		return r;
	r = wait_event(d->fd, "populated", 0);
	if (r == 0)
		r = cg_remove_children(d->fd);
	if (r < 0)
		return err_set(e, -r, "remove cgroup %s: %s", d->path,
			       r == -ETIMEDOUT ? "its processes do not end" : err_name(-r));
	return cg_remove_path(cg->dirs[0].root, d->path, e);
}

static int v2_destroy(struct cg *cg, struct err *e)
{
	int r = remove_all(cg, e);

	if (r == 0 && cg->unit)
		cg_stop_scope(cg);
	return r;
}

const struct cg_ops cg_ops_v2 = {
	.apply = v2_apply,
	.devices = v2_devices,
	.kill = v2_kill,
	.freeze = v2_freeze,
	.is_frozen = v2_is_frozen,
	.procs_dir = v2_procs_dir,
	.stats = cg_stats_v2,
	.cpu_usec = cg_cpu_usec_v2,
	.oom_kills = cg_oom_kills_v2,
	.destroy = v2_destroy,
};

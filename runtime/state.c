/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `owner` is the lock, and holds what was about to be made until state.json is there. A new
 * directory is filled under a temporary name and then renamed, so that an entry with a final
 * name always has its `owner` lock already taken. A sweeper may remove a temporary directory in
 * the moment before its lock is taken; the creator notices (ENOENT) and begins again.
 */
#include "runtime/state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/log.h"
#include "base/procfs.h"
#include "base/str.h"
#include "base/sys.h"
#include "cgroups/cgroup.h"
#include "cgroups/resctrl.h"
#include "json/writer.h"
#include "runtime/runtime.h"

/* state.json holds the configuration, which may have JSON_MAX_BYTES */
enum { CREATE_TRIES = 16, STATE_MAX = 8 << 20 };

static const char temp_prefix[] = ".new-";

/* mkdir, with one missing parent. */
static int make_dirs(const char *path, struct err *e)
{
	auto_free char *parent = strdup(path);
	char *slash = parent ? strrchr(parent, '/') : NULL;

	if (mkdir(path, 0700) == 0)
		return 0;
	if (errno == ENOENT && slash && slash != parent) {
		*slash = '\0';
		if (mkdir(parent, 0755) < 0 && errno != EEXIST)
			return err_sys(e, "make %s", parent);
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			return err_sys(e, "make the state directory %s", path);
		return 0;
	}
	return errno != EEXIST ? err_sys(e, "make the state directory %s", path) : 0;
}

/* In /tmp anybody can put a link to a directory of ours. */
static bool is_foreign_link(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISLNK(st.st_mode) && st.st_uid != geteuid() && st.st_uid != 0;
}

/* A directory that is ours and closed to others; -ENOENT also when it is missing. */
static int open_existing_root(const char *path, struct err *e)
{
	auto_close int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return err_sys(e, "open the state directory %s", path);
	if (fstat(fd, &st) < 0)
		return err_sys(e, "stat the state directory %s", path);
	if (st.st_uid != geteuid() || is_foreign_link(path))
		return err_set(e, EPERM, "the state directory %s belongs to another user", path);
	if ((st.st_mode & 022) && !(st.st_mode & S_ISVTX))
		return err_set(e, EPERM, "the state directory %s is writable for others: chmod 0700", path);
	return take_fd(&fd);
}

static int open_root(const char *path, struct err *e)
{
	int fd = open_existing_root(path, e);

	if (fd != -ENOENT)
		return fd;
	if (make_dirs(path, e) < 0)
		return -e->code;
	return open_existing_root(path, e);
}

/* A container's directory. In a root with the sticky bit others may have made some. */
static int open_entry(int root, const char *name)
{
	auto_close int fd = openat(root, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	return st.st_uid != geteuid() || (st.st_mode & 022) ? -EPERM : take_fd(&fd);
}

/* Searchable for others is allowed: podman makes XDG_RUNTIME_DIR so. */
static bool is_own_dir(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & 022);
}

int rt_state_default_root(struct arena *a, const char **ret, struct err *e)
{
	const char *xdg = getenv("XDG_RUNTIME_DIR");
	char *user_dir;

	/* podman without root runs us as root of a user namespace, in which /run is not ours. */
	if (geteuid() == 0 && (!xdg || procfs_initial_userns() || !is_own_dir(xdg))) {
		*ret = "/run/brig";
		return 0;
	}
	user_dir = arena_printf(a, "/run/user/%u", geteuid());
	if (xdg && xdg[0] == '/' && is_own_dir(xdg))
		*ret = arena_printf(a, "%s/brig", xdg);
	else if (is_own_dir(user_dir))
		*ret = arena_printf(a, "%s/brig", user_dir);
	else
		*ret = arena_printf(a, "/tmp/brig-%u", geteuid());
	if (strlen(*ret) > 200)
		return err_set(e, ENAMETOOLONG, "XDG_RUNTIME_DIR is too long");
	return 0;
}

static const char *absolute_env(const char *name)
{
	const char *v = getenv(name);

	return v && *v == '/' ? v : NULL;
}

const char *rt_default_data_root(struct arena *a)
{
	const char *own = absolute_env("BRIG_DOCKER_DATA"), *xdg = absolute_env("XDG_DATA_HOME");
	const char *home = absolute_env("HOME");

	if (own)
		return arena_strdup(a, own);
	if (geteuid() == 0 && procfs_initial_userns())
		return "/var/lib/brig";
	if (xdg)
		return arena_printf(a, "%s/brig", xdg);
	return home ? arena_printf(a, "%s/.local/share/brig", home) : NULL;
}

/* What io_replace_file leaves when it is killed; nothing else that we do not know is touched. */
static void remove_temporary_files(int dir)
{
	DIR *d = fdopendir(openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));

	for (struct dirent *de; d && (de = readdir(d));)
		if (str_starts(de->d_name, "state.json."))
			unlinkat(dir, de->d_name, 0);
	if (d)
		closedir(d);
}

/* `owner` goes last: until then a sweeper can see the entry; an empty directory it removes, too. */
static void remove_tree(int root, const char *name, int dir)
{
	unlinkat(dir, "state.json", 0);
	unlinkat(dir, "start", 0);
	unlinkat(dir, "owner", 0);
	if (unlinkat(root, name, AT_REMOVEDIR) == 0)
		return;
	unlinkat(dir, "notify/notify.sock", 0);
	unlinkat(dir, "notify", AT_REMOVEDIR);
	remove_temporary_files(dir);
	unlinkat(root, name, AT_REMOVEDIR);
}

/* One attempt: 0, or -errno without a message. -ENOENT: a sweeper was faster, try again. */
static int try_create(int root, const char *id, bool owned, struct rt_state *ret)
{
	auto_close int dir = -1, lock = -1;
	char tmp[64];
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	snprintf(tmp, sizeof(tmp), "%s%ld-%lx", temp_prefix, (long)getpid(), ts.tv_nsec);
	if (mkdirat(root, tmp, 0700) < 0)
		return -errno;
	dir = openat(root, tmp, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	if (owned) {
		lock = openat(dir, "owner", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (lock < 0)
			return -errno;
		if (flock(lock, LOCK_EX | LOCK_NB) < 0)
			return -ENOENT;
		fcntl(lock, F_SETLK, &(struct flock){.l_type = F_WRLCK}); /* says who we are */
	}
	if (renameat2(root, tmp, root, id, RENAME_NOREPLACE) < 0) {
		int code = errno;

		remove_tree(root, tmp, dir);
		return -code;
	}
	ret->dir = take_fd(&dir);
	ret->lock = take_fd(&lock);
	return 0;
}

int rt_state_create(const char *root, const char *id, bool owned, struct rt_state *ret, struct err *e)
{
	auto_close int fd = open_root(root, e);
	struct rt_state s = {.dir = -1, .lock = -1, .root = -1, .id = id};
	int r = -ENOENT;

	if (fd < 0)
		return fd;
	for (int i = 0; i < CREATE_TRIES && r == -ENOENT; i++)
		r = try_create(fd, id, owned, &s);
	if (r == -EEXIST)
		return err_set(e, EEXIST, "container with given ID already exists: %s", id);
	if (r < 0)
		return err_set(e, -r, "make %s/%s: %s", root, id, err_name(-r));
	s.root = take_fd(&fd);
	*ret = s;
	return 0;
}

/* flock is inherited and tells no pid; a lock by fcntl is the process's own, gone with it. */
static pid_t lock_holder(int fd)
{
	struct flock l = {.l_type = F_WRLCK};

	return fcntl(fd, F_GETLK, &l) < 0 || l.l_type == F_UNLCK ? 0 : l.l_pid;
}

int rt_state_owner(const struct rt_state *s)
{
	auto_close int fd = openat(s->dir, "owner", O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	pid_t pid = fd < 0 ? 0 : lock_holder(fd);
	auto_close int pidfd = pid > 0 ? sys_pidfd_open(pid, 0) : -1;

	/* It has the lock after we have the pidfd: it is no later process with the same pid. */
	return pidfd >= 0 && lock_holder(fd) == pid ? take_fd(&pidfd) : -1;
}

int rt_state_own(struct rt_state *s, bool wait, struct err *e)
{
	auto_close int fd = openat(s->dir, "owner", O_RDWR | O_CLOEXEC | O_NOFOLLOW);

	if (fd >= 0 && flock(fd, wait ? LOCK_EX : LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return err_set(e, EBUSY, "container %s is being created by a process that cannot be seen "
					 "from here", s->id);
	if (fd < 0)
		return err_sys(e, "lock the container %s", s->id);
	s->lock = take_fd(&fd);
	return 0;
}

static void to_json(const struct spec_state *doc, struct strbuf *b)
{
	struct json_writer w;

	json_writer_init(&w, b, false);
	spec_state_write(&w, doc);
}

int rt_state_intend(const struct rt_state *s, const struct spec_state *doc, struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	int r;

	to_json(doc, &b);
	/* A second record (the cgroup is ours) has more in it, so it covers the first one. No ftruncate:
	 * ext4 then writes the file to the disk when it is closed. */
	r = lseek(s->lock, 0, SEEK_SET) < 0 ? -errno : io_write_all(s->lock, b.p, b.len);
	return r < 0 ? err_set(e, -r, "write the state of container %s: %s", s->id, err_name(-r)) : 0;
}

int rt_state_publish(const struct rt_state *s, const struct spec_state *doc, struct err *e)
{
	auto_close int fd = openat(s->dir, "state.json", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	auto_strbuf struct strbuf b = {0};
	int r;

	if (fd < 0)
		return err_sys(e, "create the state of container %s", s->id);
	to_json(doc, &b);
	r = io_write_all(fd, b.p, b.len);
	return r < 0 ? err_set(e, -r, "write the state of container %s: %s", s->id, err_name(-r)) : 0;
}

int rt_state_save(const struct rt_state *s, const struct spec_state *doc, struct err *e)
{
	auto_strbuf struct strbuf b = {0};

	to_json(doc, &b);
	return io_replace_file(s->dir, "state.json", &b, 0600, e);
}

void rt_state_fill_init(struct spec_state *doc, struct arena *a, int procfs, pid_t pid)
{
	char path[64], stat[1024], boot[64];
	struct err e = {0};
	char *p;

	doc->init_pid = pid;
	snprintf(path, sizeof(path), "%ld/stat", (long)pid);
	if (procfs_read(procfs, path, stat, sizeof(stat), &e) > 0 && (p = strrchr(stat, ')'))) {
		for (int field = 2; p && field < 22; field++) /* the name may hold spaces: from behind */
			p = strchr(p + 1, ' ');
		doc->init_start_time = p ? strtoull(p + 1, NULL, 10) : 0;
	}
	if (procfs_read(procfs, "sys/kernel/random/boot_id", boot, sizeof(boot), &e) > 0)
		doc->boot_id = arena_strdup(a, boot);
}

int rt_state_open(const char *root, const char *id, struct rt_state *ret, struct err *e)
{
	struct rt_state s = {.dir = -1, .lock = -1, .root = -1, .id = id};
	auto_close int fd = -1, dir = -1;

	if (!str_valid_id(id))
		return err_set(e, EINVAL, "invalid container ID format: %s", id);
	fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd >= 0 ? open_entry(fd, id) : -errno;
	if (dir == -ENOENT)
		return err_set(e, ENOENT, "container does not exist: %s", id);
	if (dir < 0)
		return err_set(e, -dir, "open %s/%s: %s", root, id, err_name(-dir));
	s.dir = take_fd(&dir);
	s.root = take_fd(&fd);
	*ret = s;
	return 0;
}

static int load_file(const struct rt_state *s, const char *name, struct arena *a,
		     struct spec_state **ret, struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	int r = io_read_file(s->dir, name, STATE_MAX, &b, e);

	return r < 0 ? r : spec_state_parse(b.p ? b.p : "", b.len, a, ret, e);
}

/* state.json is not there before it is published, and not whole in the middle of that. */
int rt_state_load(const struct rt_state *s, struct arena *a, struct spec_state **ret, struct err *e)
{
	struct err first = {0};
	int r = load_file(s, "state.json", a, ret, &first);

	if (r < 0 && load_file(s, "owner", a, ret, e) == 0)
		return 0;
	if (r < 0)
		*e = first;
	return r < 0 ? err_wrap(e, "the state of container %s", s->id) : 0;
}

void rt_state_close(struct rt_state *s)
{
	cleanup_close(&s->dir);
	cleanup_close(&s->lock);
	cleanup_close(&s->root);
}

void rt_state_remove(struct rt_state *s)
{
	if (s->root >= 0)
		remove_tree(s->root, s->id, s->dir);
	rt_state_close(s);
}

/* One at a time: of the hierarchies of v1 some may not have been reached. */
static int destroy_cgroup(char *path, bool ours, struct err *e)
{
	struct strv one = {(char *[]){path, NULL}, 1};
	auto_cg struct cg *cg = NULL;
	int r = cg_open(&one, &cg, e);

	if (r < 0)
		return r == -ENOENT || !ours ? 0 : r;
	if (ours)
		return cg_destroy(cg, e);
	cg_remove_empty(cg);
	return 0;
}

int rt_state_destroy_groups(const struct spec_state *doc, struct err *e)
{
	const struct strv none = {.n = 0};
	const struct strv *paths = doc->cgroup ? &doc->cgroup->paths : &none;
	const struct strv *made = doc->cgroup ? &doc->cgroup->made : &none;
	int r = 0;

	for (size_t i = 0; r == 0 && i < paths->n; i++)
		r = destroy_cgroup(paths->v[i], true, e);
	for (size_t i = 0; r == 0 && i < made->n; i++)
		r = destroy_cgroup(made->v[i], false, e);
	return r < 0 ? r : resctrl_remove(doc->intel_rdt_dir, e);
}

/* The locks are ours, so the owner is dead: ends what it left, unless that was complete and not to
 * end with its owner (`brig run` and `create`; those are ended by `brig delete`). */
static void sweep_dead(int root, const char *name, int dir)
{
	struct rt_state s = {.dir = dir, .lock = -1, .root = -1, .id = name};
	auto_arena struct arena *a = arena_new();
	struct spec_state *doc = NULL;
	struct stat st;
	struct err e = {0};
	int r = 0;

	if (rt_state_load(&s, a, &doc, &e) < 0) {
		if (fstatat(dir, "owner", &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_size > 0)
			return; /* not written by us */
		doc = NULL; /* killed before it was written: nothing was made yet */
	}
	if (doc && !doc->ephemeral && !str_eq(doc->phase, "creating")) {
		unlinkat(dir, "owner", 0); /* it needs no owner any more: no later sweep reads the record */
		return;
	}
	if (doc)
		r = rt_state_destroy_groups(doc, &e);
	if (r < 0) /* kept: the next command tries again */
		log_warning("sweep %s, left by a killed brig: %s", name, e.msg);
	else
		remove_tree(root, name, dir);
}

/*
 * The directory is locked against other commands (delete), `owner` against its owner. Whoever
 * removes the entry has one of the locks, so if `owner` still has a name when we have both, then
 * entry, record and cgroup belong together, and stay so until we are done: a new container of the
 * same name begins with a new directory.
 */
static void sweep_entry(int root, const char *name)
{
	auto_close int dir = open_entry(root, name), lock = -1;
	struct stat st;

	if (dir < 0)
		return;
	lock = openat(dir, "owner", O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (lock < 0) {
		/* killed between mkdir and open, or before the last rmdir; empty or busy */
		if (str_starts(name, temp_prefix) || str_valid_id(name))
			unlinkat(root, name, AT_REMOVEDIR);
		return;
	}
	if (flock(lock, LOCK_EX | LOCK_NB) < 0 || flock(dir, LOCK_EX | LOCK_NB) < 0)
		return;
	if (fstat(lock, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink > 0)
		sweep_dead(root, name, dir);
}

void rt_state_sweep(const char *root)
{
	struct err e = {0}; /* reported by rt_state_create */
	int fd = open_existing_root(root, &e);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d)
		return;
	for (struct dirent *de; (de = readdir(d));)
		if (!str_eq(de->d_name, ".") && !str_eq(de->d_name, ".."))
			sweep_entry(dirfd(d), de->d_name);
	closedir(d);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record that its maker still has to answer for has the sticky bit (it says nothing on a file, so
 * nobody else's file has it): only those are swept. It is made under its final name, and locked then. A
 * sweeper may be faster; the maker notices, for the name is gone, and begins again.
 *
 * There are three locks on a record: flock is the maker's and inherited by INIT; the first byte, by
 * fcntl, says the maker's pid; the second one, of an open file description, is the turn that commands
 * take (start, delete). Nobody removes anything without the turn, also not the maker: what has the name by
 * then may be another container. So while who has it finds the name on his record, it stays there.
 */
#include "runtime/state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
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

/* The configuration, which may have JSON_MAX_BYTES, is in state.json and in the last line of a record. */
enum { CREATE_TRIES = 16, STATE_MAX = 8 << 20, RECORD_MAX = 2 * STATE_MAX };
enum { DYING_MS = 2000, LOCK_STEP_MS = 5 };
enum { OWNED = S_ISVTX | 0600, OWNER_BYTE = 0, TURN_BYTE = 1 };

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

/* In a root with the sticky bit others may have made some of what is in it. */
static bool is_ours(const struct stat *st, mode_t type)
{
	return st->st_uid == geteuid() && !(st->st_mode & 022) && (st->st_mode & S_IFMT) == type;
}

static int open_dir(int root, const char *name)
{
	auto_close int fd = openat(root, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	return is_ours(&st, S_IFDIR) ? take_fd(&fd) : -EPERM;
}

/* Looked at first: to open somebody's fifo or device may do something to it. mode: what it must have. */
static int open_record(int root, const char *name, mode_t mode)
{
	auto_close int fd = -1;
	struct stat st;

	if (fstatat(root, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (!is_ours(&st, S_IFREG) || (st.st_mode & mode) != mode)
		return S_ISDIR(st.st_mode) ? -EISDIR : -EPERM;
	fd = openat(root, name, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	return is_ours(&st, S_IFREG) && (st.st_mode & mode) == mode ? take_fd(&fd) : -EPERM;
}

static int open_or_make_dir(int root, const char *name, bool make)
{
	int fd = open_dir(root, name);

	if (fd != -ENOENT || !make)
		return fd;
	if (mkdirat(root, name, 0700) < 0 && errno != EEXIST)
		return -errno;
	return open_dir(root, name);
}

/* <root>/.files/<name>; the former goes to ret_parent, unless that is NULL. */
static int open_files(int root, const char *name, bool make, int *ret_parent)
{
	auto_close int all = open_or_make_dir(root, RT_STATE_FILES, make);
	int dir = all < 0 ? all : open_or_make_dir(all, name, make);

	if (dir >= 0 && ret_parent)
		*ret_parent = take_fd(&all);
	return dir;
}

int rt_state_dir(const struct rt_state *s, bool make, struct err *e)
{
	int dir = open_files(s->root, s->id, make, NULL);

	return dir < 0 ? err_set(e, -dir, "open the files of container %s: %s", s->id, err_name(-dir)) : dir;
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

static void remove_files(int root, const char *name)
{
	auto_close int all = -1, dir = open_files(root, name, false, &all);

	if (dir < 0)
		return;
	unlinkat(dir, "state.json", 0);
	unlinkat(dir, "start", 0);
	if (unlinkat(all, name, AT_REMOVEDIR) == 0)
		return;
	unlinkat(dir, "notify/notify.sock", 0);
	unlinkat(dir, "notify", AT_REMOVEDIR);
	remove_temporary_files(dir);
	unlinkat(all, name, AT_REMOVEDIR);
}

/* The record goes last: until then a sweeper can see it. */
static void remove_all(int root, const char *name)
{
	remove_files(root, name);
	unlinkat(root, name, 0);
}

static int lock_byte(int fd, int cmd, int byte)
{
	struct flock l = {.l_type = F_WRLCK, .l_start = byte, .l_len = 1};
	int r;

	do
		r = fcntl(fd, cmd, &l);
	while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : 0;
}

static int lock_whole(int fd, int how)
{
	int r;

	do
		r = flock(fd, how);
	while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : 0;
}

/* Whether the record has its name; -ENOENT when it has not. The number of its links does not say it: in a root
 * with the sticky bit others may link it. *ret is the record's. */
static int check_name(int record, int root, const char *name, struct stat *ret)
{
	struct stat there;

	if (fstat(record, ret) < 0 || fstatat(root, name, &there, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return ret->st_dev == there.st_dev && ret->st_ino == there.st_ino ? 0 : -ENOENT;
}

/* One attempt: a descriptor, or -errno without a message. -ENOENT: a sweeper was faster, try again. */
static int try_create(int root, const char *id)
{
	auto_close int fd = openat(root, id, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, OWNED);
	struct stat st;
	int r;

	if (fd < 0)
		return -errno;
	r = lock_whole(fd, LOCK_EX);
	if (r == 0)
		r = check_name(fd, root, id, &st);
	if (r == -ENOENT)
		return r;
	if (r == 0 && !(st.st_mode & S_ISVTX))
		r = -EOPNOTSUPP;
	if (r < 0) {
		unlinkat(root, id, 0);
		return r;
	}
	lock_byte(fd, F_SETLK, OWNER_BYTE); /* says who we are */
	return take_fd(&fd);
}

int rt_state_create(const char *root, const char *id, struct rt_state *ret, struct err *e)
{
	auto_close int fd = open_root(root, e);
	int record = -ENOENT;

	if (fd < 0)
		return fd;
	for (int i = 0; i < CREATE_TRIES && record == -ENOENT; i++)
		record = try_create(fd, id);
	if (record == -EEXIST)
		return err_set(e, EEXIST, "container with given ID already exists: %s", id);
	if (record == -EOPNOTSUPP)
		return err_set(e, EOPNOTSUPP, "the file system of %s keeps no sticky bit of files: use another --root", root);
	if (record < 0)
		return err_set(e, -record, "make %s/%s: %s", root, id, err_name(-record));
	*ret = (struct rt_state){.record = record, .root = take_fd(&fd), .id = id};
	return 0;
}

/* flock is inherited and tells no pid; a lock by fcntl is the process's own, gone with it. */
static pid_t lock_holder(int fd)
{
	struct flock l = {.l_type = F_WRLCK, .l_start = OWNER_BYTE, .l_len = 1};

	return fcntl(fd, F_GETLK, &l) < 0 || l.l_type == F_UNLCK ? 0 : l.l_pid;
}

int rt_state_owner(const struct rt_state *s)
{
	pid_t pid = lock_holder(s->record);
	auto_close int pidfd = pid > 0 ? sys_pidfd_open(pid, 0) : -1;

	/* It has the lock after we have the pidfd: it is no later process with the same pid. */
	return pidfd >= 0 && lock_holder(s->record) == pid ? take_fd(&pidfd) : -1;
}

/* When the maker has died, its INIT follows, a moment later. */
static int lock_within(int fd, int ms)
{
	int r;

	for (; (r = lock_whole(fd, LOCK_EX | LOCK_NB)) == -EWOULDBLOCK && ms > 0; ms -= LOCK_STEP_MS)
		poll(NULL, 0, LOCK_STEP_MS);
	return r;
}

int rt_state_own(const struct rt_state *s, bool wait, struct err *e)
{
	int r = wait ? lock_whole(s->record, LOCK_EX) : lock_within(s->record, DYING_MS);

	if (r == -EWOULDBLOCK)
		return err_set(e, EBUSY, "container %s is being created by a process that cannot be seen "
					 "from here", s->id);
	return r < 0 ? err_set(e, -r, "lock the container %s: %s", s->id, err_name(-r)) : 0;
}

/* Shared, so that one who asks is not taken for an owner by another. */
bool rt_state_is_owned(const struct rt_state *s)
{
	if (lock_whole(s->record, LOCK_SH | LOCK_NB) < 0)
		return true;
	flock(s->record, LOCK_UN);
	return false;
}

int rt_state_take_turn(const struct rt_state *s, struct err *e)
{
	int r = lock_byte(s->record, F_OFD_SETLKW, TURN_BYTE);
	struct stat st;

	if (r == 0)
		r = check_name(s->record, s->root, s->id, &st);
	if (r == -ENOENT)
		return err_set(e, ENOENT, "container does not exist: %s", s->id);
	return r < 0 ? err_set(e, -r, "lock the container %s: %s", s->id, err_name(-r)) : 0;
}

bool rt_state_claim(const struct rt_state *s)
{
	struct err ignored = {0};

	return rt_state_take_turn(s, &ignored) != -ENOENT;
}

static void to_json(const struct spec_state *doc, struct strbuf *b)
{
	struct json_writer w;

	json_writer_init(&w, b, false);
	spec_state_write(&w, doc);
}

int rt_state_record(const struct rt_state *s, const struct spec_state *doc, struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	int r;

	to_json(doc, &b);
	strbuf_addc(&b, '\n');
	r = io_write_all(s->record, b.p, b.len);
	return r < 0 ? err_set(e, -r, "write the state of container %s: %s", s->id, err_name(-r)) : 0;
}

int rt_state_save(const struct rt_state *s, const struct spec_state *doc, struct err *e)
{
	auto_close int dir = rt_state_dir(s, true, e);
	auto_strbuf struct strbuf b = {0};

	if (dir < 0)
		return dir;
	to_json(doc, &b);
	remove_temporary_files(dir); /* of one that was killed, perhaps with our pid in another namespace */
	return io_replace_file(dir, "state.json", &b, 0600, e);
}

/* State letter and start time of a process from its stat file; false when it is gone. */
static bool read_stat(int procfs, pid_t pid, char *ret_state, uint64_t *ret_start)
{
	char path[64], stat[1024], *p;
	struct err e = {0};

	snprintf(path, sizeof(path), "%ld/stat", (long)pid);
	if (procfs_read(procfs, path, stat, sizeof(stat), &e) <= 0 || !(p = strrchr(stat, ')')))
		return false;
	*ret_state = p[1] ? p[2] : '?';
	for (int field = 2; p && field < 22; field++) /* the name may hold spaces: from behind */
		p = strchr(p + 1, ' ');
	*ret_start = p ? strtoull(p + 1, NULL, 10) : 0;
	return p != NULL;
}

void rt_state_fill_init(struct spec_state *doc, struct arena *a, int procfs, pid_t pid)
{
	char boot[64], state;
	struct err e = {0};

	doc->init_pid = pid;
	read_stat(procfs, pid, &state, &doc->init_start_time);
	if (procfs_read(procfs, "sys/kernel/random/boot_id", boot, sizeof(boot), &e) > 0)
		doc->boot_id = arena_strdup(a, boot);
}

static bool same_boot(const struct spec_state *doc, int procfs)
{
	char boot[64];
	struct err e = {0};

	if (!doc->boot_id)
		return true;
	return procfs_read(procfs, "sys/kernel/random/boot_id", boot, sizeof(boot), &e) < 0 ||
	       str_eq(boot, doc->boot_id);
}

/* It is found by pid and then checked by start time and boot id, with the pidfd open before the check: whatever
 * gets the pid later, the pidfd means the process that was checked. */
int rt_state_init(const struct spec_state *doc, int procfs)
{
	pid_t pid = (pid_t)doc->init_pid;
	auto_close int fd = pid > 0 ? sys_pidfd_open(pid, 0) : -1;
	uint64_t start;
	char state;

	if (fd < 0 || !read_stat(procfs, pid, &state, &start))
		return -1;
	if (start != doc->init_start_time || state == 'Z' || state == 'X' || !same_boot(doc, procfs))
		return -1;
	return take_fd(&fd);
}

int rt_state_open(const char *root, const char *id, struct rt_state *ret, struct err *e)
{
	auto_close int fd = -1, record = -1;

	if (!str_valid_id(id))
		return err_set(e, EINVAL, "invalid container ID format: %s", id);
	fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	record = fd >= 0 ? open_record(fd, id, 0) : -errno;
	if (record == -ENOENT)
		return err_set(e, ENOENT, "container does not exist: %s", id);
	if (record < 0)
		return err_set(e, -record, "open %s/%s: %s", root, id, err_name(-record));
	*ret = (struct rt_state){.record = take_fd(&record), .root = take_fd(&fd), .id = id};
	return 0;
}

static int read_record(const struct rt_state *s, struct strbuf *b, struct err *e)
{
	if (lseek(s->record, 0, SEEK_SET) < 0)
		return err_sys(e, "read");
	return io_read_fd(s->record, RECORD_MAX, b, s->id, e);
}

/* The last whole line: who writes one may have been killed. */
static const char *last_line(const struct strbuf *b, size_t *ret_len)
{
	const char *end = b->len ? memrchr(b->p, '\n', b->len) : NULL;
	const char *before = end ? memrchr(b->p, '\n', (size_t)(end - b->p)) : NULL;
	const char *start = before ? before + 1 : b->p;

	*ret_len = end ? (size_t)(end - start) : 0;
	return end ? start : "";
}

/* -ENOENT: its maker has written nothing yet. */
static int load_record(const struct rt_state *s, struct arena *a, struct spec_state **ret, struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	const char *line;
	size_t len;
	int r = read_record(s, &b, e);

	if (r < 0)
		return r;
	line = last_line(&b, &len);
	return len ? spec_state_parse(line, len, a, ret, e) : err_set(e, ENOENT, "it has none");
}

/* The time in nanoseconds tells it from an earlier container with this id, whose record somebody removed by hand. */
static bool is_of_record(const struct rt_state *s, const struct spec_state *saved)
{
	auto_strbuf struct strbuf b = {0};
	struct err ignored = {0};

	return !saved->created || (read_record(s, &b, &ignored) == 0 && b.len &&
				   memmem(b.p, b.len, saved->created, strlen(saved->created)));
}

/* -ENOENT: no later command has written one. */
static int load_saved(const struct rt_state *s, struct arena *a, struct spec_state **ret, struct err *e)
{
	auto_close int dir = open_files(s->root, s->id, false, NULL);
	auto_strbuf struct strbuf b = {0};
	int r = dir < 0 ? err_set(e, -dir, "open the files") : io_read_file(dir, "state.json", STATE_MAX, &b, e);

	if (r == 0)
		r = spec_state_parse(b.p ? b.p : "", b.len, a, ret, e);
	return r == 0 && !is_of_record(s, *ret) ? err_set(e, ENOENT, "it is another one's") : r;
}

int rt_state_load(const struct rt_state *s, struct arena *a, struct spec_state **ret, struct err *e)
{
	struct err none = {0};
	int r = load_saved(s, a, ret, &none);

	if (r < 0)
		r = load_record(s, a, ret, e);
	if (r == 0 && !str_eq((*ret)->id, s->id))
		r = err_set(e, EINVAL, "it is the one of %s", (*ret)->id);
	return r < 0 ? err_wrap(e, "the state of container %s", s->id) : 0;
}

void rt_state_close(struct rt_state *s)
{
	cleanup_close(&s->record);
	cleanup_close(&s->root);
}

void rt_state_remove(struct rt_state *s)
{
	if (s->root >= 0 && rt_state_claim(s))
		remove_all(s->root, s->id);
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

/* Of something that has no whole line. */
static bool is_only_begun(int record)
{
	static const char begin[] = "{\"version\":";
	char text[sizeof(begin) - 1];
	ssize_t n = pread(record, text, sizeof(text), 0);

	return n >= 0 && memcmp(text, begin, (size_t)n) == 0;
}

/* Where there is no cgroup, nothing else leads to it. */
static int kill_init(const struct spec_state *doc, struct err *e)
{
	auto_close int procfs = procfs_open(e);
	auto_close int pidfd = procfs < 0 ? -1 : rt_state_init(doc, procfs);

	if (procfs < 0)
		return procfs;
	return pidfd >= 0 && sys_pidfd_send_signal(pidfd, SIGKILL) < 0 && errno != ESRCH
		       ? err_sys(e, "kill process %lld", (long long)doc->init_pid) : 0;
}

/* The locks are ours, so the owner is dead: ends what it left, unless that was complete and not to
 * end with its owner (`brig run` and `create`; those are ended by `brig delete`). */
static void sweep_dead(const struct rt_state *s)
{
	auto_arena struct arena *a = arena_new();
	struct spec_state *doc = NULL;
	struct err e = {0};
	int r = rt_state_load(s, a, &doc, &e);

	if (r < 0 && (r != -ENOENT || !is_only_begun(s->record)))
		return; /* not written by us */
	r = 0;
	if (doc && !doc->ephemeral && !str_eq(doc->phase, "creating")) {
		fchmod(s->record, OWNED & ~S_ISVTX); /* no later sweep reads the record */
		return;
	}
	if (doc && doc->init_pid && !doc->cgroup)
		r = kill_init(doc, &e);
	if (r == 0 && doc) /* else it was killed before it was written: nothing was made yet */
		r = rt_state_destroy_groups(doc, &e);
	if (r < 0) /* kept: the next command tries again */
		log_warning("sweep %s, left by a killed brig: %s", s->id, e.msg);
	else
		remove_all(s->root, s->id);
}

/*
 * The turn is taken against other commands (delete), the lock against the owner. With both and the name,
 * record, files and cgroup belong together, and stay so until we are done: a new container of the same
 * name begins with a new file. The turn comes first: who has it must not find the lock taken by a sweeper.
 */
static void sweep_entry(int root, const char *name)
{
	auto_close int record = str_valid_id(name) ? open_record(root, name, S_ISVTX) : -EINVAL;
	const struct rt_state s = {.record = record, .root = root, .id = name};
	struct stat st;

	if (record < 0)
		return;
	if (lock_byte(record, F_OFD_SETLK, TURN_BYTE) < 0 || lock_whole(record, LOCK_EX | LOCK_NB) < 0)
		return;
	if (check_name(record, root, name, &st) == 0)
		sweep_dead(&s);
}

void rt_state_sweep(const char *root)
{
	struct err e = {0}; /* reported by rt_state_create */
	int fd = open_existing_root(root, &e);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d)
		return;
	for (struct dirent *de; (de = readdir(d));)
		sweep_entry(dirfd(d), de->d_name);
	closedir(d);
}

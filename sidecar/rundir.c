/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is removed at the start must be ours beyond doubt, for config.tmp_root has other people's
 * directories in it, too: the name is our prefix and 32 hexadecimal digits, the owner is us, and
 * there is our lock file, which nobody holds. Removing never follows a link nor enters a mount.
 */
#include "sidecar/rundir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/sys.h"
#include "sidecar/config.h"
#include "sidecar/loop.h"

#define BASE_PREFIX "brigd-runs-"
#define LOCK_FILE ".brigd-lock"
#define NEW_LOCK_FILE ".brigd-lock-new"
enum { KEPT_MAX = 256, DEPTH_MAX = 16, ID_DIGITS = 32 };
#define KEPT_BYTES (512ull << 20)

struct rundir {
	struct rundir *prev, *next; /* kept ones, the oldest first */
	struct loop_timer timer;
	struct arena *a;
	char id[ID_DIGITS + 1];
	const char *path, *out, *subject;
	struct run_file *files;
	size_t n_files;
	uint64_t bytes;
	bool kept, has_pool;
};

static struct rundir kept = {.prev = &kept, .next = &kept};
static size_t n_kept;
static uint64_t kept_bytes;
static char base_path[300];
static int base_fd = -1, base_lock = -1;

/* ---- removing ---- */

static int open_dir(int dir, const char *name)
{
	return sys_openat2(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0,
			   RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
}

/* name is one component. */
static void remove_tree(int dir, const char *name, int depth)
{
	int fd;
	DIR *d;
	const struct dirent *entry;

	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT || depth == DEPTH_MAX)
		return;
	fd = open_dir(dir, name);
	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d) {
		cleanup_close(&fd);
		return;
	}
	while ((entry = readdir(d)))
		if (!str_eq(entry->d_name, ".") && !str_eq(entry->d_name, ".."))
			remove_tree(fd, entry->d_name, depth + 1);
	closedir(d);
	unlinkat(dir, name, AT_REMOVEDIR);
}

static bool has_our_name(const char *name)
{
	const char *id = name + strlen(BASE_PREFIX);

	return str_starts(name, BASE_PREFIX) && strlen(id) == ID_DIGITS &&
	       strspn(id, "0123456789abcdef") == ID_DIGITS;
}

static bool is_abandoned(int root, const char *name)
{
	auto_close int dir = open_dir(root, name), fd = -1;
	struct stat st;

	if (dir < 0 || fstat(dir, &st) < 0 || st.st_uid != geteuid())
		return false;
	fd = openat(dir, LOCK_FILE, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	       flock(fd, LOCK_EX | LOCK_NB) == 0;
}

static int purge(struct err *e)
{
	int root = open(config.tmp_root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = root < 0 ? NULL : fdopendir(root);
	const struct dirent *entry;

	if (!d)
		return err_sys(e, "open %.200s for the directories of runs", config.tmp_root);
	while ((entry = readdir(d)))
		if (has_our_name(entry->d_name) && is_abandoned(root, entry->d_name))
			remove_tree(root, entry->d_name, 0);
	closedir(d);
	return 0;
}

/* ---- making ---- */

static int random_id(char ret[ID_DIGITS + 1])
{
	uint64_t r[2];

	if (getrandom(r, sizeof(r), 0) != sizeof(r))
		return -EIO;
	snprintf(ret, ID_DIGITS + 1, "%016" PRIx64 "%016" PRIx64, r[0], r[1]);
	return 0;
}

int rundir_open(struct err *e)
{
	char id[ID_DIGITS + 1];

	if (purge(e) < 0)
		return -e->code;
	if (random_id(id) < 0)
		return err_sys(e, "getrandom");
	if (snprintf(base_path, sizeof(base_path), "%s/" BASE_PREFIX "%s", config.tmp_root, id) >=
	    (int)sizeof(base_path))
		return err_set(e, ENAMETOOLONG, "--tmp-root: is too long");
	if (mkdir(base_path, 0700) < 0)
		return err_sys(e, "make the directory %s", base_path);
	base_fd = open(base_path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (base_fd >= 0)
		base_lock = openat(base_fd, NEW_LOCK_FILE, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	/* It has its name only when it is locked, or another that starts now would remove all of it. */
	if (base_lock < 0 || flock(base_lock, LOCK_EX | LOCK_NB) < 0 ||
	    renameat(base_fd, NEW_LOCK_FILE, base_fd, LOCK_FILE) < 0)
		return err_sys(e, "lock the directory %s", base_path);
	return 0;
}

static void free_rundir(struct rundir *d)
{
	struct arena *a = d->a;

	remove_tree(base_fd, d->id, 0);
	if (d->has_pool)
		rundir_remove_pool(d->out);
	arena_free(a);
}

struct rundir *rundir_make(const char *subject, struct err *e)
{
	struct arena *a = arena_new();
	struct rundir *d = arena_new_of(a, struct rundir);

	d->a = a;
	d->subject = subject ? arena_strdup(a, subject) : NULL;
	if (random_id(d->id) < 0 || mkdirat(base_fd, d->id, 0700) < 0) {
		err_sys(e, "make the directory of a run");
		arena_free(a);
		return NULL;
	}
	d->path = arena_printf(a, "%s/%s", base_path, d->id);
	d->out = arena_printf(a, "%s/out", d->path);
	if (mkdir(d->out, 0700) < 0 || mkdir(arena_printf(a, "%s/in", d->path), 0700) < 0) {
		err_sys(e, "make the directory of a run");
		free_rundir(d);
		return NULL;
	}
	return d;
}

const char *rundir_id(const struct rundir *d)
{
	return d->id;
}

const char *rundir_out(const struct rundir *d)
{
	return d->out;
}

int rundir_put(struct rundir *d, const char *name, const struct strbuf *data,
	       char ret_path[RUNDIR_PATH_MAX])
{
	auto_close int fd = -1;

	snprintf(ret_path, RUNDIR_PATH_MAX, "%s/in/%s", d->path, name);
	fd = open(ret_path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	return io_write_all(fd, strbuf_str(data), data->len);
}

int rundir_make_pool(char ret_path[RUNDIR_PATH_MAX])
{
	char id[ID_DIGITS + 1];

	ret_path[0] = '\0';
	if (random_id(id) < 0)
		return -EIO;
	snprintf(ret_path, RUNDIR_PATH_MAX, "%s/pool-%s", base_path, id);
	if (mkdir(ret_path, 0700) == 0)
		return 0;
	ret_path[0] = '\0';
	return -errno;
}

void rundir_remove_pool(const char *path)
{
	remove_tree(base_fd, strrchr(path, '/') + 1, 0);
}

void rundir_use_pool(struct rundir *d, const char *path)
{
	d->out = arena_strdup(d->a, path);
	d->has_pool = true;
}

/* ---- keeping ---- */

void rundir_remove(struct rundir *d)
{
	loop_stop_timer(&d->timer);
	if (d->kept) {
		d->prev->next = d->next;
		d->next->prev = d->prev;
		n_kept--;
		kept_bytes -= d->bytes;
	}
	free_rundir(d);
}

void rundir_close(void)
{
	const char *name = strrchr(base_path, '/');
	int root;

	while (kept.next != &kept)
		rundir_remove(kept.next);
	root = open(config.tmp_root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (base_lock >= 0 && root >= 0)
		remove_tree(root, name + 1, 0);
	cleanup_close(&root);
	cleanup_close(&base_lock);
	cleanup_close(&base_fd);
}

static void expired(struct loop_timer *t)
{
	rundir_remove(CONTAINER_OF(t, struct rundir, timer));
}

void rundir_keep(struct rundir *d, const struct run_file *files, size_t n)
{
	if (n == 0) {
		rundir_remove(d);
		return;
	}
	d->files = arena_array(d->a, n, sizeof(*d->files));
	d->n_files = n;
	for (size_t i = 0; i < n; i++) {
		d->files[i] = (struct run_file){arena_strdup(d->a, files[i].name), NULL, files[i].size};
		d->bytes += files[i].size;
	}
	d->kept = true;
	d->prev = kept.prev;
	d->next = &kept;
	d->prev->next = d->next->prev = d;
	n_kept++;
	kept_bytes += d->bytes;
	d->timer.due = expired;
	loop_set_timer(&d->timer, config.files_keep_s * 1000);
	while (n_kept > KEPT_MAX || (kept_bytes > KEPT_BYTES && kept.next != d))
		rundir_remove(kept.next);
}

static const struct rundir *find(const char *id, const char *subject)
{
	for (struct rundir *d = kept.next; d != &kept; d = d->next)
		if (str_eq(d->id, id))
			return !d->subject || str_eq(d->subject, subject) ? d : NULL;
	return NULL;
}

int rundir_file(const char *id, const char *name, const char *subject, uint64_t *ret_size)
{
	const struct rundir *d = find(id, subject);
	auto_close int dir = -1;

	for (size_t i = 0; d && i < d->n_files; i++) {
		if (!str_eq(d->files[i].name, name))
			continue;
		*ret_size = d->files[i].size;
		dir = open(d->out, O_PATH | O_DIRECTORY | O_CLOEXEC);
		return dir < 0 ? -errno
			       : sys_openat2(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0,
					     RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	}
	return -ENOENT;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that are given become entries of the mount plan, so INIT makes them as root of its user
 * namespace and hands them to the program's user. What is left is read through a descriptor of the
 * working directory that was opened before the program began; it keeps the tmpfs alive when its
 * namespaces are gone. Then nobody can change it any more, and yet no link is followed.
 */
#include "runtime/sandbox-files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/sha256.h"
#include "base/str.h"
#include "base/sys.h"

/* ---- given ---- */

static bool valid_name(const char *name)
{
	size_t n = strlen(name);

	if (n == 0 || n > 255 || str_eq(name, ".") || str_eq(name, ".."))
		return false;
	for (; *name; name++)
		if (*name == '/' || (unsigned char)*name < 0x20 || *name == 0x7f)
			return false;
	return true;
}

static int read_copy(struct arena *a, const char *text, size_t room, struct sandbox_copy *ret,
		     struct err *e)
{
	const char *colon = strrchr(text, ':');
	auto_strbuf struct strbuf b = {0};
	int r;

	if (!colon || colon == text || !valid_name(colon + 1))
		return err_set(e, EINVAL, "\"%.80s\" is not PATH:NAME with a NAME without a slash", text);
	r = io_read_file(AT_FDCWD, arena_strndup(a, text, (size_t)(colon - text)), room, &b, e);
	if (r < 0)
		return r;
	ret->name = arena_strdup(a, colon + 1);
	ret->data = arena_strndup(a, strbuf_str(&b), 0);
	if (b.len) {
		ret->data = arena_alloc(a, b.len + 1);
		memcpy(ret->data, b.p, b.len);
	}
	ret->len = b.len;
	sha256_hex(ret->data, ret->len, ret->sha256);
	return 0;
}

int sandbox_copies_read(struct arena *a, const struct cli_list *l, struct sandbox_copies *ret,
			struct err *e)
{
	size_t room = SANDBOX_COPY_BYTES;

	if (l->n > SANDBOX_COPIES_MAX)
		return err_set(e, E2BIG, "--copy-in: at most %d files", SANDBOX_COPIES_MAX);
	ret->v = arena_array(a, l->n + 1, sizeof(*ret->v));
	for (size_t i = 0; i < l->n; i++) {
		if (read_copy(a, l->v[i], room, &ret->v[i], e) < 0)
			return err_wrap(e, "--copy-in");
		room -= ret->v[i].len;
		for (size_t k = 0; k < i; k++)
			if (str_eq(ret->v[k].name, ret->v[i].name))
				return err_set(e, EINVAL, "--copy-in: two files are to be %.80s",
					       ret->v[i].name);
	}
	ret->n = l->n;
	return 0;
}

/* The last mount that covers the path decides. */
int sandbox_files_check(const struct oci_spec *s, struct err *e)
{
	const char *cwd = s->process->cwd;
	const struct oci_mount *on = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < s->mounts.n; i++) {
		const char *at = s->mounts.v[i].destination;
		size_t n = strlen(at);

		if (n >= longest && str_starts(cwd, at) && (!cwd[n] || cwd[n] == '/')) {
			on = &s->mounts.v[i];
			longest = n;
		}
	}
	if (on && str_eq(on->type, "tmpfs"))
		return 0;
	return err_set(e, EINVAL, "--copy-in, --copy-out: the working directory %.80s is not on a tmpfs of "
				  "the sandbox's own", cwd);
}

void sandbox_files_plan(struct arena *a, struct plan *p, const struct sandbox_copies *copies)
{
	struct rootfs_plan *rp = p->rootfs;
	const struct oci_user *u = &p->spec->process->user;
	struct rootfs_mount *v;

	if (!copies->n)
		return;
	v = arena_array(a, rp->n_mounts + copies->n, sizeof(*v));
	memcpy(v, rp->mounts, rp->n_mounts * sizeof(*v));
	for (size_t i = 0; i < copies->n; i++)
		v[rp->n_mounts++] = (struct rootfs_mount){
			.kind = ROOTFS_FILE,
			.target = arena_printf(a, "%s/%s", p->cwd, copies->v[i].name),
			.data = copies->v[i].data,
			.data_len = copies->v[i].len,
			.mode = 0644,
			.uid = u->uid,
			.gid = u->gid,
			.fd = -1,
		};
	rp->mounts = v;
}

/* ---- left ---- */

struct take {
	struct arena *a;
	const struct sandbox_copies *given;
	struct sandbox_left_list *list;
	uint64_t room;
	unsigned depth;
};

/* A directory and where it goes; `prefix` is its name below the working directory, "" or "a/". */
struct place {
	int from, to;
	const char *prefix;
};

static bool is_unchanged(const struct take *t, const struct sandbox_left *f)
{
	for (size_t i = 0; i < t->given->n; i++)
		if (str_eq(t->given->v[i].name, f->name))
			return str_eq(t->given->v[i].sha256, f->sha256);
	return false;
}

static int copy_bytes(int from, int to, uint64_t room, struct sandbox_left *f)
{
	unsigned char digest[SHA256_SIZE];
	static char buf[65536]; /* ulimit -s may leave us no more than that */
	struct sha256 sum;
	ssize_t n;

	sha256_init(&sum);
	while ((n = read(from, buf, sizeof(buf))) > 0) {
		if ((uint64_t)n > room - f->size)
			return -EFBIG;
		f->size += (uint64_t)n;
		sha256_add(&sum, buf, (size_t)n);
		if (io_write_all(to, buf, (size_t)n) < 0)
			return -EIO;
	}
	sha256_end(&sum, digest);
	for (size_t i = 0; i < SHA256_SIZE; i++)
		snprintf(f->sha256 + 2 * i, 3, "%02x", digest[i]);
	return n < 0 ? -EIO : 0;
}

/* What cannot be read or written is left out like what is too large. */
static void take_file(struct take *t, const struct place *p, const char *name)
{
	struct sandbox_left *f = &t->list->v[t->list->n];
	auto_close int from = -1, to = -1;
	int r = -EIO;

	if (t->list->n == SANDBOX_LEFT_MAX) {
		t->list->cut = true;
		return;
	}
	*f = (struct sandbox_left){.name = arena_printf(t->a, "%s%s", p->prefix, name)};
	from = openat(p->from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	to = openat(p->to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (from >= 0 && to >= 0)
		r = copy_bytes(from, to, t->room, f);
	if (r < 0 || is_unchanged(t, f)) {
		t->list->cut |= r < 0;
		if (to >= 0)
			unlinkat(p->to, name, 0);
		return;
	}
	t->room -= f->size;
	t->list->n++;
}

static void take_dir(struct take *t, const struct place *p);

static void take_subdir(struct take *t, const struct place *p, const char *name)
{
	struct place below = {.from = -1, .to = -1};

	if (t->depth == SANDBOX_LEFT_DEPTH) {
		t->list->cut = true;
		return;
	}
	below.prefix = arena_printf(t->a, "%s%s/", p->prefix, name);
	/* Not into what is mounted below (/workspace/outputs). */
	below.from = sys_openat2(p->from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0,
				 RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
	if (below.from < 0 || mkdirat(p->to, name, 0700) < 0) {
		t->list->cut |= below.from >= 0 || errno != EXDEV;
		cleanup_close(&below.from);
		return;
	}
	below.to = openat(p->to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	t->depth++;
	if (below.to >= 0)
		take_dir(t, &below); /* closes below.from */
	t->depth--;
	cleanup_close(&below.to);
	unlinkat(p->to, name, AT_REMOVEDIR); /* when nothing came into it */
}

/* Not names that would not survive a listing: text of one line is what they are for. */
static void take_entry(struct take *t, const struct place *p, const char *name)
{
	struct stat st;

	if (!valid_name(name) || fstatat(p->from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (S_ISREG(st.st_mode))
		take_file(t, p, name);
	else if (S_ISDIR(st.st_mode))
		take_subdir(t, p, name);
}

static void take_dir(struct take *t, const struct place *p)
{
	DIR *d = fdopendir(p->from);
	const struct dirent *entry;

	if (!d) {
		close(p->from);
		return;
	}
	while ((entry = readdir(d)))
		take_entry(t, p, entry->d_name);
	closedir(d);
}

int sandbox_files_take(struct arena *a, const struct sandbox_take *what,
		       struct sandbox_left_list *ret, struct err *e)
{
	struct take t = {.a = a, .given = what->given, .list = ret, .room = SANDBOX_LEFT_BYTES};
	struct place top = {.from = openat(what->cwd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
			    .prefix = ""};
	auto_close int to_fd = open(what->to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs fs;

	top.to = to_fd;
	if (top.from < 0 || to_fd < 0 || fstatfs(top.from, &fs) < 0) {
		err_sys(e, "--copy-out: open %.80s and the working directory", what->to);
		cleanup_close(&top.from);
		return -e->code;
	}
	if (fs.f_type != TMPFS_MAGIC) {
		close(top.from);
		return err_set(e, EINVAL, "--copy-out: the working directory is on no tmpfs");
	}
	*ret = (struct sandbox_left_list){
		.v = arena_array(a, SANDBOX_LEFT_MAX + 1, sizeof(*ret->v)), .given = true};
	take_dir(&t, &top);
	return 0;
}

void sandbox_files_write(struct json_writer *w, const struct sandbox_left_list *l)
{
	json_key(w, "files");
	if (!l->given) {
		json_null(w);
		return;
	}
	json_begin_array(w);
	for (size_t i = 0; i < l->n; i++) {
		json_begin_object(w);
		json_member_str(w, "name", l->v[i].name);
		json_member_u64(w, "size", l->v[i].size);
		json_member_str(w, "sha256", l->v[i].sha256);
		json_end_object(w);
	}
	json_end_array(w);
}

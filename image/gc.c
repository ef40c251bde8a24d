/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mark and sweep under the exclusive lock. Marked is what the records in ids/ and kept/ name, with
 * the blobs that their manifests name. What goes is first renamed into tmp/, so that it never has
 * its name and only half its content.
 */
#include "image/gc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/log.h"
#include "image/layers.h"
#include "image/store-internal.h"

#define WANTED "gc-wanted"
enum { MANIFEST_CAP = 4 << 20, MAX_DEPTH = 64, MOVED_MAX = 1 << 20 };

/* ---- removing trees ---- */

struct removal { int top; const char *top_name; unsigned moved; struct err *e; };

static int remove_entry(struct removal *r, int dir, const char *name, unsigned depth);

static int remove_content(struct removal *r, int fd, unsigned depth)
{
	DIR *d = fdopendir(fd);
	struct dirent *entry;
	int result = 0;

	if (!d) {
		close(fd);
		return err_sys(r->e, "read a directory");
	}
	while (result == 0 && (entry = readdir(d)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			result = remove_entry(r, dirfd(d), entry->d_name, depth);
	closedir(d);
	return result;
}

static void name_moved(const struct removal *r, unsigned i, char ret[300])
{
	snprintf(ret, 300, "%.200s.deep%u", r->top_name, i);
}

/* A tree that is too deep to hold a descriptor for each level: its lower part becomes a neighbour, for
 * later. One that a removal has left that was killed has its turn as well. */
static int move_up(struct removal *r, int dir, const char *name)
{
	char up[300];

	do
		name_moved(r, r->moved++, up);
	while (renameat2(dir, name, r->top, up, RENAME_NOREPLACE) < 0 && errno == EEXIST && r->moved < MOVED_MAX);
	return faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0
		       ? err_set(r->e, EIO, "remove a deep directory: it cannot be moved") : 0;
}

static int remove_entry(struct removal *r, int dir, const char *name, unsigned depth)
{
	int fd;

	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return err_sys(r->e, "remove %.100s", name);
	if (depth > MAX_DEPTH)
		return move_up(r, dir, name);
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == EACCES && fchmodat(dir, name, 0700, 0) == 0)
		fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_sys(r->e, "remove %.100s", name);
	if (remove_content(r, fd, depth + 1) < 0)
		return -r->e->code;
	if (unlinkat(dir, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		return err_sys(r->e, "remove %.100s", name);
	return 0;
}

int img_remove_tree(int dir, const char *name, struct err *e)
{
	struct removal r = {.top = dir, .top_name = name, .e = e};
	int result = remove_entry(&r, dir, name, 0);
	char up[300];

	for (unsigned i = 0; result == 0 && i < r.moved; i++) {
		name_moved(&r, i, up);
		result = remove_entry(&r, dir, up, 0);
	}
	return result;
}

/* ---- marking ---- */

struct marks {
	const struct img_store *store;
	struct arena *arena;
	struct strv layers; /* names of directories below layers/ */
	struct strv blobs;  /* names of files below blobs/sha256 */
	size_t layers_room, blobs_room;
};

static void mark(struct arena *a, struct strv *list, size_t *room, const char *name)
{
	if (list->n == *room) {
		char **more = arena_array(a, *room = *room ? 2 * *room : 256, sizeof(char *));

		if (list->n)
			memcpy(more, list->v, list->n * sizeof(char *));
		list->v = more;
	}
	list->v[list->n++] = arena_strdup(a, name);
}

static void mark_digest(struct marks *m, const char *digest)
{
	if (digest && img_digest_valid(digest))
		mark(m->arena, &m->blobs, &m->blobs_room, digest + strlen("sha256:"));
}

/* An unreadable manifest names nothing; the layers' own info still holds what is unpacked. */
static void mark_manifest(struct marks *m, const char *digest)
{
	auto_strbuf struct strbuf b = {0};
	const struct json *doc, *layers;
	struct err ignored = {0};

	mark_digest(m, digest);
	if (!digest || io_read_file(m->store->dir, arena_printf(m->arena, "blobs/sha256/%s", digest + 7),
				    MANIFEST_CAP, &b, &ignored) < 0 ||
	    json_parse(b.p, b.len, m->arena, &doc, &ignored) < 0)
		return;
	mark_digest(m, json_get_str(json_get(doc, "config"), "digest"));
	layers = json_get(doc, "layers");
	for (size_t i = 0; layers && layers->type == JSON_ARRAY && i < layers->n; i++)
		mark_digest(m, json_get_str(&layers->items[i], "digest"));
}

static int mark_image(struct marks *m, const struct img_image *image, struct err *e)
{
	mark_digest(m, image->id);
	mark_manifest(m, image->manifest);
	for (size_t i = 0; i < image->layers.n; i++) {
		struct img_layer_info info;
		char name[IMG_LAYER_NAME + 1];
		int r = img_layer_info(m->store, m->arena, image->layers.v[i].chain, &info, e);

		if (r < 0)
			return r;
		if (r == 1)
			mark_digest(m, info.blob);
		img_layer_name(image->layers.v[i].chain, name);
		mark(m->arena, &m->layers, &m->layers_room, name);
	}
	return 0;
}

/* A record that cannot be read stops the sweep: what it names is not known. */
static int mark_records(struct marks *m, const char *where, struct err *e)
{
	int fd = openat(m->store->dir, where, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int r = 0;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return errno == ENOENT ? 0 : err_sys(e, "read %s in the image store", where);
	}
	while (r >= 0 && (entry = readdir(d))) {
		struct img_image image;

		if (!img_is_hex(entry->d_name, 64))
			continue;
		r = img_read_record_at(m->store, arena_printf(m->arena, "%s/%s", where, entry->d_name), m->arena,
				       &image, e);
		if (r == 1)
			r = mark_image(m, &image, e);
	}
	closedir(d);
	return r < 0 ? r : 0;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_marked(const struct strv *list, const char *name)
{
	return list->n && bsearch(&name, list->v, list->n, sizeof(char *), compare);
}

/* ---- sweeping ---- */

struct sweep {
	const struct img_store *store;
	struct arena *arena;
	struct img_gc_result *result;
	struct err *e;
};

static void count_layer(struct sweep *s, const char *name)
{
	auto_strbuf struct strbuf b = {0};
	struct err ignored = {0};
	const struct json *v;
	uint64_t size;

	if (io_read_file(s->store->dir, arena_printf(s->arena, "layers/%s/info", name), MANIFEST_CAP, &b,
			 &ignored) < 0 ||
	    json_parse(b.p, b.len, s->arena, &v, &ignored) < 0)
		return;
	if (json_to_u64(json_get(v, "size"), UINT64_MAX, &size) == 0)
		s->result->bytes += size;
	if (json_get_str(v, "chain")) {
		char **more = arena_array(s->arena, s->result->layers.n + 2, sizeof(char *));

		if (s->result->layers.n)
			memcpy(more, s->result->layers.v, s->result->layers.n * sizeof(char *));
		more[s->result->layers.n++] = (char *)json_get_str(v, "chain");
		s->result->layers.v = more;
	}
}

static int remove_one(struct sweep *s, const char *where, const char *name)
{
	const char *from = arena_printf(s->arena, "%s/%s", where, name);
	const char *to = arena_printf(s->arena, "tmp/gone-%s", name);

	if (strcmp(where, "layers") == 0)
		count_layer(s, name);
	if (strcmp(where, "tmp") == 0)
		return img_remove_tree(s->store->dir, from, s->e);
	if (renameat(s->store->dir, from, s->store->dir, to) < 0)
		return err_sys(s->e, "remove %s", from);
	return img_remove_tree(s->store->dir, to, s->e);
}

/* Removes what is in the directory `where` and not in the list (NULL: all). */
static int sweep_dir(struct sweep *s, const char *where, const struct strv *marked)
{
	int fd = openat(s->store->dir, where, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int r = 0;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return err_sys(s->e, "read %s in the image store", where);
	}
	while (r == 0 && (entry = readdir(d))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (!marked || !is_marked(marked, entry->d_name))
			r = remove_one(s, where, entry->d_name);
	}
	closedir(d);
	return r;
}

/* What a killed program left among the names: ".PID-TID" in refs, "NAME.PID.tmp" beside index.json. */
static void sweep_temporary(const struct img_store *s, const char *where)
{
	int fd = openat(s->dir, where, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!d)
		return;
	while ((entry = readdir(d)))
		if ((entry->d_name[0] == '.' && entry->d_name[1] >= '0' && entry->d_name[1] <= '9') ||
		    str_ends(entry->d_name, ".tmp"))
			unlinkat(dirfd(d), entry->d_name, 0);
	closedir(d);
}

static int collect(const struct img_store *s, struct arena *a, struct img_gc_result *ret, struct err *e)
{
	struct marks m = {.store = s, .arena = a};
	struct sweep sweep = {.store = s, .arena = a, .result = ret, .e = e};

	if (mark_records(&m, "ids", e) < 0 || mark_records(&m, "kept", e) < 0)
		return -e->code;
	if (m.layers.n)
		qsort(m.layers.v, m.layers.n, sizeof(char *), compare);
	if (m.blobs.n)
		qsort(m.blobs.v, m.blobs.n, sizeof(char *), compare);
	sweep_temporary(s, "refs");
	sweep_temporary(s, ".");
	if (sweep_dir(&sweep, "layers", &m.layers) < 0 || sweep_dir(&sweep, "blobs/sha256", &m.blobs) < 0)
		return -e->code;
	return sweep_dir(&sweep, "tmp", NULL);
}

int img_gc(const struct img_store *s, struct arena *a, struct img_gc_result *ret, struct err *e)
{
	auto_close int lock = -1;

	*ret = (struct img_gc_result){0};
	if (s->dir < 0)
		return 0;
	lock = img_lock(s, true, false, e);
	if (lock == -EWOULDBLOCK) {
		auto_close int flag = openat(s->dir, WANTED, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

		ret->busy = true;
		return 0;
	}
	if (lock < 0)
		return lock;
	unlinkat(s->dir, WANTED, 0);
	return collect(s, a, ret, e);
}

static bool is_empty(const struct img_store *s, const char *where)
{
	int fd = openat(s->dir, where, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	bool empty = true;

	if (!d)
		return true;
	while (empty && (entry = readdir(d)))
		empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
	closedir(d);
	return empty;
}

void img_gc_if_wanted(const struct img_store *s)
{
	auto_arena struct arena *a = arena_new();
	struct img_gc_result result;
	struct err e = {0};

	if (faccessat(s->dir, WANTED, F_OK, 0) < 0 && is_empty(s, "tmp"))
		return;
	if (img_gc(s, a, &result, &e) < 0)
		log_warning("clearing the image store: %s", e.msg);
}

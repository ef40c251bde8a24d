/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writing side: each change is one link or rename, so that a reader or a power cut sees the
 * store before it or after it. index.json is made anew from the names after a change; it is for
 * other programs only and may lag behind one that was interrupted.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "image/store-internal.h"

static const char layout[] = "{\"imageLayoutVersion\":\"1.0.0\"}\n";
static const char empty_index[] = "{\"schemaVersion\":2,\"manifests\":[]}\n";

/* The data root with its parents. */
static int make_root(const char *path, struct err *e)
{
	char buf[PATH_MAX];

	if (snprintf(buf, sizeof(buf), "%s/", path) >= (int)sizeof(buf))
		return err_set(e, ENAMETOOLONG, "the path of the data root is too long");
	for (char *p = buf + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(buf, 0700) < 0 && errno != EEXIST && errno != EROFS)
			return err_sys(e, "make the directory %s", buf);
		*p = '/';
	}
	return 0;
}

static int make_file(int dir, const char *name, const char *text, struct err *e)
{
	struct strbuf content = {.p = (char *)text, .len = strlen(text)};

	if (faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	return io_replace_file(dir, name, &content, 0600, e);
}

int img_store_create(struct img_store *s, const char *data_root, struct err *e)
{
	static const char *const dirs[] = {"blobs", "blobs/sha256", "layers", "ids", "refs", "tmp"};
	char path[PATH_MAX];

	if (img_store_open(s, data_root, e) < 0)
		return -e->code;
	if (s->dir >= 0 && faccessat(s->dir, "tmp", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	if (make_root(data_root, e) < 0)
		return -e->code;
	snprintf(path, sizeof(path), "%s/images", data_root);
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return err_sys(e, "make the directory %s", path);
	img_store_close(s);
	if (img_store_open(s, data_root, e) < 0)
		return -e->code;
	/* tmp comes last: it says that all is there. */
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		if (i + 1 == sizeof(dirs) / sizeof(*dirs) &&
		    (make_file(s->dir, "oci-layout", layout, e) < 0 ||
		     make_file(s->dir, "index.json", empty_index, e) < 0))
			return err_wrap(e, "make the image store in %s", data_root);
		if (mkdirat(s->dir, dirs[i], 0700) < 0 && errno != EEXIST)
			return err_sys(e, "make the directory %s/%s", path, dirs[i]);
	}
	return 0;
}

static void id_file(const char *id, char *buf, size_t size)
{
	snprintf(buf, size, "ids/%.64s", id + strlen("sha256:"));
}

/* Links or copies in one step over what is at `to`. */
static int link_over(int dir, const char *from, const char *to)
{
	char tmp[64];

	if (linkat(dir, from, dir, to, 0) == 0)
		return 0;
	if (errno != EEXIST)
		return -errno;
	snprintf(tmp, sizeof(tmp), "refs/.%ld-%d", (long)getpid(), gettid());
	unlinkat(dir, tmp, 0);
	if (linkat(dir, from, dir, tmp, 0) < 0 || renameat(dir, tmp, dir, to) < 0)
		return -errno;
	unlinkat(dir, tmp, 0); /* rename(2) does nothing when both are the same file */
	return 0;
}

int img_tag(const struct img_store *s, const char *id, const struct img_ref *ref, struct err *e)
{
	auto_arena struct arena *a = arena_new();
	const char *full = img_ref_full(a, ref);
	char from[80], to[sizeof("refs/") + NAME_MAX] = "refs/";
	size_t n = strlen(to);
	int r;

	if (str_eq(full, IMG_HOST_NAME))
		return err_set(e, EBUSY, "host is the built-in image and no other can have this name");
	if (!img_digest_valid(id) || s->dir < 0)
		return err_set(e, ENOENT, "there is no such image");
	if (img_ref_file(full, to + n, sizeof(to) - n, e) < 0)
		return -e->code;
	id_file(id, from, sizeof(from));
	r = link_over(s->dir, from, to);
	if (r < 0) {
		errno = -r;
		return err_sys(e, "give the image the name %s", full);
	}
	return img_write_index(s, e);
}

int img_untag(const struct img_store *s, const struct img_ref *ref, struct err *e)
{
	auto_arena struct arena *a = arena_new();
	const char *full = img_ref_full(a, ref);
	char file[sizeof("refs/") + NAME_MAX] = "refs/";
	size_t n = strlen(file);

	if (s->dir < 0)
		return 0;
	if (img_ref_file(full, file + n, sizeof(file) - n, e) < 0)
		return -e->code;
	if (unlinkat(s->dir, file, 0) < 0)
		return errno == ENOENT ? 0 : err_sys(e, "remove the name %s", full);
	return img_write_index(s, e) < 0 ? -e->code : 1;
}

/* A new file of the store that is on the disk before it has its name. */
static int put_file(int dir, const char *path, const struct strbuf *content, struct err *e)
{
	auto_close int fd = -1;
	char tmp[64];
	int r;

	snprintf(tmp, sizeof(tmp), "tmp/record-%ld-%d", (long)getpid(), gettid());
	fd = openat(dir, tmp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(e, "create %s in the image store", tmp);
	r = io_write_all(fd, content->p, content->len);
	if (r == 0 && (fdatasync(fd) < 0 || renameat(dir, tmp, dir, path) < 0))
		r = -errno;
	if (r == 0)
		return 0;
	unlinkat(dir, tmp, 0);
	errno = -r;
	return err_sys(e, "write %s in the image store", path);
}

int img_add(const struct img_store *s, const struct img_image *image, struct err *e)
{
	auto_arena struct arena *a = arena_new();
	auto_strbuf struct strbuf b = {0};
	struct img_image there;
	struct err ignored = {0};
	char file[80];

	id_file(image->id, file, sizeof(file));
	if (img_read_record_at(s, file, a, &there, &ignored) == 1)
		return 0;
	img_write_record(image, &b);
	return put_file(s->dir, file, &b, e);
}

int img_remove(const struct img_store *s, const char *id, bool keep, struct err *e)
{
	char file[80], kept[80];
	int r;

	if (!img_digest_valid(id) || s->dir < 0)
		return 0;
	id_file(id, file, sizeof(file));
	snprintf(kept, sizeof(kept), "kept/%.64s", id + strlen("sha256:"));
	if (keep && mkdirat(s->dir, "kept", 0700) < 0 && errno != EEXIST)
		return err_sys(e, "make a directory in the image store");
	r = keep ? renameat(s->dir, file, s->dir, kept) : unlinkat(s->dir, file, 0);
	if (r < 0)
		return errno == ENOENT ? 0 : err_sys(e, "remove the image %.19s", id);
	return img_write_index(s, e) < 0 ? -e->code : 1;
}

int img_drop_kept(const struct img_store *s, bool (*used)(const char *id, void *arg), void *arg,
		  struct err *e)
{
	int fd = s->dir < 0 ? -1 : openat(s->dir, "kept", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int r = 0;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return s->dir < 0 || errno == ENOENT ? 0 : err_sys(e, "read kept in the image store");
	}
	while ((entry = readdir(d))) {
		char id[80];

		if (!img_is_hex(entry->d_name, 64))
			continue;
		snprintf(id, sizeof(id), "sha256:%.64s", entry->d_name);
		if (!used(id, arg) && unlinkat(dirfd(d), entry->d_name, 0) < 0)
			r = err_sys(e, "remove the image %.19s", id);
	}
	closedir(d);
	return r;
}

static void write_manifest(struct json_writer *w, const struct img_store *s,
			   const struct img_image *image, const char *name)
{
	const char *digest = image->manifest, *type = image->manifest_type;
	char file[96];
	struct stat st;

	snprintf(file, sizeof(file), "blobs/sha256/%.64s", digest + strlen("sha256:"));
	if (fstatat(s->dir, file, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	json_begin_object(w);
	json_member_str(w, "mediaType", type ? type : "application/vnd.oci.image.manifest.v1+json");
	json_member_str(w, "digest", digest);
	json_member_u64(w, "size", (uint64_t)st.st_size);
	if (name) {
		json_key(w, "annotations");
		json_begin_object(w);
		json_member_str(w, "org.opencontainers.image.ref.name", name);
		json_end_object(w);
	}
	json_end_object(w);
}

int img_write_index(const struct img_store *s, struct err *e)
{
	auto_arena struct arena *a = arena_new();
	auto_strbuf struct strbuf b = {0};
	struct img_list list;
	struct json_writer w;

	if (img_list(s, a, &list, e) < 0)
		return -e->code;
	json_writer_init(&w, &b, false);
	json_begin_object(&w);
	json_member_u64(&w, "schemaVersion", 2);
	json_key(&w, "manifests");
	json_begin_array(&w);
	for (size_t i = 0; i < list.n; i++) {
		const struct img_listed *l = &list.v[i];

		for (size_t t = 0; l->image.manifest && t < l->tags.n; t++)
			write_manifest(&w, s, &l->image, l->tags.v[t]);
		if (l->image.manifest && l->tags.n == 0)
			write_manifest(&w, s, &l->image, NULL);
	}
	json_end_array(&w);
	json_end_object(&w);
	strbuf_addc(&b, '\n');
	return io_replace_file(s->dir, "index.json", &b, 0600, e);
}

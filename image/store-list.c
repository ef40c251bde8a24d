/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All images with their names. A name is a hard link to its image's record, so the inode number says
 * whose it is; only where a copy of the store has lost the links the file is read for its id.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "image/store-internal.h"

enum { HEX_DIGITS = 64 };

struct file { const char *name; uint64_t inode; };
struct files { struct file *v; size_t n; };

/* The regular files of a directory of the store that are no temporary ones. */
static int read_files(const struct img_store *s, const char *dir, struct arena *a, struct files *ret,
		      struct err *e)
{
	int fd = openat(s->dir, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	size_t room = 0;

	*ret = (struct files){0};
	if (!d) {
		if (fd >= 0)
			close(fd);
		return errno == ENOENT ? 0 : err_sys(e, "read %s in the image store", dir);
	}
	while ((entry = readdir(d))) {
		if (entry->d_name[0] == '.')
			continue;
		if (ret->n == room) {
			struct file *more = arena_array(a, room = room ? 2 * room : 64, sizeof(*more));

			if (ret->n)
				memcpy(more, ret->v, ret->n * sizeof(*more));
			ret->v = more;
		}
		ret->v[ret->n++] = (struct file){arena_strdup(a, entry->d_name), entry->d_ino};
	}
	closedir(d);
	return 0;
}

static void add_name(struct arena *a, struct strv *list, char *name)
{
	char **more = arena_array(a, list->n + 2, sizeof(char *));

	if (list->n)
		memcpy(more, list->v, list->n * sizeof(char *));
	more[list->n++] = name;
	list->v = more;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Puts the name that a file below refs/ stands for to the image. */
static void take_ref(struct arena *a, const char *file, struct img_listed *to)
{
	char *full = arena_strdup(a, file);
	struct err ignored = {0};
	struct img_ref ref;

	for (char *p = full; *p; p++)
		if (*p == '%')
			*p = '/';
	if (img_ref_parse(a, full, &ref, &ignored) < 0)
		return;
	add_name(a, ref.digest ? &to->digests : &to->tags, img_ref_familiar(a, &ref));
}

static struct img_listed *owner_of(const struct img_store *s, struct arena *a, const struct file *ref,
				   const struct files *ids, struct img_list *list)
{
	char path[sizeof("refs/") + NAME_MAX];
	struct img_image image;
	struct err ignored = {0};

	for (size_t i = 0; i < list->n; i++)
		if (ids->v[i].inode == ref->inode)
			return &list->v[i];
	snprintf(path, sizeof(path), "refs/%.255s", ref->name);
	if (img_read_record_at(s, path, a, &image, &ignored) != 1)
		return NULL;
	for (size_t i = 0; i < list->n; i++)
		if (str_eq(list->v[i].image.id, image.id))
			return &list->v[i];
	return NULL;
}

static int take_refs(const struct img_store *s, struct arena *a, const struct files *ids,
		     struct img_list *list, struct err *e)
{
	struct files refs;

	if (read_files(s, "refs", a, &refs, e) < 0)
		return -e->code;
	for (size_t i = 0; i < refs.n; i++) {
		struct img_listed *owner = owner_of(s, a, &refs.v[i], ids, list);

		if (owner)
			take_ref(a, refs.v[i].name, owner);
	}
	for (size_t i = 0; i < list->n; i++) {
		struct img_listed *l = &list->v[i];

		if (l->tags.n)
			qsort(l->tags.v, l->tags.n, sizeof(char *), compare_names);
		if (l->digests.n)
			qsort(l->digests.v, l->digests.n, sizeof(char *), compare_names);
	}
	return 0;
}

/* Newest first, by the second. */
static int compare_created(const void *a, const void *b)
{
	const struct img_listed *x = a, *y = b;
	const char *s = x->image.created ? x->image.created : "";
	const char *t = y->image.created ? y->image.created : "";
	int order = strncmp(t, s, strlen("2000-01-01T00:00:00"));

	return order ? order : strcmp(x->image.id, y->image.id);
}

int img_list(const struct img_store *s, struct arena *a, struct img_list *ret, struct err *e)
{
	struct files ids;
	struct img_list list = {0};

	*ret = list;
	if (s->dir < 0)
		return 0;
	if (read_files(s, "ids", a, &ids, e) < 0)
		return -e->code;
	list.v = arena_array(a, ids.n, sizeof(*list.v));
	for (size_t i = 0; i < ids.n; i++) {
		char path[sizeof("ids/") + NAME_MAX];
		struct err bad = {0};
		int found;

		if (!img_is_hex(ids.v[i].name, HEX_DIGITS))
			continue;
		snprintf(path, sizeof(path), "ids/%.255s", ids.v[i].name);
		found = img_read_record_at(s, path, a, &list.v[list.n].image, &bad);
		if (found < 0)
			log_warning("%s", bad.msg);
		else if (found == 1)
			ids.v[list.n++] = ids.v[i]; /* the two lists stay in step */
	}
	if (take_refs(s, a, &ids, &list, e) < 0)
		return -e->code;
	if (list.n)
		qsort(list.v, list.n, sizeof(*list.v), compare_created);
	*ret = list;
	return 0;
}

int img_names(const struct img_store *s, struct arena *a, struct img_listed *in_out, struct err *e)
{
	struct files id = {.n = 0};
	struct img_list one = {.v = in_out, .n = 1};
	char path[sizeof("ids/") + 64];
	struct stat st;

	in_out->tags = in_out->digests = (struct strv){0};
	if (in_out->image.host) {
		add_name(a, &in_out->tags, arena_strdup(a, "host:latest"));
		return 0;
	}
	if (s->dir < 0)
		return 0;
	id.v = arena_array(a, 1, sizeof(*id.v));
	id.n = 1;
	snprintf(path, sizeof(path), "ids/%.64s", in_out->image.id + strlen("sha256:"));
	if (fstatat(s->dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0)
		id.v[0].inode = st.st_ino;
	return take_refs(s, a, &id, &one, e);
}

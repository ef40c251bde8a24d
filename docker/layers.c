/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A path is walked component by component with one descriptor for each layer that has the directory
 * of the moment. A whiteout, a file in the way or an opaque directory ends the list there. Links are
 * read and walked on from the root of the layers; what is opened in the end is never a link.
 */
#include "docker/layers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "base/sys.h"

enum { LINKS_MAX = 40 };

struct level { int *fds; size_t n; };

struct walk {
	struct arena *a;
	const struct strv *layers;
	struct level here;
	int links;
};

static void close_level(struct level *l)
{
	for (size_t i = 0; i < l->n; i++)
		close(l->fds[i]);
	l->n = 0;
}

static void go_to_root(struct walk *w)
{
	close_level(&w->here);
	w->here.fds = arena_array(w->a, w->layers->n + 1, sizeof(int));
	for (size_t i = 0; i < w->layers->n; i++) {
		int fd = open(w->layers->v[i], O_PATH | O_DIRECTORY | O_CLOEXEC);

		if (fd >= 0)
			w->here.fds[w->here.n++] = fd;
	}
}

static bool is_opaque(int fd)
{
	static const char *const names[] = {"trusted.overlay.opaque", "user.overlay.opaque"};
	auto_close int readable = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char c;

	for (size_t i = 0; readable >= 0 && i < sizeof(names) / sizeof(names[0]); i++)
		if (fgetxattr(readable, names[i], &c, 1) == 1 && c == 'y')
			return true;
	return false;
}

enum found { NOTHING, DIRECTORY, FILE_OR_LINK };

/* Where `name` leads: the directories of it in *ret, or the layer of the file or link in ret->fds[0]
 * (of its directory; not to be closed). */
static enum found look_up(struct walk *w, const char *name, struct level *ret, struct stat *st)
{
	ret->fds = arena_array(w->a, w->here.n + 1, sizeof(int));
	ret->n = 0;
	for (size_t i = 0; i < w->here.n; i++) {
		int fd;

		if (fstatat(w->here.fds[i], name, st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISCHR(st->st_mode) && st->st_rdev == 0)
			break;
		if (!S_ISDIR(st->st_mode)) {
			if (ret->n)
				break;
			ret->fds[0] = w->here.fds[i];
			return FILE_OR_LINK;
		}
		fd = openat(w->here.fds[i], name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			break;
		ret->fds[ret->n++] = fd;
		if (is_opaque(fd))
			break;
	}
	return ret->n ? DIRECTORY : NOTHING;
}

static char *read_file(struct walk *w, int dir, const char *name, size_t cap)
{
	auto_strbuf struct strbuf b = {0};
	auto_close int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct err ignored = {0};
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    io_read_fd(fd, cap, &b, name, &ignored) < 0)
		return NULL;
	return arena_strndup(w->a, strbuf_str(&b), b.len);
}

/* Puts what the link says in front of the rest of the path. */
static const char *follow(struct walk *w, int dir, const char *name, const char *rest)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(dir, name, target, sizeof(target) - 1);

	if (n <= 0 || ++w->links > LINKS_MAX)
		return NULL;
	target[n] = '\0';
	if (*target == '/')
		go_to_root(w);
	return arena_printf(w->a, "%s/%s", target, rest);
}

/* A link with ".." in it is not followed: nobody has an /etc/passwd like that. */
static char *walk_path(struct walk *w, const char *path, size_t cap)
{
	while (*path) {
		size_t n = strcspn(path, "/");
		char *name = arena_strndup(w->a, path, n);
		struct level next;
		struct stat st;
		int dir;

		path += n + (path[n] == '/');
		if (!n || str_eq(name, "."))
			continue;
		if (str_eq(name, ".."))
			return NULL;
		switch (look_up(w, name, &next, &st)) {
		case NOTHING:
			return NULL;
		case DIRECTORY:
			close_level(&w->here);
			w->here = next;
			continue;
		case FILE_OR_LINK:
			dir = next.fds[0];
			if (!S_ISLNK(st.st_mode))
				return *path ? NULL : read_file(w, dir, name, cap);
			path = follow(w, dir, name, path);
			if (!path)
				return NULL;
		}
	}
	return NULL;
}

char *dk_layers_read(struct arena *a, const struct strv *layers, const char *path, size_t cap)
{
	struct walk w = {.a = a, .layers = layers};
	char *text;

	go_to_root(&w);
	text = walk_path(&w, path, cap);
	close_level(&w.here);
	return text;
}

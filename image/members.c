/* SPDX-License-Identifier: Apache-2.0 */
/* See members.h. A layer that occurs twice is a link in archives of older programs. */
#include "image/members.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/path.h"
#include "base/str.h"

enum { MAX_MEMBERS = 20000, DOCUMENT_CAP = 4 << 20 };

const char *img_blob_name(struct arena *a, const char *digest)
{
	return arena_printf(a, "blobs/sha256/%s", digest + strlen("sha256:"));
}

static const struct img_member *find_exact(const struct img_members *m, const char *name)
{
	for (size_t i = 0; i < m->n; i++)
		if (strcmp(m->v[i].name, name) == 0)
			return &m->v[i];
	return NULL;
}

const struct img_member *img_members_find(const struct img_members *m, const char *name)
{
	const struct img_member *found = find_exact(m, name);

	if (found && found->target)
		found = find_exact(m, found->target);
	return found && !found->target ? found : NULL;
}

static struct img_member *add_member(struct img_members *m, const char *name)
{
	if (m->n == m->room) {
		size_t room = m->room ? 2 * m->room : 64;
		struct img_member *more = arena_array(m->arena, room, sizeof(*more));

		if (m->n)
			memcpy(more, m->v, m->n * sizeof(*more));
		m->v = more;
		m->room = room;
	}
	m->v[m->n] = (struct img_member){.name = arena_strdup(m->arena, name), .spool = -1};
	return &m->v[m->n++];
}

static bool in_store(const struct img_members *m, const char *name, uint64_t size)
{
	struct stat st;

	return str_starts(name, "blobs/sha256/") && img_is_hex(name + strlen("blobs/sha256/"), 64) &&
	       fstatat(m->store->dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	       (uint64_t)st.st_size == size;
}

static void spool_name(int number, char buf[16])
{
	snprintf(buf, 16, "m%d", number);
}

static int spool(struct img_members *m, struct img_stream *s, struct img_member *to, struct err *e)
{
	char name[16];
	auto_close int fd = -1;
	const void *data;
	size_t n;
	la_int64_t at;
	int r;

	to->spool = (int)(to - m->v);
	spool_name(to->spool, name);
	fd = openat(m->work, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(e, "make a file in the image store");
	while ((r = archive_read_data_block(s->tar, &data, &n, &at)) == ARCHIVE_OK) {
		if (lseek(fd, at, SEEK_SET) < 0)
			return err_sys(e, "write into the image store");
		r = io_write_all(fd, data, n);
		if (r < 0)
			return err_set(e, -r, "write into the image store in %s: %s", m->store->path,
				       err_name(-r));
	}
	if (r != ARCHIVE_EOF)
		return img_stream_error(s, e);
	if (ftruncate(fd, (off_t)to->size) < 0)
		return err_sys(e, "write into the image store");
	return 0;
}

/* A link's target as a member's name: relative to the member's directory, inside of the archive. */
static const char *link_target(struct img_members *m, const char *name, const char *target)
{
	char path[PATH_MAX], clean[PATH_MAX];
	const char *slash = strrchr(name, '/');

	if (!target || target[0] == '/')
		return NULL;
	if (snprintf(path, sizeof(path), "/%.*s/%s", slash ? (int)(slash - name) : 0, name, target) >=
	    (int)sizeof(path))
		return NULL;
	if (path_clean(path, clean, sizeof(clean)) < 0)
		return NULL;
	return arena_strdup(m->arena, clean + 1);
}

int img_members_hint(const struct img_members *m, struct err *e)
{
	static const char *const of_images[] = {"manifest.json", "index.json", "oci-layout", "repositories"};
	struct err given = *e;

	for (size_t i = 0; i < sizeof(of_images) / sizeof(of_images[0]); i++)
		if (find_exact(m, of_images[i]))
			return -e->code;
	return m->n ? err_set(e, given.code, "%s (a root file system is for import, not for load)", given.msg)
		    : -e->code;
}

static int refuse_member(const struct img_members *m, const char *name, const char *what, struct err *e)
{
	err_set(e, EINVAL, "%.100s is %s", name, what);
	return img_members_hint(m, e);
}

static int take_member(struct img_members *m, struct img_stream *s, struct archive_entry *entry,
		       struct img_budget *b, struct err *e)
{
	char name[PATH_MAX];
	const char *raw = archive_entry_pathname(entry);
	int type = archive_entry_filetype(entry);
	la_int64_t size = archive_entry_size(entry);
	struct img_member *to;

	if (!raw || img_clean_name(raw, name, sizeof(name), e) < 0)
		return err_set(e, EINVAL, "the archive has a member with an invalid name");
	if (type == AE_IFDIR || !*name)
		return 0;
	if (find_exact(m, name))
		return err_set(e, EEXIST, "the archive has %.100s twice", name);
	if (m->n >= MAX_MEMBERS)
		return err_set(e, EFBIG, "the archive has more than %d members", MAX_MEMBERS);
	to = add_member(m, name);
	if (archive_entry_hardlink(entry)) {
		to->target = link_target(m, "", archive_entry_hardlink(entry));
		return to->target ? 0 : refuse_member(m, name, "a link out of the archive", e);
	}
	if (type == AE_IFLNK) {
		to->target = link_target(m, name, archive_entry_symlink(entry));
		return to->target ? 0 : refuse_member(m, name, "a link out of the archive", e);
	}
	if (type != AE_IFREG || size < 0)
		return refuse_member(m, name, "no regular file", e);
	if (atomic_fetch_add(&b->bytes, (uint64_t)size) + (uint64_t)size > b->max_bytes)
		return err_set(e, EFBIG, "the archive is larger than %llu bytes (BRIG_IMAGE_MAX_BYTES sets the "
			       "limit)", (unsigned long long)b->max_bytes);
	to->size = (uint64_t)size;
	if (in_store(m, name, to->size))
		return 0;
	return spool(m, s, to, e);
}

int img_members_read(struct img_members *m, int fd, struct img_budget *budget, struct err *e)
{
	struct img_stream s;
	struct archive_entry *entry;
	int r;

	if (img_stream_open(&s, fd, false, e) < 0)
		return -e->code;
	while ((r = archive_read_next_header(s.tar, &entry)) == ARCHIVE_OK || r == ARCHIVE_WARN)
		if (take_member(m, &s, entry, budget, e) < 0) {
			img_stream_close(&s);
			return -e->code;
		}
	r = r == ARCHIVE_EOF ? 0 : img_stream_error(&s, e);
	img_stream_close(&s);
	return r;
}

int img_member_open(const struct img_members *m, const struct img_member *member, struct err *e)
{
	char name[16];
	int fd;

	spool_name(member->spool, name);
	if (member->spool < 0)
		fd = openat(m->store->dir, member->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	else
		fd = openat(m->work, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? err_sys(e, "open %.100s of the archive", member->name) : fd;
}

int img_member_text(const struct img_members *m, const struct img_member *member, const char **ret,
		    size_t *ret_len, struct err *e)
{
	auto_close int fd = img_member_open(m, member, e);
	auto_strbuf struct strbuf b = {0};

	if (fd < 0)
		return fd;
	if (io_read_fd(fd, DOCUMENT_CAP, &b, member->name, e) < 0)
		return -e->code;
	*ret = arena_strndup(m->arena, strbuf_str(&b), b.len);
	*ret_len = b.len;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/rename.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "docker/record.h"

#define PREFIX ".rename-"
enum { MARK_SIZE = sizeof(PREFIX) + DK_ID_SIZE };

static bool is_gone(int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 || st.st_nlink == 0;
}

int dk_rename_mark(const struct dk_store *s, const char *id, struct err *e)
{
	char name[MARK_SIZE];

	snprintf(name, sizeof(name), PREFIX "%s", id);
	for (;;) {
		auto_close int fd = openat(s->owners, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

		if (fd < 0 || flock(fd, LOCK_EX) < 0)
			return err_sys(e, "mark that container %.12s is being renamed", id);
		if (!is_gone(fd)) /* else another one's mark, who has finished */
			return take_fd(&fd);
	}
}

void dk_rename_unmark(const struct dk_store *s, const char *id, int mark)
{
	char name[MARK_SIZE];

	snprintf(name, sizeof(name), PREFIX "%s", id);
	unlinkat(s->owners, name, 0);
	close(mark);
}

/* All names of the container but that of its record. */
static void drop_others(const struct dk_store *s, const char *only)
{
	auto_arena struct arena *a = arena_new();
	int fd = openat(s->names, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	for (struct dirent *de; d && (de = readdir(d));) {
		char id[DK_ID_SIZE];
		struct err ignored = {0};
		struct dk_record *r;

		if (!dk_name_lookup(s, de->d_name, id) || (only && !str_eq(only, id)))
			continue;
		if (dk_record_load(s, id, a, &r, &ignored) == 0 && !str_eq(r->name, de->d_name))
			dk_name_release(s, de->d_name, id);
	}
	if (d)
		closedir(d);
}

void dk_rename_repair(const struct dk_store *s, const char *entry)
{
	auto_close int fd = str_starts(entry, PREFIX) ? openat(s->owners, entry, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1;

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || is_gone(fd))
		return;
	drop_others(s, entry + sizeof(PREFIX) - 1);
	dk_rename_unmark(s, entry + sizeof(PREFIX) - 1, take_fd(&fd));
}

void dk_rename_repair_all(const struct dk_store *s)
{
	drop_others(s, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"

bool stdio_host_uid(const struct oci_id_mapping_list *maps, uid_t uid, uid_t *ret_uid)
{
	for (size_t i = 0; i < maps->n; i++) {
		const struct oci_id_mapping *m = &maps->v[i];

		if (uid >= m->container_id && uid - m->container_id < m->size) {
			*ret_uid = m->host_id + (uid - m->container_id);
			return true;
		}
	}
	*ret_uid = uid;
	return maps->n == 0;
}

/* Without a name; it can be opened only by who may look into a process that has it. */
static bool is_anonymous(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == PIPEFS_MAGIC;
}

static int own_pipe(int fd, const struct stat *st, uid_t uid)
{
	int r = fchown(fd, uid, (gid_t)-1);

	/* Not the right to give it away, but to open it up. */
	if (r < 0 && errno == EPERM && st->st_uid == geteuid() && is_anonymous(fd))
		r = fchmod(fd, 0666);
	return r < 0 && errno != EPERM && errno != EINVAL && errno != EROFS ? -1 : 0;
}

int stdio_own(const int fds[3], uid_t uid, struct err *e)
{
	for (int i = 0; i < 3; i++) {
		int fd = fds[i] >= 0 ? fds[i] : i;
		struct stat st;

		if (fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode) || st.st_uid == uid)
			continue;
		if (own_pipe(fd, &st, uid) < 0)
			return err_sys(e, "stream %d: give the pipe to uid %u", i, uid);
	}
	return 0;
}

static bool is_null(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
}

void stdio_use_own_null(void)
{
	for (int i = 0; i < 3; i++) {
		int mode = is_null(i) ? fcntl(i, F_GETFL) : -1;
		auto_close int fd = mode < 0 ? -1 : open("/dev/null", (mode & O_ACCMODE) | O_NOFOLLOW | O_NONBLOCK |
									   O_NOCTTY | O_CLOEXEC);

		if (fd >= 0 && is_null(fd) && fcntl(fd, F_SETFL, mode & ~O_NONBLOCK) == 0)
			dup2(fd, i);
	}
}

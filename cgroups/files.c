/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of one cgroup: write the settings, read numbers.
 *
 * Each setting is one open, write, close relative to the directory's fd; settings that follow each
 * other and go to the same file (devices.allow) share the open. Nothing is read back: the kernel
 * takes a value as a whole or refuses it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "cgroups/internal.h"

static int write_fd(int fd, const char *value)
{
	size_t n = strlen(value);
	ssize_t w;

	do
		w = write(fd, value, n);
	while (w < 0 && errno == EINTR);
	if (w < 0)
		return -errno;
	return (size_t)w == n ? 0 : -EIO;
}

/* /proc/swaps has a header line and one line for each swap area. */
static bool host_has_no_swap(void)
{
	char buf[512];
	ssize_t n = io_read_small(AT_FDCWD, "/proc/swaps", buf, sizeof(buf));

	/* A kernel without CONFIG_SWAP has no such file. */
	return n == -ENOENT || (n >= 0 && !strchr(buf, '\n'));
}

static bool may_be_missing(const struct cg_setting *s)
{
	return s->missing == CG_MISSING_OK || s->missing == CG_MISSING_NEXT ||
	       (s->missing == CG_MISSING_OK_WITHOUT_SWAP && host_has_no_swap());
}

static int write_error(const struct cg_dir *d, const struct cg_setting *s, int code, struct err *e)
{
	if (code == ENOENT)
		return err_set(e, ENOENT,
			       "%s: cgroup %s has no file %s: the controller is not "
			       "enabled there, or the kernel is too old or built without it",
			       s->origin, d->path, s->file);
	if (code == EACCES || code == EPERM || code == EROFS)
		return err_set(e, code,
			       "%s: write \"%s\" to %s of cgroup %s: %s; the cgroup is "
			       "not delegated to us",
			       s->origin, s->value, s->file, d->path, err_name(code));
	return err_set(e, code, "%s: write \"%s\" to %s of cgroup %s: %s", s->origin, s->value,
		       s->file, d->path, err_name(code));
}

/*
 * Limits that bound each other (memory and memory+swap on v1, quota and burst) are in the wrong
 * order for one direction of a change: then the second is written first.
 */
static int write_pair_reversed(int dir, const struct cg_setting *s)
{
	int r = io_write_value(dir, s[1].file, s[1].value);

	return r < 0 ? r : io_write_value(dir, s[0].file, s[0].value);
}

int cg_write_settings(const struct cg_dir *d, const struct cg_setting_list *l, uint32_t mask,
		      struct err *e)
{
	auto_close int fd = -1;
	const char *open_file = NULL;

	for (size_t i = 0; i < l->n; i++) {
		const struct cg_setting *s = &l->v[i];
		int r = 0;

		if (!(mask & CG_BIT(s->controller)))
			continue;
		if (!open_file || strcmp(open_file, s->file) != 0) {
			if (fd >= 0)
				close(fd);
			fd = openat(d->fd, s->file, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
			r = fd < 0 ? -errno : 0;
			open_file = r < 0 ? NULL : s->file;
		}
		if (r == -ENOENT && may_be_missing(s))
			continue;
		if (r == 0)
			r = write_fd(fd, s->value);
		if ((r == -EINVAL || r == -EBUSY) && s->pair && i + 1 < l->n &&
		    write_pair_reversed(d->fd, s) == 0)
			r = 0;
		if (r < 0)
			return write_error(d, s, -r, e);
		if (s->missing == CG_MISSING_NEXT)
			i++;
	}
	return 0;
}

int cg_join_dir(const struct cg_dir *d, pid_t pid, struct err *e)
{
	char text[16];
	int r;

	snprintf(text, sizeof(text), "%d", pid);
	r = io_write_value(d->fd, "cgroup.procs", text);
	if (r < 0)
		return err_set(e, -r, "move process %d into cgroup %s: %s", pid, d->path,
			       err_name(-r));
	return 0;
}

bool cg_find_value(const char *text, const char *key, uint64_t *ret_value)
{
	size_t n = strlen(key);

	for (const char *p = text; p && *p; p = strchr(p, '\n')) {
		uint64_t v = 0;

		p += *p == '\n';
		if (strncmp(p, key, n) != 0 || p[n] != ' ')
			continue;
		for (p += n + 1; *p >= '0' && *p <= '9'; p++)
			v = v * 10 + (uint64_t)(*p - '0');
		*ret_value = v;
		return true;
	}
	return false;
}

struct opt_u64 cg_read_u64(int dir, const char *file)
{
	struct opt_u64 v = {0};
	char buf[64];

	if (io_read_small(dir, file, buf, sizeof(buf)) <= 0)
		return v;
	if (str_eq(buf, "max"))
		v = (struct opt_u64){.set = true, .v = UINT64_MAX};
	else if (str_u64(buf, UINT64_MAX, &v.v) == 0)
		v.set = true;
	return v;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three ways to the same two files. A parent with CAP_SETUID and CAP_SETGID writes any map. Without
 * them the kernel accepts exactly one line, the writer's own id, and for gids only after setgroups
 * has been denied for good (CVE-2014-8989: dropping a group must not give rights). Everything else
 * is the set-user-ID helpers' business, who know /etc/subuid and /etc/subgid.
 *
 * However they were written, the maps are read back and compared: INIT goes on only when they are
 * what was asked for. pid is an unreaped child, so its number cannot mean another process.
 */
#include "nsenter/idmap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/procfs.h"
#include "base/str.h"
#include "nsenter/idmap_helper.h"

enum {
	MAX_RANGES = 340, /* UID_GID_MAP_MAX_EXTENTS */
	MAP_BYTES = 4096, /* the kernel takes less than a page */
	LINE_BYTES = 40,  /* "%10u %10u %10u\n" and a little */
};

static bool can_map_anything(void)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[2];
	const uint32_t need = 1U << CAP_SETUID | 1U << CAP_SETGID;

	return syscall(SYS_capget, &h, d) == 0 && (d[0].effective & need) == need;
}

static bool only_self(const struct ns_idmap *m, size_t n, uint32_t self)
{
	return n == 1 && m[0].count == 1 && m[0].outside == self;
}

enum ns_map_how ns_idmap_mode(const struct ns_idmaps *m)
{
	if (can_map_anything())
		return NS_MAP_DIRECT;
	if (only_self(m->uids, m->n_uids, geteuid()) && only_self(m->gids, m->n_gids, getegid()))
		return NS_MAP_SELF;
	return NS_MAP_HELPER;
}

static bool overlap(uint32_t a, uint32_t na, uint32_t b, uint32_t nb)
{
	return (uint64_t)a + na > b && (uint64_t)b + nb > a;
}

static int check_map(const struct ns_idmap *m, size_t n, const char *what, struct err *e)
{
	if (n == 0)
		return err_set(e, EINVAL, "%s map: empty", what);
	if (n > MAX_RANGES)
		return err_set(e, E2BIG, "%s map: %zu ranges, the kernel takes %d", what, n,
			       MAX_RANGES);
	for (size_t i = 0; i < n; i++) {
		if (m[i].count == 0 || (uint64_t)m[i].inside + m[i].count > UINT32_MAX ||
		    (uint64_t)m[i].outside + m[i].count > UINT32_MAX)
			return err_set(e, EINVAL, "%s map: range %u %u %u is empty or too large",
				       what, m[i].inside, m[i].outside, m[i].count);
		for (size_t k = 0; k < i; k++) {
			if (overlap(m[i].inside, m[i].count, m[k].inside, m[k].count) ||
			    overlap(m[i].outside, m[i].count, m[k].outside, m[k].count))
				return err_set(e, EINVAL, "%s map: ranges %u %u %u and %u %u %u "
							  "overlap", what, m[k].inside,
					       m[k].outside, m[k].count, m[i].inside,
					       m[i].outside, m[i].count);
		}
	}
	return 0;
}

static int format_map(const struct ns_idmap *m, size_t n, char *buf, const char *what,
		      struct err *e)
{
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		char line[LINE_BYTES];
		int k = snprintf(line, sizeof(line), "%u %u %u\n", m[i].inside, m[i].outside,
				 m[i].count);

		if (len + (size_t)k >= MAP_BYTES)
			return err_set(e, E2BIG, "%s map: longer than a page", what);
		memcpy(buf + len, line, (size_t)k);
		len += (size_t)k;
	}
	return (int)len;
}

/* One "inside outside count" line; false at the end or when it is something else. */
static bool parse_line(const char **p, struct ns_idmap *ret_range)
{
	uint64_t v[3];

	for (int i = 0; i < 3; i++) {
		char digits[16];
		size_t n;

		*p += strspn(*p, " \n");
		n = strspn(*p, "0123456789");
		if (n == 0 || n >= sizeof(digits))
			return false;
		memcpy(digits, *p, n);
		digits[n] = '\0';
		if (str_u64(digits, UINT32_MAX, &v[i]) < 0)
			return false;
		*p += n;
	}
	*ret_range = (struct ns_idmap){(uint32_t)v[0], (uint32_t)v[1], (uint32_t)v[2]};
	return true;
}

static bool contains(const struct ns_idmap *m, size_t n, const struct ns_idmap *x)
{
	for (size_t i = 0; i < n; i++) {
		if (m[i].inside == x->inside && m[i].outside == x->outside &&
		    m[i].count == x->count)
			return true;
	}
	return false;
}

/* The kernel sorts long maps, so the lines are compared as a set. */
static int verify(int fd, const struct ns_idmap *m, size_t n, const char *what, struct err *e)
{
	char buf[MAX_RANGES * LINE_BYTES];
	ssize_t len = pread(fd, buf, sizeof(buf) - 1, 0);
	const char *p = buf;
	struct ns_idmap x;
	size_t seen = 0;

	if (len < 0)
		return err_sys(e, "read the %s map back", what);
	buf[len] = '\0';
	while (parse_line(&p, &x)) {
		if (!contains(m, n, &x))
			break;
		seen++;
	}
	p += strspn(p, " \n");
	if (seen != n || *p)
		return err_set(e, EPROTO, "%s map: the kernel has another map than was asked for",
			       what);
	return 0;
}

static const char *write_hint(int code, enum ns_map_how how)
{
	if (code != EPERM)
		return "";
	return how == NS_MAP_SELF ? " (only the own id can be mapped without privileges)" :
				    " (a range is not mapped in this user namespace, or CAP_SETUID, "
				    "CAP_SETGID or CAP_SETFCAP is missing)";
}

struct map_job {
	int procfs;
	pid_t pid;
	enum ns_map_how how;
	const char *what, *file;
	const struct ns_idmap *m;
	size_t n;
};

static int write_text(int fd, const char *text, int len, const struct map_job *j, struct err *e)
{
	int code;

	if (write(fd, text, (size_t)len) == len)
		return 0;
	code = errno;
	return err_set(e, code, "write the %s map: %s%s", j->what, err_name(code),
		       write_hint(code, j->how));
}

static int do_map(const struct map_job *j, struct err *e)
{
	bool direct = j->how != NS_MAP_HELPER;
	char path[64], text[MAP_BYTES];
	auto_close int fd = -1;
	int len = 0, r = check_map(j->m, j->n, j->what, e);

	if (r == 0)
		r = direct ? len = format_map(j->m, j->n, text, j->what, e) :
			     idmap_helper(j->what, j->pid, j->m, j->n, e);
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "%d/%s", j->pid, j->file);
	fd = procfs_openat(j->procfs, path, direct ? O_RDWR : O_RDONLY, e);
	if (fd < 0)
		return fd;
	if (direct) {
		r = write_text(fd, text, len, j, e);
		if (r < 0)
			return r;
	}
	return verify(fd, j->m, j->n, j->what, e);
}

static int deny_setgroups(int procfs, pid_t pid, struct err *e)
{
	char path[64];

	snprintf(path, sizeof(path), "%d/setgroups", pid);
	return procfs_write(procfs, path, "deny", e);
}

int ns_write_maps(int procfs, pid_t pid, const struct ns_idmaps *m, enum ns_map_how how,
		  struct err *e)
{
	const struct map_job uids = {procfs, pid, how, "uid", "uid_map", m->uids, m->n_uids};
	const struct map_job gids = {procfs, pid, how, "gid", "gid_map", m->gids, m->n_gids};
	int r = do_map(&uids, e);

	if (r == 0 && how == NS_MAP_SELF)
		r = deny_setgroups(procfs, pid, e);
	return r < 0 ? r : do_map(&gids, e);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * New file system instances. The usual way is fchdir to the target's fd and mount(2) on ".": as
 * free of races as move_mount on the fd, all attributes in the one call, and 6 to 15 us cheaper
 * than fsopen, fsconfig, fsmount and move_mount. Those are used where mount(2) cannot do it
 * (propagation, copy-up, id maps, more than a page of options, read-only without touching a shared
 * superblock) and to find the kernel's own words
 * for an EINVAL.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/sys.h"
#include "rootfs/internal.h"
#include "rootfs/userns.h"

enum { DATA_MAX = 4000, OPTION_MAX = 4096 };

static const struct { const char *fstype; int code; const char *why; } hints[] = {
	{"proc", EPERM, "the visible /proc has masked or read-only parts, so the kernel refuses a "
			"full one in a user namespace; give the outer container an unmasked /proc, "
			"or bind the existing one, which shows its processes: annotation "
			"org.brig.proc=bind, or brig sandbox --proc bind"},
	{"sysfs", EPERM, "sysfs in a user namespace needs a network namespace of its own and a "
			 "fully visible /sys; bind the existing /sys"},
	{"mqueue", EPERM, "mqueue in a user namespace needs an ipc namespace of its own"},
	{"overlay", EPERM, "overlay in a user namespace needs Linux 5.11 and readable layers"},
	{NULL, ENODEV, "the kernel has no such file system: load its module"},
	{NULL, EPERM, "this file system may not be mounted in a user namespace, or CAP_SYS_ADMIN is "
		      "missing"},
};

static int mount_error(const struct rootfs_mount *m, const char *what, int code, struct err *e)
{
	for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++)
		if (code == hints[i].code &&
		    (!hints[i].fstype || str_eq(hints[i].fstype, m->fstype)))
			return err_set(e, code, "mount %s: %s %s: %s: %s", m->target, what,
				       m->fstype, err_name(code), hints[i].why);
	return err_set(e, code, "mount %s: %s %s: %s", m->target, what, m->fstype, err_name(code));
}

/* The kernel's message for a failed fsconfig, which is more than its errno says. */
static int fs_error(const struct rootfs_mount *m, int fs, const char *what, struct err *e)
{
	int code = errno;
	char log[256], clean[300];
	ssize_t n = read(fs, log, sizeof(log) - 1);

	if (n <= 2)
		return mount_error(m, what, code, e);
	log[n] = '\0';
	log[strcspn(log, "\n")] = '\0';
	return err_set(e, code, "mount %s: %s %s: %s: %s", m->target, what, m->fstype,
		       err_name(code), str_escape(clean, sizeof(clean), log + 2));
}

/* The next option of s into buf; "\," is a comma inside of it, and so is one in quotes. */
static const char *next_option(const char *s, char *buf, size_t size)
{
	size_t n = 0;
	bool quoted = false;

	for (; *s && (*s != ',' || quoted); s++) {
		if (s[0] == '\\' && s[1] == ',')
			s++;
		else if (*s == '"') {
			quoted = !quoted;
			continue;
		}
		if (n + 1 < size)
			buf[n++] = *s;
	}
	buf[n] = '\0';
	return *s ? s + 1 : s;
}

static int set_option(int fs, char *option)
{
	char *value = strchr(option, '=');

	if (!value)
		return fsconfig(fs, FSCONFIG_SET_FLAG, option, NULL, 0);
	*value++ = '\0';
	return fsconfig(fs, FSCONFIG_SET_STRING, option, value, 0);
}

static int set_flags(int fs, const struct rootfs_mount *m, struct err *e)
{
	static const struct { unsigned long ms; const char *name; } flags[] = {
		{MS_SYNCHRONOUS, "sync"}, {MS_DIRSYNC, "dirsync"},
		{MS_LAZYTIME, "lazytime"}, {MS_MANDLOCK, "mand"},
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if ((m->sb_flags & flags[i].ms) &&
		    fsconfig(fs, FSCONFIG_SET_FLAG, flags[i].name, NULL, 0) < 0)
			return fs_error(m, fs, flags[i].name, e);
	/* On a disk the superblock too: nothing is replayed, and a read-only disk can be mounted. */
	if ((m->attr.set & MOUNT_ATTR_RDONLY) && m->source && *m->source == '/' &&
	    fsconfig(fs, FSCONFIG_SET_FLAG, "ro", NULL, 0) < 0)
		return fs_error(m, fs, "set ro of", e);
	return 0;
}

static int configure(int fs, const struct rootfs_mount *m, const char *data, struct err *e)
{
	char option[OPTION_MAX], what[80];

	if (fsconfig(fs, FSCONFIG_SET_STRING, "source", m->source ? m->source : m->fstype, 0) < 0)
		return fs_error(m, fs, "set the source of", e);
	while (*data) {
		data = next_option(data, option, sizeof(option));
		if (*option && set_option(fs, option) < 0) {
			snprintf(what, sizeof(what), "set the option \"%.40s\" of", option);
			return fs_error(m, fs, what, e);
		}
	}
	if (set_flags(fs, m, e) < 0)
		return -e->code;
	if (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return fs_error(m, fs, "create", e);
	return 0;
}

static int mount_by_fsopen(const struct rootfs_mount *m, int target, const char *data,
			   struct err *e)
{
	const struct rootfs_attr none = {0};
	auto_close int fs = fsopen(m->fstype, FSOPEN_CLOEXEC);
	auto_close int fd = -1;

	if (fs < 0)
		return mount_error(m, "open", errno, e);
	if (configure(fs, m, data, e) < 0)
		return -e->code;
	fd = fsmount(fs, FSMOUNT_CLOEXEC,
		     (unsigned)((m->attr.set | m->attr_rec.set) &
				~(m->copy_up ? (uint64_t)MOUNT_ATTR_RDONLY : 0)));
	if (fd < 0)
		return fs_error(m, fs, "mount", e);
	if (m->copy_up) {
		if (copy_up(target, fd, m->target, e) < 0)
			return -e->code;
		if (attr_apply(fd, false, &m->attr, 0) < 0)
			return err_sys(e, "mount %s: set the options", m->target);
	}
	if (m->idmap && mount_idmap(m, fd, m->fd, e) < 0)
		return -e->code;
	if (attr_apply(fd, false, &none, m->propagation) < 0)
		return err_sys(e, "mount %s: set the propagation", m->target);
	if (move_mount(fd, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return err_sys(e, "mount %s: attach %s", m->target, m->fstype);
	return 0;
}

/* A tmpfs without a mode takes that of the directory it covers, as runc does. */
static const char *with_mode(const struct rootfs_mount *m, int target, char *buf, size_t size)
{
	const char *data = m->data ? m->data : "";
	struct stat st;

	if (!str_eq(m->fstype, "tmpfs") || strncmp(data, "mode=", 5) == 0 ||
	    strstr(data, ",mode=") || fstat(target, &st) < 0)
		return data;
	snprintf(buf, size, "%s%smode=%o", data, *data ? "," : "", st.st_mode & 07777);
	return buf;
}

/*
 * mount(2) makes the superblock read-only as well, and that of sysfs, cgroup2 and others is
 * shared with the host; these two have a new one for each mount.
 */
static bool readonly_hurts(const struct rootfs_mount *m)
{
	return ((m->attr.set | m->attr_rec.set) & MOUNT_ATTR_RDONLY) &&
	       !str_eq(m->fstype, "tmpfs") && !str_eq(m->fstype, "proc");
}

int fs_mount(const struct rootfs_mount *m, int target, struct err *e)
{
	char buf[DATA_MAX + 32];
	const char *data = m->data ? m->data : "";
	unsigned long flags = mount_attr_to_ms(m->attr.set | m->attr_rec.set) | m->sb_flags;
	bool fast = strlen(data) < DATA_MAX && !m->propagation && !m->copy_up && !m->idmap &&
		    !readonly_hurts(m);

	if (strlen(data) < DATA_MAX)
		data = with_mode(m, target, buf, sizeof(buf));
	if (!fast)
		return mount_by_fsopen(m, target, data, e);
	if (fchdir(target) < 0)
		return err_sys(e, "mount %s: enter the target", m->target);
	if (mount(m->source ? m->source : m->fstype, ".", m->fstype, flags, data) == 0)
		return 0;
	if (errno != EPERM && errno != ENODEV) /* for the kernel's own words */
		return mount_by_fsopen(m, target, data, e);
	return mount_error(m, "mount", errno, e);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Landlock as a second wall: even if a mount were writable that should not be, files can only be
 * changed below the given paths. It belongs to the process and its children, and cannot be taken
 * off again.
 *
 * The kernel's numbers are written out, because the oldest headers we build with know ABI 1 and 2
 * only. What an ABI does not know must not be asked for, so each right has the ABI that has it.
 */
#include "security/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/sys.h"

/* ABI 1 (Linux 5.13) refuses every rename to another directory: more harm than use. */
enum { ABI_MIN = 2, ABI_TRUNCATE = 3, ABI_IOCTL = 5, ABI_SCOPE = 6, CREATE_VERSION = 1 };

#define FS_READ (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | \
		 LANDLOCK_ACCESS_FS_READ_DIR)
#define FS_ABI_2 ((UINT64_C(1) << 14) - 1)
#define FS_TRUNCATE (UINT64_C(1) << 14)
#define FS_IOCTL_DEV (UINT64_C(1) << 15)
#define SCOPE_ABSTRACT_UNIX_SOCKET (UINT64_C(1) << 0)
#define SCOPE_SIGNAL (UINT64_C(1) << 1)

/* struct landlock_ruleset_attr of ABI 6; older kernels take it as long as what they do not know
 * is zero. */
struct ruleset {
	uint64_t fs, net, scoped;
};

static uint64_t fs_rights(long abi)
{
	return FS_ABI_2 | (abi >= ABI_TRUNCATE ? FS_TRUNCATE : 0) |
	       (abi >= ABI_IOCTL ? FS_IOCTL_DEV : 0);
}

static int allow(int ruleset, const char *path, uint64_t rights, struct err *e)
{
	auto_close int fd = sys_openat2(AT_FDCWD, path, O_PATH | O_CLOEXEC, 0,
					RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	struct landlock_path_beneath_attr rule = {.allowed_access = rights, .parent_fd = fd};

	if (fd < 0)
		return err_sys(e, "set up Landlock: open %s", path);
	if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0)
		return err_sys(e, "set up Landlock: allow %s", path);
	return 0;
}

/* A path that need not be there, like /dev in a bare rootfs. */
static int allow_if_there(int ruleset, const char *path, uint64_t rights, struct err *e)
{
	int r = allow(ruleset, path, rights, e);

	if (r != -ENOENT)
		return r;
	*e = (struct err){0};
	return 0;
}

static int add_rules(int ruleset, const struct sec_wall *w, long abi, struct err *e)
{
	uint64_t all = fs_rights(abi);
	/* Opening for writing as shells do it is also truncating, even where it means nothing. */
	uint64_t write = FS_READ | LANDLOCK_ACCESS_FS_WRITE_FILE | (all & FS_TRUNCATE);
	int r;

	if ((r = allow(ruleset, "/", FS_READ, e)) < 0 ||
	    (r = allow_if_there(ruleset, "/dev", write | (all & FS_IOCTL_DEV), e)) < 0 ||
	    /* Own entries such as comm and oom_score_adj; the mount decides about the rest. */
	    (r = allow_if_there(ruleset, "/proc", write, e)) < 0)
		return r;
	for (size_t i = 0; i < w->n_writable; i++) {
		r = allow(ruleset, w->writable[i], all, e);
		if (r < 0)
			return r;
	}
	return 0;
}

int sec_set_landlock(const struct sec_wall *w, struct err *e)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_VERSION);
	struct ruleset attr;
	auto_close int ruleset = -1;
	int r;

	if (abi < ABI_MIN)
		return 0;
	attr = (struct ruleset){.fs = fs_rights(abi)};
	if (abi >= ABI_SCOPE)
		attr.scoped = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL;
	ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (ruleset < 0)
		return err_sys(e, "set up Landlock");
	r = add_rules(ruleset, w, abi, e);
	if (r < 0)
		return r;
	if (syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
		return err_sys(e, "set up Landlock: restrict the process");
	return 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaving the host's tree. pivot_root(".", ".") stacks the old root on the new one, from where it
 * is detached at once: no directory for it is needed in a rootfs that may be read-only or hostile.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "base/sys.h"
#include "rootfs/internal.h"
#include "rootfs/mask.h"

/* Where the old root is still a peer of the host's mounts (rootfsPropagation shared), detaching
 * it would unmount the host's: it becomes a slave first. */
static int detach_shared(int old, struct err *e)
{
	if (fchdir(old) < 0)
		return err_sys(e, "pivot_root: enter the old root");
	if (mount(NULL, ".", NULL, MS_SLAVE | MS_REC, NULL) < 0)
		return err_sys(e, "pivot_root: make the old root a slave");
	return 0;
}

/*
 * When a mount goes the kernel waits for a grace period of RCU, 0.1 to 0.4 ms: at the last close of a
 * detached one, and for the old root. In the old root they go together. Any file will do as the
 * place; where there is none, or no old root goes, the last close waits. It must be here: as long as
 * a detached mount is open anywhere, whoever reaches it may make it writable.
 */
static void let_go(int *mount, bool into_old_root)
{
	if (*mount >= 0 && into_old_root)
		(void)move_mount(*mount, "", AT_FDCWD, "/proc/version", MOVE_MOUNT_F_EMPTY_PATH);
	cleanup_close(mount);
}

static int pivot(struct rootfs_plan *p, struct err *e)
{
	bool shared = p->propagation & MS_SHARED;
	auto_close int old = shared ? open("/", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

	if (shared && old < 0)
		return err_sys(e, "pivot_root: open the old root");
	if (sys_pivot_root(".", ".") < 0)
		return err_sys(e, "pivot_root%s", errno == EINVAL
				  ? " (the root of an initramfs cannot be left: use --no-pivot)"
				  : "");
	if (shared && detach_shared(old, e) < 0)
		return -e->code;
	if (umount2(".", MNT_DETACH) < 0)
		return err_sys(e, "detach the old root");
	return 0;
}

int rootfs_pivot(struct rootfs_plan *p, struct err *e)
{
	if (fchdir(p->new_root) < 0)
		return err_sys(e, "enter the rootfs");
	let_go(&p->leaving, !p->no_pivot && !(p->propagation & MS_SHARED));
	if (p->no_pivot) {
		if (chroot(".") < 0)
			return err_sys(e, "chroot to the rootfs");
	} else if (pivot(p, e) < 0) {
		return -e->code;
	}
	return chdir("/") < 0 ? err_sys(e, "chdir to / of the rootfs") : 0;
}

int rootfs_chdir(struct rootfs_plan *p, const char *cwd, struct err *e)
{
	char buf[PATH_MAX];
	auto_close int fd = -1;
	exact_modes;

	if (*cwd != '/')
		return err_set(e, EINVAL, "process.cwd: \"%.200s\" is not an absolute path", cwd);
	fd = path_make_in_root(p->new_root, cwd, PATH_DIR, e);
	if (fd < 0)
		return err_wrap(e, "chdir to the cwd");
	if (fchdir(fd) < 0)
		return err_sys(e, "chdir to %s", cwd);
	/* The system call itself: libc's getcwd would search for a name. "(unreachable)/..." is
	 * what the kernel says of a directory outside of our root (CVE-2024-21626). */
	if (syscall(SYS_getcwd, buf, sizeof(buf)) < 0)
		return err_sys(e, "check the cwd %s", cwd);
	if (*buf != '/')
		return err_set(e, EXDEV, "the cwd %s leads out of the container", cwd);
	return 0;
}

static int protect_dev(const struct rootfs_plan *p, struct err *e)
{
	const struct rootfs_attr ro = {.set = MOUNT_ATTR_RDONLY};
	auto_close int fd = path_open_in_root(p->new_root, "/dev", O_PATH | O_DIRECTORY, e);

	if (fd < 0)
		return fd;
	return attr_apply(fd, false, &ro, 0) < 0 ? err_sys(e, "make /dev read-only") : 0;
}

int rootfs_finish(struct rootfs_plan *p, struct err *e)
{
	const struct rootfs_attr attr = {.set = p->root_attr}, none = {0};

	if (protect_paths(p, e) < 0 || (p->dev_readonly && protect_dev(p, e) < 0))
		return -e->code;
	if (attr_apply(p->new_root, false, &attr, 0) < 0)
		return err_sys(e, "set the options of the root");
	if (p->propagation &&
	    attr_apply(p->new_root, p->propagation & MS_REC, &none,
		       p->propagation & ~(unsigned long)MS_REC) < 0)
		return err_sys(e, "set the propagation of the root");
	return 0;
}

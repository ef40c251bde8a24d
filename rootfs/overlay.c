/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A root of layers. They are opened first and named to overlayfs by number, relative to the
 * directory of our own descriptors: no path is walked twice, nothing in a path needs escaping, and
 * 127 layers fit into the one page that a kernel before 6.7 takes options in.
 *
 * Who opens the sources mounts it: the privileged parent as a detached mount, which takes fsopen
 * and "lowerdir+" (6.7), or with an older kernel a child in a mount namespace of its own that
 * mounts and hands back a copy. INIT mounts it on "/" of its own tree. In a user namespace overlayfs
 * keeps its notes in user.* attributes, not trusted.*.
 *
 * Layers whose ids are the container's and not the host's are copies with an id map (plan.layer_map).
 * The kernel takes no layer from a mount that is nowhere (before 6.15), so a child attaches them all in
 * its namespace. What overlayfs makes by itself belongs to who has mounted it, whose id has to be one
 * that the maps have: the child's fsuid is the container's root.
 *
 * What is in the layers is hostile: that a file or directory is somebody else's ("redirect",
 * "metacopy") is believed of none.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/procfs.h"
#include "base/str.h"
#include "base/sys.h"
#include "rootfs/internal.h"
#include "rootfs/userns.h"

enum { LAYERS_MAX = 500 /* OVL_MAX_STACK */, PAGE = 4096, STACK = 64 << 10 };

/* The descriptors of one mount: the layers, then upper and work. */
struct layers {
	int fds[LAYERS_MAX + 2];
	size_t n;
};

static void close_layers(struct layers *l)
{
	for (size_t i = 0; i < l->n; i++)
		cleanup_close(&l->fds[i]);
}
#define auto_layers __attribute__((cleanup(close_layers)))

static int open_layer(struct layers *l, const char *path, struct err *e)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return err_sys(e, "open the layer %s", path);
	l->fds[l->n++] = fd;
	return 0;
}

static int open_layers(const struct rootfs_overlay *o, struct layers *l, struct err *e)
{
	int r = 0;

	if (o->lower.n > LAYERS_MAX)
		return err_set(e, E2BIG, "the root has %zu layers, overlayfs takes %d", o->lower.n,
			       LAYERS_MAX);
	for (size_t i = 0; r == 0 && i < o->lower.n; i++)
		r = open_layer(l, o->lower.v[i], e);
	if (r == 0 && o->upper)
		r = open_layer(l, o->upper, e);
	if (r == 0 && o->upper)
		r = open_layer(l, o->work, e);
	return r;
}

/* Into the directory where our descriptors have their numbers for names. */
static int enter_fds(struct err *e)
{
	auto_close int procfs = procfs_open(e), fd = -1;

	if (procfs < 0)
		return procfs;
	fd = procfs_openat(procfs, "self/fd", O_PATH | O_DIRECTORY, e);
	if (fd < 0)
		return fd;
	return fchdir(fd) < 0 ? err_sys(e, "enter the directory of the descriptors") : 0;
}

/* ---- all in one string ---- */

static void add_common(const struct rootfs_plan *p, struct strbuf *b)
{
	strbuf_adds(b, "redirect_dir=nofollow,metacopy=off,index=off");
	if (!procfs_initial_userns())
		strbuf_adds(b, ",userxattr");
	if (p->overlay->upper && p->overlay->unsynced)
		strbuf_adds(b, ",volatile");
}

static int mount_on_root(const struct rootfs_plan *p, const struct layers *l, struct err *e)
{
	const struct rootfs_overlay *o = p->overlay;
	auto_strbuf struct strbuf b = {0};

	add_common(p, &b);
	for (size_t i = 0; i < o->lower.n; i++)
		strbuf_printf(&b, "%s%d", i ? ":" : ",lowerdir=", l->fds[i]);
	if (o->upper)
		strbuf_printf(&b, ",upperdir=%d,workdir=%d", l->fds[o->lower.n],
			      l->fds[o->lower.n + 1]);
	if (b.len >= PAGE)
		return err_set(e, E2BIG, "the root has too many layers (%zu) for this kernel",
			       o->lower.n);
	if (enter_fds(e) < 0)
		return -e->code;
	if (mount("brig-root", "/", "overlay", 0, strbuf_str(&b)) < 0)
		return err_sys(e, "mount the overlay of the root%s",
			       p->layer_map && errno == EINVAL ? " (with layers whose ids are shifted it needs Linux 5.19)" :
			       errno == EPERM ? " (in a user namespace it needs Linux 5.11)" : "");
	return 0;
}

/* What covers "/", checked to be something else than "/". */
static int open_cover(unsigned tree_flags, struct err *e)
{
	auto_close int fd = tree_flags ? open_tree(AT_FDCWD, "/..", tree_flags)
				       : open("/..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct statx under, over;

	if (fd < 0)
		return err_sys(e, "open the overlay of the root");
	if (statx(AT_FDCWD, "/", 0, STATX_MNT_ID, &under) < 0 ||
	    statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &over) < 0)
		return err_sys(e, "stat the overlay of the root");
	if (under.stx_dev_major == over.stx_dev_major && under.stx_dev_minor == over.stx_dev_minor)
		return err_set(e, ENOTSUP, "open the overlay of the root: it does not cover /");
	return take_fd(&fd);
}

int overlay_mount(struct rootfs_plan *p, struct err *e)
{
	auto_layers struct layers l = {.n = 0};

	if (open_layers(p->overlay, &l, e) < 0 || mount_on_root(p, &l, e) < 0)
		return -e->code;
	p->new_root = open_cover(0, e);
	return p->new_root < 0 ? p->new_root : 0;
}

/* ---- detached ---- */

static int set(int fs, const char *key, const char *value)
{
	return value ? fsconfig(fs, FSCONFIG_SET_STRING, key, value, 0)
		     : fsconfig(fs, FSCONFIG_SET_FLAG, key, NULL, 0);
}

static int set_number(int fs, const char *key, int fd)
{
	char name[16];

	snprintf(name, sizeof(name), "%d", fd);
	return set(fs, key, name);
}

static int configure(int fs, const struct rootfs_overlay *o, const struct layers *l)
{
	int r = set(fs, "source", "brig-root");

	for (size_t i = 0; r == 0 && i < o->lower.n; i++)
		r = set_number(fs, "lowerdir+", l->fds[i]);
	if (r == 0 && o->upper)
		r = set_number(fs, "upperdir", l->fds[o->lower.n]);
	if (r == 0 && o->upper)
		r = set_number(fs, "workdir", l->fds[o->lower.n + 1]);
	if (r == 0 && o->upper && o->unsynced)
		r = set(fs, "volatile", NULL);
	if (r == 0 && !procfs_initial_userns())
		r = set(fs, "userxattr", NULL);
	if (r == 0)
		r = set(fs, "redirect_dir", "nofollow");
	if (r == 0)
		r = set(fs, "metacopy", "off");
	if (r == 0)
		r = set(fs, "index", "off");
	return r < 0 ? r : fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
}

/* The kernel's own words, where it has some. */
static int context_error(int fs, struct err *e)
{
	int code = errno;
	char log[256], clean[300];
	ssize_t n = read(fs, log, sizeof(log) - 1);

	log[n > 0 ? n : 0] = '\0';
	log[strcspn(log, "\n")] = '\0';
	return err_set(e, code, "make the overlay of the root: %s%s%s", err_name(code),
		       n > 2 ? ": " : "", n > 2 ? str_escape(clean, sizeof(clean), log + 2) : "");
}

int overlay_open_by_context(const struct rootfs_plan *p, struct err *e)
{
	auto_layers struct layers l = {.n = 0};
	auto_close int fs = fsopen("overlay", FSOPEN_CLOEXEC), here = -1;
	int fd, r;

	if (fs < 0)
		return err_sys(e, "make the overlay of the root: fsopen%s",
			       errno == ENODEV ? " (load the kernel module overlay)" : "");
	if (open_layers(p->overlay, &l, e) < 0)
		return -e->code;
	here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (enter_fds(e) < 0)
		return -e->code;
	r = configure(fs, p->overlay, &l) < 0 ? context_error(fs, e) : 0;
	if (here >= 0 && fchdir(here) < 0 && r == 0)
		r = err_sys(e, "return to the working directory");
	if (r < 0)
		return r;
	fd = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	return fd < 0 ? context_error(fs, e) : fd;
}

/* ---- by a child, for kernels before 6.7 ---- */

struct child {
	struct rootfs_plan *plan;
	struct err *e;
	int fd, userns;
};

static int map_layer(const char *path, int fd, int userns, struct err *e)
{
	struct mount_attr ma = {.attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (uint64_t)userns};

	if (mount_setattr(fd, "", AT_EMPTY_PATH, &ma, sizeof(ma)) == 0)
		return 0;
	if (errno == EINVAL)
		return err_set(e, EINVAL, "shift the ids of %s: its file system (%s) has no id-mapped mounts", path,
			       source_fs_name(fd));
	return err_sys(e, "shift the ids of %s", path);
}

/* A copy of the directory, with the maps, attached where nobody looks: a descriptor. */
static int attach_mapped(const char *path, int userns, struct err *e)
{
	auto_close int fd = open_tree(AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW);

	if (fd < 0)
		return err_sys(e, "open the layer %s", path);
	if (map_layer(path, fd, userns, e) < 0)
		return -e->code;
	if (move_mount(fd, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return err_sys(e, "attach the layer %s", path);
	return take_fd(&fd);
}

/* upper and work have to be in one mount. */
static int attach_upper(const struct rootfs_overlay *o, struct layers *l, int userns, struct err *e)
{
	const char *name = strrchr(o->upper, '/') + 1, *work = strrchr(o->work, '/') + 1;
	auto_strbuf struct strbuf dir = {0};
	auto_close int fd = -1;

	strbuf_add(&dir, o->upper, (size_t)(name - o->upper));
	fd = attach_mapped(strbuf_str(&dir), userns, e);
	if (fd < 0)
		return fd;
	for (int i = 0; i < 2; i++) {
		int in = openat(fd, i ? work : name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (in < 0)
			return err_sys(e, "open the layer %s", i ? o->work : o->upper);
		l->fds[l->n++] = in;
	}
	return 0;
}

static int attach_layers(const struct rootfs_overlay *o, struct layers *l, int userns, struct err *e)
{
	if (o->lower.n > LAYERS_MAX)
		return err_set(e, E2BIG, "the root has %zu layers, overlayfs takes %d", o->lower.n, LAYERS_MAX);
	for (size_t i = 0; i < o->lower.n; i++) {
		int fd = attach_mapped(o->lower.v[i], userns, e);

		if (fd < 0)
			return fd;
		l->fds[l->n++] = fd;
	}
	return o->upper ? attach_upper(o, l, userns, e) : 0;
}

static uint32_t root_of(const struct oci_id_mapping *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].container_id == 0)
			return v[i].host_id;
	return 0;
}

/* The capabilities stay; the memory, which is shared, becomes undumpable by it. */
static int become_maker(const struct rootfs_mount *m, struct err *e)
{
	uid_t uid = root_of(m->uid_maps, m->n_uid_maps);
	gid_t gid = root_of(m->gid_maps, m->n_gid_maps);

	if (prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP) < 0)
		return err_sys(e, "make the overlay of the root: keep the capabilities");
	setfsgid(gid);
	setfsuid(uid);
	if ((uid_t)setfsuid((uid_t)-1) != uid || (gid_t)setfsgid((gid_t)-1) != gid)
		return err_set(e, EPERM, "make the overlay of the root: become the container's root");
	return 0;
}

static int mount_in_child(void *arg)
{
	struct child *c = arg;
	auto_layers struct layers l = {.n = 0};

	const struct rootfs_mount *map = c->plan->layer_map;
	int r;

	/* The layers are opened by us: a descriptor is of the namespace that it was opened in. */
	if (mount(NULL, "/", NULL, MS_PRIVATE | MS_REC, NULL) < 0)
		r = err_sys(c->e, "make the overlay of the root: make / private");
	else if (map)
		r = attach_layers(c->plan->overlay, &l, c->userns, c->e) < 0 ? -c->e->code : become_maker(map, c->e);
	else
		r = open_layers(c->plan->overlay, &l, c->e);
	if (r == 0 && mount_on_root(c->plan, &l, c->e) == 0)
		c->fd = open_cover(OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC, c->e);
	return 0;
}

/* The child has our memory and our table of descriptors, so what it opens is ours at once. */
int overlay_open_by_child(struct rootfs_plan *p, struct err *e)
{
	auto_free char *stack = xrealloc(NULL, STACK);
	auto_close int userns = p->layer_map ? userns_open(p->layer_map, e) : -1;
	struct child c = {p, e, -1, userns};
	int dumpable = prctl(PR_GET_DUMPABLE);
	pid_t pid;

	if (p->layer_map && userns < 0)
		return userns;
	e->code = 0;
	pid = clone(mount_in_child, stack + STACK,
		    CLONE_VM | CLONE_VFORK | CLONE_FILES | CLONE_NEWNS | SIGCHLD, &c);
	if (pid < 0)
		return err_sys(e, "make the overlay of the root: clone");
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (dumpable == 1)
		prctl(PR_SET_DUMPABLE, 1);
	if (c.fd < 0 && !e->code)
		return err_set(e, ECHILD, "make the overlay of the root: the child was killed");
	return c.fd < 0 ? -e->code : c.fd;
}

/* An older kernel takes every option for now and says EINVAL when it is to mount. */
int overlay_open(struct rootfs_plan *p, struct err *e)
{
	int fd = p->layer_map ? overlay_open_by_child(p, e) : overlay_open_by_context(p, e);
	struct err second = {0};

	if (fd != -EINVAL || p->layer_map)
		return fd;
	fd = overlay_open_by_child(p, &second);
	if (fd < 0 && fd != -EINVAL)
		*e = second;
	return fd;
}

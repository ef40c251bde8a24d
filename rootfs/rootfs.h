/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The container's file system tree: a plan made from the spec without a system call, and the steps
 * that apply it. The rootfs is hostile: every path in it is resolved once, in-root, to an fd, and
 * only the fd is used (security properties: CVE-2021-30465, CVE-2024-45310, CVE-2025-31133,
 * CVE-2026-41579 classes).
 *
 * Order of the steps, each one row of a step table:
 *
 *   rootfs_open_sources   PARENT, before clone, when rootfs_sources_by_parent(); else INIT, first
 *   rootfs_prepare        INIT (in its mount namespace, ids mapped): propagation, attach the root
 *   rootfs_mount          INIT: all mounts, in order
 *   rootfs_devices        INIT: nodes and links of /dev; then the createContainer hooks may run
 *   rootfs_bind_console   INIT, when a terminal is wanted
 *   rootfs_pivot          INIT: the rootfs becomes "/", the old root is gone
 *   rootfs_chdir          INIT: makes the cwd when it is missing and goes there (still as root)
 *   rootfs_finish         INIT, late (after sysctls and labels): masked and read-only paths, root
 *                         read-only, rootfsPropagation
 *   rootfs_close          PARENT, when INIT has pivoted or failed
 *
 * INIT never writes to the plan what the parent needs, so the plan may lie in shared memory.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "spec/oci.h"

/* One v1 hierarchy: its name below /sys/fs/cgroup ("cpu,cpuacct") and the container's own cgroup
 * directory in it, an absolute path on the host. */
struct rootfs_cgroup_v1 { const char *name, *dir; };

/* A root made of layers by overlayfs. */
struct rootfs_overlay {
	struct strv lower;        /* absolute directories, the top one first; two at least without upper */
	const char *upper, *work; /* NULL: read-only; both on one file system, work empty and for us alone */
	bool unsynced;            /* the upper one is thrown away afterwards: nothing waits for a disk */
	/* The directories have ids as the container sees them, and are shifted (5.19) by these maps, or
	 * by those of its new user namespace. upper and work are in one directory then. */
	bool idmap;
	struct oci_id_mapping_list uid_maps, gid_maps;
};

/* What the plan depends on besides the spec; all of it is known before anything is made. */
struct rootfs_options {
	const char *bundle; /* absolute: relative paths of the spec start there */
	/* New namespaces; without them a kernel file system may not be mounted, see mount.c. */
	bool user_ns, pid_ns, net_ns, ipc_ns, cgroup_ns;
	bool parent_privileged; /* CAP_SYS_ADMIN over the mount namespace that INIT's is copied from */
	bool no_pivot;          /* chroot and MS_MOVE instead of pivot_root (initramfs) */
	bool host_rootfs;       /* the built-in rootfs in place of root.path */
	bool hidepid;           /* /proc with hidepid=invisible */
	bool bind_proc;         /* the caller's /proc in place of a new one; user_ns only */
	bool proc_subset;       /* /proc with subset=pid */
	bool terminal;          /* process.terminal: /dev/console will be bound */
	bool binds_recursive_ro; /* `ro` of a bind covers what is mounted below it, like `rro` */
	const struct rootfs_overlay *overlay; /* in place of root.path; may be NULL */
	uint64_t root_attr;     /* MOUNT_ATTR_* of the root besides read-only: nosuid, nodev */

	/* The maps of the new user namespace: options that name ids without a mapping (gid=5 of
	 * devpts) are dropped. n == 0: every id is mapped. */
	const struct oci_id_mapping *uid_maps, *gid_maps;
	size_t n_uid_maps, n_gid_maps;

	/* For mounts of type cgroup. v2: the container's own cgroup directory on the host, used when
	 * there is no new cgroup namespace; NULL: all of /sys/fs/cgroup, read-only. */
	const char *cgroup_dir;
	const struct rootfs_cgroup_v1 *cgroup_v1; /* n_cgroup_v1 > 0: the host has v1 hierarchies */
	size_t n_cgroup_v1;

	uint32_t user_uid, user_gid; /* host_rootfs: the user written to its /etc/passwd */
};

/* How a mount is made. */
enum rootfs_mount_kind {
	ROOTFS_BIND,    /* a copy of the mount (tree) at `source` */
	ROOTFS_FS,      /* a new instance of the file system `fstype` */
	ROOTFS_REMOUNT, /* only the attributes of what is mounted at `target` */
	ROOTFS_CGROUP,  /* ROOTFS_FS of cgroup2, or `/sys/fs/cgroup` bound read-only when refused */
	ROOTFS_DIR,     /* no mount: a directory made in the rootfs, `mode` */
	ROOTFS_FILE,    /* no mount: a file made in the rootfs with the content `data` */
	ROOTFS_LINK,    /* no mount: a symbolic link to `source`; what exists stays */
	ROOTFS_NODE,    /* a device node: `major`, `minor`, `mode`, made or bound from the host */
};

/* An attribute change for mount_setattr(2). */
struct rootfs_attr { uint64_t set, clear; };

/* One entry of the plan. Paths: target is absolute in the rootfs, source absolute on the host. */
struct rootfs_mount {
	enum rootfs_mount_kind kind;
	const char *target, *source, *fstype;
	const char *data;            /* fs options "a=b,c" (ROOTFS_FS), content (ROOTFS_FILE); or NULL */
	size_t data_len;             /* ROOTFS_FILE: with NUL bytes in it; 0: data is a string */
	struct rootfs_attr attr;     /* MOUNT_ATTR_* of the mount alone */
	struct rootfs_attr attr_rec; /* of the whole tree */
	unsigned long sb_flags;      /* MS_* of the superblock: SYNCHRONOUS, DIRSYNC, MANDLOCK, LAZYTIME... */
	unsigned long propagation;   /* 0 or one of MS_PRIVATE, MS_SLAVE, MS_SHARED, MS_UNBINDABLE */
	bool propagation_rec;
	bool recursive;              /* bind: with all that is mounted below the source */
	bool copy_up;                /* tmpcopyup: the new file system gets what the target had; so does
				      * the source of a bind, if it is an empty directory */
	bool optional;               /* absent source: no mount, no error */
	bool keep_link;              /* a source that is a link is copied as a link, not bound */
	bool source_nofollow;        /* a source that is a link is bound itself */
	bool target_nofollow;        /* a target that is a link is an error */
	bool fresh;                  /* the target's directory is on a tmpfs of ours: make it first */
	bool checked_target;         /* allowed below a procfs (kernel file, lxcfs file) */
	bool idmap, idmap_rec;       /* ids of the mount are shifted by: */
	const struct oci_id_mapping *uid_maps, *gid_maps;
	size_t n_uid_maps, n_gid_maps;
	char type;                   /* ROOTFS_NODE: 'c', 'b', 'p' */
	unsigned major, minor;
	mode_t mode;
	uid_t uid;                   /* ROOTFS_NODE, ROOTFS_FILE: the owner */
	gid_t gid;
	bool default_device;         /* of the spec's default set: a wrong node is an error, no mode change */
	int fd;                      /* the opened source (bind) or user namespace (id-mapped fs), < 0:
				      * none; written by rootfs_open_sources, unless the caller has a
				      * detached mount already */
};

struct rootfs_plan {
	const char *root;          /* absolute path on the host; NULL: a new tmpfs (host_rootfs) */
	const struct rootfs_overlay *overlay; /* not NULL: root is only its name */
	const struct rootfs_mount *layer_map; /* not NULL: the id maps of all of its layers */
	uint64_t root_attr;        /* MOUNT_ATTR_*, set by rootfs_finish */
	bool dev_readonly;         /* /dev too: devices and mount points are made in it before */
	unsigned long propagation; /* rootfsPropagation as MS_* | MS_REC, 0: not given */
	bool user_ns, no_pivot, sources_by_parent, terminal;

	struct rootfs_mount *mounts; /* in order */
	size_t n_mounts;
	struct rootfs_mount *devices; /* ROOTFS_NODE and ROOTFS_LINK, after all mounts */
	size_t n_devices;
	struct strv masked, readonly;

	int root_fd; /* detached tree of the root; written by rootfs_open_sources only */
	int null_fd; /* the host's /dev/null, checked: source of file masks; likewise */
	int leaving; /* the caller's, or -1: a detached mount of a file, which goes with the old root; INIT closes it */
	/* INIT only: */
	int new_root; /* the attached root */
};

/* ---- pure ---- */

int rootfs_plan(struct arena *a, const struct oci_spec *s, const struct rootfs_options *o,
		struct rootfs_plan **ret, struct err *e);
/*
 * The entries of the built-in `host` rootfs (without /proc, /dev, /tmp...: those come from the
 * spec's mounts): /usr and the links into it, and the few files of /etc that a program needs.
 */
size_t rootfs_host_mounts(struct arena *a, const struct rootfs_options *o,
			  struct rootfs_mount **ret);
/* True: the parent must run rootfs_open_sources, before it makes INIT. */
bool rootfs_sources_by_parent(const struct rootfs_plan *p);
/* Names for printing the plan: "ro,nosuid,..." of an attribute set; "bind", "fs"... of a kind. */
const char *rootfs_kind_name(enum rootfs_mount_kind kind);
char *rootfs_attr_names(struct arena *a, uint64_t attr);

/* The i-th known mount option, NULL behind the last. */
const char *rootfs_option_name(size_t i);

/* ---- steps; all return 0 or -errno with the destination and the operation in the message ---- */

int rootfs_open_sources(struct rootfs_plan *p, struct err *e);
int rootfs_prepare(struct rootfs_plan *p, struct err *e);
int rootfs_mount(struct rootfs_plan *p, struct err *e);
int rootfs_devices(struct rootfs_plan *p, struct err *e);
/* Binds the terminal's peer (an fd from TIOCGPTPEER on a pty of the container's own devpts, or of
 * the host's when INIT opened it) over /dev/console. */
int rootfs_bind_console(struct rootfs_plan *p, int peer, struct err *e);
int rootfs_pivot(struct rootfs_plan *p, struct err *e);
/* cwd absolute in the container; checks that getcwd() is inside (CVE-2024-21626). */
int rootfs_chdir(struct rootfs_plan *p, const char *cwd, struct err *e);
int rootfs_finish(struct rootfs_plan *p, struct err *e);
/* In the mount namespace of a container that was restored: the attributes of binds, device nodes and covers
 * of masked files, wherever one is. */
int rootfs_repeat_attributes(const struct rootfs_plan *p, struct err *e);
/* For the parent: closes what it opened; no effect when INIT opened the sources. */
void rootfs_close(struct rootfs_plan *p);

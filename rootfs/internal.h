/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of rootfs/ share; not for other folders. */
#pragma once

#include "rootfs/rootfs.h"

#include <sys/stat.h>

#include "base/sys.h"

/* An attribute that moves between the two families of calls: MOUNT_ATTR__ATIME is a field. */
enum { ATIME_MASK = 0x70 };

/* options.c: applies the options of a spec's mount to *m; what is no option becomes m->data. */
struct option_result {
	bool bind, remount;
	const char *idmap; /* the maps of idmap=MAPS; else NULL */
};
struct option_result mount_options_parse(struct arena *a, const struct strv *options,
					 struct rootfs_mount *m);
/* Appends one option to m->data. */
void mount_add_data(struct arena *a, struct rootfs_mount *m, const char *option);
/* idmap-option.c: those maps; the ids of m. */
int idmap_option_parse(struct arena *a, const char *maps, const struct rootfs_options *o,
		       struct rootfs_mount *m, struct err *e);
/* MOUNT_ATTR_* as MS_* for mount(2). */
unsigned long mount_attr_to_ms(uint64_t attr);

/* devplan.c: the nodes and links of /dev. */
int plan_devices(struct arena *a, const struct oci_spec *s, struct rootfs_plan *p, struct err *e);

/* cgroupfs.c: appends the entries for one mount of type cgroup to v; returns how many (at most
 * cgroup_entries(o)). */
size_t plan_cgroup_entries(const struct rootfs_options *o);
size_t plan_cgroup(struct arena *a, const struct rootfs_mount *m, const struct rootfs_options *o,
		   struct rootfs_mount *v);

/* target.c: an O_PATH fd of the mount target in the new root, made when missing, checked. */
int target_open(const struct rootfs_plan *p, const struct rootfs_mount *m, bool dir,
		struct err *e);

/* source.c */
/* open_tree(2) of the path with the attributes of m set; -1 with *e code 0: optional and absent. */
int source_open(const struct rootfs_plan *p, const struct rootfs_mount *m, struct err *e);
/* One call: attributes and propagation of the mount fd; 0 when there is nothing to change. */
int attr_apply(int fd, bool recursive, const struct rootfs_attr *attr, unsigned long propagation);
/* A tree copied from the host's device node, checked to be exactly that device. */
int source_device(const struct rootfs_plan *p, const char *path, mode_t type, dev_t dev,
		  struct err *e);
/* The name of the file system that the descriptor is on, for messages; of some a number. */
const char *source_fs_name(int fd);
/* "/" and all below no longer sends mount events to the host. */
int isolate_host_mounts(const struct rootfs_plan *p, struct err *e);

/* overlay.c: the root of layers, as a detached mount (an fd), by the parent. */
int overlay_open(struct rootfs_plan *p, struct err *e);
/* The two ways of doing it: kernels from 6.7 on, and all from 5.15 on. */
int overlay_open_by_context(const struct rootfs_plan *p, struct err *e);
int overlay_open_by_child(struct rootfs_plan *p, struct err *e);
/* On "/" of INIT's own tree; p->new_root is it. */
int overlay_mount(struct rootfs_plan *p, struct err *e);

/* fs.c: a new file system instance on the directory fd `target`. */
int fs_mount(const struct rootfs_mount *m, int target, struct err *e);

/* copyup.c: what is in directory `from` is copied into directory `to`. */
int copy_up(int from, int to, const char *name, struct err *e);
/* The same when `to` is empty; it gets the owner and mode of `from` as well. Two at once take turns. */
int copy_up_if_empty(int from, int to, const char *name, struct err *e);

/* umask of the scope is 0, so that modes are exact; it belongs to INIT alone (no CLONE_FS). */
static inline void restore_umask(mode_t *m)
{
	umask(*m);
}
#define exact_modes \
	__attribute__((cleanup(restore_umask), unused)) mode_t saved_umask = umask(0)

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mount options of config.md as a table. Of contradictory options the last one wins: a row clears
 * in the other direction what it sets. Recursive ones stand above the others. Whatever is not in the table is data for the file system.
 */
#include <string.h>

#include "base/str.h"
#include "rootfs/internal.h"

enum option_how {
	OPT_IGNORE,
	OPT_SET,       /* attribute */
	OPT_CLEAR,
	OPT_ATIME,     /* one value of the atime field; 0 = relatime */
	OPT_NO_STRICT, /* only takes "strictatime" back */
	OPT_SB,        /* superblock flag */
	OPT_NO_SB,
	OPT_PROPAGATION,
	OPT_BIND,
	OPT_REMOUNT,
	OPT_COPY_UP,
	OPT_IDMAP,
	OPT_KEEP_LINK,
	OPT_SRC_NOFOLLOW,
	OPT_DEST_NOFOLLOW,
};

struct option {
	const char *name;
	enum option_how how;
	bool recursive;
	unsigned long value;
};

static const struct option table[] = {
	{"acl", OPT_SB, false, MS_POSIXACL},
	{"async", OPT_NO_SB, false, MS_SYNCHRONOUS},
	{"atime", OPT_ATIME, false, 0},
	{"bind", OPT_BIND, false, 0},
	{"copy-symlink", OPT_KEEP_LINK, false, 0},
	{"defaults", OPT_IGNORE, false, 0},
	{"dest-nofollow", OPT_DEST_NOFOLLOW, false, 0},
	{"dev", OPT_CLEAR, false, MOUNT_ATTR_NODEV},
	{"diratime", OPT_CLEAR, false, MOUNT_ATTR_NODIRATIME},
	{"dirsync", OPT_SB, false, MS_DIRSYNC},
	{"exec", OPT_CLEAR, false, MOUNT_ATTR_NOEXEC},
	{"idmap", OPT_IDMAP, false, 0},
	{"iversion", OPT_SB, false, MS_I_VERSION},
	{"lazytime", OPT_SB, false, MS_LAZYTIME},
	{"loud", OPT_NO_SB, false, MS_SILENT},
	{"mand", OPT_SB, false, MS_MANDLOCK},
	{"noacl", OPT_NO_SB, false, MS_POSIXACL},
	{"noatime", OPT_ATIME, false, MOUNT_ATTR_NOATIME},
	{"nodev", OPT_SET, false, MOUNT_ATTR_NODEV},
	{"nodiratime", OPT_SET, false, MOUNT_ATTR_NODIRATIME},
	{"noexec", OPT_SET, false, MOUNT_ATTR_NOEXEC},
	{"noiversion", OPT_NO_SB, false, MS_I_VERSION},
	{"nolazytime", OPT_NO_SB, false, MS_LAZYTIME},
	{"nomand", OPT_NO_SB, false, MS_MANDLOCK},
	{"norelatime", OPT_IGNORE, false, 0},
	{"nostrictatime", OPT_NO_STRICT, false, 0},
	{"nosuid", OPT_SET, false, MOUNT_ATTR_NOSUID},
	{"nosymfollow", OPT_SET, false, MOUNT_ATTR_NOSYMFOLLOW},
	{"private", OPT_PROPAGATION, false, MS_PRIVATE},
	{"ratime", OPT_ATIME, true, 0},
	{"rbind", OPT_BIND, true, 0},
	{"rdev", OPT_CLEAR, true, MOUNT_ATTR_NODEV},
	{"rdiratime", OPT_CLEAR, true, MOUNT_ATTR_NODIRATIME},
	{"relatime", OPT_ATIME, false, 0},
	{"remount", OPT_REMOUNT, false, 0},
	{"rexec", OPT_CLEAR, true, MOUNT_ATTR_NOEXEC},
	{"ridmap", OPT_IDMAP, true, 0},
	{"rnoatime", OPT_ATIME, true, MOUNT_ATTR_NOATIME},
	{"rnodev", OPT_SET, true, MOUNT_ATTR_NODEV},
	{"rnodiratime", OPT_SET, true, MOUNT_ATTR_NODIRATIME},
	{"rnoexec", OPT_SET, true, MOUNT_ATTR_NOEXEC},
	{"rnorelatime", OPT_IGNORE, true, 0},
	{"rnostrictatime", OPT_NO_STRICT, true, 0},
	{"rnosuid", OPT_SET, true, MOUNT_ATTR_NOSUID},
	{"rnosymfollow", OPT_SET, true, MOUNT_ATTR_NOSYMFOLLOW},
	{"ro", OPT_SET, false, MOUNT_ATTR_RDONLY},
	{"rprivate", OPT_PROPAGATION, true, MS_PRIVATE},
	{"rrelatime", OPT_ATIME, true, 0},
	{"rro", OPT_SET, true, MOUNT_ATTR_RDONLY},
	{"rrw", OPT_CLEAR, true, MOUNT_ATTR_RDONLY},
	{"rshared", OPT_PROPAGATION, true, MS_SHARED},
	{"rslave", OPT_PROPAGATION, true, MS_SLAVE},
	{"rstrictatime", OPT_ATIME, true, MOUNT_ATTR_STRICTATIME},
	{"rsuid", OPT_CLEAR, true, MOUNT_ATTR_NOSUID},
	{"rsymfollow", OPT_CLEAR, true, MOUNT_ATTR_NOSYMFOLLOW},
	{"runbindable", OPT_PROPAGATION, true, MS_UNBINDABLE},
	{"rw", OPT_CLEAR, false, MOUNT_ATTR_RDONLY},
	{"shared", OPT_PROPAGATION, false, MS_SHARED},
	{"silent", OPT_SB, false, MS_SILENT},
	{"slave", OPT_PROPAGATION, false, MS_SLAVE},
	{"src-nofollow", OPT_SRC_NOFOLLOW, false, 0},
	{"strictatime", OPT_ATIME, false, MOUNT_ATTR_STRICTATIME},
	{"suid", OPT_CLEAR, false, MOUNT_ATTR_NOSUID},
	{"symfollow", OPT_CLEAR, false, MOUNT_ATTR_NOSYMFOLLOW},
	{"sync", OPT_SB, false, MS_SYNCHRONOUS},
	{"tmpcopyup", OPT_COPY_UP, false, 0},
	{"unbindable", OPT_PROPAGATION, false, MS_UNBINDABLE},
};

static void change_attr(struct rootfs_attr *attr, const struct option *o)
{
	switch (o->how) {
	case OPT_SET:
		attr->set |= o->value;
		attr->clear &= ~o->value;
		break;
	case OPT_CLEAR:
		attr->set &= ~o->value;
		attr->clear |= o->value;
		break;
	case OPT_ATIME:
		attr->set = (attr->set & ~(uint64_t)ATIME_MASK) | o->value;
		attr->clear |= ATIME_MASK;
		break;
	case OPT_NO_STRICT:
		if ((attr->set & ATIME_MASK) == MOUNT_ATTR_STRICTATIME)
			attr->set &= ~(uint64_t)ATIME_MASK;
		break;
	default:
		break;
	}
}

/* A recursive option is about the top as well, and stands above those for the top alone wherever it
 * is in the list: under runc and crun, too, "rro,rw" is read-only. */
static void leave_to_recursive(struct rootfs_mount *m)
{
	uint64_t said = m->attr_rec.set | m->attr_rec.clear;

	m->attr.set &= ~said;
	m->attr.clear &= ~said;
}

static void change_mount(struct rootfs_mount *m, const struct option *o, struct option_result *r)
{
	switch (o->how) {
	case OPT_SB:
		m->sb_flags |= o->value;
		break;
	case OPT_NO_SB:
		m->sb_flags &= ~o->value;
		break;
	case OPT_PROPAGATION:
		m->propagation = o->value;
		m->propagation_rec = o->recursive;
		break;
	case OPT_BIND:
		r->bind = true;
		m->recursive = o->recursive;
		break;
	case OPT_REMOUNT:
		r->remount = true;
		break;
	case OPT_COPY_UP:
		m->copy_up = true;
		break;
	case OPT_IDMAP:
		m->idmap = true;
		m->idmap_rec = o->recursive;
		break;
	case OPT_KEEP_LINK:
		m->keep_link = true;
		break;
	case OPT_SRC_NOFOLLOW:
		m->source_nofollow = true;
		break;
	case OPT_DEST_NOFOLLOW:
		m->target_nofollow = true;
		break;
	default:
		change_attr(o->recursive ? &m->attr_rec : &m->attr, o);
	}
}

void mount_add_data(struct arena *a, struct rootfs_mount *m, const char *option)
{
	m->data = m->data ? arena_printf(a, "%s,%s", m->data, option) : arena_strdup(a, option);
}

static bool is_idmap_with_maps(const char *option, struct rootfs_mount *m, struct option_result *r)
{
	bool rec = str_starts(option, "ridmap=");

	if (!rec && !str_starts(option, "idmap="))
		return false;
	m->idmap = true;
	m->idmap_rec = rec;
	r->idmap = strchr(option, '=') + 1;
	return true;
}

struct option_result mount_options_parse(struct arena *a, const struct strv *options,
					 struct rootfs_mount *m)
{
	struct option_result r = {0};

	for (size_t i = 0; i < options->n; i++) {
		const struct option *o = NULL;

		for (size_t k = 0; k < sizeof(table) / sizeof(table[0]) && !o; k++)
			if (table[k].name[0] == options->v[i][0] &&
			    str_eq(table[k].name, options->v[i]))
				o = &table[k];
		if (o)
			change_mount(m, o, &r);
		else if (is_idmap_with_maps(options->v[i], m, &r))
			continue;
		else if (*options->v[i])
			mount_add_data(a, m, options->v[i]);
	}
	leave_to_recursive(m);
	return r;
}

static const struct { uint64_t attr; unsigned long ms; const char *name; } attrs[] = {
	{MOUNT_ATTR_RDONLY, MS_RDONLY, "ro"},
	{MOUNT_ATTR_NOSUID, MS_NOSUID, "nosuid"},
	{MOUNT_ATTR_NODEV, MS_NODEV, "nodev"},
	{MOUNT_ATTR_NOEXEC, MS_NOEXEC, "noexec"},
	{MOUNT_ATTR_NOATIME, MS_NOATIME, "noatime"},
	{MOUNT_ATTR_STRICTATIME, MS_STRICTATIME, "strictatime"},
	{MOUNT_ATTR_NODIRATIME, MS_NODIRATIME, "nodiratime"},
	{MOUNT_ATTR_NOSYMFOLLOW, MS_NOSYMFOLLOW, "nosymfollow"},
};

unsigned long mount_attr_to_ms(uint64_t attr)
{
	unsigned long ms = 0;

	for (size_t i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++)
		if (attr & attrs[i].attr)
			ms |= attrs[i].ms;
	return ms;
}

char *rootfs_attr_names(struct arena *a, uint64_t attr)
{
	char *s = NULL;

	for (size_t i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++)
		if (attr & attrs[i].attr)
			s = s ? arena_printf(a, "%s,%s", s, attrs[i].name)
			      : arena_strdup(a, attrs[i].name);
	return s ? s : arena_strdup(a, "");
}

const char *rootfs_option_name(size_t i)
{
	return i < sizeof(table) / sizeof(table[0]) ? table[i].name : NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in `host` rootfs: a small tmpfs with the host's /usr read-only, the links (or real
 * directories) /bin, /lib... as the host has them, and of /etc only what programs need to start:
 * the linker's cache, the certificates, alternatives, the time zone. The user data base is
 * written by us and knows three users. No /etc/shadow, /root, /home, /var, /opt or /srv is there.
 */
#include <string.h>

#include "base/str.h"
#include "rootfs/internal.h"

enum { BIND_ATTR = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV };

struct host_entry {
	enum rootfs_mount_kind kind;
	const char *path;
	const char *data; /* content of a file, target of a link */
	mode_t mode;
};

static const struct host_entry entries[] = {
	{ROOTFS_BIND, "/usr", NULL, 0},
	{ROOTFS_BIND, "/bin", NULL, 0},
	{ROOTFS_BIND, "/lib", NULL, 0},
	{ROOTFS_BIND, "/lib32", NULL, 0},
	{ROOTFS_BIND, "/lib64", NULL, 0},
	{ROOTFS_BIND, "/libx32", NULL, 0},
	{ROOTFS_BIND, "/sbin", NULL, 0},
	{ROOTFS_DIR, "/dev", NULL, 0755},
	{ROOTFS_DIR, "/proc", NULL, 0555},
	{ROOTFS_DIR, "/sys", NULL, 0555},
	{ROOTFS_DIR, "/run", NULL, 0755},
	{ROOTFS_DIR, "/tmp", NULL, 01777},
	{ROOTFS_DIR, "/var", NULL, 0755},
	{ROOTFS_LINK, "/var/run", "/run", 0},
	{ROOTFS_DIR, "/var/tmp", NULL, 01777},
	{ROOTFS_DIR, "/root", NULL, 0700},
	{ROOTFS_DIR, "/home", NULL, 0755},
	{ROOTFS_DIR, "/etc", NULL, 0755},
	{ROOTFS_BIND, "/etc/ld.so.cache", NULL, 0},
	{ROOTFS_BIND, "/etc/alternatives", NULL, 0},
	{ROOTFS_DIR, "/etc/ssl", NULL, 0755},
	{ROOTFS_BIND, "/etc/ssl/certs", NULL, 0},
	{ROOTFS_BIND, "/etc/pki/tls/certs", NULL, 0},
	{ROOTFS_BIND, "/etc/pki/ca-trust", NULL, 0},
	{ROOTFS_BIND, "/etc/mime.types", NULL, 0},
	{ROOTFS_BIND, "/etc/localtime", NULL, 0},
	{ROOTFS_BIND, "/etc/os-release", NULL, 0},
	/* What is in /usr does not work without: Debian has links there to these. */
	{ROOTFS_BIND, "/etc/fonts", NULL, 0},
	{ROOTFS_BIND, "/etc/java-11-openjdk", NULL, 0},
	{ROOTFS_BIND, "/etc/java-17-openjdk", NULL, 0},
	{ROOTFS_BIND, "/etc/java-21-openjdk", NULL, 0},
	{ROOTFS_BIND, "/etc/java-25-openjdk", NULL, 0},
	{ROOTFS_BIND, "/etc/matplotlibrc", NULL, 0},
	{ROOTFS_BIND, "/etc/perl", NULL, 0},
	{ROOTFS_BIND, "/etc/R", NULL, 0},
	{ROOTFS_FILE, "/etc/nsswitch.conf",
	 "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n", 0644},
	{ROOTFS_FILE, "/etc/hosts", "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost\n", 0644},
};

static struct rootfs_mount *add(struct rootfs_mount *m, const struct host_entry *h)
{
	*m = (struct rootfs_mount){.kind = h->kind, .target = h->path, .mode = h->mode, .fd = -1};
	if (h->kind == ROOTFS_FILE)
		m->data = h->data;
	if (h->kind == ROOTFS_LINK)
		m->source = h->data;
	if (h->kind == ROOTFS_BIND) {
		m->source = h->path;
		m->attr_rec.set = BIND_ATTR;
		m->recursive = m->optional = m->keep_link = true;
		m->propagation = MS_PRIVATE;
		m->propagation_rec = true;
	}
	return m + 1;
}

static const char *passwd(struct arena *a, const struct rootfs_options *o)
{
	const char *user = "";

	if (o->user_uid != 0 && o->user_uid != 65534)
		user = arena_printf(a, "sandbox:x:%u:%u:sandbox:/tmp:/bin/sh\n", o->user_uid,
				    o->user_gid);
	return arena_printf(a,
			    "root:x:0:0:root:/root:/bin/sh\n%s"
			    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
			    user);
}

static const char *group(struct arena *a, const struct rootfs_options *o)
{
	const char *own = "";

	if (o->user_gid != 0 && o->user_gid != 5 && o->user_gid != 65534)
		own = arena_printf(a, "sandbox:x:%u:\n", o->user_gid);
	return arena_printf(a, "root:x:0:\ntty:x:5:\n%snogroup:x:65534:\n", own);
}

size_t rootfs_host_mounts(struct arena *a, const struct rootfs_options *o,
			  struct rootfs_mount **ret)
{
	size_t n = sizeof(entries) / sizeof(entries[0]);
	struct rootfs_mount *v = arena_array(a, n + 2, sizeof(*v)), *m = v;

	for (size_t i = 0; i < n; i++)
		m = add(m, &entries[i]);
	m = add(m, &(struct host_entry){ROOTFS_FILE, "/etc/passwd", passwd(a, o), 0644});
	m = add(m, &(struct host_entry){ROOTFS_FILE, "/etc/group", group(a, o), 0644});
	*ret = v;
	return (size_t)(m - v);
}

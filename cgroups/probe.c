/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the host has: the kind of /sys/fs/cgroup, our own place in it, and a base below which we
 * may make cgroups. Runs on every start, so it asks only what the plan needs; what single kernel
 * features are there shows when they are used.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "cgroups/internal.h"

#define CGROUP2_MAGIC 0x63677270
#define SELF_CGROUP   "/proc/self/cgroup"
/* Thirteen hierarchies with a long path each. */
#define SELF_MAX (16 * 1024)

static uint32_t bit_of_name(const char *name, size_t n)
{
	for (unsigned c = 0; c < CG_CORE; c++) {
		const char *v2 = cg_controller_name((enum cg_controller)c, CG_V2);
		const char *v1 = cg_controller_name((enum cg_controller)c, CG_V1);

		if ((strlen(v2) == n && !memcmp(v2, name, n)) ||
		    (strlen(v1) == n && !memcmp(v1, name, n)))
			return CG_BIT(c);
	}
	return 0;
}

uint32_t cg_parse_controllers(const char *text)
{
	uint32_t mask = 0;

	while (*text) {
		size_t n = strcspn(text, " ,\n");

		if (n > 0)
			mask |= bit_of_name(text, n);
		text += n + (text[n] != '\0');
	}
	return mask;
}

/* Outside of our cgroup namespace ("/../x") we are at its root as far as we can see. */
static char *visible_path(struct arena *a, const char *path, size_t n)
{
	char *p = arena_strndup(a, path, n);

	return cg_path_is_clean(p) ? p : arena_strdup(a, "/");
}

/* "4:memory:/a/b", "1:cpu,cpuacct:/a", "0::/a" (v2), "9:name=systemd:/" (no controller). */
static void parse_line(struct arena *a, const char *line, size_t n, struct cg_host *h)
{
	const char *names = memchr(line, ':', n);
	const char *path = names ? memchr(names + 1, ':', n - (size_t)(names + 1 - line)) : NULL;
	struct cg_hierarchy *v1 = &h->v1[h->v1_n];
	size_t path_n, names_n;
	char *list;

	if (!path)
		return;
	names++;
	names_n = (size_t)(path++ - names);
	path_n = n - (size_t)(path - line);
	if (names_n == 0) {
		h->own = visible_path(a, path, path_n);
		return;
	}
	list = arena_strndup(a, names, names_n);
	v1->controllers = cg_parse_controllers(list);
	if (!v1->controllers || h->v1_n + 1 >= CG_CONTROLLERS)
		return;
	h->controllers |= v1->controllers;
	v1->own = visible_path(a, path, path_n);
	/* Distributions link "cpu" and "cpuacct" to the directory of the pair, in any order. */
	list[strcspn(list, ",")] = '\0';
	v1->dir = list;
	h->v1_n++;
}

int cg_parse_self(struct arena *a, const char *text, struct cg_host *h, struct err *e)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		parse_line(a, text, n, h);
		text += n + (text[n] == '\n');
	}
	if (!h->own && !h->v1_n)
		return err_set(e, ENOTSUP, "%s lists no cgroup hierarchy", SELF_CGROUP);
	if (!h->own)
		h->own = arena_strdup(a, "/");
	return 0;
}

/* ---- base ---- */

static bool may_write(int root, const char *path)
{
	char procs[4200];

	if (faccessat(root, path[1] ? path + 1 : ".", W_OK | X_OK, AT_EACCESS) < 0)
		return false;
	/* To move or clone a process in, the common ancestor's cgroup.procs has to be ours too. */
	snprintf(procs, sizeof(procs), "%s/cgroup.procs", path[1] ? path + 1 : ".");
	return faccessat(root, procs, W_OK, AT_EACCESS) == 0;
}

/* systemd marks what it delegates; user.delegate can be read by everybody (systemd 251). */
static bool is_delegated(const char *path)
{
	char full[4200];
	char v[2];

	snprintf(full, sizeof(full), "%s%s", CG_MOUNT, path);
	return (lgetxattr(full, "user.delegate", v, sizeof(v)) == 1 && v[0] == '1') ||
	       (lgetxattr(full, "trusted.delegate", v, sizeof(v)) == 1 && v[0] == '1');
}

static void go_up(char *path)
{
	char *slash = strrchr(path, '/');

	slash[slash == path] = '\0';
}

/* The leaf into which an earlier start moved us does not count as our cgroup. */
static char *home(struct arena *a, const char *own)
{
	char *p = arena_strdup(a, own);

	if (str_ends(p, "/" CG_LEAF))
		go_up(p);
	return p;
}

/* Without power over the whole tree: the nearest delegated cgroup, or the topmost that is ours. */
static void find_base(struct arena *a, struct cg_host *h)
{
	char *path = home(a, h->own);

	while (may_write(h->root, path)) {
		h->base = arena_strdup(a, path);
		h->writable = true;
		if (!path[1] || is_delegated(path))
			return;
		go_up(path);
	}
	if (!h->writable)
		h->why_none = arena_printf(a,
					   "our cgroup %s%s is not delegated to uid %u (we may not "
					   "make cgroups in it)",
					   h->mount, path[1] ? path : "", h->euid);
}

/*
 * systemd, which thinks that the root is its own, switches off controllers there that no unit of it
 * uses (on daemon-reload), and with them the limits of the root's children. It cannot while a child
 * has given them to children of its own; so there our cgroups share a parent.
 */
static const char *root_base(void)
{
	return faccessat(AT_FDCWD, "/run/systemd/system", F_OK, 0) == 0 ? "/brig" : "/";
}

static void find_base_root(struct arena *a, struct cg_host *h)
{
	char *own;

	if (faccessat(h->root, ".", W_OK | X_OK, AT_EACCESS) < 0) {
		bool ro = errno == EROFS;

		find_base(a, h);
		if (ro)
			h->why_none = "/sys/fs/cgroup is mounted read-only";
		return;
	}
	h->writable = true;
	own = home(a, h->own);
	h->base = own[1] && is_delegated(own) ? own : arena_strdup(a, root_base());
}

static void find_bus(struct arena *a, struct cg_host *h)
{
	char path[128];

	cg_systemd_socket(h->euid, path, sizeof(path));
	if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0)
		h->bus = arena_strdup(a, path);
}

static int probe_v2(struct arena *a, struct cg_host *h)
{
	char text[256];

	h->kind = CG_V2;
	h->controllers = 0;
	if (io_read_small(h->root, "cgroup.controllers", text, sizeof(text)) > 0)
		h->controllers = cg_parse_controllers(text);
	/* No cgroup namespace, but only our own cgroup is mounted: then it is the root we see. */
	if (h->own[1] && faccessat(h->root, h->own + 1, F_OK, 0) < 0)
		h->own = arena_strdup(a, "/");
	if (h->euid == 0)
		find_base_root(a, h);
	else
		find_base(a, h);
	if (!h->writable)
		find_bus(a, h);
	return 0;
}

static int probe_v1(struct arena *a, struct cg_host *h)
{
	const char *dir = h->v1_n ? h->v1[0].dir : NULL;

	h->base = arena_strdup(a, "/");
	if (!dir || faccessat(h->root, dir, F_OK, 0) < 0) {
		h->kind = CG_NONE;
		h->why_none = "no cgroup file system is mounted on /sys/fs/cgroup";
		return 0;
	}
	h->kind = CG_V1;
	h->writable = faccessat(h->root, dir, W_OK | X_OK, AT_EACCESS) == 0;
	if (!h->writable && errno == EROFS)
		h->why_none = "the cgroup v1 hierarchies are mounted read-only";
	else if (!h->writable)
		h->why_none = "this host has cgroup v1, which cannot be delegated to other users "
			      "than root (boot with systemd.unified_cgroup_hierarchy=1)";
	return 0;
}

int cg_probe(struct arena *a, struct cg_host *ret_host, struct err *e)
{
	struct cg_host h = {.mount = CG_MOUNT, .euid = geteuid()};
	auto_close int root = open(CG_MOUNT, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char text[SELF_MAX];
	struct statfs sf;
	int r;

	h.root = root;
	if (root < 0) {
		h.why_none = "/sys/fs/cgroup does not exist";
		*ret_host = h;
		return 0;
	}
	if (fstatfs(root, &sf) < 0)
		return err_sys(e, "ask for the type of %s", CG_MOUNT);
	r = (int)io_read_small(AT_FDCWD, SELF_CGROUP, text, sizeof(text));
	if (r < 0)
		return err_set(e, -r, "read %s: %s", SELF_CGROUP, err_name(-r));
	r = cg_parse_self(a, text, &h, e);
	if (r < 0)
		return r;
	r = sf.f_type == CGROUP2_MAGIC ? probe_v2(a, &h) : probe_v1(a, &h);
	if (r < 0)
		return r;
	h.root = h.kind == CG_V2 ? take_fd(&root) : -1;
	*ret_host = h;
	return 0;
}

void cg_host_close(struct cg_host *h)
{
	if (h->root >= 0)
		close(h->root);
	h->root = -1;
}

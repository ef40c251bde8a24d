/* SPDX-License-Identifier: Apache-2.0 */
/* The plan: options, fall-backs and refusals, without a system call. */
#include "tests/unit/test.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/sys.h"
#include "rootfs/rootfs.h"

static struct arena *arena;
static struct oci_spec spec;
static struct oci_root root;
static struct oci_linux linux_;
static struct oci_mount mount_list[8];
static struct rootfs_options options;
static struct err err;

static void add(const char *target, const char *type, const char *source, const char *opts)
{
	struct oci_mount *m = &mount_list[spec.mounts.n++];

	*m = (struct oci_mount){.destination = arena_strdup(arena, target)};
	m->type = type ? arena_strdup(arena, type) : NULL;
	m->source = source ? arena_strdup(arena, source) : NULL;
	m->options.v = arena_array(arena, 32, sizeof(char *));
	while (*opts) {
		size_t n = strcspn(opts, ",");

		m->options.v[m->options.n++] = arena_strndup(arena, opts, n);
		opts += n;
		opts += *opts == ',';
	}
}

static void begin(void)
{
	arena_free(arena);
	arena = arena_new();
	root = (struct oci_root){.path = arena_strdup(arena, "rootfs")};
	linux_ = (struct oci_linux){0};
	spec = (struct oci_spec){.root = &root, .linux_ = &linux_, .mounts = {mount_list, 0}};
	options = (struct rootfs_options){.bundle = "/bundle", .pid_ns = true, .net_ns = true, .ipc_ns = true,
					  .cgroup_ns = true};
}

static struct rootfs_plan *plan(int want)
{
	struct rootfs_plan *p = NULL;

	err = (struct err){0};
	CHECK_INT(rootfs_plan(arena, &spec, &options, &p, &err), -want);
	if (err.code != want)
		printf("# %s\n", err.msg);
	return p;
}

/* With the options as they are. */
static struct rootfs_mount *one_more(const char *type, const char *opts)
{
	static struct rootfs_mount none;
	struct rootfs_plan *p;

	add("/data//x/../", type, "/src", opts);
	p = plan(0);
	return p ? &p->mounts[0] : &none;
}

static struct rootfs_mount *one(const char *type, const char *opts)
{
	begin();
	return one_more(type, opts);
}

static void attributes(void)
{
	struct rootfs_mount *m = one(NULL, "rbind,ro,nosuid,nodev,noexec");

	CHECK_INT(m->kind, ROOTFS_BIND);
	CHECK_STR(m->target, "/data");
	CHECK(m->recursive);
	CHECK_INT(m->attr.set, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
				       MOUNT_ATTR_NOEXEC);
	CHECK_INT(m->attr_rec.set, 0);
	m = one(NULL, "bind,ro,rw");
	CHECK_INT(m->attr.set, 0);
	CHECK_INT(m->attr.clear, MOUNT_ATTR_RDONLY);
	CHECK(!m->recursive);
	m = one(NULL, "bind,rw,ro");
	CHECK_INT(m->attr.set, MOUNT_ATTR_RDONLY);
	CHECK_INT(m->attr.clear, 0);
	m = one(NULL, "rbind,rro,rnosuid,rdev");
	CHECK_INT(m->attr_rec.set, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID);
	CHECK_INT(m->attr_rec.clear, MOUNT_ATTR_NODEV);
	m = one(NULL, "rbind,rro,rw,noatime,rstrictatime,nodev");
	CHECK_INT(m->attr_rec.set, MOUNT_ATTR_RDONLY | MOUNT_ATTR_STRICTATIME);
	CHECK_INT(m->attr.set, MOUNT_ATTR_NODEV);
	CHECK_INT(m->attr.clear, 0);
	m = one(NULL, "rbind,ro,rrw");
	CHECK_INT(m->attr_rec.clear, MOUNT_ATTR_RDONLY);
	CHECK_INT(m->attr.set, 0);
	m = one(NULL, "bind,strictatime,noatime");
	CHECK_INT(m->attr.set, MOUNT_ATTR_NOATIME);
	CHECK_INT(m->attr.clear, MOUNT_ATTR__ATIME);
	m = one(NULL, "bind,nodiratime,nosymfollow,noatime,relatime");
	CHECK_INT(m->attr.set, MOUNT_ATTR_NODIRATIME | MOUNT_ATTR_NOSYMFOLLOW);
	m = one(NULL, "bind,rshared,rprivate");
	CHECK_INT(m->propagation, MS_PRIVATE);
	CHECK(m->propagation_rec);
	m = one("bind", "idontknow=3");
	CHECK_INT(m->kind, ROOTFS_BIND);
	CHECK(!m->data);
}

static void file_systems(void)
{
	struct rootfs_mount *m = one("tmpfs", "size=64m,nosuid,mode=755,sync,async,dirsync,x-y");

	CHECK_INT(m->kind, ROOTFS_FS);
	CHECK_STR(m->data, "size=64m,mode=755,x-y");
	CHECK_INT(m->sb_flags, MS_DIRSYNC);
	m = one("tmpfs", "tmpcopyup,defaults");
	CHECK(m->copy_up && !m->data);
	m = one("proc", "remount,ro");
	CHECK_INT(m->kind, ROOTFS_REMOUNT);
	m = one("overlay", "lowerdir=/a:/b,upperdir=/u,workdir=/w");
	CHECK_STR(m->fstype, "overlay");
	CHECK_STR(m->data, "lowerdir=/a:/b,upperdir=/u,workdir=/w");
}

static void relative_source(void)
{
	begin();
	add("/a", NULL, "vol", "bind");
	CHECK_STR(plan(0)->mounts[0].source, "/bundle/vol");
	CHECK_STR(plan(0)->root, "/bundle/rootfs");
}

static void recursive_ro(void)
{
	begin();
	options.binds_recursive_ro = true;
	add("/a", NULL, "/vol", "rbind,ro");
	CHECK_INT(plan(0)->mounts[0].attr_rec.set, MOUNT_ATTR_RDONLY);
}

static void unmapped_ids(void)
{
	static const struct oci_id_mapping single = {0, 1000, 1}, range = {0, 100000, 65536};
	const char *opts = "newinstance,ptmxmode=0666,gid=5,mode=0620";

	begin();
	options.user_ns = true;
	options.uid_maps = options.gid_maps = &single;
	options.n_uid_maps = options.n_gid_maps = 1;
	add("/dev/pts", "devpts", "devpts", opts);
	CHECK_STR(plan(0)->mounts[0].data, "newinstance,ptmxmode=0666,mode=0620");
	options.gid_maps = &range;
	CHECK_STR(plan(0)->mounts[0].data, opts);
}

static void without_namespaces(void)
{
	struct rootfs_plan *p;

	begin();
	add("/proc", "proc", "proc", "nosuid");
	add("/sys", "sysfs", "sysfs", "nosuid,ro");
	add("/dev/mqueue", "mqueue", "mqueue", "nosuid");
	options = (struct rootfs_options){.user_ns = true};
	p = plan(0);
	for (int i = 0; i < 3; i++) {
		CHECK_INT(p->mounts[i].kind, ROOTFS_BIND);
		CHECK(p->mounts[i].recursive);
		CHECK(p->mounts[i].attr_rec.set & MOUNT_ATTR_NOSUID);
	}
	CHECK_STR(p->mounts[1].source, "/sys");
	CHECK(p->mounts[1].attr_rec.set & MOUNT_ATTR_RDONLY);
	options.user_ns = false;
	p = plan(0);
	for (int i = 0; i < 3; i++)
		CHECK_INT(p->mounts[i].kind, ROOTFS_FS);
}

static void proc_options(void)
{
	begin();
	add("/proc", "proc", "proc", "nosuid");
	options.hidepid = options.proc_subset = true;
	CHECK_STR(plan(0)->mounts[0].data, "hidepid=invisible,subset=pid");
}

static void cgroups(void)
{
	static const struct rootfs_cgroup_v1 v1[] = {{"memory", "/sys/fs/cgroup/memory/x"},
						      {"cpu,cpuacct", "/sys/fs/cgroup/cpu/x"}};
	struct rootfs_plan *p;

	begin();
	add("/sys/fs/cgroup", "cgroup", "cgroup", "nosuid,ro");
	p = plan(0);
	CHECK_INT(p->n_mounts, 1);
	CHECK_INT(p->mounts[0].kind, ROOTFS_CGROUP);
	CHECK_STR(p->mounts[0].fstype, "cgroup2");
	options.cgroup_ns = false;
	p = plan(0);
	CHECK_INT(p->mounts[0].kind, ROOTFS_BIND);
	CHECK(p->mounts[0].attr_rec.set & MOUNT_ATTR_RDONLY);
	options.cgroup_v1 = v1;
	options.n_cgroup_v1 = 2;
	p = plan(0);
	CHECK_INT(p->n_mounts, 6);
	CHECK_STR(p->mounts[1].target, "/sys/fs/cgroup/memory");
	CHECK(p->mounts[1].attr_rec.set & MOUNT_ATTR_RDONLY);
	CHECK_INT(p->mounts[3].kind, ROOTFS_LINK);
	CHECK_STR(p->mounts[3].target, "/sys/fs/cgroup/cpu");
	CHECK_STR(p->mounts[3].source, "cpu,cpuacct");
	CHECK_INT(p->mounts[5].kind, ROOTFS_REMOUNT);
}

static void refused(void)
{
	static const struct { const char *target, *type, *source, *opts; int code; } cases[] = {
		{"/", NULL, "/src", "bind", EINVAL},
		{"/x/..", NULL, "/src", "bind", EINVAL},
		{"/proc", "tmpfs", "tmpfs", "", EINVAL},
		{"/proc/self", NULL, "/src", "bind", EINVAL},
		{"/./proc/../proc//sys/kernel", NULL, "/src", "bind", EINVAL},
		{"/data", NULL, NULL, "bind", EINVAL},
		{"/data", NULL, "/src", "ro", EINVAL},
		{"/data", NULL, "/src", "bind,idmap", EINVAL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin();
		add(cases[i].target, cases[i].type, cases[i].source, cases[i].opts);
		plan(cases[i].code);
	}
	begin();
	linux_.rootfs_propagation = arena_strdup(arena, "none");
	plan(EINVAL);
	begin();
	root.path = NULL;
	plan(EINVAL);
}

static void devices(void)
{
	static char type[] = "c", null[] = "/dev/null", in_proc[] = "/proc/x";
	struct oci_device d = {.type = type, .path = null, .major = {true, 1},
			       .minor = {true, 3}, .file_mode = {true, 0600}};
	struct rootfs_plan *p;

	begin();
	p = plan(0);
	CHECK_INT(p->n_devices, 11);
	linux_.devices = (struct oci_device_list){&d, 1};
	p = plan(0);
	CHECK_INT(p->n_devices, 11);
	CHECK_INT(p->devices[10].mode, 0600);
	add("/dev", NULL, "/dev", "rbind");
	CHECK_INT(plan(0)->n_devices, 0);
	spec.mounts.n = 0;
	d.minor.v = 1 << 21;
	plan(ERANGE);
	d.minor.v = 3;
	d.path = in_proc;
	plan(EINVAL);
}

static void idmap_with_maps(void)
{
	static const struct oci_id_mapping container[] = {{0, 0, 1}, {1, 2, 1000}};
	static const char *const wrong[] = {
		"idmap=", "idmap=uids=0-1-10", "idmap=uids=0-1;gids=0-1-1", "idmap=uids=0-1-0;gids=0-1-1",
		"idmap=uids=0-1-10#;gids=0-1-1", "idmap=uids=0-1-10x;gids=0-1-1", "idmap=uids=@0-995-10;gids=0-1-1",
		"idmap=uids=0-1-4294967296;gids=0-1-1", "idmap=ids=0-1-1",
	};
	const struct rootfs_mount *m;

	begin();
	options.parent_privileged = true;
	m = one_more("bind", "bind,ridmap=uids=0-1-10#10-11-5;gids=0-100-10");
	CHECK(m->idmap && m->idmap_rec);
	CHECK_INT(m->n_uid_maps, 2);
	CHECK_INT(m->uid_maps[1].container_id, 10);
	CHECK_INT(m->uid_maps[1].host_id, 11);
	CHECK_INT(m->uid_maps[1].size, 5);
	CHECK_INT(m->gid_maps[0].host_id, 100);
	begin();
	options.parent_privileged = true;
	options.uid_maps = container;
	options.n_uid_maps = 2;
	m = one_more("bind", "bind,idmap=gids=7-8-9;uids=@1-3-10");
	CHECK_INT(m->uid_maps[0].host_id, 4);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char opts[128];

		begin();
		options.parent_privileged = true;
		options.uid_maps = container;
		options.n_uid_maps = 2;
		snprintf(opts, sizeof(opts), "bind,%s", wrong[i]);
		add("/data", NULL, "/src", opts);
		plan(EINVAL);
	}
}

TEST_MAIN(TEST(idmap_with_maps), TEST(attributes), TEST(file_systems), TEST(relative_source), TEST(recursive_ro),
	  TEST(unmapped_ids), TEST(without_namespaces), TEST(proc_options), TEST(cgroups),
	  TEST(refused), TEST(devices))

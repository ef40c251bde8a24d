/* SPDX-License-Identifier: Apache-2.0 */
/* What the kinds of mounts do in a container: attributes, propagation, id maps, copy-up, errors. */
#include "tests/unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"
#include "tests/unit/rootfs/box.h"

BOX_TEST_STATE

static char vol[128]; /* a tmpfs on the host with a second one below it at sub */

/* The host of the tests: all mounts shared, as systemd makes them, in a namespace of our own. */
static void make_host(void)
{
	static int done;

	if (done++)
		return;
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_PRIVATE | MS_REC, NULL) < 0 ||
	    mount(NULL, "/", NULL, MS_SHARED | MS_REC, NULL) < 0)
		abort();
}

static void make_volume(struct box *b)
{
	char path[160];

	make_host();
	snprintf(vol, sizeof(vol), "%s/vol", b->dir);
	mkdir(vol, 0755);
	CHECK_INT(mount("vol", vol, "tmpfs", 0, "mode=0777"), 0);
	snprintf(path, sizeof(path), "%s/sub", vol);
	mkdir(path, 0755);
	CHECK_INT(mount("sub", path, "tmpfs", 0, "mode=0777"), 0);
}

static void drop_volume(void)
{
	umount2(vol, MNT_DETACH);
}

static int count_mounts(const char *part)
{
	char line[1024];
	FILE *f = fopen("/proc/self/mountinfo", "re");
	int n = 0;

	while (f && fgets(line, sizeof(line), f))
		n += strstr(line, part) != NULL;
	if (f)
		fclose(f);
	return n;
}

/* The host's mounts as one text, to compare: nothing may come, go or change. */
static char *mount_table(void)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *text = calloc(1, 1 << 18);

	if (!f || !text || fread(text, 1, (1 << 18) - 1, f) == 0)
		abort();
	fclose(f);
	return text;
}

static void report(struct box *b, int have, int want)
{
	if (have != want)
		printf("# %s: step %s: %s\n", box_mode_name(b->mode),
		       b->failed_step ? b->failed_step : "-", b->err.msg);
	CHECK_INT(have, want);
}

static void run_modes(void (*setup)(struct box *), void (*inside)(struct box *))
{
	for (int mode = 0; mode < BOX_N_MODES && box_can(mode); mode++) {
		struct box b;
		char *before, *after;

		box_init(&b, mode);
		make_volume(&b);
		box_default_mounts(&b);
		setup(&b);
		before = mount_table();
		report(&b, box_run(&b, inside), 0);
		after = mount_table();
		CHECK_STR(after, before);
		free(before);
		free(after);
		drop_volume();
		box_free(&b);
	}
}

static void set_binds(struct box *b)
{
	box_mount(b, "/ro", NULL, vol, "rbind,ro,nosuid");
	box_mount(b, "/rro", NULL, vol, "rbind,rro,nodev,rw");
	box_mount(b, "/rw", NULL, vol, "rbind,rw");
}

static void check_binds(struct box *b)
{
	(void)b;
	CHECK_INT(try_write("/ro/x"), EROFS);
	CHECK_INT(try_write("/ro/sub/x"), 0);
	CHECK_INT(try_write("/rro/x"), EROFS);
	CHECK_INT(try_write("/rro/sub/x"), EROFS);
	CHECK_INT(try_write("/rw/x"), 0);
	CHECK_INT(try_write("/rw/sub/x"), 0);
	CHECK(strstr(mount_options_of("/ro"), "ro,nosuid") != NULL);
	CHECK(strstr(mount_options_of("/rro"), "ro,nodev") != NULL);
	CHECK_INT(mount("x", "/rw/sub", "tmpfs", 0, NULL), 0); /* must not show on the host */
	CHECK_INT(mount("x", "/mnt-own", "tmpfs", 0, NULL) < 0 ? errno : 0, ENOENT);
}

static void binds(void)
{
	run_modes(set_binds, check_binds);
}

/* On the host: a volume that is read-only and nosuid. A user namespace cannot take that back. */
static void locked_options(void)
{
	static const struct { const char *options; int code; } cases[] = {
		{"rbind", 0}, {"rbind,rw", EPERM}, {"rbind,suid", EPERM}, {"bind", EINVAL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]) && box_can(BOX_USER); i++) {
		struct box b;
		int r;

		box_init(&b, BOX_USER);
		make_volume(&b);
		CHECK_INT(mount(NULL, vol, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID, NULL), 0);
		box_default_mounts(&b);
		box_mount(&b, "/v", NULL, vol, cases[i].options);
		r = box_run(&b, NULL);
		CHECK_INT(r, cases[i].code ? 2 : 0);
		CHECK_INT(b.err.code, cases[i].code);
		if (cases[i].code == EINVAL)
			CHECK(strstr(b.err.msg, "rbind") != NULL);
		drop_volume();
		box_free(&b);
	}
}

static void set_no_pivot(struct box *b)
{
	b->options.no_pivot = true;
}

static void check_no_pivot(struct box *b)
{
	(void)b;
	CHECK(!exists("/usr") && !exists("/etc"));
	CHECK(chdir("/..") == 0 && !exists("usr"));
	CHECK(chdir("/proc/self/root/..") == 0 && !exists("usr"));
}

static void no_pivot(void)
{
	run_modes(set_no_pivot, check_no_pivot);
}

static void set_tmpfs(struct box *b)
{
	char path[128];

	box_mount(b, "/small", "tmpfs", "tmpfs", "size=64k,nr_inodes=5,noexec,mode=0711");
	box_mount(b, "/ro", "tmpfs", "tmpfs", "ro");
	snprintf(path, sizeof(path), "%s/like", b->rootfs);
	mkdir(path, 0710);
	box_mount(b, "/like", "tmpfs", "tmpfs", "nosuid");
	box_mount(b, "/changed", "tmpfs", "tmpfs", "");
	box_mount(b, "/changed", NULL, NULL, "remount,ro,nosuid");
}

static void check_tmpfs(struct box *b)
{
	static char big[70000];
	int fd = open("/small/big", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	struct stat st;

	(void)b;
	CHECK(write(fd, big, sizeof(big)) < (ssize_t)sizeof(big));
	CHECK_INT(write(fd, big, sizeof(big)) < 0 ? errno : 0, ENOSPC);
	CHECK(stat("/small", &st) == 0 && (st.st_mode & 07777) == 0711);
	CHECK(stat("/like", &st) == 0 && (st.st_mode & 07777) == 0710);
	CHECK_INT(try_write("/ro/x"), EROFS);
	CHECK_INT(try_write("/changed/x"), EROFS);
	CHECK(strstr(mount_options_of("/small"), "noexec") != NULL);
}

static void tmpfs(void)
{
	run_modes(set_tmpfs, check_tmpfs);
}

static void set_copy_up(struct box *b)
{
	char path[160], to[160];

	snprintf(path, sizeof(path), "%s/etc", b->rootfs);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/etc/deep", b->rootfs);
	mkdir(path, 0750);
	snprintf(path, sizeof(path), "%s/etc/deep/file", b->rootfs);
	put_file(path, "content");
	chmod(path, 0640);
	snprintf(path, sizeof(path), "%s/etc/link", b->rootfs);
	snprintf(to, sizeof(to), "%s", b->outside);
	CHECK_INT(symlink(to, path), 0);
	snprintf(path, sizeof(path), "%s/etc/fifo", b->rootfs);
	CHECK_INT(mkfifo(path, 0600), 0);
	box_mount(b, "/etc", "tmpfs", "tmpfs", "tmpcopyup,ro,nosuid,size=1m");
}

static void check_copy_up(struct box *b)
{
	char buf[128] = "";
	struct stat st;
	int fd = open("/etc/deep/file", O_RDONLY | O_CLOEXEC);

	CHECK_INT(read(fd, buf, sizeof(buf)), 7);
	CHECK_STR(buf, "content");
	CHECK(stat("/etc/deep", &st) == 0 && (st.st_mode & 07777) == 0750);
	CHECK(stat("/etc/deep/file", &st) == 0 && (st.st_mode & 07777) == 0640 && st.st_uid == 0);
	memset(buf, 0, sizeof(buf));
	CHECK(readlink("/etc/link", buf, sizeof(buf) - 1) > 0);
	CHECK_STR(buf, b->outside);
	CHECK(is_type("/etc/fifo", S_IFIFO));
	CHECK_INT(try_write("/etc/x"), EROFS);
	CHECK(strstr(mount_options_of("/etc"), "ro,nosuid") != NULL);
}

static void copy_up(void)
{
	run_modes(set_copy_up, check_copy_up);
}

/* A volume: an empty directory gets what it covers, and only then becomes read-only. */
static void set_volume(struct box *b)
{
	char path[160];

	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/vol%d", b->rootfs, i);
		mkdir(path, 0751);
		snprintf(path, sizeof(path), "%s/vol%d/file", b->rootfs, i);
		put_file(path, "content");
		snprintf(path, sizeof(path), "%s/volume%d", b->outside, i);
		mkdir(path, 0700);
		box_mount(b, i ? "/vol1" : "/vol0", "bind", path, i ? "bind,tmpcopyup" : "rbind,ro,tmpcopyup");
	}
	snprintf(path, sizeof(path), "%s/volume1/own", b->outside);
	put_file(path, "x");
}

static void check_volume(struct box *b)
{
	struct stat st;

	(void)b;
	CHECK(stat("/vol0/file", &st) == 0 && st.st_size == 7);
	CHECK(stat("/vol0", &st) == 0 && (st.st_mode & 07777) == 0751);
	CHECK_INT(try_write("/vol0/x"), EROFS);
	CHECK(stat("/vol1/own", &st) == 0 && stat("/vol1/file", &st) < 0);
	CHECK_INT(try_write("/vol1/x"), 0);
}

static void volume(void)
{
	run_modes(set_volume, check_volume);
}

static void set_devices(struct box *b)
{
	struct oci_device_list *l = &b->spec.linux_->devices;

	box_device(b, "/dev/full", 'c', 1, 7);
	l->v[0].file_mode = (struct opt_u32){true, 0600};
	box_device(b, "/opt/fifo", 'p', 0, 0);
	l->v[1].file_mode = (struct opt_u32){true, 0622};
	if (b->mode == BOX_ROOT) {
		box_device(b, "/nodes/zero", 'c', 1, 5);
		l->v[2].uid = (struct opt_u32){true, 7};
		l->v[2].gid = (struct opt_u32){true, 8};
	}
}

static void check_devices(struct box *b)
{
	struct stat st;

	CHECK(stat("/dev/full", &st) == 0 && st.st_rdev == makedev(1, 7));
	if (b->mode == BOX_ROOT)
		CHECK_INT(st.st_mode & 07777, 0600);
	CHECK(stat("/opt/fifo", &st) == 0 && S_ISFIFO(st.st_mode));
	CHECK_INT(st.st_mode & 07777, 0622);
	if (b->mode != BOX_ROOT)
		return;
	CHECK(stat("/nodes/zero", &st) == 0 && S_ISCHR(st.st_mode));
	CHECK_INT(st.st_mode & 07777, 0666);
	CHECK_INT(st.st_uid, 7);
	CHECK_INT(st.st_gid, 8);
}

static void devices(void)
{
	run_modes(set_devices, check_devices);
}

static void set_console(struct box *b)
{
	b->console = true;
}

static void check_console(struct box *b)
{
	int fd = open("/dev/console", O_RDWR | O_NOCTTY | O_CLOEXEC);

	(void)b;
	CHECK(isatty(fd));
}

static void console(void)
{
	run_modes(set_console, check_console);
}

static void set_readonly_dev(struct box *b)
{
	b->spec.mounts.v[1].options.v[0] = arena_strdup(b->a, "ro");
}

static void check_readonly_dev(struct box *b)
{
	(void)b;
	CHECK_INT(try_write("/dev/x"), EROFS);
	CHECK_INT(try_write("/dev/null"), 0);
	CHECK_INT(try_write("/dev/shm/x"), 0);
}

static void readonly_dev(void)
{
	run_modes(set_readonly_dev, check_readonly_dev);
}

static void set_cgroup(struct box *b)
{
	box_mount(b, "/sys/fs/cgroup", "cgroup", "cgroup", "nosuid,noexec,nodev,ro");
}

static void check_cgroup(struct box *b)
{
	(void)b;
	CHECK(exists("/sys/fs/cgroup/cgroup.procs"));
	CHECK(access("/sys/fs/cgroup/cgroup.procs", W_OK) < 0);
	CHECK_INT(mkdir("/sys/fs/cgroup/x", 0755) < 0 ? errno : 0, EROFS);
}

static void cgroup(void)
{
	run_modes(set_cgroup, check_cgroup);
}

/* v1: a tmpfs with one directory a hierarchy, everything read-only. */
static void set_cgroup_v1(struct box *b)
{
	static struct rootfs_cgroup_v1 v1[] = {{"memory", NULL}, {"cpu,cpuacct", NULL}};

	v1[0].dir = v1[1].dir = vol;
	b->options.cgroup_v1 = v1;
	b->options.n_cgroup_v1 = 2;
	set_cgroup(b);
}

static void check_cgroup_v1(struct box *b)
{
	(void)b;
	CHECK(is_type("/sys/fs/cgroup/cpuacct", S_IFLNK));
	CHECK(exists("/sys/fs/cgroup/cpuacct/sub"));
	CHECK_INT(try_write("/sys/fs/cgroup/x"), EROFS);
	CHECK_INT(try_write("/sys/fs/cgroup/memory/x"), EROFS);
	CHECK_INT(try_write("/sys/fs/cgroup/memory/sub/x"), EROFS);
}

static void cgroup_v1(void)
{
	run_modes(set_cgroup_v1, check_cgroup_v1);
}

static void check_private(struct box *b)
{
	(void)b;
	CHECK_INT(mount("x", "/vol/sub", "tmpfs", 0, NULL), 0);
	CHECK_INT(mount("x", "/dev/shm", "tmpfs", 0, NULL), 0);
}

static void check_shared(struct box *b)
{
	(void)b;
	CHECK_INT(mount("in-container", "/vol/sub", "tmpfs", 0, NULL), 0);
	CHECK(count_mounts("shared:") > 1);
}

/* rshared: what the container mounts in the volume shows on the host, and nothing else does. */
static void propagation_shared(void)
{
	struct box b;
	int before;

	if (!box_can(BOX_ROOT))
		return;
	box_init(&b, BOX_ROOT);
	make_volume(&b);
	box_default_mounts(&b);
	box_mount(&b, "/vol", NULL, vol, "rbind,rshared");
	b.spec.linux_->rootfs_propagation = arena_strdup(b.a, "rshared");
	before = count_mounts("");
	report(&b, box_run(&b, check_shared), 0);
	CHECK_INT(count_mounts("in-container"), 1);
	CHECK_INT(count_mounts(""), before + 1);
	drop_volume();
	box_free(&b);
}

/* A user namespace never gets a peer of a host's mount, whatever the spec says. */
static void propagation_userns(void)
{
	static const char *const options[] = {"rbind,rshared", "rbind,shared", "rbind", "rbind,slave"};

	for (int mode = BOX_ROOT_USERNS; mode < BOX_N_MODES && box_can(mode); mode++)
		for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
			struct box b;
			int before;

			box_init(&b, mode);
			make_volume(&b);
			box_default_mounts(&b);
			box_mount(&b, "/vol", NULL, vol, options[i]);
			b.spec.linux_->rootfs_propagation = arena_strdup(b.a, "rshared");
			before = count_mounts("");
			report(&b, box_run(&b, check_shared), 0);
			CHECK_INT(count_mounts("in-container"), 0);
			CHECK_INT(count_mounts(""), before);
			drop_volume();
			box_free(&b);
		}
}

static void propagation_values(void)
{
	static const char *const values[] = {"shared",     "rslave",       "slave",      "private",
					     "unbindable", "runbindable",  "rprivate",   NULL};

	for (int i = 0; values[i]; i++)
		for (int mode = 0; mode < BOX_N_MODES && box_can(mode); mode++) {
			struct box b;
			int before;

			box_init(&b, mode);
			make_volume(&b);
			box_default_mounts(&b);
			box_mount(&b, "/vol", NULL, vol, "rbind,rslave");
			b.spec.linux_->rootfs_propagation = arena_strdup(b.a, values[i]);
			before = count_mounts("");
			report(&b, box_run(&b, check_private), 0);
			CHECK_INT(count_mounts(""), before);
			drop_volume();
			box_free(&b);
		}
}

/* In the container: mounts on the host's volume and looks whether it arrives. */
static void check_slave(struct box *b)
{
	int host = *(int *)b->data, status;
	pid_t pid = fork();

	if (pid == 0) {
		char path[160];

		snprintf(path, sizeof(path), "%s/sub", vol);
		_exit(setns(host, CLONE_NEWNS) == 0 &&
				      mount("late", path, "tmpfs", 0, NULL) == 0 ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	CHECK_INT(status, 0);
	CHECK_INT(count_mounts("/slave/sub"), 2);
	CHECK_INT(count_mounts("/private/sub"), 1);
}

static void propagation_slave(void)
{
	struct box b;
	int host;

	if (!box_can(BOX_ROOT))
		return;
	box_init(&b, BOX_ROOT);
	make_volume(&b);
	host = open("/proc/self/ns/mnt", O_RDONLY);
	b.data = &host;
	box_default_mounts(&b);
	box_mount(&b, "/slave", NULL, vol, "rbind,rslave");
	box_mount(&b, "/private", NULL, vol, "rbind,rprivate");
	report(&b, box_run(&b, check_slave), 0);
	close(host);
	drop_volume();
	box_free(&b);
}

static void check_idmap(struct box *b)
{
	struct stat st;

	(void)b;
	CHECK(stat("/mapped/file", &st) == 0);
	CHECK_INT(st.st_uid, 1000);
	CHECK_INT(st.st_gid, 2000);
	CHECK(stat("/mapped/sub", &st) == 0);
	CHECK_INT(st.st_uid, 0);
}

static void idmap(void)
{
	static struct oci_id_mapping uid = {0, 1000, 10}, gid = {0, 2000, 10};
	struct oci_mount *m;
	char path[160];
	struct box b;

	if (!box_can(BOX_ROOT))
		return;
	box_init(&b, BOX_ROOT);
	b.options.parent_privileged = true;
	make_volume(&b);
	snprintf(path, sizeof(path), "%s/file", vol);
	put_file(path, "x");
	box_default_mounts(&b);
	box_mount(&b, "/mapped", NULL, vol, "rbind,idmap");
	m = &b.spec.mounts.v[b.spec.mounts.n - 1];
	m->uid_mappings = (struct oci_id_mapping_list){&uid, 1};
	m->gid_mappings = (struct oci_id_mapping_list){&gid, 1};
	if (box_run(&b, check_idmap) == 2 && b.err.code == EINVAL)
		printf("# skipped: %s\n", b.err.msg); /* tmpfs only since Linux 6.3 */
	else
		report(&b, b.failed_step ? 2 : 0, 0);
	drop_volume();
	box_free(&b);
}

struct failure {
	const char *target, *type, *source, *options, *message;
	int code;
};

/* Each failure names the destination and what was wrong. */
static void messages(void)
{
	static const struct failure cases[] = {
		{"/a", NULL, "/no/such", "rbind", "/no/such", ENOENT},
		{"/a", "nosuchfs", "none", "", "no such file system", ENODEV},
		{"/a", "tmpfs", "tmpfs", "size=lots", "size", EINVAL},
		{"/a", "tmpfs", "tmpfs", "wrong=1", "wrong", EINVAL},
		{"/proc/1", NULL, "/usr", "rbind", "/proc", EINVAL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (int mode = 0; mode < BOX_N_MODES && box_can(mode); mode++) {
			const struct failure *f = &cases[i];
			struct box b;
			int r;

			box_init(&b, mode);
			box_default_mounts(&b);
			box_mount(&b, f->target, f->type, f->source, f->options);
			r = box_run(&b, NULL);
			if (r != 2 || b.err.code != f->code ||
			    !strstr(b.err.msg, f->target) || !strstr(b.err.msg, f->message)) {
				printf("# case %zu, %s: result %d, code %d: %s\n", i,
				       box_mode_name(mode), r, b.err.code, b.err.msg);
				CHECK(!"as wanted");
			}
			box_free(&b);
		}
}

/* In a container whose /proc has masks the kernel gives no full procfs to a user namespace. */
static void masked_outer_proc(void)
{
	struct box b;

	if (!box_can(BOX_USER))
		return;
	make_host();
	box_init(&b, BOX_USER);
	box_default_mounts(&b);
	CHECK_INT(mount("/dev/null", "/proc/version", NULL, MS_BIND, NULL), 0);
	CHECK_INT(box_run(&b, NULL), 2);
	CHECK_INT(umount2("/proc/version", MNT_DETACH), 0);
	CHECK_INT(b.err.code, EPERM);
	CHECK(strstr(b.err.msg, "mount /proc") && strstr(b.err.msg, "masked"));
	box_free(&b);
}

static void no_rootfs(void)
{
	for (int mode = 0; mode < BOX_N_MODES && box_can(mode); mode++) {
		struct box b;

		box_init(&b, mode);
		rmdir(b.rootfs);
		CHECK_INT(box_run(&b, NULL), 2);
		CHECK_INT(b.err.code, ENOENT);
		CHECK(strstr(b.err.msg, b.rootfs) != NULL);
		put_file(b.rootfs, "x");
		b.owned = false;
		CHECK_INT(box_run(&b, NULL), 2);
		CHECK_INT(b.err.code, ENOTDIR);
		box_free(&b);
	}
}

TEST_MAIN(TEST(binds), TEST(locked_options), TEST(no_pivot), TEST(tmpfs), TEST(copy_up), TEST(volume), TEST(devices), TEST(console), TEST(readonly_dev), TEST(cgroup),
	  TEST(cgroup_v1), TEST(propagation_shared), TEST(propagation_userns), TEST(propagation_values),
	  TEST(propagation_slave), TEST(idmap), TEST(messages),
	  TEST(masked_outer_proc), TEST(no_rootfs))

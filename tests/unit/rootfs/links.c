/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hostile images: whatever is a link in the rootfs, nothing outside of it is made, removed or
 * changed. The directory outside belongs to the container's root, so the kernel's permissions
 * alone would not stop a mistake.
 */
#include "tests/unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/sys.h"
#include "tests/unit/rootfs/box.h"

BOX_TEST_STATE

struct scenario {
	const char *name;
	const char *link;   /* in the rootfs; a link to the directory outside */
	int want;           /* errno of the refusal, 0: must start, -1: either */
	void (*spec)(struct box *b, const char *link);
};

static void dev_tmpfs(struct box *b, const char *link)
{
	(void)link;
	box_default_mounts(b);
}

static void dev_nothing(struct box *b, const char *link)
{
	(void)link;
	box_mount(b, "/proc", "proc", "proc", NULL);
}

static void dev_devpts(struct box *b, const char *link)
{
	(void)link;
	box_mount(b, "/proc", "proc", "proc", NULL);
	box_mount(b, "/dev/pts", "devpts", "devpts", "newinstance,ptmxmode=0666");
}

static void dev_device(struct box *b, const char *link)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/extra", link);
	box_mount(b, "/proc", "proc", "proc", NULL);
	box_device(b, path, 'c', 1, 3);
	b->spec.linux_->devices.v[0].path = arena_strdup(b->a, path);
}

static void bind_dir(struct box *b, const char *link)
{
	box_default_mounts(b);
	box_mount(b, link, NULL, "/usr", "rbind,ro");
}

static void bind_below(struct box *b, const char *link)
{
	char path[64];

	box_default_mounts(b);
	snprintf(path, sizeof(path), "%s/a/b", link);
	box_mount(b, path, NULL, "/usr", "rbind,ro");
}

static void bind_file(struct box *b, const char *link)
{
	char path[64];

	box_default_mounts(b);
	snprintf(path, sizeof(path), "%s/keep", link);
	box_mount(b, path, NULL, "/etc/hostname", "bind,ro");
}

static void bind_file_on_link(struct box *b, const char *link)
{
	box_default_mounts(b);
	box_mount(b, link, NULL, "/etc/hostname", "bind,ro");
}

static void tmpfs_on(struct box *b, const char *link)
{
	box_default_mounts(b);
	box_mount(b, link, "tmpfs", "tmpfs", "mode=700");
}

static void cwd_is(struct box *b, const char *link)
{
	char path[64];

	box_default_mounts(b);
	snprintf(path, sizeof(path), "%s/new", link);
	b->cwd = arena_strdup(b->a, path);
}

static void console_is(struct box *b, const char *link)
{
	(void)link;
	box_mount(b, "/proc", "proc", "proc", NULL);
	box_mount(b, "/dev/pts", "devpts", "devpts", "newinstance,ptmxmode=0666");
	b->console = true;
}

static void console_tmpfs(struct box *b, const char *link)
{
	(void)link;
	box_default_mounts(b);
	b->console = true;
}

static void masked_is(struct box *b, const char *link)
{
	char path[64];

	box_default_mounts(b);
	box_masked(b, link);
	snprintf(path, sizeof(path), "%s/keep", link);
	box_masked(b, path);
	box_readonly(b, link);
}

static void nofollow(struct box *b, const char *link)
{
	box_default_mounts(b);
	box_mount(b, link, "tmpfs", "tmpfs", "dest-nofollow");
}

static const struct scenario scenarios[] = {
	{"/dev with a tmpfs", "/dev", -1, dev_tmpfs},
	{"/dev with nothing", "/dev", -1, dev_nothing},
	{"/dev with devpts", "/dev", -1, dev_devpts},
	{"/dev with linux.devices", "/dev", -1, dev_device},
	{"a device elsewhere", "/devices", -1, dev_device},
	{"/proc", "/proc", ELOOP, dev_tmpfs},
	{"/sys", "/sys", ELOOP, dev_tmpfs},
	{"/dev/pts", "/dev/pts", -1, dev_devpts},
	{"/dev/shm under a tmpfs", "/dev/shm", 0, dev_tmpfs},
	{"/dev/null", "/dev/null", -1, dev_nothing},
	{"/dev/console", "/dev/console", ELOOP, console_is},
	{"/dev/console under a tmpfs", "/dev/console", 0, console_tmpfs},
	{"/dev for the console", "/dev", -1, console_is},
	{"the target of a bind", "/data", -1, bind_dir},
	{"above the target of a bind", "/data", -1, bind_below},
	{"above the target of a file bind", "/data", -1, bind_file},
	{"the target of a file bind", "/data", -1, bind_file_on_link},
	{"the target of a tmpfs", "/data", -1, tmpfs_on},
	{"a target with dest-nofollow", "/data", ELOOP, nofollow},
	{"the cwd", "/work", -1, cwd_is},
	{"a masked path", "/masked", 0, masked_is},
};

/* What the link says: absolute, relative, and both in a rootfs that has the same directories. */
enum link_form { ABSOLUTE, RELATIVE, ABSOLUTE_MIRRORED, RELATIVE_MIRRORED, N_FORMS };

static void make_link(struct box *b, const char *link, enum link_form form)
{
	char path[256], to[256], mirror[256];

	for (const char *s = strchr(link + 1, '/'); s; s = strchr(s + 1, '/')) {
		snprintf(path, sizeof(path), "%s%.*s", b->rootfs, (int)(s - link), link);
		mkdir(path, 0755);
	}
	snprintf(path, sizeof(path), "%s%s", b->rootfs, link);
	if (form == ABSOLUTE || form == ABSOLUTE_MIRRORED)
		snprintf(to, sizeof(to), "%s", b->outside);
	else
		snprintf(to, sizeof(to), "%soutside", strchr(link + 1, '/') ? "../../" : "../");
	if (form == ABSOLUTE_MIRRORED || form == RELATIVE_MIRRORED) {
		snprintf(mirror, sizeof(mirror), "%s/tmp", b->rootfs);
		mkdir(mirror, 0755);
		snprintf(mirror, sizeof(mirror), "%s%s", b->rootfs, b->dir);
		mkdir(mirror, 0755);
		snprintf(mirror, sizeof(mirror), "%s%s", b->rootfs, b->outside);
		mkdir(mirror, 0755);
		snprintf(mirror, sizeof(mirror), "%s/outside", b->rootfs);
		mkdir(mirror, 0755);
	}
	CHECK_INT(symlink(to, path), 0);
}

static void run_one(const struct scenario *s, enum box_mode mode, enum link_form form)
{
	struct box b;
	char keep[128];
	unsigned long long before;
	int r;

	box_init(&b, mode);
	snprintf(keep, sizeof(keep), "%s/keep", b.outside);
	put_file(keep, "host");
	make_link(&b, s->link, form);
	s->spec(&b, s->link);
	box_own(&b);
	before = fingerprint(b.outside);
	r = box_run(&b, NULL);
	if (fingerprint(b.outside) != before || (s->want == 0 && r != 0) ||
	    (s->want > 0 && (r != 2 || b.err.code != s->want)) || r > 2) {
		printf("# %s is a link (form %d), %s: result %d, step %s: %s%s\n", s->name, form,
		       box_mode_name(mode), r, b.failed_step ? b.failed_step : "-", b.err.msg,
		       fingerprint(b.outside) != before ? " OUTSIDE CHANGED" : "");
		CHECK(!"as wanted");
	}
	box_free(&b);
}

static void links_lead_nowhere(void)
{
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		for (int mode = 0; mode < BOX_N_MODES; mode++)
			for (int form = 0; box_can(mode) && form < N_FORMS; form++)
				run_one(&scenarios[i], mode, form);
}

static void check_null(struct box *b)
{
	struct stat st;

	(void)b;
	CHECK(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3));
	CHECK(lstat("/proc/keys", &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3));
}

/* The image's own /dev/null is a plain file: refused, or covered by the real one; and never the
 * source of a mask. */
static void false_null_device(void)
{
	for (int mode = 0; mode < BOX_N_MODES && box_can(mode); mode++) {
		struct box b;
		char path[128];
		int r;

		box_init(&b, mode);
		snprintf(path, sizeof(path), "%s/dev", b.rootfs);
		mkdir(path, 0755);
		snprintf(path, sizeof(path), "%s/dev/null", b.rootfs);
		put_file(path, "false");
		box_mount(&b, "/proc", "proc", "proc", NULL);
		box_masked(&b, "/proc/keys");
		r = box_run(&b, check_null);
		CHECK_INT(r, mode == BOX_ROOT ? 2 : 0);
		if (mode == BOX_ROOT)
			CHECK_INT(b.err.code, EEXIST);
		box_free(&b);
	}
}

static void fail_inside(struct box *b)
{
	(void)b;
	CHECK(!"must not start");
}

/* Nothing but procfs on /proc, and nothing below it but what lxcfs has. */
static void targets_in_proc(void)
{
	static const char *const targets[] = {"/proc", "/proc/self/attr", "/x/../proc/1", "/link"};

	if (!box_can(BOX_ROOT))
		return;
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		struct box b;
		char path[128];

		box_init(&b, BOX_ROOT);
		snprintf(path, sizeof(path), "%s/link", b.rootfs);
		CHECK_INT(symlink("/proc/sys", path), 0);
		if (i > 0)
			box_mount(&b, "/proc", "proc", "proc", NULL);
		box_mount(&b, targets[i], NULL, "/usr", "rbind");
		CHECK_INT(box_run(&b, fail_inside), 2);
		CHECK_INT(b.err.code, EINVAL);
		box_free(&b);
	}
}

static void check_cpuinfo(struct box *b)
{
	char buf[32] = "";
	int fd = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);

	(void)b;
	CHECK_INT(read(fd, buf, sizeof(buf)), 5);
	CHECK_STR(buf, "false");
}

static void lxcfs_file(void)
{
	for (int mode = 0; mode < BOX_N_MODES && box_can(mode); mode++) {
		struct box b;
		char path[128];

		box_init(&b, mode);
		snprintf(path, sizeof(path), "%s/cpuinfo", b.dir);
		put_file(path, "false");
		chmod(path, 0644);
		box_mount(&b, "/proc", "proc", "proc", NULL);
		box_mount(&b, "/proc/cpuinfo", NULL, path, "bind,ro");
		CHECK_INT(box_run(&b, check_cpuinfo), 0);
		if (b.err.code)
			printf("# %s\n", b.err.msg);
		box_free(&b);
	}
}

TEST_MAIN(TEST(links_lead_nowhere), TEST(false_null_device), TEST(targets_in_proc),
	  TEST(lxcfs_file))

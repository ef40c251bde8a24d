/* SPDX-License-Identifier: Apache-2.0 */
/* The default mounts, devices, masks and the pivot, as root, as root with a user namespace, and
 * as a user with a single id. */
#include "tests/unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/sys.h"
#include "tests/unit/rootfs/box.h"

BOX_TEST_STATE

static void expect(struct box *b, int have, int want)
{
	if (have != want)
		printf("# %s: step %s: %s\n", box_mode_name(b->mode),
		       b->failed_step ? b->failed_step : "-", b->err.msg);
	CHECK_INT(have, want);
}

static bool is_dev(const char *path, unsigned maj, unsigned min)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(maj, min);
}

static void check_defaults(struct box *b)
{
	char buf[64];

	(void)b;
	CHECK(is_dev("/dev/null", 1, 3));
	CHECK(is_dev("/dev/zero", 1, 5));
	CHECK(is_dev("/dev/full", 1, 7));
	CHECK(is_dev("/dev/random", 1, 8));
	CHECK(is_dev("/dev/urandom", 1, 9));
	CHECK(is_dev("/dev/tty", 5, 0));
	CHECK_INT(try_write("/dev/null"), 0);
	CHECK_INT(readlink("/dev/ptmx", buf, sizeof(buf)), 8);
	CHECK_INT(readlink("/dev/fd", buf, sizeof(buf)), 13);
	CHECK(exists("/proc/self/mountinfo"));
	CHECK(exists("/sys/kernel"));
	CHECK(exists("/dev/mqueue"));
	CHECK(exists("/dev/pts/ptmx"));
	CHECK(!exists("/etc"));
	CHECK(!exists("/usr"));
	CHECK(open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC) >= 0);
	CHECK_INT(try_write("/dev/shm/x"), 0);
	CHECK_INT(try_write("/x"), EROFS);
	CHECK_STR(mount_options_of("/dev/shm"), "rw,nosuid,nodev,noexec,relatime");
	CHECK_STR(mount_options_of("/dev"), "rw,nosuid");
	CHECK(mount_options_of("/")[0] == 'r' && mount_options_of("/")[1] == 'o');
	CHECK_INT(chdir("/.."), 0);
	CHECK(!exists("etc"));
}

static void check_masks(struct box *b)
{
	char buf[16];
	int fd = open("/proc/timer_list", O_RDONLY | O_CLOEXEC);

	(void)b;
	if (exists("/proc/timer_list")) {
		CHECK(is_dev("/proc/timer_list", 1, 3));
		CHECK_INT(read(fd, buf, sizeof(buf)), 0);
	}
	CHECK(is_dev("/proc/keys", 1, 3));
	CHECK(!exists("/proc/kcore") || is_dev("/proc/kcore", 1, 3));
	CHECK(!exists("/sys/firmware/memmap") && !exists("/sys/firmware/acpi"));
	CHECK(exists("/sys/firmware"));
	CHECK(!exists("/proc/bus/pci"));
	CHECK_INT(try_write("/sys/firmware/x"), EROFS);
	CHECK_STR(mount_options_of("/proc/sys"), "ro,relatime");
}

static void for_modes(void (*setup)(struct box *), void (*inside)(struct box *), int want)
{
	for (int mode = 0; mode < BOX_N_MODES; mode++) {
		struct box b;

		if (!box_can(mode)) {
			printf("# skipped as %s: needs root\n", box_mode_name(mode));
			continue;
		}
		box_init(&b, mode);
		setup(&b);
		expect(&b, box_run(&b, inside), want);
		if (exists(b.outside))
			CHECK_INT(rmdir(b.outside), 0);
		box_free(&b);
	}
}

static void set_defaults(struct box *b)
{
	box_default_mounts(b);
	b->spec.root->readonly = (struct opt_bool){true, true};
}

static void default_mounts(void)
{
	for_modes(set_defaults, check_defaults, 0);
}

static void set_masks(struct box *b)
{
	static const char *const masked[] = {"/proc/timer_list", "/proc/keys", "/proc/kcore",
					     "/sys/firmware", "/proc/bus", "/proc/none",
					     "/sys/devices/system/cpu/cpu*/cache"};

	set_defaults(b);
	for (size_t i = 0; i < sizeof(masked) / sizeof(masked[0]); i++)
		box_masked(b, masked[i]);
	box_readonly(b, "/proc/sys");
	box_readonly(b, "/proc/sysrq-trigger");
	box_readonly(b, "/proc/none");
}

static void masks(void)
{
	for_modes(set_masks, check_masks, 0);
}

static void set_host(struct box *b)
{
	set_defaults(b);
	b->options.host_rootfs = true;
	b->options.root_attr = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
	b->options.user_uid = b->options.user_gid = 1000;
}

static void check_host(struct box *b)
{
	static const char *const hidden[] = {"/etc/shadow", "/opt", "/srv", "/var/lib", "/var/log",
					     "/boot", "/home/x", "/root/.bashrc", "/etc/ssl/private"};

	(void)b;
	CHECK(exists("/usr/bin/env"));
	CHECK(exists("/bin/sh"));
	CHECK(exists("/etc/passwd"));
	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (exists(hidden[i])) {
			printf("# %s is visible\n", hidden[i]);
			CHECK(!"hidden");
		}
	CHECK_INT(try_write("/usr/x"), EROFS);
	CHECK_INT(try_write("/x"), EROFS);
	CHECK_INT(try_write("/etc/passwd"), EROFS);
	CHECK_INT(system("/bin/sh -c 'id -un >/dev/null && test -r /etc/passwd'"), 0);
	CHECK(strstr(mount_options_of("/usr"), "ro,nosuid,nodev") != NULL);
}

static void host_rootfs(void)
{
	for_modes(set_host, check_host, 0);
}

TEST_MAIN(TEST(default_mounts), TEST(masks), TEST(host_rootfs))

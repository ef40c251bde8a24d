/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CVE-2021-30465, CVE-2024-45310: another container with the same volume exchanges a directory
 * with a link to the host while the mounts are made. For two seconds; whatever the start says,
 * nothing outside changes and nothing is mounted outside.
 */
#include "tests/unit/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/sys.h"
#include "tests/unit/rootfs/box.h"

BOX_TEST_STATE

enum { SECONDS = 2 };

static pid_t start_swapper(const char *a, const char *b)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void make_dir(const char *base, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", base, name);
	mkdir(path, 0755);
}

/* Only names below the exchanged directory: the mount points, the cwd, masks, devices. */
static void set_mounts(struct box *b)
{
	box_default_mounts(b);
	box_mount(b, "/data/a", "tmpfs", "tmpfs", "mode=700");
	box_mount(b, "/data/new/deep", "tmpfs", "tmpfs", "tmpcopyup,mode=700");
	box_mount(b, "/data/b", NULL, "/usr", "rbind,ro");
	box_mount(b, "/data/file", NULL, "/etc/hostname", "bind,ro");
	box_device(b, "/data/dev/null", 'c', 1, 3);
	b->spec.linux_->devices.v[0].path = arena_strdup(b->a, "/data/null");
	b->spec.linux_->devices.v[0].type = arena_strdup(b->a, "p");
	box_masked(b, "/data/a");
	box_readonly(b, "/data/b");
	b->cwd = "/data/cwd/x";
}

static void check_inside(struct box *b)
{
	(void)b;
	CHECK(!exists("/data/keep"));
}

static void swap_for(enum box_mode mode, double time)
{
	unsigned long long before;
	double end = seconds() + time;
	char dir[128], link[128], keep[128];
	int runs = 0, good = 0;
	pid_t swapper;
	struct box b;

	box_init(&b, mode);
	make_dir(b.rootfs, "data");
	snprintf(dir, sizeof(dir), "%s/data", b.rootfs);
	snprintf(link, sizeof(link), "%s/swap", b.rootfs);
	snprintf(keep, sizeof(keep), "%s/keep", b.outside);
	put_file(keep, "host");
	CHECK_INT(symlink(mode == BOX_USER ? "../outside" : b.outside, link), 0);
	set_mounts(&b);
	box_own(&b);
	before = fingerprint(b.outside);
	swapper = start_swapper(dir, link);
	for (; seconds() < end; runs++) {
		int r = box_run(&b, check_inside);

		CHECK(r == 0 || r == 2);
		good += r == 0;
		if (fingerprint(b.outside) != before)
			break;
	}
	if (swapper > 0) { /* -1 would be every process of the machine */
		kill(swapper, SIGKILL);
		waitpid(swapper, NULL, 0);
	}
	CHECK(fingerprint(b.outside) == before);
	printf("# %s: %d starts, %d went well\n", box_mode_name(mode), runs, good);
	box_free(&b);
}

static void exchanged_directory(void)
{
	for (int mode = 0; mode < BOX_N_MODES && box_can(mode); mode++)
		swap_for(mode, (double)SECONDS / BOX_N_MODES);
}

TEST_MAIN(TEST(exchanged_directory))

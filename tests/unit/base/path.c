/* SPDX-License-Identifier: Apache-2.0 */
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tests/unit/test.h"

static char outside[] = "/tmp/brig-path-XXXXXX";

/* outside/root is the rootfs; outside/secret must never be reached. */
static int make_root(void)
{
	char path[64];

	memcpy(outside + strlen(outside) - 6, "XXXXXX", 6);
	if (!mkdtemp(outside) || chdir(outside) < 0 || mkdir("root", 0755) < 0 ||
	    mkdir("secret", 0755) < 0 || symlink("/../secret", "root/rel") < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/secret", outside);
	if (symlink(path, "root/abs") < 0 || symlink("/nowhere", "root/dangling") < 0)
		return -1;
	return open("root", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
	(void)st;
	(void)type;
	(void)f;
	return remove(path);
}

static void remove_root(void)
{
	CHECK(chdir("/") == 0);
	nftw(outside, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void targets_are_made_inside_only(void)
{
	auto_close int root = make_root(), fd = -1;
	struct err e = {0};
	struct stat st;

	fd = path_make_in_root(root, "/a/b/c", PATH_DIR, &e);
	CHECK(fd >= 0);
	CHECK(stat("root/a/b/c", &st) == 0 && S_ISDIR(st.st_mode));
	cleanup_close(&fd);
	fd = path_make_in_root(root, "/a/f", PATH_FILE, &e);
	CHECK(fd >= 0);
	CHECK(stat("root/a/f", &st) == 0 && S_ISREG(st.st_mode));
	remove_root();
}

static void links_do_not_lead_out(void)
{
	auto_close int root = make_root();
	struct err e = {0};
	struct stat st;
	int fd;

	fd = path_make_in_root(root, "rel/x", PATH_DIR, &e);
	if (fd >= 0)
		close(fd);
	fd = path_make_in_root(root, "abs/y", PATH_DIR, &e);
	if (fd >= 0)
		close(fd);
	fd = path_make_in_root(root, "../../secret/z", PATH_DIR, &e);
	if (fd >= 0)
		close(fd);
	CHECK(stat("secret/x", &st) < 0 && stat("secret/y", &st) < 0);
	CHECK(stat("secret/z", &st) < 0);
	remove_root();
}

static void a_dangling_link_is_an_error(void)
{
	auto_close int root = make_root();
	struct err e = {0};

	CHECK(path_make_in_root(root, "dangling/x", PATH_DIR, &e) < 0);
	CHECK(e.msg[0]);
	CHECK(path_make_in_root(root, "missing/../../x", PATH_DIR, &e) < 0);
	remove_root();
}

static void paths_are_cleaned(void)
{
	char buf[16];

	CHECK_INT(path_clean("/a//b/../c/", buf, sizeof(buf)), 0);
	CHECK_STR(buf, "/a/c");
	CHECK_INT(path_clean("../../x", buf, sizeof(buf)), 0);
	CHECK_STR(buf, "/x");
	CHECK_INT(path_clean("/", buf, sizeof(buf)), 0);
	CHECK_STR(buf, "/");
	CHECK_INT(path_clean("/0123456789abcdef", buf, sizeof(buf)), -ENAMETOOLONG);
}

TEST_MAIN(TEST(targets_are_made_inside_only), TEST(links_do_not_lead_out),
	  TEST(a_dangling_link_is_an_error), TEST(paths_are_cleaned))

/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a bundle's configuration: a regular file of a bounded size, and what is said of others. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "runtime/bundle.h"
#include "tests/unit/test.h"

static int load(const char *dir, const char **ret_msg)
{
	static struct err e;
	auto_arena struct arena *a = arena_new();
	struct rt_bundle b = {0};
	int r;

	e = (struct err){0};
	r = rt_bundle_load(a, dir, NULL, &b, &e);
	*ret_msg = e.msg;
	CHECK((r == 0) == (b.spec != NULL));
	return r;
}

static void put(const char *path, const char *text, size_t n)
{
	auto_close int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK_INT(io_write_all(fd, text, n), 0);
}

static void test_bundle(void)
{
	static const char good[] = "{\"ociVersion\":\"1.0.0\",\"root\":{\"path\":\"r\"}}";
	static const char bad[] = "{\"ociVersion\":\"1.0.0\",\"root\":{\"path\":7}}";
	char dir[] = "/tmp/brig-bundle-XXXXXX", file[64];
	auto_strbuf struct strbuf big = {0};
	const char *msg;

	CHECK(mkdtemp(dir) != NULL);
	snprintf(file, sizeof(file), "%s/config.json", dir);
	CHECK_INT(load(dir, &msg), -ENOENT);
	CHECK(strstr(msg, "open config.json: No such file or directory") != NULL);
	CHECK(str_starts(msg, "the bundle /tmp/brig-bundle-"));
	CHECK_INT(mkdir(file, 0700), 0);
	CHECK(load(dir, &msg) < 0);
	CHECK_INT(rmdir(file), 0);
	CHECK_INT(mkfifo(file, 0600), 0);
	CHECK(load(dir, &msg) < 0);
	CHECK_INT(unlink(file), 0);
	put(file, good, strlen(good));
	CHECK_INT(load(dir, &msg), 0);
	put(file, bad, strlen(bad));
	CHECK_INT(load(dir, &msg), -EINVAL);
	CHECK_STR(msg, "config.json: root.path: is a number, not a string");
	put(file, "", 0);
	CHECK_INT(load(dir, &msg), -EINVAL);
	while (big.len <= JSON_MAX_BYTES)
		strbuf_adds(&big, "                                ");
	put(file, big.p, big.len);
	CHECK_INT(load(dir, &msg), -EFBIG);
	CHECK_INT(unlink(file), 0);
	CHECK_INT(rmdir(dir), 0);
}

TEST_MAIN(TEST(test_bundle))

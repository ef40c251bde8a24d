/* SPDX-License-Identifier: Apache-2.0 */
/* Maps that must not reach the kernel, and the files of subordinate ids. */
#include "nsenter/idmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/test.h"

static char path[] = "/tmp/brig-subid-XXXXXX";

static void write_file(const char *text, size_t n)
{
	FILE *f = fopen(path, "w");

	if (!f || fwrite(text, 1, n, f) != n)
		abort();
	fclose(f);
}

static int ranges_of(const char *text, uid_t uid, const char *name, struct ns_subid *r)
{
	const struct ns_user u = {uid, name};
	struct err e;

	write_file(text, strlen(text));
	return ns_subids(path, &u, r, 4, &e);
}

static void subids(void)
{
	struct ns_subid r[4];

	CHECK_INT(ranges_of("ann:100000:65536\nbob:200000:10\n1000:300000:5", 1000, "bob", r), 2);
	CHECK(r[0].start == 200000 && r[0].count == 10 && r[1].start == 300000 && r[1].count == 5);
	CHECK_INT(ranges_of("ann:100000:65536\n", 1000, NULL, r), 0);
	CHECK_INT(ranges_of("", 0, "ann", r), 0);
	CHECK_INT(ranges_of(":1:1\n", 7, "", r), 0); /* no name is not the empty name */
	CHECK_INT(ranges_of("ann:1:1\nann:2:1\nann:3:1\nann:4:1\nann:5:1\n", 1, "ann", r), 4);
}

static void bad_lines(void)
{
	static const char *const bad[] = {
		"ann\n",         "ann:1\n",    "ann::1\n",   "ann:1:\n",  "ann:x:1\n",
		"ann:1:0\n",     "ann:-1:5\n", "ann: 1:5\n", "ann:1:5:6\n", "#ann:1:5\n",
		"ann:4294967295:1\n", "ann:4294967290:10\n", "ann:1:18446744073709551617\n", "\n\n:::\n",
	};
	struct ns_subid r[4];
	char text[128];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(text, sizeof(text), "%sann:9:9\n", bad[i]);
		if (ranges_of(text, 1, "ann", r) != 1 || r[0].start != 9) {
			printf("# %s", bad[i]);
			CHECK(0);
		}
	}
}

static void no_file(void)
{
	const struct ns_user u = {1, "ann"};
	struct ns_subid r[1];
	struct err e;

	CHECK_INT(ns_subids("/nowhere/subuid", &u, r, 1, &e), 0);
	CHECK(ns_subids("/tmp", &u, r, 1, &e) < 0);
	CHECK(ns_subids("/dev/zero", &u, r, 1, &e) < 0);
}

static void user_names(void)
{
	char name[64] = "";
	struct err e;

	CHECK_INT(ns_user_name(0, name, sizeof(name), &e), 1);
	CHECK_STR(name, "root");
	CHECK_INT(ns_user_name(0, name, 4, &e), 0);
	CHECK_INT(ns_user_name(3999999999U, name, sizeof(name), &e), 0);
}

static void refuse(const struct ns_idmap *m, size_t n, const char *want)
{
	const struct ns_idmaps maps = {m, n, m, n};
	struct err e = {0};

	/* Neither procfs nor pid are ever looked at. */
	CHECK(ns_write_maps(-1, 1, &maps, NS_MAP_DIRECT, &e) < 0);
	CHECK_STR(e.msg, want);
}

static void bad_maps(void)
{
	static struct ns_idmap many[341];
	static const struct ns_idmap zero[] = {{0, 1, 0}}, wide[] = {{4294967295U, 1, 2}},
				     wide_out[] = {{0, 4294967295U, 2}},
				     same_in[] = {{0, 1, 10}, {9, 100, 1}},
				     same_out[] = {{0, 1, 10}, {20, 10, 1}};

	refuse(zero, 0, "uid map: empty");
	refuse(zero, 1, "uid map: range 0 1 0 is empty or too large");
	refuse(wide, 1, "uid map: range 4294967295 1 2 is empty or too large");
	refuse(wide_out, 1, "uid map: range 0 4294967295 2 is empty or too large");
	refuse(same_in, 2, "uid map: ranges 0 1 10 and 9 100 1 overlap");
	refuse(same_out, 2, "uid map: ranges 0 1 10 and 20 10 1 overlap");
	refuse(many, 341, "uid map: 341 ranges, the kernel takes 340");
	for (uint32_t i = 0; i < 340; i++)
		many[i] = (struct ns_idmap){4000000000U + i, 3000000000U + i, 1};
	refuse(many, 340, "uid map: longer than a page");
}

static void start(void)
{
	int fd = mkstemp(path);

	CHECK(fd >= 0);
	close(fd);
}

static void cleanup(void)
{
	unlink(path);
}

TEST_MAIN(TEST(start), TEST(subids), TEST(bad_lines), TEST(no_file), TEST(user_names),
	  TEST(bad_maps), TEST(cleanup))

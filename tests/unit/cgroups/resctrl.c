/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of config-linux.md for intelRdt, on a directory that stands for the mount. */
#include "cgroups/resctrl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "tests/unit/test.h"

static char root[] = "/tmp/brig-resctrl-XXXXXX";
static char path[256];

static const char *below(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", root, name);
	return path;
}

static void put(const char *name, const char *text)
{
	int fd = open(below(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static const char *get(const char *name)
{
	static char buf[256];

	buf[0] = '\0';
	io_read_small(AT_FDCWD, below(name), buf, sizeof(buf));
	return buf;
}

static bool exists(const char *name)
{
	return access(below(name), F_OK) == 0;
}

static void without_name(void)
{
	struct arena *a = arena_new();
	char *lines[] = {"L2:0=f", NULL};
	struct oci_intel_rdt r = {.l3_cache_schema = "L3:0=7f0", .mem_bw_schema = "MB:0=20",
				  .schemata = {lines, 1}, .enable_monitoring = {true, true}};
	struct resctrl g;
	struct err e = {0};

	resctrl_plan(a, root, &r, "c1", &g);
	CHECK_STR(g.control, below("c1"));
	CHECK_STR(g.monitor, below("c1/mon_groups/c1"));
	CHECK_STR(g.ours, below("c1"));
	/* the directory of a mount has it from the mkdir on; here it must fail and leave nothing */
	CHECK_INT(resctrl_make(&g, &r, &e), -ENOENT);
	CHECK(!exists("c1"));
	r.enable_monitoring.v = false;
	resctrl_plan(a, root, &r, "c1", &g);
	CHECK_INT(resctrl_make(&g, &r, &e), 1);
	put("c1/schemata", "");
	put("c1/tasks", "");
	CHECK_INT(resctrl_set(&g, &r, true, &e), 0);
	CHECK_STR(get("c1/schemata"), "L3:0=7f0\nMB:0=20\nL2:0=f");
	CHECK_INT(resctrl_attach(&g, 42, &e), 0);
	CHECK_STR(get("c1/tasks"), "42");
	/* another one of that name is not ours */
	CHECK_INT(resctrl_make(&g, &r, &e), -EEXIST);
	unlink(below("c1/schemata"));
	unlink(below("c1/tasks"));
	CHECK_INT(resctrl_remove(g.ours, &e), 0);
	CHECK(!exists("c1"));
	CHECK_INT(resctrl_remove(g.ours, &e), 0);
	CHECK_INT(resctrl_remove(NULL, &e), 0);
	arena_free(a);
}

static void with_name(void)
{
	struct arena *a = arena_new();
	struct oci_intel_rdt r = {.clos_id = "gold"};
	struct resctrl g;
	struct err e = {0};

	resctrl_plan(a, root, &r, "c2", &g);
	CHECK_STR(g.control, below("gold"));
	CHECK(g.ours == NULL);
	CHECK_INT(resctrl_make(&g, &r, &e), -ENOENT);
	CHECK(strstr(e.msg, "closID") != NULL);
	r.l3_cache_schema = "L3:0=ff";
	CHECK_INT(resctrl_make(&g, &r, &e), 1);
	CHECK_INT(resctrl_make(&g, &r, &e), 0);
	/* a group for monitoring below it is ours alone */
	r.enable_monitoring = (struct opt_bool){true, true};
	mkdir(below("gold/mon_groups"), 0700);
	put("gold/tasks", "");
	resctrl_plan(a, root, &r, "c2", &g);
	CHECK_STR(g.ours, below("gold/mon_groups/c2"));
	CHECK_INT(resctrl_make(&g, &r, &e), 0);
	put("gold/mon_groups/c2/tasks", "");
	CHECK_INT(resctrl_attach(&g, 7, &e), 0);
	CHECK_STR(get("gold/tasks"), "7");
	CHECK_STR(get("gold/mon_groups/c2/tasks"), "7");
	unlink(below("gold/mon_groups/c2/tasks"));
	CHECK_INT(resctrl_remove(g.ours, &e), 0);
	CHECK(exists("gold"));
	arena_free(a);
}

static void an_old_group_must_match(void)
{
	static const struct { const char *line; int want; } cases[] = {
		{"L3:0=7f0;1=1f", 0},  {"L3:1=01f", 0},     {"MB:0=20;1=70", 0},   {"MB:1=70", 0},
		{"L3:0=7f1", -EINVAL}, {"L2:0=f", -EINVAL}, {"L3:2=1f", -EINVAL}, {"MB:0=200", -EINVAL},
		{"L3", -EINVAL},       {"L3:0", -EINVAL},
	};
	struct arena *a = arena_new();
	struct oci_intel_rdt r = {.clos_id = "/"};
	struct resctrl g;
	struct err e = {0};

	put("schemata", "    MB:0= 20;1= 70\n    L3:0=7f0;1=01f\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *lines[] = {(char *)cases[i].line, NULL};

		r.schemata = (struct strv){lines, 1};
		resctrl_plan(a, root, &r, "c3", &g);
		CHECK_STR(g.control, root);
		CHECK_INT(resctrl_make(&g, &r, &e), 0);
		CHECK_INT(resctrl_set(&g, &r, false, &e), cases[i].want);
	}
	arena_free(a);
}

static void make_root(void)
{
	CHECK(mkdtemp(root) != NULL);
}

static void remove_root(void)
{
	unlink(below("schemata"));
	unlink(below("gold/tasks"));
	rmdir(below("gold/mon_groups"));
	rmdir(below("gold"));
	CHECK_INT(rmdir(root), 0);
}

TEST_MAIN(TEST(make_root), TEST(without_name), TEST(with_name), TEST(an_old_group_must_match),
	  TEST(remove_root))

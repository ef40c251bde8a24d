/* SPDX-License-Identifier: Apache-2.0 */
/* A root of layers: as root, as root with a user namespace, as a user; by the parent's two ways. */
#include "tests/unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/sys.h"
#include "rootfs/internal.h"
#include "tests/unit/rootfs/box.h"

BOX_TEST_STATE

enum { LAYERS = 127 };

struct tree {
	struct rootfs_overlay overlay;
	const char *upper;
};

static char *make_dir(struct box *b, const char *name, int i)
{
	char *path = arena_printf(b->a, "%s/%s%d", b->rootfs, name, i);

	CHECK_INT(mkdir(path, 0755), 0);
	return path;
}

static void put(struct box *b, const char *dir, const char *name, const char *text)
{
	put_file(arena_printf(b->a, "%s/%s", dir, name), text);
}

/* Layer i has "i<i>", "all" with its number, and those below 100 "deep". */
static void make_layers(struct box *b, struct tree *t, int n, bool upper)
{
	t->overlay = (struct rootfs_overlay){.lower = {arena_array(b->a, (size_t)n, sizeof(char *)), (size_t)n}};
	for (int i = 0; i < n; i++) {
		char *dir = t->overlay.lower.v[i] = make_dir(b, "layer", i);

		put(b, dir, arena_printf(b->a, "i%d", i), "x");
		put(b, dir, "all", arena_printf(b->a, "%d", i));
		if (i == n - 1)
			put(b, dir, "deep", "deepest");
	}
	if (upper) {
		t->overlay.upper = t->upper = make_dir(b, "upper", 0);
		t->overlay.work = make_dir(b, "work", 0);
	}
	b->options.overlay = &t->overlay;
	b->options.root_attr = MOUNT_ATTR_NODEV;
	b->spec.root->readonly = (struct opt_bool){true, !upper};
	b->data = t;
}

static void expect(struct box *b, int have, int want)
{
	if (have != want)
		printf("# %s: step %s: %s\n", box_mode_name(b->mode),
		       b->failed_step ? b->failed_step : "-", b->err.msg);
	CHECK_INT(have, want);
}

static const char *text_at(int dir, const char *path)
{
	static char buf[32];
	auto_close int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, buf, sizeof(buf) - 1);

	buf[n > 0 ? n : 0] = '\0';
	return buf;
}

static void check_merged(struct box *b)
{
	(void)b;
	CHECK(exists("/i0") && exists("/i1") && exists("/i63") && exists("/i126"));
	CHECK_STR(text_at(AT_FDCWD, "/all"), "0");
	CHECK_STR(text_at(AT_FDCWD, "/deep"), "deepest");
	CHECK_INT(try_write("/all"), EROFS);
	CHECK_STR(mount_options_of("/"), "ro,nodev,relatime");
}

static void check_written(struct box *b)
{
	(void)b;
	CHECK_INT(try_write("/new"), 0);
	CHECK_INT(try_write("/all"), 0);
	CHECK_INT(unlink("/deep"), 0);
	CHECK(!exists("/deep"));
}

static void check_rewritten(struct box *b)
{
	(void)b;
	CHECK(exists("/new") && !exists("/deep"));
	CHECK_INT(try_write("/newer"), 0);
}

static void each_mode(void (*test)(struct box *b))
{
	for (int mode = 0; mode < BOX_N_MODES; mode++) {
		struct box b;

		if (!box_can(mode))
			continue;
		box_init(&b, mode);
		test(&b);
		box_free(&b);
	}
}

static void many_layers(struct box *b)
{
	struct tree t;

	make_layers(b, &t, LAYERS, false);
	mkdir(arena_printf(b->a, "%s/proc", t.overlay.lower.v[5]), 0755);
	mkdir(arena_printf(b->a, "%s/dev", t.overlay.lower.v[5]), 0755);
	mkdir(arena_printf(b->a, "%s/sys", t.overlay.lower.v[5]), 0755);
	box_default_mounts(b);
	expect(b, box_run(b, check_merged), 0);
}

static void reads_127_layers(void)
{
	each_mode(many_layers);
}

static void writes(struct box *b)
{
	struct tree t;

	make_layers(b, &t, 2, true);
	expect(b, box_run(b, check_written), 0);
	CHECK(exists(arena_printf(b->a, "%s/new", t.upper)));
	CHECK_STR(text_at(AT_FDCWD, arena_printf(b->a, "%s/all", t.overlay.lower.v[0])), "0");
	CHECK(exists(arena_printf(b->a, "%s/deep", t.overlay.lower.v[1])));
	t.overlay.unsynced = true; /* what was left of the first mount is no hindrance */
	expect(b, box_run(b, check_rewritten), 0);
}

static void writes_go_to_the_upper_directory(void)
{
	each_mode(writes);
}

/* A layer says that its directory "in" is really /secret of a lower one. */
static void check_hostile(struct box *b)
{
	(void)b;
	CHECK(!exists("/in/key"));
	CHECK_STR(text_at(AT_FDCWD, "/link/x"), ""); /* leads to /outside of the container */
	CHECK(exists("/out/made"));
}

static void hostile(struct box *b)
{
	struct tree t;
	const char *top, *low;
	const char *name = b->mode == BOX_USER ? "user.overlay.redirect" : "trusted.overlay.redirect";

	make_layers(b, &t, 3, true);
	top = t.overlay.lower.v[0];
	low = t.overlay.lower.v[2];
	CHECK_INT(mkdir(arena_printf(b->a, "%s/in", top), 0755), 0);
	CHECK_INT(mkdir(arena_printf(b->a, "%s/secret", low), 0755), 0);
	put(b, arena_printf(b->a, "%s/secret", low), "key", "k");
	if (setxattr(arena_printf(b->a, "%s/in", top), name, "/secret", 7, 0) < 0)
		CHECK_INT(errno, EOPNOTSUPP); /* user.* on a tmpfs before Linux 6.6 */
	put(b, b->outside, "x", "outside");
	CHECK_INT(symlink(b->outside, arena_printf(b->a, "%s/link", top)), 0);
	CHECK_INT(symlink("/out", arena_printf(b->a, "%s/target", top)), 0);
	CHECK_INT(mkdir(arena_printf(b->a, "%s/out", low), 0755), 0);
	box_mount(b, "/target/made", "tmpfs", "tmpfs", "size=4k");
	expect(b, box_run(b, check_hostile), 0);
}

static void layers_are_not_believed(void)
{
	each_mode(hostile);
}

static void both_ways(int (*by)(struct rootfs_plan *p, struct err *e))
{
	struct box b;
	struct tree t;
	struct rootfs_plan p = {.user_ns = true, .sources_by_parent = true};
	struct err e = {0};
	char before[256], after[256];
	auto_close int fd = -1;

	box_init(&b, BOX_ROOT);
	make_layers(&b, &t, LAYERS, false);
	CHECK_INT(mknod(arena_printf(b.a, "%s/deep", t.overlay.lower.v[0]), S_IFCHR, makedev(0, 0)), 0);
	p.overlay = &t.overlay;
	CHECK(getcwd(before, sizeof(before)) != NULL);
	fd = by(&p, &e);
	if (fd < 0)
		printf("# %s\n", e.msg);
	CHECK(fd >= 0);
	CHECK(getcwd(after, sizeof(after)) != NULL);
	CHECK_STR(after, before);
	CHECK_STR(text_at(fd, "all"), "0");
	CHECK_STR(text_at(fd, "i126"), "x");
	CHECK_INT(faccessat(fd, "deep", F_OK, AT_SYMLINK_NOFOLLOW), -1);
	cleanup_close(&fd);
	box_free(&b);
}

static int by_context(struct rootfs_plan *p, struct err *e)
{
	return overlay_open_by_context(p, e);
}

static void the_parent_has_two_ways(void)
{
	if (!box_can(BOX_ROOT))
		return;
	both_ways(overlay_open); /* whichever this kernel has */
	both_ways(overlay_open_by_child);
	if (overlay_open_by_context(&(struct rootfs_plan){.overlay = &(struct rootfs_overlay){.lower = {
		(char *[]){"/proc", "/sys"}, 2}}}, &(struct err){0}) != -EINVAL)
		both_ways(by_context);
}

static void a_missing_layer_is_named(void)
{
	struct box b;
	struct tree t;

	if (!box_can(BOX_ROOT))
		return;
	box_init(&b, BOX_ROOT);
	make_layers(&b, &t, 2, false);
	t.overlay.lower.v[1] = arena_printf(b.a, "%s/none", b.dir);
	CHECK_INT(box_run(&b, NULL), 2);
	CHECK(strstr(b.err.msg, "/none") != NULL);
	box_free(&b);
}

TEST_MAIN(TEST(reads_127_layers), TEST(writes_go_to_the_upper_directory), TEST(layers_are_not_believed),
	  TEST(the_parent_has_two_ways), TEST(a_missing_layer_is_named))

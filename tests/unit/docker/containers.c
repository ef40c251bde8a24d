/* SPDX-License-Identifier: Apache-2.0 */
/* Users of an image, files in its layers, names, the keys to leave a terminal. */
#include "tests/unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/str.h"
#include "docker/attach.h"
#include "docker/layers.h"
#include "docker/remove.h"
#include "docker/store.h"
#include "docker/user.h"

static struct arena *arena;

static void set_up(void)
{
	arena = arena_new();
}

/* ---- users ---- */

static const struct dk_accounts accounts = {
	.passwd = "root:x:0:0:root:/root:/bin/sh\nbad:x:abc:1::/:/bin/sh\n\n:::\nshort:x:7\n"
		  "user:x:1000:1001::/home/user:/bin/sh\n42:x:9:9::/:/bin/sh\nbig:x:4294967296:0::/:",
	.group = "root:x:0:\nwheel:x:10:user,other\nusers:x:100:otheruser,user2\nlast:x:77:x,user\nodd:x::user",
};

static void check_user(const char *want, uint32_t uid, uint32_t gid, const char *groups)
{
	auto_strbuf struct strbuf b = {0};
	struct dk_user_want w = {.user = want};
	struct oci_user u = {0};
	struct err e = {0};

	CHECK_INT(dk_user_find(arena, &accounts, &w, &u, &e), 0);
	CHECK_INT(u.uid, uid);
	CHECK_INT(u.gid, gid);
	for (size_t i = 0; i < u.additional_gids.n; i++)
		strbuf_printf(&b, "%s%u", i ? "," : "", u.additional_gids.v[i]);
	CHECK_STR(strbuf_str(&b), groups);
}

static void check_no_user(const char *want, const char *message)
{
	struct dk_user_want w = {.user = want};
	struct oci_user u;
	struct err e = {0};

	CHECK(dk_user_find(arena, &accounts, &w, &u, &e) < 0);
	CHECK_STR(e.msg, message);
}

static void users(void)
{
	check_user(NULL, 0, 0, "");
	check_user("", 0, 0, "");
	check_user("user", 1000, 1001, "10,77");
	check_user("1000", 1000, 1001, "10,77");
	check_user("user:wheel", 1000, 10, "");
	check_user("1234", 1234, 0, "");
	check_user("1234:55", 1234, 55, "");
	check_user("42", 9, 9, ""); /* a name, although it looks like a number */
	check_user(":wheel", 0, 10, "");
	check_no_user("bad", "unable to find user bad: no matching entries in passwd file");
	check_no_user("big", "unable to find user big: no matching entries in passwd file");
	check_no_user("user:nosuch", "unable to find group nosuch: no matching entries in group file");
	check_no_user("-1", "uids and gids must be in range 0-2147483647");
	check_no_user("4294967296", "uids and gids must be in range 0-2147483647");
	check_no_user("0:4294967295", "uids and gids must be in range 0-2147483647");
}

static void users_without_files(void)
{
	const struct dk_accounts none = {NULL, NULL};
	struct dk_user_want w = {.user = "7:8"};
	struct oci_user u = {0};
	struct err e = {0};

	CHECK_INT(dk_user_find(arena, &none, &w, &u, &e), 0);
	CHECK(u.uid == 7 && u.gid == 8);
	w.user = "root";
	CHECK(dk_user_find(arena, &none, &w, &u, &e) < 0);
}

/* ---- layers ---- */

static char dir[] = "/tmp/brig-layers-XXXXXX";

static void put(const char *path, const char *text)
{
	char *full = arena_printf(arena, "%s/%s", dir, path);
	FILE *f;

	for (char *p = full + strlen(dir) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(full, 0755);
		*p = '/';
	}
	f = fopen(full, "w");
	CHECK(f != NULL);
	if (f) {
		fputs(text, f);
		fclose(f);
	}
}

static const char *look(const char *path)
{
	struct strv l = {.v = arena_array(arena, 3, sizeof(char *)), .n = 2};

	l.v[0] = arena_printf(arena, "%s/top", dir);
	l.v[1] = arena_printf(arena, "%s/low", dir);
	return dk_layers_read(arena, &l, path, 100);
}

static void layers(void)
{
	struct err e = {0};

	CHECK(mkdtemp(dir) != NULL);
	put("secret", "outside");
	put("low/etc/passwd", "low");
	put("low/etc/only-low", "low");
	put("low/hidden/file", "low");
	put("low/big", "0123456789012345678901234567890123456789012345678901234567890123456789"
		       "0123456789012345678901234567890123456789");
	put("top/etc/passwd", "top");
	put("top/hidden", "a file in the way");
	CHECK_STR(look("etc/passwd"), "top");
	CHECK_STR(look("etc/only-low"), "low");
	CHECK(look("etc/nosuch") == NULL && look("hidden/file") == NULL && look("etc") == NULL && look("big") == NULL);
	/* Links are the container's: absolute ones begin at its root, and none leads out. */
	CHECK_INT(symlink("/etc/passwd", arena_printf(arena, "%s/top/absolute", dir)), 0);
	CHECK_INT(symlink("etc", arena_printf(arena, "%s/low/relative", dir)), 0);
	CHECK_INT(symlink("../../../secret", arena_printf(arena, "%s/top/etc/out", dir)), 0);
	CHECK_INT(symlink(arena_printf(arena, "%s/secret", dir), arena_printf(arena, "%s/top/etc/out2", dir)), 0);
	CHECK_INT(symlink("loop", arena_printf(arena, "%s/top/loop", dir)), 0);
	CHECK_STR(look("absolute"), "top");
	CHECK_STR(look("relative/only-low"), "low");
	CHECK(look("etc/out") == NULL && look("etc/out2") == NULL && look("loop") == NULL);
	CHECK_INT(mkfifo(arena_printf(arena, "%s/top/etc/fifo", dir), 0644), 0);
	CHECK(look("etc/fifo") == NULL); /* and it does not wait */
	if (mknod(arena_printf(arena, "%s/top/etc/only-low", dir), S_IFCHR, makedev(0, 0)) == 0)
		CHECK(look("etc/only-low") == NULL);
	CHECK_INT(dk_remove_tree(AT_FDCWD, dir, &e), 0);
}

static void removes_deep_trees(void)
{
	char top[] = "/tmp/brig-deep-XXXXXX";
	struct err e = {0};
	int fd;

	CHECK(mkdtemp(top) != NULL);
	fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < 2000 && fd >= 0; i++) {
		int next;

		CHECK_INT(mkdirat(fd, "d", 0755), 0);
		CHECK_INT(symlinkat("/etc", fd, "link"), 0);
		next = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		/* not before it is filled; where it is moved up, who is not root needs brig-image for it */
		if (i % 7 == 1 && (geteuid() == 0 || i < 40))
			fchmod(fd, 0);
		close(fd);
		fd = next;
	}
	close(fd);
	for (int i = 0; i < 20; i++) { /* left by one that was killed, wherever in the order of names */
		CHECK_INT(mkdir(arena_printf(arena, "%s/.brig-remove-%d", top, i), 0755), 0);
		CHECK_INT(mkdir(arena_printf(arena, "%s/.brig-remove-%d/x", top, i), 0755), 0);
	}
	CHECK_INT(dk_remove_tree(AT_FDCWD, top, &e), 0);
	CHECK(access(top, F_OK) < 0 && access("/etc/passwd", F_OK) == 0);
	CHECK_INT(dk_remove_tree(AT_FDCWD, top, &e), 0); /* gone already */
}

/* ---- names, keys ---- */

static void names(void)
{
	CHECK(dk_valid_name("ab") && dk_valid_name("a.b_c-9"));
	CHECK(!dk_valid_name("a") && !dk_valid_name("") && !dk_valid_name("-ab") && !dk_valid_name("a/b") &&
	      !dk_valid_name("a b") && !dk_valid_name(".."));
}

static const char *typed(const struct dk_keys *k, size_t *held, const char *text, bool *left)
{
	auto_strbuf struct strbuf b = {0};

	*left = dk_keys_type(k, held, (struct dk_bytes){(const unsigned char *)text, strlen(text)}, &b);
	return arena_strdup(arena, strbuf_str(&b));
}

static void keys(void)
{
	struct dk_context c = {.arena = arena};
	struct dk_keys k;
	struct err e = {0};
	size_t held = 0;
	bool left;

	CHECK_INT(dk_parse_keys(&c, NULL, &k, &e), 0);
	CHECK(k.n == 2 && k.v[0] == 16 && k.v[1] == 17);
	CHECK_STR(typed(&k, &held, "a\x10", &left), "a");
	CHECK(!left);
	CHECK_STR(typed(&k, &held, "b", &left), "\x10" "b"); /* it was input after all */
	CHECK_STR(typed(&k, &held, "\x10\x10", &left), "\x10");
	CHECK_STR(typed(&k, &held, "\x11", &left), "");
	CHECK(left);
	CHECK_INT(dk_parse_keys(&c, "ctrl-@,a,ctrl-_", &k, &e), 0);
	CHECK(k.n == 3 && k.v[0] == 0 && k.v[1] == 'a' && k.v[2] == 31);
	CHECK(dk_parse_keys(&c, "ctrl-A", &k, &e) < 0);
	CHECK(dk_parse_keys(&c, "abc", &k, &e) < 0);
}

static void tear_down(void)
{
	arena_free(arena);
}

TEST_MAIN(TEST(set_up), TEST(users), TEST(users_without_files), TEST(layers), TEST(removes_deep_trees),
	  TEST(names), TEST(keys), TEST(tear_down))

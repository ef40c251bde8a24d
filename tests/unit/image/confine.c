/* SPDX-License-Identifier: Apache-2.0 */
/* What Landlock does not see: a shut-in process changes no mode outside of its directories, by no path. */
#include "image/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "image/userns.h"
#include "tests/unit/test.h"

static char root[] = "/tmp/unit-image-confine-XXXXXX";

static const char *below(const char *name)
{
	static char path[2][200];
	static int turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", root, name);
	return path[turn];
}

enum { NOT_CONFINED = 99, NO_NAMESPACE = 98, BY_PATH = 1, BY_PARENT = 2, BY_SECOND = 4, NOT_INSIDE = 8 };

/* As root, or as root of a user namespace; the exit code says by which ways it got out. */
static int attack(void)
{
	struct err e = {0};
	int dirs[2], out = 0;

	if (img_enter_userns(&e) < 0 || geteuid() != 0)
		return NO_NAMESPACE;
	dirs[0] = open(below("one"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dirs[1] = open(below("two"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dirs[0] < 0 || dirs[1] < 0 || img_confine(dirs, 2, &e) < 0) {
		printf("# %s\n", e.msg);
		return NOT_CONFINED;
	}
	out |= fchmodat(AT_FDCWD, below("outside"), 0644, 0) == 0 ? BY_PATH : 0;
	out |= fchmodat(dirs[0], "../outside", 0644, 0) == 0 ? BY_PARENT : 0;
	out |= fchmodat(dirs[1], "../outside", 0644, 0) == 0 ? BY_SECOND : 0;
	out |= fchmodat(dirs[0], "file", 0640, 0) < 0 || fchmodat(dirs[1], "file", 0640, 0) < 0 ? NOT_INSIDE : 0;
	return out;
}

static void make_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	CHECK(fd >= 0);
	close(fd);
}

static void test_no_mode_outside(void)
{
	int status = -1;
	struct stat st;
	pid_t pid;

	CHECK(mkdtemp(root) != NULL);
	CHECK_INT(mkdir(below("one"), 0755), 0);
	CHECK_INT(mkdir(below("two"), 0755), 0);
	make_file(below("outside"));
	make_file(below("one/file"));
	make_file(below("two/file"));
	fflush(stdout);
	pid = fork();
	/* Not _exit: the sanitizer would make calls that are refused now. */
	if (pid == 0)
		syscall(SYS_exit_group, attack());
	CHECK_INT(waitpid(pid, &status, 0), pid);
	if (WEXITSTATUS(status) != NO_NAMESPACE) {
		CHECK_INT(status, 0);
		CHECK_INT(stat(below("one/file"), &st), 0);
		CHECK_INT(st.st_mode & 07777, 0640);
		CHECK_INT(stat(below("outside"), &st), 0);
		CHECK_INT(st.st_mode & 07777, 0600);
	}
	unlink(below("outside"));
	unlink(below("one/file"));
	unlink(below("two/file"));
	rmdir(below("one"));
	rmdir(below("two"));
	rmdir(root);
}

TEST_MAIN(TEST(test_no_mode_outside))

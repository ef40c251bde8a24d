/* SPDX-License-Identifier: Apache-2.0 */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/test.h"

enum { CAP = 10000, BEFORE = 3 };

static const char *text(void)
{
	static char t[3 * CAP];

	for (size_t i = 0; i < sizeof(t); i++)
		t[i] = (char)('a' + i % 23);
	return t;
}

static int file_of(size_t n)
{
	char path[] = "/tmp/brig-io.XXXXXX";
	int fd = mkstemp(path);

	CHECK(fd >= 0 && unlink(path) == 0);
	CHECK_INT(write(fd, text(), n), n);
	CHECK_INT(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static int pipe_of(size_t n)
{
	int p[2];

	CHECK_INT(pipe(p), 0);
	CHECK_INT(write(p[1], text(), n), n);
	close(p[1]);
	return p[0];
}

static void check_read(int fd, size_t n, size_t room)
{
	auto_strbuf struct strbuf b = {0};
	struct err e = {0};

	strbuf_add(&b, "old", BEFORE);
	if (room)
		strbuf_reserve(&b, room);
	CHECK_INT(io_read_fd(fd, CAP, &b, "it", &e), n > CAP ? -EFBIG : 0);
	close(fd);
	CHECK(memcmp(b.p, "old", BEFORE) == 0);
	if (n > CAP)
		return;
	CHECK_INT(b.len, n + BEFORE);
	CHECK_INT(b.p[b.len], 0);
	CHECK(memcmp(b.p + BEFORE, text(), n) == 0);
}

/* Around what the buffer has room for, and the limit; with as much room as there is, as for a file.
 */
static void files_are_read_to_their_end_and_no_limit_is_passed(void)
{
	static const size_t sizes[] = {0,    1,    3996, 3997,    4000, 4092,    4093,
				       4096, 8191, 8192, CAP - 1, CAP,  CAP + 1, 3 * CAP};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		check_read(file_of(sizes[i]), sizes[i], 0);
		check_read(file_of(sizes[i]), sizes[i], sizes[i]);
		check_read(pipe_of(sizes[i]), sizes[i], 0);
	}
}

static void the_size_that_a_file_says_is_not_believed(void)
{
	auto_strbuf struct strbuf b = {0};
	struct err e = {0};

	CHECK_INT(io_read_file(AT_FDCWD, "/proc/self/status", CAP, &b, &e), 0);
	CHECK(b.len > 100 && strncmp(b.p, "Name:", 5) == 0);
	CHECK_INT(io_read_file(AT_FDCWD, "/proc/self/status", 100, &b, &e), -EFBIG);
	CHECK_INT(io_read_file(AT_FDCWD, "/dev/zero", CAP, &b, &e), -EINVAL);
}

static void nothing_read_is_an_empty_string(void)
{
	auto_strbuf struct strbuf b = {0};
	struct err e = {0};
	int fd = file_of(0);

	CHECK_INT(io_read_fd(fd, CAP, &b, "it", &e), 0);
	CHECK_STR(strbuf_str(&b), "");
	CHECK_INT(b.len, 0);
	close(fd);
}

TEST_MAIN(TEST(files_are_read_to_their_end_and_no_limit_is_passed),
	  TEST(the_size_that_a_file_says_is_not_believed), TEST(nothing_read_is_an_empty_string))

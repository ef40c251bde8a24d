/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <errno.h>

#include "tests/unit/test.h"

static void words_do_not_depend_on_the_libc(void)
{
	CHECK_STR(err_name(ENOENT), "No such file or directory");
	CHECK_STR(err_name(EBUSY), "Device or resource busy");
	CHECK_STR(err_name(ELOOP), "Too many levels of symbolic links");
	CHECK_STR(err_name(EOPNOTSUPP), "Operation not supported");
	CHECK_STR(err_name(EHWPOISON), "Memory page has hardware error");
}

static void numbers_that_are_none(void)
{
	CHECK_STR(err_name(-1), "unknown error");
	CHECK_STR(err_name(41), "unknown error"); /* a hole in the table */
	CHECK_STR(err_name(1000000), "unknown error");
}

static void the_errno_comes_behind_the_step(void)
{
	struct err e;

	errno = EROFS;
	CHECK_INT(err_sys(&e, "open %s", "x"), -EROFS);
	CHECK_STR(e.msg, "open x: Read-only file system");
	CHECK_INT(err_wrap(&e, "state"), -EROFS);
	CHECK_STR(e.msg, "state: open x: Read-only file system");
}

TEST_MAIN(TEST(words_do_not_depend_on_the_libc), TEST(numbers_that_are_none),
	  TEST(the_errno_comes_behind_the_step))

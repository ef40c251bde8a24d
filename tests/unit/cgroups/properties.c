/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of systemd from annotations: the bytes that are sent, and what is refused. */
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "cgroups/internal.h"
#include "tests/unit/test.h"

#define P "org.systemd.property."

static int put(struct strbuf *b, const char *name, const char *value)
{
	struct str_pair pair = {(char *)name, (char *)value};
	const struct str_map map = {&pair, 1};
	struct err e = {0};

	b->len = 0;
	return cg_put_properties(b, &map, &e);
}

/* In front of the value: length and text of the name "Abcdefg" with its NUL (12 bytes), then the
 * signature. */
static bool sends(const char *value, const char *bytes, size_t n)
{
	struct strbuf b = {0};
	bool same = put(&b, P "Abcdefg", value) == 0 && b.len == 12 + n &&
		    memcmp(b.p, "\7\0\0\0Abcdefg", 12) == 0 && memcmp(b.p + 12, bytes, n) == 0;

	strbuf_free(&b);
	return same;
}
#define SENDS(value, bytes) CHECK(sends(value, bytes, sizeof(bytes) - 1))

static void bytes_of_each_type(void)
{
	SENDS("'x'", "\1s\0\0\1\0\0\0x\0");
	SENDS("true", "\1b\0\0\1\0\0\0");
	SENDS("false", "\1b\0\0\0\0\0\0");
	SENDS("5", "\1i\0\0\5\0\0\0");
	SENDS("-1", "\1i\0\0\377\377\377\377");
	SENDS("uint32 7", "\1u\0\0\7\0\0\0");
	SENDS("byte 7", "\1y\0\7");
	SENDS("int16 -2", "\1n\0\0\376\377");
	SENDS("uint64 18446744073709551615", "\1t\0\0\377\377\377\377\377\377\377\377");
	SENDS("int64 -9223372036854775808", "\1x\0\0\0\0\0\0\0\0\0\200");
	SENDS("['a', \"b\"]", "\2as\0\16\0\0\0\1\0\0\0a\0\0\0\1\0\0\0b\0");
	SENDS("@as []", "\2as\0\0\0\0\0");
}

static void seconds_are_microseconds(void)
{
	struct strbuf b = {0};

	CHECK_INT(put(&b, P "TimeoutStopSec", "1.5"), 0);
	CHECK(b.len == 32 && !memcmp(b.p + 4, "TimeoutStopUSec\0\1t\0\0\0\0\0\0", 19) &&
	      !memcmp(b.p + 24, "\x60\xe3\x16\0\0\0\0\0", 8));
	CHECK_INT(put(&b, P "TimeoutStopSec", "'1'"), -EINVAL);
	CHECK_INT(put(&b, P "TimeoutStopSec", "-1"), -EINVAL);
	strbuf_free(&b);
}

static void what_is_no_value_is_refused(void)
{
	static const char *const bad[] = {
		"", "x", "'x", "'x' y", "tru", "truex", "5x", "2147483648", "-2147483649", "byte 256",
		"uint32 -1", "uint64 18446744073709551616", "['a'", "['a' 'b']", "[1]", "1.2.3", "-",
		"uint64", "'\\n'", "'\\", ".", "@as 5 6", "1.-5", NULL,
	};
	struct strbuf b = {0};

	for (size_t i = 0; bad[i]; i++) {
		CHECK_INT(put(&b, P "Abc", bad[i]), -EINVAL);
		CHECK_INT(b.len, 0);
	}
	strbuf_free(&b);
}

static void names(void)
{
	struct strbuf b = {0};

	CHECK_INT(put(&b, P "Ab", "1"), -EINVAL);
	CHECK_INT(put(&b, P "A-bc", "1"), -EINVAL);
	CHECK_INT(put(&b, P "PIDs", "1"), -EINVAL);
	CHECK_INT(put(&b, P "Slice", "'a.slice'"), -EINVAL);
	CHECK_INT(put(&b, P "Delegate", "false"), -EINVAL);
	CHECK_INT(put(&b, "org.systemd.other", "?"), 0);
	CHECK_INT(b.len, 0);
	strbuf_free(&b);
}

/* ---- limits ---- */

static int put_limit(struct strbuf *b, const char *file, const char *value)
{
	struct cg_setting setting = {.file = file, .value = value, .origin = "linux.resources.x"};
	const struct cg_plan p = {.settings = {&setting, 1}};
	struct err e = {0};

	b->len = 0;
	return cg_put_limits(b, &p, &e);
}

/* Name, signature and value, with their padding. */
static bool limit_sends(const char *file, const char *value, const char *bytes, size_t n)
{
	struct strbuf b = {0};
	bool same = put_limit(&b, file, value) == 0 && b.len == n && (n == 0 || memcmp(b.p, bytes, n) == 0);

	strbuf_free(&b);
	return same;
}
#define LIMIT(file, value, bytes) CHECK(limit_sends(file, value, bytes, sizeof(bytes) - 1))

static void sets_of_processors_and_nodes(void)
{
	struct strbuf b = {0};

	LIMIT("cpuset.cpus", "0", "\13\0\0\0AllowedCPUs\0\2ay\0\1\0\0\0\1");
	LIMIT("cpuset.cpus", "0-3,8", "\13\0\0\0AllowedCPUs\0\2ay\0\2\0\0\0\17\1");
	LIMIT("cpuset.cpus", "", "\13\0\0\0AllowedCPUs\0\2ay\0\0\0\0\0");
	LIMIT("cpuset.mems", "1", "\22\0\0\0AllowedMemoryNodes\0\2ay\0\0\1\0\0\0\2");
	CHECK_INT(put_limit(&b, "cpuset.cpus", "3-1"), -EINVAL);
	CHECK_INT(put_limit(&b, "cpuset.cpus", "8192"), -EINVAL);
	CHECK_INT(put_limit(&b, "cpuset.cpus", "1;2"), -EINVAL);
	strbuf_free(&b);
}

static void io_limits(void)
{
	struct strbuf b = {0};

	LIMIT("io.weight", "250", "\10\0\0\0IOWeight\0\1t\0" "\372\0\0\0\0\0\0\0");
	LIMIT("io.weight", "default 250", "\10\0\0\0IOWeight\0\1t\0" "\372\0\0\0\0\0\0\0");
	LIMIT("io.weight", "8:0 250", "\16\0\0\0IODeviceWeight\0\5a(st)\0\0\0"
	      "\40\0\0\0\16\0\0\0/dev/block/8:0\0\0\0\0\0\0" "\372\0\0\0\0\0\0\0");
	LIMIT("io.max", "8:0 wbps=4096", "\23\0\0\0IOWriteBandwidthMax\0\5a(st)\0\0"
	      "\40\0\0\0\0\0\0\0\16\0\0\0/dev/block/8:0\0\0\0\0\0\0" "\0\20\0\0\0\0\0\0");
	LIMIT("io.max", "8:0 riops=max", "\15\0\0\0IOReadIOPSMax\0\5a(st)\0\0\0\0"
	      "\40\0\0\0\16\0\0\0/dev/block/8:0\0\0\0\0\0\0" "\377\377\377\377\377\377\377\377");
	CHECK_INT(put_limit(&b, "io.weight", "0"), -EINVAL);
	CHECK_INT(put_limit(&b, "io.weight", "10001"), -EINVAL);
	CHECK_INT(put_limit(&b, "io.max", "8:0 rbps=-1"), -EINVAL);
	CHECK_INT(put_limit(&b, "io.max", "8:0 latency=1"), -EINVAL);
	/* What systemd does not know is in the leaf only. */
	LIMIT("hugetlb.2MB.max", "4096", "");
	strbuf_free(&b);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(bytes_of_each_type),
		TEST(seconds_are_microseconds),
		TEST(what_is_no_value_is_refused),
		TEST(names),
		TEST(sets_of_processors_and_nodes),
		TEST(io_limits),
	};

	return test_run(tests, sizeof(tests) / sizeof(tests[0]));
}

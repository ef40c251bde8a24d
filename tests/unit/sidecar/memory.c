/* SPDX-License-Identifier: Apache-2.0 */
/* What brigd keeps: records of executions, lines that are not complete. */
#include <errno.h>
#include <stdio.h>

#include "sidecar/lines.h"
#include "sidecar/records.h"
#include "tests/unit/test.h"

static struct record *add(const char *id, int want)
{
	int code = 0;
	struct record *r = records_add(id, &code);

	CHECK_INT(r ? 0 : code, want);
	return r;
}

static void end(struct record *r, int returncode)
{
	r->status = returncode ? RECORD_FAILED : RECORD_COMPLETED;
	r->has_returncode = true;
	r->returncode = returncode;
	r->duration = 1.5;
	records_end(r);
}

/* The table is made for 3072 ids by the first test, and full in the end. */
static void ids_are_used_once(void)
{
	struct record *r = add("a", 0), old;

	add("a", -EEXIST);
	CHECK(records_find("a") == r);
	CHECK(!records_find("b") && !records_find_old("b", &old));
	records_withdraw(r);
	CHECK(!records_find("a") && !records_find_old("a", &old));
	r = add("a", 0);
	strbuf_adds(&r->out, "text");
	end(r, -11);
	add("a", -EEXIST);
	CHECK(records_find("a") == r);
	CHECK_STR(r->out.p, "text");
}

static void the_last_ones_keep_their_output(void)
{
	struct record old;
	char id[16];

	for (int i = 0; i < RECORDS_WITH_OUTPUT; i++) {
		snprintf(id, sizeof(id), "n%d", i);
		end(add(id, 0), i % 2);
	}
	CHECK(!records_find("a"));
	CHECK(records_find_old("a", &old));
	CHECK_INT(old.status, RECORD_FAILED);
	CHECK_INT(old.returncode, -11);
	CHECK(old.has_returncode && old.stdout_cut && old.stderr_cut && old.duration == 1.5);
	add("a", -EEXIST);
	CHECK(records_find("n0"));
}

static void a_full_table_takes_no_more(void)
{
	int code = 0, n = 1 + RECORDS_WITH_OUTPUT;
	struct record *r, old;
	char id[16];

	for (;; n++) {
		snprintf(id, sizeof(id), "m%d", n);
		r = records_add(id, &code);
		if (!r)
			break;
		end(r, 0);
	}
	CHECK_INT(code, -ENOSPC);
	CHECK_INT(n, 3000);
	for (int i = 0; i < RECORDS_WITH_OUTPUT; i++) {
		snprintf(id, sizeof(id), "n%d", i);
		CHECK(records_find_old(id, &old) && old.returncode == i % 2);
		add(id, -EEXIST);
	}
}

static struct strbuf seen;

static void line(void *arg, const char *text, size_t n)
{
	(void)arg;
	strbuf_add(&seen, text, n);
	strbuf_addc(&seen, '|');
}

static void lines(void)
{
	struct lines l = {.line = line};

	lines_add(&l, "a", 1);
	CHECK_INT(seen.len, 0);
	lines_add(&l, "b\nc\n\nd", 6);
	CHECK_STR(seen.p, "ab\n|c\n|\n|");
	lines_add(&l, "\xe2\x82", 2);
	lines_add(&l, "\xac\n\xff\n\xe2\x82", 6);
	lines_end(&l);
	CHECK_STR(seen.p, "ab\n|c\n|\n|d\xe2\x82\xac\n|\xef\xbf\xbd\n|\xef\xbf\xbd|");
	strbuf_free(&seen);
}

/* Not in the middle of a character, and nothing is lost. */
static void long_lines_come_in_parts(void)
{
	struct lines l = {.line = line};
	size_t bars = 0;

	for (int i = 0; i < 100000; i++)
		lines_add(&l, "\xe2\x82\xac", 3);
	CHECK(seen.len > 200000);
	lines_end(&l);
	for (size_t i = 0; i < seen.len; i++)
		bars += seen.p[i] == '|';
	CHECK_INT(seen.len - bars, 300000);
	CHECK(bars >= 4 && bars <= 6);
	CHECK(!strstr(seen.p, "\xef\xbf\xbd"));
	strbuf_free(&seen);
}

static void open_table(void)
{
	struct err e;

	CHECK_INT(records_open(3000, &e), 0);
}

TEST_MAIN(TEST(open_table), TEST(ids_are_used_once), TEST(the_last_ones_keep_their_output),
	  TEST(a_full_table_takes_no_more), TEST(lines), TEST(long_lines_come_in_parts))

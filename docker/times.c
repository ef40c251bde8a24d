/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Durations and points in time. Zones are the C library's business (TZ, /etc/localtime of the
 * host); the calendar is computed here, for timegm of some libcs knows no years before 1970.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "docker/units.h"

#define NANO 1000000000LL

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Nanoseconds of the unit at the start of s, 0 when there is none; *n is its length. */
static int64_t duration_unit(const char *s, size_t n)
{
	static const struct { const char *name; int64_t factor; } units[] = {
		{"ns", 1}, {"us", 1000}, {"\302\265s", 1000}, {"\316\274s", 1000}, {"ms", 1000000},
		{"s", NANO}, {"m", 60 * NANO}, {"h", 3600 * NANO},
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strlen(units[i].name) == n && memcmp(units[i].name, s, n) == 0)
			return units[i].factor;
	return 0;
}

/* One "1.5h" of a duration: adds it to *total, returns what is behind; NULL with *e. */
static const char *duration_part(const char *s, const char *all, uint64_t *total, struct err *e)
{
	uint64_t whole = 0, part = 0;
	double fraction = 0, place = 1;
	bool digits = false, overflow = false;
	const char *unit;
	int64_t factor;

	for (; is_digit(*s); s++, digits = true)
		overflow |= __builtin_mul_overflow(whole, 10u, &whole) ||
			    __builtin_add_overflow(whole, (uint64_t)(*s - '0'), &whole);
	if (*s == '.')
		for (s++; is_digit(*s); s++, digits = true)
			fraction += (*s - '0') * (place /= 10);
	for (unit = s; *s && *s != '.' && !is_digit(*s); s++)
		;
	if (!digits || overflow) {
		err_set(e, EINVAL, "time: invalid duration \"%s\"", all);
		return NULL;
	}
	if (s == unit) {
		err_set(e, EINVAL, "time: missing unit in duration \"%s\"", all);
		return NULL;
	}
	factor = duration_unit(unit, (size_t)(s - unit));
	if (!factor) {
		err_set(e, EINVAL, "time: unknown unit \"%.*s\" in duration \"%s\"", (int)(s - unit), unit, all);
		return NULL;
	}
	if (__builtin_mul_overflow(whole, (uint64_t)factor, &part) ||
	    __builtin_add_overflow(part, (uint64_t)(fraction * (double)factor), &part) ||
	    __builtin_add_overflow(*total, part, total) || *total > INT64_MAX) {
		err_set(e, EINVAL, "time: invalid duration \"%s\"", all);
		return NULL;
	}
	return s;
}

int dk_parse_duration(const char *text, int64_t *ret, struct err *e)
{
	bool negative = text[0] == '-';
	const char *s = text + (text[0] == '-' || text[0] == '+');
	uint64_t total = 0;

	if (str_eq(s, "0")) {
		*ret = 0;
		return 0;
	}
	if (!*s)
		return err_set(e, EINVAL, "time: invalid duration \"%s\"", text);
	while (*s) {
		s = duration_part(s, text, &total, e);
		if (!s)
			return -e->code;
	}
	*ret = negative ? -(int64_t)total : (int64_t)total;
	return 0;
}

const char *dk_human_duration(char buf[DK_UNIT_MAX], int64_t seconds)
{
	int64_t minutes = seconds / 60, hours = (seconds + 1800) / 3600;

	if (seconds < 1)
		snprintf(buf, DK_UNIT_MAX, "Less than a second");
	else if (seconds == 1)
		snprintf(buf, DK_UNIT_MAX, "1 second");
	else if (seconds < 60)
		snprintf(buf, DK_UNIT_MAX, "%lld seconds", (long long)seconds);
	else if (minutes == 1)
		snprintf(buf, DK_UNIT_MAX, "About a minute");
	else if (minutes < 60)
		snprintf(buf, DK_UNIT_MAX, "%lld minutes", (long long)minutes);
	else if (hours == 1)
		snprintf(buf, DK_UNIT_MAX, "About an hour");
	else if (hours < 48)
		snprintf(buf, DK_UNIT_MAX, "%lld hours", (long long)hours);
	else if (hours < 24 * 7 * 2)
		snprintf(buf, DK_UNIT_MAX, "%lld days", (long long)hours / 24);
	else if (hours < 24 * 30 * 2)
		snprintf(buf, DK_UNIT_MAX, "%lld weeks", (long long)hours / 24 / 7);
	else if (hours < 24 * 365 * 2)
		snprintf(buf, DK_UNIT_MAX, "%lld months", (long long)hours / 24 / 30);
	else
		snprintf(buf, DK_UNIT_MAX, "%lld years", (long long)(seconds / 3600 / 24 / 365));
	return buf;
}

const char *dk_time_rfc3339(char buf[DK_UNIT_MAX], const struct timespec *t)
{
	struct tm tm;
	char fraction[16] = "";

	if (!t->tv_sec && !t->tv_nsec) {
		snprintf(buf, DK_UNIT_MAX, "0001-01-01T00:00:00Z");
		return buf;
	}
	gmtime_r(&t->tv_sec, &tm);
	if (t->tv_nsec) {
		size_t n = (size_t)snprintf(fraction, sizeof(fraction), ".%09ld", t->tv_nsec);

		while (fraction[n - 1] == '0')
			fraction[--n] = '\0';
	}
	snprintf(buf, DK_UNIT_MAX, "%04d-%02d-%02dT%02d:%02d:%02d%sZ", tm.tm_year + 1900, tm.tm_mon + 1,
		 tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, fraction);
	return buf;
}

const char *dk_time_local(char buf[DK_UNIT_MAX], const struct timespec *t)
{
	struct tm tm;

	localtime_r(&t->tv_sec, &tm);
	if (!strftime(buf, DK_UNIT_MAX, "%Y-%m-%d %H:%M:%S %z %Z", &tm))
		buf[0] = '\0';
	return buf;
}

/* ---- reading ---- */

/* Exactly n digits within [min, max]; advances *s. */
static bool take(const char **s, int n, int min, int max, int *ret)
{
	int v = 0;

	for (int i = 0; i < n; i++) {
		if (!is_digit((*s)[i]))
			return false;
		v = v * 10 + ((*s)[i] - '0');
	}
	*s += n;
	*ret = v;
	return v >= min && v <= max;
}

static int64_t days_of(int year, int month, int day)
{
	int64_t y = year - (month <= 2), era = (y >= 0 ? y : y - 399) / 400, yoe = y - era * 400;
	int64_t doy = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

	return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

static bool take_fraction(const char **s, long *nsec)
{
	long place = NANO;

	if (**s != '.')
		return true;
	if (!is_digit((*s)[1]))
		return false;
	for ((*s)++; is_digit(**s); (*s)++)
		*nsec += (**s - '0') * (place /= 10);
	return true;
}

/* Z, +hh:mm or -hh:mm; nothing is *local. */
static bool take_zone(const char **s, bool *local, int *offset)
{
	int sign, h, m;

	*local = false;
	if (**s == 'Z' || **s == 'z') {
		(*s)++;
		return true;
	}
	if (**s != '+' && **s != '-') {
		*local = true;
		return true;
	}
	sign = **s == '-' ? -1 : 1;
	(*s)++;
	if (!take(s, 2, 0, 23, &h) || **s != ':')
		return false;
	(*s)++;
	if (!take(s, 2, 0, 59, &m))
		return false;
	*offset = sign * (h * 3600 + m * 60);
	return true;
}

static bool take_date(const char **s, struct tm *tm)
{
	static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int days;

	if (!take(s, 4, 0, 9999, &tm->tm_year) || *(*s)++ != '-' || !take(s, 2, 1, 12, &tm->tm_mon) ||
	    *(*s)++ != '-' || !take(s, 2, 1, 31, &tm->tm_mday))
		return false;
	days = lengths[tm->tm_mon - 1];
	if (tm->tm_mon == 2 && tm->tm_year % 4 == 0 && (tm->tm_year % 100 || tm->tm_year % 400 == 0))
		days = 29;
	return tm->tm_mday <= days;
}

/* *parts: how many of hour, minute and second were there. */
static bool take_clock(const char **s, struct tm *tm, int *parts)
{
	*parts = 0;
	if (**s != 'T')
		return true;
	(*s)++;
	if (!take(s, 2, 0, 23, &tm->tm_hour))
		return false;
	*parts = 1;
	if (**s != ':')
		return true;
	(*s)++;
	if (!take(s, 2, 0, 59, &tm->tm_min))
		return false;
	*parts = 2;
	if (**s != ':')
		return true;
	(*s)++;
	*parts = 3;
	return take(s, 2, 0, 59, &tm->tm_sec);
}

static bool read_time(const char *s, bool whole, struct timespec *ret)
{
	struct tm tm = {0};
	bool local;
	int offset = 0, parts;
	long nsec = 0;

	if (!take_date(&s, &tm) || !take_clock(&s, &tm, &parts) || (parts == 3 && !take_fraction(&s, &nsec)) ||
	    !take_zone(&s, &local, &offset) || *s || (whole && (parts < 3 || local)))
		return false;
	ret->tv_nsec = nsec;
	if (local) {
		tm.tm_year -= 1900;
		tm.tm_mon--;
		tm.tm_isdst = -1;
		ret->tv_sec = mktime(&tm);
		return true;
	}
	ret->tv_sec = days_of(tm.tm_year, tm.tm_mon, tm.tm_mday) * 86400 + tm.tm_hour * 3600 +
		      tm.tm_min * 60 + tm.tm_sec - offset;
	return true;
}

int dk_time_parse(const char *text, struct timespec *ret)
{
	if (str_eq(text, "0001-01-01T00:00:00Z")) {
		*ret = (struct timespec){0};
		return 0;
	}
	return read_time(text, true, ret) ? 0 : -EINVAL;
}

/* Seconds since the epoch with an optional fraction. */
static bool read_epoch(const char *s, struct timespec *ret)
{
	int64_t seconds = 0;
	long nsec = 0;
	const char *first = s;

	for (; is_digit(*s); s++)
		if (__builtin_mul_overflow(seconds, 10, &seconds) ||
		    __builtin_add_overflow(seconds, *s - '0', &seconds))
			return false;
	if (s == first || !take_fraction(&s, &nsec) || *s)
		return false;
	*ret = (struct timespec){.tv_sec = seconds, .tv_nsec = nsec};
	return true;
}

int dk_parse_time(const char *text, const struct timespec *now, struct timespec *ret, struct err *e)
{
	struct err ignored = {0};
	int64_t ago;

	if (!str_eq(text, "0") && dk_parse_duration(text, &ago, &ignored) == 0) {
		int64_t t = now->tv_sec - ago / NANO, ns = now->tv_nsec - ago % NANO;

		/* Docker sends whole seconds to its engine. */
		*ret = (struct timespec){.tv_sec = t - (ns < 0) + (ns >= NANO)};
		return 0;
	}
	if (read_time(text, false, ret) || read_epoch(text, ret))
		return 0;
	return err_set(e, EINVAL, "failed to parse value as time or duration: \"%s\"", text);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sizes and CPU counts. Reading follows what Docker's client accepts, character for character: a
 * size is a Go float and a unit, a CPU count one of Go's rational numbers. A float is taken apart
 * here before strtod sees it, for C reads more (blanks, "infinity", a hex float without exponent).
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "docker/units.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* digits [. digits] [e [+-] digits], at least one digit in the mantissa, all of the n bytes. */
static bool is_decimal(const char *s, size_t n)
{
	size_t i = n && (s[0] == '-' || s[0] == '+'), digits = 0;

	for (; i < n && is_digit(s[i]); i++)
		digits++;
	if (i < n && s[i] == '.')
		for (i++; i < n && is_digit(s[i]); i++)
			digits++;
	if (!digits)
		return false;
	if (i < n && (s[i] == 'e' || s[i] == 'E')) {
		size_t first;

		i++;
		i += i < n && (s[i] == '-' || s[i] == '+');
		for (first = i; i < n && is_digit(s[i]); i++)
			;
		return i == n && i > first;
	}
	return i == n;
}

static int parse_decimal(const char *s, size_t n, double *ret, struct err *e)
{
	char text[128];

	if (n >= sizeof(text) || !is_decimal(s, n))
		return err_set(e, EINVAL, "strconv.ParseFloat: parsing \"%.*s\": invalid syntax", (int)n, s);
	memcpy(text, s, n);
	text[n] = '\0';
	*ret = strtod(text, NULL);
	if (!isfinite(*ret))
		return err_set(e, ERANGE, "strconv.ParseFloat: parsing \"%s\": value out of range", text);
	return 0;
}

/* The factor of "k", "mb", "GiB" ...; 0 when it is none. */
static double unit_factor(const char *suffix)
{
	static const char units[] = "bkmgtp";
	const char *unit = strchr(units, tolower((unsigned char)suffix[0]));
	const char *rest = suffix + 1;

	if (!unit || !*unit)
		return 0;
	if (unit == units ? *rest != '\0' : *rest && strcasecmp(rest, "b") != 0 && strcasecmp(rest, "ib") != 0)
		return 0;
	return ldexp(1, 10 * (int)(unit - units));
}

int dk_parse_bytes(const char *text, int64_t *ret, struct err *e)
{
	size_t n = strlen(text), end = n, suffix;
	char lower[4] = "";
	double size = 0;

	/* The number ends with the last of these. */
	while (end && !is_digit(text[end - 1]) && text[end - 1] != '.' && text[end - 1] != ' ')
		end--;
	if (!end)
		return err_set(e, EINVAL, "invalid size: '%s'", text);
	suffix = end;
	if (text[end - 1] == ' ')
		end--;
	if (parse_decimal(text, end, &size, e) < 0)
		return -e->code;
	if (size < 0)
		return err_set(e, EINVAL, "invalid size: '%s'", text);
	if (n - suffix > 3)
		return err_set(e, EINVAL, "invalid suffix: '%s'", text + suffix);
	for (size_t i = suffix; i < n; i++)
		lower[i - suffix] = (char)tolower((unsigned char)text[i]);
	if (n > suffix) {
		double factor = unit_factor(lower);

		if (factor == 0)
			return err_set(e, EINVAL, "invalid suffix: '%s'", lower);
		size *= factor;
	}
	if (size >= 0x1p63)
		return err_set(e, ERANGE, "invalid size: '%s'", text);
	*ret = (int64_t)size;
	return 0;
}

int dk_parse_swap(const char *text, int64_t *ret, struct err *e)
{
	if (str_eq(text, "-1")) {
		*ret = -1;
		return 0;
	}
	return dk_parse_bytes(text, ret, e);
}

/* ---- integers and rationals as Go writes them ---- */

struct number {
	unsigned __int128 v;
	int base;
	int fraction_digits;
	int dropped_zeros; /* at the end, not multiplied into v yet */
	bool overflow;
};

static int digit_value(char c)
{
	if (is_digit(c))
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

static void add_digit(struct number *x, int digit)
{
	if (!digit) {
		x->dropped_zeros++;
		return;
	}
	for (x->dropped_zeros++; x->dropped_zeros; x->dropped_zeros--)
		if (__builtin_mul_overflow(x->v, (unsigned __int128)x->base, &x->v)) {
			x->overflow = true;
			x->dropped_zeros = 0;
			return;
		}
	x->v += (unsigned)digit;
}

/* Skips a base prefix; a bare leading 0 makes an integer octal, not a fraction. */
static const char *skip_prefix(const char *s, bool fraction, struct number *x)
{
	static const char letters[] = "box";
	static const int bases[] = {2, 8, 16};
	const char *p = s[0] == '0' && s[1] ? strchr(letters, tolower((unsigned char)s[1])) : NULL;

	x->base = 10;
	if (p && *p) {
		x->base = bases[p - letters];
		return s + 2;
	}
	if (s[0] == '0' && !fraction && (is_digit(s[1]) || s[1] == '_')) {
		x->base = 8;
		return s + 1;
	}
	return s;
}

/*
 * An unsigned number with an optional base prefix, `_` between digits (and behind a prefix), and
 * for fraction one point. Returns the first byte behind it; NULL when there is no digit.
 */
static const char *scan_number(const char *s, bool fraction, struct number *x)
{
	const char *p = skip_prefix(s, fraction, x);
	bool digit_before = p != s, point = false;
	size_t digits = p == s + 1; /* the 0 of an octal number is one */

	for (;; p++) {
		if (*p == '_') {
			if (!digit_before || digit_value(p[1]) >= x->base)
				return NULL;
			digit_before = false;
		} else if (*p == '.' && fraction && !point) {
			if (p > s && p[-1] == '_')
				return NULL;
			point = true;
			digit_before = false;
		} else if (digit_value(*p) < x->base) {
			add_digit(x, digit_value(*p));
			x->fraction_digits += point;
			digit_before = true;
			digits++;
		} else {
			break;
		}
	}
	return digits ? p : NULL;
}

/* v * base^exponent where that is a whole number below 2^63; else false. */
static bool scale(unsigned __int128 *v, int base, int64_t exponent)
{
	if (!*v)
		return true;
	for (; exponent > 0; exponent--)
		if (__builtin_mul_overflow(*v, (unsigned __int128)base, v))
			return false;
	for (; exponent < 0; exponent++) {
		if (*v % (unsigned)base)
			return false;
		*v /= (unsigned)base;
	}
	return true;
}

static int not_rational(const char *text, struct err *e)
{
	return err_set(e, EINVAL, "failed to parse %s as a rational number", text);
}

/* The exponent behind a mantissa: 'e' to base 10, 'p' to base 2. NULL when malformed. */
static const char *scan_exponent(const char *p, int64_t *exponent, int *base)
{
	bool negative;
	size_t digits = 0;

	*exponent = 0;
	*base = 10;
	if (*p != 'e' && *p != 'E' && *p != 'p' && *p != 'P')
		return p;
	*base = *p == 'p' || *p == 'P' ? 2 : 10;
	p++;
	negative = *p == '-';
	p += *p == '-' || *p == '+';
	for (; is_digit(*p); p++, digits++)
		if (*exponent < 100000)
			*exponent = *exponent * 10 + (*p - '0');
	if (negative)
		*exponent = -*exponent;
	return digits ? p : NULL;
}

/* *nano = numerator / denominator * 10^9, exactly. */
static int fraction_cpus(const char *text, const char *s, unsigned __int128 *nano, struct err *e)
{
	struct number a = {0}, b = {0};
	const char *p = scan_number(s, false, &a);

	if (!p || *p != '/')
		return not_rational(text, e);
	p = scan_number(p + 1, false, &b);
	if (!p || *p || !b.v || a.overflow || b.overflow || !scale(&a.v, a.base, a.dropped_zeros) ||
	    !scale(&b.v, b.base, b.dropped_zeros) || !scale(&a.v, 10, 9))
		return not_rational(text, e);
	if (a.v % b.v)
		return err_set(e, EINVAL, "value is too precise");
	*nano = a.v / b.v;
	return 0;
}

static int decimal_cpus(const char *text, const char *s, unsigned __int128 *nano, struct err *e)
{
	struct number a = {0};
	int64_t exponent, digits;
	int base;
	const char *p = scan_number(s, true, &a);

	if (p)
		p = scan_exponent(p, &exponent, &base);
	if (!p || *p || a.overflow)
		return not_rational(text, e);
	/* The powers of ten first where they multiply, so that nothing is cut off too early. */
	digits = (int64_t)a.dropped_zeros - a.fraction_digits;
	if (a.base == 10 && base == 10) {
		if (!scale(&a.v, 10, digits + exponent + 9))
			return digits + exponent + 9 < 0 ? err_set(e, EINVAL, "value is too precise")
							 : not_rational(text, e);
	} else if (!scale(&a.v, 10, 9 + (base == 10 ? exponent : 0)) ||
		   !scale(&a.v, base == 2 ? 2 : 10, base == 2 ? exponent : 0) ||
		   !scale(&a.v, a.base, digits)) {
		return err_set(e, EINVAL, "value is too precise");
	}
	*nano = a.v;
	return 0;
}

int dk_parse_cpus(const char *text, int64_t *ret, struct err *e)
{
	bool negative = text[0] == '-';
	const char *s = text + (text[0] == '-' || text[0] == '+');
	unsigned __int128 nano = 0;
	int r = strchr(s, '/') ? fraction_cpus(text, s, &nano, e) : decimal_cpus(text, s, &nano, e);

	if (r < 0)
		return r;
	if (nano > INT64_MAX)
		return not_rational(text, e);
	*ret = negative ? -(int64_t)nano : (int64_t)nano;
	return 0;
}

static int bad_int(const char *function, const char *text, const char *why, struct err *e)
{
	return err_set(e, EINVAL, "strconv.%s: parsing \"%s\": %s", function, text, why);
}

int dk_parse_int(const char *text, int bits, int64_t *ret, struct err *e)
{
	const char *function = "ParseInt";
	bool negative = text[0] == '-';
	struct number x = {0};
	const char *s = text + (text[0] == '-' || text[0] == '+');
	const char *p = scan_number(s, false, &x);
	unsigned __int128 limit = (unsigned __int128)1 << (bits - 1);

	if (!p || *p)
		return bad_int(function, text, "invalid syntax", e);
	if (x.overflow || !scale(&x.v, x.base, x.dropped_zeros) || x.v > limit - !negative)
		return bad_int(function, text, "value out of range", e);
	*ret = negative ? (int64_t)-(__int128)x.v : (int64_t)x.v;
	return 0;
}

int dk_parse_uint(const char *text, int bits, uint64_t *ret, struct err *e)
{
	const char *function = "ParseUint";
	struct number x = {0};
	const char *p = scan_number(text, false, &x);

	if (!p || *p)
		return bad_int(function, text, "invalid syntax", e);
	if (x.overflow || !scale(&x.v, x.base, x.dropped_zeros) || x.v >> bits)
		return bad_int(function, text, "value out of range", e);
	*ret = (uint64_t)x.v;
	return 0;
}

/* ---- printing ---- */

static const char *size_text(char buf[DK_UNIT_MAX], double v, double base, int digits)
{
	static const char *const decimal[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"};
	static const char *const binary[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"};
	size_t i = 0;

	while (v >= base && i < sizeof(decimal) / sizeof(decimal[0]) - 1) {
		v /= base;
		i++;
	}
	snprintf(buf, DK_UNIT_MAX, "%.*g%s", digits, v, base == 1000 ? decimal[i] : binary[i]);
	return buf;
}

const char *dk_human_size(char buf[DK_UNIT_MAX], double bytes)
{
	return size_text(buf, bytes, 1000, 3);
}

const char *dk_human_size_precision(char buf[DK_UNIT_MAX], double bytes, int digits)
{
	return size_text(buf, bytes, 1000, digits);
}

const char *dk_binary_size(char buf[DK_UNIT_MAX], double bytes)
{
	return size_text(buf, bytes, 1024, 4);
}

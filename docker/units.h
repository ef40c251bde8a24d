/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers with units as Docker reads and prints them. Messages are Docker's. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/err.h"

/* "512m", "1.5g", "2Gb", "1 KiB": powers of 1024. */
int dk_parse_bytes(const char *text, int64_t *ret, struct err *e);
/* The same, and "-1" for unlimited (--memory-swap). */
int dk_parse_swap(const char *text, int64_t *ret, struct err *e);
/* What Go's rational numbers read ("0.5", "1/2", "1e1", "0x.8p1"), in thousand-millionths. */
int dk_parse_cpus(const char *text, int64_t *ret, struct err *e);
/* Go's durations: "1h30m", "1.5s", "300ms"; nanoseconds. */
int dk_parse_duration(const char *text, int64_t *ret, struct err *e);
/* Go's integer literals with base prefix ("0x10", "0o7", "1_000"): strconv.ParseInt(text, 0, bits). */
int dk_parse_int(const char *text, int bits, int64_t *ret, struct err *e);
/* The same for ParseUint. */
int dk_parse_uint(const char *text, int bits, uint64_t *ret, struct err *e);
/*
 * --since and --until: RFC 3339 in Docker's shortened forms, seconds since the epoch with a fraction,
 * or a duration before `now`. -EINVAL: `failed to parse value as time or duration: "x"`.
 */
int dk_parse_time(const char *text, const struct timespec *now, struct timespec *ret, struct err *e);

#define DK_UNIT_MAX 64
/* "201MB", "10.2kB", "0B": powers of 1000, three digits; precision 4 for sizes of volumes. */
const char *dk_human_size(char buf[DK_UNIT_MAX], double bytes);
const char *dk_human_size_precision(char buf[DK_UNIT_MAX], double bytes, int digits);
/* "23.54GiB": powers of 1024, four digits. */
const char *dk_binary_size(char buf[DK_UNIT_MAX], double bytes);
/* "Less than a second", "3 seconds", "About a minute", "2 weeks": without "ago". */
const char *dk_human_duration(char buf[DK_UNIT_MAX], int64_t seconds);
/* "2026-01-02T03:04:05.123Z" (up to 9 digits, no trailing zeros); 0,0 is "0001-01-01T00:00:00Z". */
const char *dk_time_rfc3339(char buf[DK_UNIT_MAX], const struct timespec *t);
/* "2026-01-02 03:04:05 +0000 UTC", in the local zone, as in ps and images. */
const char *dk_time_local(char buf[DK_UNIT_MAX], const struct timespec *t);
/* The other way: RFC 3339 with or without fraction; -EINVAL without a message. */
int dk_time_parse(const char *text, struct timespec *ret);

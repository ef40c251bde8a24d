/* SPDX-License-Identifier: Apache-2.0 */
/* Internal to the command line: reading flags. See docker/cli.h. */
#pragma once

#include "docker/cli.h"

struct dk_parser {
	struct dk_context *c;
	const struct dk_flag_table *table; /* may be NULL */
	void *options;          /* filled; defaults are put there by dk_parse_defaults */
	uint64_t *given;        /* a bit per row */
	bool stop_at_argument;
	bool help;              /* result: --help was there (nothing behind it was read) */
	int argc;               /* result: words that are no flags ... */
	char **argv;            /* ... moved to the front of the caller's array */
};

/* Strings and numbers with a default, "true" for bools. */
int dk_parse_defaults(struct dk_parser *p, struct err *e);
/* argv without the command's name. -errno with pflag's message. */
int dk_parse_flags(struct dk_parser *p, int argc, char **argv, struct err *e);
/* The fields of one line of comma-separated values, quoted as in RFC 4180. */
int dk_split_csv(struct arena *a, const char *text, struct strv *ret, struct err *e);
/* The row of this long name; NULL. */
const struct dk_flag *dk_find_flag(const struct dk_flag_table *t, const char *name, size_t n);
/* Does the flag stand alone (a bool)? */
bool dk_flag_is_bool(const struct dk_flag *f);
/* The word for its value in the help: "string", "bytes"; "" for bools. */
const char *dk_flag_type(const struct dk_flag *f);

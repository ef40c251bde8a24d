/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Command lines: one table per command, from which parsing and --help come. Accepted forms:
 * --name VALUE, --name=VALUE, -n VALUE, -name for a long name (callers of runc send that), and
 * letters together, as -td. Options end at "--"; where any number of words may follow (a command of
 * somebody's), also at the first word that is none. Elsewhere they may stand behind the words, as under
 * runc; argv is sorted then: options, words.
 */
#pragma once

#include <stddef.h>

#include "base/err.h"

enum cli_kind {
	CLI_FLAG,   /* bool *: --x, --x=true, --x=false */
	CLI_STRING, /* const char **: the last one wins */
	CLI_UINT,   /* unsigned *: digits only */
	CLI_LIST,   /* struct cli_list *: every occurrence, in order */
};

struct cli_list {
	const char **v; /* n entries; freed by nobody, it lives as long as the process */
	size_t n;
};

struct cli_option {
	const char *name;
	char letter; /* 0: none */
	enum cli_kind kind;
	void *target;
	const char *arg;  /* name of the value in the help; NULL for CLI_FLAG */
	const char *help; /* NULL: accepted for compatibility, not shown */
};

struct cli {
	const char *usage;   /* "brig run [OPTION...] ID" */
	const char *summary; /* one or more lines */
	void (*print_more)(void); /* to stdout, behind the summary; may be NULL */
	const struct cli_option *options;
	size_t n;
	int min_args, max_args; /* words behind the options; max -1: any number */
};

/*
 * argv[0] is the command's name. Returns the index of the first word behind the options, -EINVAL
 * with a message, or CLI_HELP when help was asked for and printed on stdout.
 */
enum { CLI_HELP = 1 << 30 };
int cli_parse(const struct cli *c, int argc, char **argv, struct err *e);

/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cli.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"

static void print_help(const struct cli *c)
{
	printf("Usage: %s\n\n%s\n\nOptions:\n", c->usage, c->summary);
	for (size_t i = 0; i < c->n; i++) {
		const struct cli_option *o = &c->options[i];
		char left[64];

		if (!o->help)
			continue;
		snprintf(left, sizeof(left), "%c%c%c --%s%s%s", o->letter ? '-' : ' ',
			 o->letter ? o->letter : ' ', o->letter ? ',' : ' ', o->name,
			 o->arg ? " " : "", o->arg ? o->arg : "");
		printf("  %-28s %s\n", left, o->help);
	}
	printf("  %-28s %s\n", "-h, --help", "show this help");
}

/* The option that `word` (without its dashes, up to '=') names; NULL when there is none. */
static const struct cli_option *find(const struct cli *c, const char *word, bool two_dashes)
{
	size_t len = strcspn(word, "=");

	for (size_t i = 0; i < c->n; i++) {
		const struct cli_option *o = &c->options[i];

		if (strlen(o->name) == len && memcmp(o->name, word, len) == 0)
			return o;
		if (!two_dashes && len == 1 && o->letter && o->letter == word[0])
			return o;
	}
	return NULL;
}

static int set_flag(const struct cli_option *o, const char *value, struct err *e)
{
	static const char *const words[] = {"false", "true", NULL};
	int v = value ? str_index(words, value) : 1;

	if (v < 0)
		return err_set(e, EINVAL, "--%s: \"%s\" is neither true nor false", o->name, value);
	*(bool *)o->target = v;
	return 0;
}

static int set_uint(const struct cli_option *o, const char *value, struct err *e)
{
	uint64_t v;

	if (str_u64(value, UINT_MAX, &v) < 0)
		return err_set(e, EINVAL, "--%s: \"%s\" is not a number", o->name, value);
	*(unsigned *)o->target = (unsigned)v;
	return 0;
}

static void add_to_list(struct cli_list *l, const char *value)
{
	l->v = xrealloc(l->v, (l->n + 1) * sizeof(l->v[0]));
	l->v[l->n++] = value;
}

static int set_value(const struct cli_option *o, const char *value, struct err *e)
{
	if (o->kind == CLI_UINT)
		return set_uint(o, value, e);
	if (o->kind == CLI_LIST)
		add_to_list(o->target, value);
	else
		*(const char **)o->target = value;
	return 0;
}

int cli_parse(const struct cli *c, int argc, char **argv, struct err *e)
{
	int i, left;

	for (i = 1; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
		bool two = argv[i][1] == '-';
		const char *word = argv[i] + 1 + two, *value = strchr(word, '=');
		const struct cli_option *o;
		int r;

		if (two && !*word) {
			i++;
			break;
		}
		if (str_eq(word, "help") || str_eq(argv[i], "-h")) {
			print_help(c);
			return CLI_HELP;
		}
		o = find(c, word, two);
		if (!o)
			return err_set(e, EINVAL, "unknown option %s (see --help)", argv[i]);
		value = value ? value + 1 : NULL;
		if (o->kind != CLI_FLAG && !value && ++i >= argc)
			return err_set(e, EINVAL, "flag needs an argument: --%s", o->name);
		r = o->kind == CLI_FLAG ? set_flag(o, value, e)
					: set_value(o, value ? value : argv[i], e);
		if (r < 0)
			return r;
	}
	left = argc - i;
	if (left < c->min_args || (c->max_args >= 0 && left > c->max_args))
		return err_set(e, EINVAL, "%s arguments: usage: %s",
			       left < c->min_args ? "too few" : "too many", c->usage);
	return i;
}

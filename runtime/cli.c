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
	printf("Usage: %s\n\n%s\n", c->usage, c->summary);
	if (c->print_more)
		c->print_more();
	printf("\nOptions:\n");
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

static const struct cli_option *find_letter(const struct cli *c, char letter)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->options[i].letter == letter)
			return &c->options[i];
	return NULL;
}

/* "-td", "-b/dir", "-fb/dir": flags, the last one may be an option with its value. */
static int parse_letters(const struct cli *c, const char *word, struct err *e)
{
	for (const char *p = word; *p; p++) {
		const struct cli_option *o = find_letter(c, *p);

		if (!o || (o->kind != CLI_FLAG && !p[1]))
			return err_set(e, EINVAL, "unknown option -%s (see --help)", word);
		if (o->kind != CLI_FLAG)
			return set_value(o, p + 1, e);
		*(bool *)o->target = true;
	}
	return 0;
}

/* The option argv[0] and its value: the number of words they are, or CLI_HELP. */
static int parse_option(const struct cli *c, int argc, char **argv, struct err *e)
{
	bool two = argv[0][1] == '-';
	const char *word = argv[0] + 1 + two, *value = strchr(word, '=');
	const struct cli_option *o;
	int r, n = 1;

	if (str_eq(word, "help") || str_eq(argv[0], "-h") || str_eq(argv[0], "-?")) {
		print_help(c);
		return CLI_HELP;
	}
	o = find(c, word, two);
	if (!o && !two && find_letter(c, *word)) {
		r = parse_letters(c, word, e);
		return r < 0 ? r : 1;
	}
	if (!o)
		return err_set(e, EINVAL, "unknown option %s (see --help)", argv[0]);
	value = value ? value + 1 : NULL;
	if (o->kind == CLI_FLAG) {
		r = set_flag(o, value, e);
	} else {
		if (!value && argc < 2)
			return err_set(e, EINVAL, "flag needs an argument: --%s", o->name);
		n += !value;
		r = set_value(o, value ? value : argv[1], e);
	}
	return r < 0 ? r : n;
}

/* The last n of the `all` words come first: what is behind options stays in order. */
static void move_to_front(char **words, int all, int n)
{
	for (; n > 0; n--) {
		char *last = words[all - 1];

		memmove(words + 1, words, (size_t)(all - 1) * sizeof(words[0]));
		words[0] = last;
	}
}

int cli_parse(const struct cli *c, int argc, char **argv, struct err *e)
{
	int i = 1, words = 0, left;

	while (i < argc) {
		int n = 1;

		if (argv[i][0] != '-' || !argv[i][1]) {
			if (c->max_args < 0)
				break;
			words++;
			i++;
			continue;
		}
		if (!str_eq(argv[i], "--"))
			n = parse_option(c, argc - i, argv + i, e);
		if (n < 0 || n == CLI_HELP)
			return n;
		i += n;
		if (words)
			move_to_front(argv + i - n - words, n + words, n);
		if (n == 1 && str_eq(argv[i - 1 - words], "--"))
			break;
	}
	left = argc - i + words;
	if (left < c->min_args || (c->max_args >= 0 && left > c->max_args))
		return err_set(e, EINVAL, "%s arguments: usage: %s",
			       left < c->min_args ? "too few" : "too many", c->usage);
	return i - words;
}

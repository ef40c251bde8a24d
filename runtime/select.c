/* SPDX-License-Identifier: Apache-2.0 */
/* The ids are collected first: a command may remove what is being listed. */
#include "runtime/select.h"

#include <errno.h>
#include <regex.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/str.h"
#include "runtime/container.h"

enum { MATCHES_MAX = 65536 };

struct matches {
	struct arena *arena;
	const regex_t *regex;
	const char **ids;
	size_t n;
};

static int add_match(const char *id, void *arg)
{
	struct matches *m = arg;

	if (m->n < MATCHES_MAX && regexec(m->regex, id, 0, NULL, 0) == 0)
		m->ids[m->n++] = arena_strdup(m->arena, id);
	return 0;
}

static int for_matches(const struct rt_globals *g, const regex_t *re, rt_select_fn *fn, void *arg,
		       struct err *e)
{
	auto_arena struct arena *a = arena_new();
	struct matches m = {a, re, arena_array(a, MATCHES_MAX, sizeof(char *)), 0};
	int r = rt_container_each(g, add_match, &m, e), failed = r;

	for (size_t i = 0; i < m.n && r >= 0; i++) {
		struct err mine = {0};
		int one = fn(m.ids[i], arg, &mine);

		if (one >= 0)
			continue;
		if (failed < 0)
			log_error("%s", e->msg);
		*e = mine;
		failed = one;
	}
	return failed;
}

int rt_select(const struct rt_selection *s, rt_select_fn *fn, void *arg, struct err *e)
{
	regex_t re;
	char why[128];
	int r;

	if (!s->regex)
		return fn(s->word, arg, e);
	r = regcomp(&re, s->word, REG_EXTENDED | REG_NOSUB);
	if (r != 0) {
		regerror(r, &re, why, sizeof(why));
		return err_set(e, EINVAL, "--regex: %s: %s", s->word, why);
	}
	r = for_matches(s->globals, &re, fn, arg, e);
	regfree(&re);
	return r;
}

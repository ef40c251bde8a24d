/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/prune.h"

#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "docker/units.h"

static const char *value_of(const struct str_map *m, const char *key, size_t n)
{
	for (size_t i = 0; i < m->n; i++)
		if (strncmp(m->v[i].key, key, n) == 0 && !m->v[i].key[n])
			return m->v[i].value;
	return NULL;
}

static bool label_fits(const struct str_map *labels, const char *wanted)
{
	size_t n = strcspn(wanted, "=");
	const char *have = value_of(labels, wanted, n);

	return have && (!wanted[n] || str_eq(have, wanted + n + 1));
}

bool dk_labels_fit(const struct str_map *filter, const struct str_map *labels)
{
	for (size_t i = 0; i < filter->n; i++) {
		const struct str_pair *f = &filter->v[i];

		if (str_eq(f->key, "label") && !label_fits(labels, f->value))
			return false;
		if (str_eq(f->key, "label!") && label_fits(labels, f->value))
			return false;
	}
	return true;
}

int dk_until_fits(struct dk_context *c, const struct str_map *filter, const char *created, struct err *e)
{
	struct timespec now, until, made;

	clock_gettime(CLOCK_REALTIME, &now);
	for (size_t i = 0; i < filter->n; i++) {
		if (!str_eq(filter->v[i].key, "until"))
			continue;
		if (dk_parse_time(filter->v[i].value, &now, &until, e) < 0) {
			const char *why = arena_strdup(c->arena, e->msg);

			return dk_daemon_error(c, e, EINVAL, "%s", why);
		}
		if (dk_time_parse(created, &made) < 0 || made.tv_sec > until.tv_sec)
			return 0;
	}
	return 1;
}

bool dk_pattern_fits(const struct str_map *filter, const char *key, const char *text)
{
	bool any = false;

	for (size_t i = 0; i < filter->n; i++) {
		regex_t re;
		bool fits;

		if (!str_eq(filter->v[i].key, key))
			continue;
		any = true;
		if (regcomp(&re, filter->v[i].value, REG_EXTENDED | REG_NOSUB) != 0)
			continue;
		fits = regexec(&re, text, 0, NULL, 0) == 0;
		regfree(&re);
		if (fits)
			return true;
	}
	return !any;
}

bool dk_word_fits(const struct str_map *filter, const char *key, const char *text, bool beginning)
{
	bool any = false;

	for (size_t i = 0; i < filter->n; i++) {
		if (!str_eq(filter->v[i].key, key))
			continue;
		any = true;
		if (beginning ? str_starts(text, filter->v[i].value) : str_eq(text, filter->v[i].value))
			return true;
	}
	return !any;
}

int dk_check_filter(struct dk_context *c, const struct str_map *filter, const char *const *known,
		    struct err *e)
{
	for (size_t i = 0; i < filter->n; i++)
		if (str_index(known, filter->v[i].key) < 0)
			return dk_daemon_error(c, e, EINVAL, "invalid filter '%s'", filter->v[i].key);
	return 0;
}

int dk_filter_bool(struct dk_context *c, const struct str_map *filter, const char *key, struct err *e)
{
	static const char *const yes[] = {"1", "true", "True", "TRUE", "t", "T", NULL};
	static const char *const no[] = {"0", "false", "False", "FALSE", "f", "F", NULL};
	const char *v = value_of(filter, key, strlen(key));

	if (!v)
		return -1;
	if (str_index(yes, v) >= 0)
		return 1;
	if (str_index(no, v) >= 0)
		return 0;
	return dk_daemon_error(c, e, EINVAL, "invalid filter '%s=[%s]'", key, v);
}

static int by_key(const void *x, const void *y)
{
	return strcmp(((const struct str_pair *)x)->key, ((const struct str_pair *)y)->key);
}

const char *dk_labels_text(struct arena *a, const struct str_map *labels)
{
	struct str_pair *v = arena_array(a, labels->n + 1, sizeof(*v));
	auto_strbuf struct strbuf b = {0};

	if (labels->n)
		memcpy(v, labels->v, labels->n * sizeof(*v));
	qsort(v, labels->n, sizeof(*v), by_key);
	for (size_t i = 0; i < labels->n; i++)
		strbuf_printf(&b, "%s%s=%s", i ? "," : "", v[i].key, v[i].value);
	return arena_strdup(a, strbuf_str(&b));
}

bool dk_confirm(const char *text)
{
	char answer[16] = "";

	printf("%s\nAre you sure you want to continue? [y/N] ", text);
	fflush(stdout);
	if (!fgets(answer, sizeof(answer), stdin))
		return false;
	answer[strcspn(answer, "\r\n")] = 0;
	return str_eq(answer, "y") || str_eq(answer, "Y");
}

const char *dk_filter_lines(struct arena *a, const struct str_map *filter)
{
	auto_strbuf struct strbuf b = {0};

	for (size_t i = 0; i < filter->n; i++)
		strbuf_printf(&b, "  - %s=%s\n", filter->v[i].key, filter->v[i].value);
	return arena_strdup(a, strbuf_str(&b));
}

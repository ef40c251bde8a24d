/* SPDX-License-Identifier: Apache-2.0 */
/* See image-rows.h. */
#include "docker/image-rows.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>
#include <time.h>

#include "docker/image-program.h"
#include "docker/units.h"

int64_t dk_image_created(const struct img_image *image)
{
	struct timespec t;

	return image->created && dk_time_parse(image->created, &t) == 0 ? t.tv_sec : 0;
}

static int boolean(struct dk_image_filter *f, const char *name, const char *value, int *ret, struct err *e)
{
	static const char *const yes[] = {"1", "true", "t", "T", "TRUE", "True", NULL};
	static const char *const no[] = {"0", "false", "f", "F", "FALSE", "False", NULL};

	if (str_index(yes, value) >= 0)
		*ret = 1;
	else if (str_index(no, value) >= 0)
		*ret = 0;
	else
		return dk_daemon_error(f->c, e, EINVAL, "Invalid filter '%s=[%s]'", name, value);
	return 0;
}

static int created_of(struct dk_image_filter *f, const char *text, int64_t *ret, struct err *e)
{
	struct img_image image;

	if (dk_image_find(f->c, f->store, text, &image, e) < 0)
		return -e->code;
	*ret = dk_image_created(&image);
	return 0;
}

static int until_of(struct dk_image_filter *f, const char *text, struct err *e)
{
	struct timespec now, t;

	clock_gettime(CLOCK_REALTIME, &now);
	if (dk_parse_time(text, &now, &t, e) < 0)
		return dk_daemon_error(f->c, e, EINVAL, "%s", e->msg);
	f->until = t.tv_sec;
	return 0;
}

static int take_filter(struct dk_image_filter *f, const struct str_pair *p, struct err *e)
{
	if (!strstr(f->allowed, arena_printf(f->c->arena, "%s ", p->key)))
		return dk_daemon_error(f->c, e, EINVAL, "Invalid filter '%s'", p->key);
	if (str_eq(p->key, "dangling"))
		return boolean(f, p->key, p->value, &f->dangling, e);
	if (str_eq(p->key, "before"))
		return created_of(f, p->value, &f->before, e);
	if (str_eq(p->key, "since"))
		return created_of(f, p->value, &f->since, e);
	if (str_eq(p->key, "until"))
		return until_of(f, p->value, e);
	return 0;
}

int dk_image_filter_open(struct dk_image_filter *f, struct err *e)
{
	f->dangling = -1;
	for (size_t i = 0; i < f->filter->n; i++)
		if (take_filter(f, &f->filter->v[i], e) < 0)
			return -e->code;
	return 0;
}

static bool has_label(const struct img_image *image, const char *wanted)
{
	const char *equals = strchr(wanted, '=');
	size_t n = equals ? (size_t)(equals - wanted) : strlen(wanted);

	for (size_t i = 0; i < image->config.labels.n; i++) {
		const struct str_pair *l = &image->config.labels.v[i];

		if (strlen(l->key) == n && memcmp(l->key, wanted, n) == 0)
			return !equals || str_eq(l->value, equals + 1);
	}
	return false;
}

bool dk_image_filter_matches(const struct dk_image_filter *f, const struct img_listed *image)
{
	int64_t created = dk_image_created(&image->image);

	if (f->dangling >= 0 && (image->tags.n == 0) != (f->dangling == 1))
		return false;
	if ((f->before && created >= f->before) || (f->since && created <= f->since) ||
	    (f->until && created >= f->until))
		return false;
	for (size_t i = 0; i < f->filter->n; i++) {
		const struct str_pair *p = &f->filter->v[i];

		if (str_eq(p->key, "label") && !has_label(&image->image, p->value))
			return false;
		if (str_eq(p->key, "label!") && has_label(&image->image, p->value))
			return false;
	}
	return true;
}

bool dk_image_name_matches(struct arena *a, const char *pattern, const char *name)
{
	struct img_ref ref;
	struct err ignored = {0};
	const char *bare;

	if (fnmatch(pattern, name, FNM_PATHNAME) == 0)
		return true;
	if (img_ref_parse(a, name, &ref, &ignored) < 0)
		return false;
	bare = img_ref_familiar_name(a, &ref);
	if (fnmatch(pattern, bare, FNM_PATHNAME) == 0)
		return true;
	/* "docker.io/library/busybox" and such: the full form of the same name */
	if (fnmatch(pattern, img_ref_full(a, &ref), FNM_PATHNAME) == 0)
		return true;
	return fnmatch(pattern, arena_printf(a, "%s/%s", ref.domain, ref.path), FNM_PATHNAME) == 0;
}

bool dk_image_filter_name(const struct dk_image_filter *f, const char *name)
{
	bool asked = false;

	for (size_t i = 0; i < f->filter->n; i++) {
		if (!str_eq(f->filter->v[i].key, "reference"))
			continue;
		asked = true;
		if (dk_image_name_matches(f->c->arena, f->filter->v[i].value, name))
			return true;
	}
	return !asked;
}

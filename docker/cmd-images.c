/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `docker images`: a row for each name of an image, "<none>" for those without. The built-in image
 * "host" is not listed: programs count lines.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "docker/commands.h"
#include "docker/format.h"
#include "docker/image-program.h"
#include "docker/image-rows.h"
#include "docker/units.h"

struct row {
	const struct img_listed *image;
	const char *repository, *tag, *digest;
	bool no_trunc;
};

static struct dk_value get_id(struct arena *a, const void *arg)
{
	const struct row *r = arg;
	const char *id = r->image->image.id;

	return r->no_trunc ? dk_string(id) : dk_stringf(a, "%.12s", id + strlen("sha256:"));
}

static struct dk_value get_repository(struct arena *a, const void *arg)
{
	(void)a;
	return dk_string(((const struct row *)arg)->repository);
}

static struct dk_value get_tag(struct arena *a, const void *arg)
{
	(void)a;
	return dk_string(((const struct row *)arg)->tag);
}

static struct dk_value get_digest(struct arena *a, const void *arg)
{
	(void)a;
	return dk_string(((const struct row *)arg)->digest);
}

static struct dk_value get_since(struct arena *a, const void *arg)
{
	const struct row *r = arg;
	int64_t created = dk_image_created(&r->image->image);
	char buf[DK_UNIT_MAX];

	if (!created)
		return dk_string("N/A");
	return dk_stringf(a, "%s ago", dk_human_duration(buf, (int64_t)time(NULL) - created));
}

static struct dk_value get_created(struct arena *a, const void *arg)
{
	const struct row *r = arg;
	struct timespec t = {.tv_sec = dk_image_created(&r->image->image)};
	char buf[DK_UNIT_MAX];

	return dk_stringf(a, "%s", dk_time_local(buf, &t));
}

static struct dk_value get_size(struct arena *a, const void *arg)
{
	char buf[DK_UNIT_MAX];

	return dk_stringf(a, "%s",
			  dk_human_size_precision(buf, (double)((const struct row *)arg)->image->image.size, 3));
}

static struct dk_value get_virtual_size(struct arena *a, const void *arg)
{
	char buf[DK_UNIT_MAX];

	return dk_stringf(a, "%s", dk_human_size(buf, (double)((const struct row *)arg)->image->image.size));
}

static struct dk_value get_unknown(struct arena *a, const void *arg)
{
	(void)a;
	(void)arg;
	return dk_string("N/A");
}

static const struct dk_column columns[] = {
	{"ID", "IMAGE ID", get_id, NULL},
	{"Repository", "REPOSITORY", get_repository, NULL},
	{"Tag", "TAG", get_tag, NULL},
	{"Digest", "DIGEST", get_digest, NULL},
	{"CreatedSince", "CREATED", get_since, NULL},
	{"CreatedAt", "CREATED AT", get_created, NULL},
	{"Size", "SIZE", get_size, NULL},
	{"Containers", "CONTAINERS", get_unknown, NULL},
	{"VirtualSize", "SIZE", get_virtual_size, NULL},
	{"SharedSize", "SHARED SIZE", get_unknown, NULL},
	{"UniqueSize", "UNIQUE SIZE", get_unknown, NULL},
};
static const struct dk_columns image_columns = DK_COLUMNS("*formatter.imageContext", columns);

static int add_row(struct dk_format *f, const struct img_listed *l, const char *name, bool no_trunc,
		   struct err *e)
{
	struct arena *a = arena_new();
	struct row row = {l, "<none>", "<none>", "<none>", no_trunc};
	struct err ignored = {0};
	struct img_ref ref;
	int r;

	if (name && img_ref_parse(a, name, &ref, &ignored) == 0) {
		row.repository = img_ref_familiar_name(a, &ref);
		if (ref.digest)
			row.digest = ref.digest;
		else
			row.tag = ref.tag ? ref.tag : "latest";
		/* a tag has the digest of its repository, if one is known */
		for (size_t i = 0; !ref.digest && i < l->digests.n; i++)
			if (str_starts(l->digests.v[i], row.repository) &&
			    l->digests.v[i][strlen(row.repository)] == '@')
				row.digest = l->digests.v[i] + strlen(row.repository) + 1;
	}
	r = dk_format_row(f, &row, e);
	arena_free(a);
	return r;
}

static bool wanted(struct dk_context *c, const struct dk_image_filter *filter, const struct dk_args *args,
		   const char *name)
{
	return dk_image_filter_name(filter, name) &&
	       (args->argc == 0 || dk_image_name_matches(c->arena, args->argv[0], name));
}

static bool has_reference(const struct dk_image_filter *f, const struct dk_args *args)
{
	for (size_t i = 0; i < f->filter->n; i++)
		if (str_eq(f->filter->v[i].key, "reference"))
			return true;
	return args->argc > 0;
}

static int add_image(struct dk_format *f, const struct dk_image_filter *filter, const struct dk_args *args,
		     const struct img_listed *l, struct err *e)
{
	const struct dk_images_options *o = args->options;

	if (!dk_image_filter_matches(filter, l))
		return 0;
	for (size_t i = 0; i < l->tags.n; i++)
		if (wanted(filter->c, filter, args, l->tags.v[i]) &&
		    add_row(f, l, l->tags.v[i], o->no_trunc, e) < 0)
			return -e->code;
	if (l->tags.n)
		return 0;
	for (size_t i = 0; i < l->digests.n; i++)
		if (wanted(filter->c, filter, args, l->digests.v[i]) &&
		    add_row(f, l, l->digests.v[i], o->no_trunc, e) < 0)
			return -e->code;
	return l->digests.n || has_reference(filter, args) ? 0 : add_row(f, l, NULL, o->no_trunc, e);
}

static int list(struct dk_context *c, const struct dk_args *args, const struct img_store *s, struct err *e)
{
	const struct dk_images_options *o = args->options;
	struct dk_image_filter filter = {.c = c, .store = s, .filter = &o->filter,
					 .allowed = "dangling label before since reference until "};
	struct dk_format_spec spec = {.columns = &image_columns, .format = o->format,
		.table = o->digests ? "table {{.Repository}}\t{{.Tag}}\t{{.Digest}}\t{{.ID}}\t"
				      "{{if .CreatedSince }}{{.CreatedSince}}{{else}}N/A{{end}}\t{{.Size}}" :
				      "table {{.Repository}}\t{{.Tag}}\t{{.ID}}\t"
				      "{{if .CreatedSince }}{{.CreatedSince}}{{else}}N/A{{end}}\t{{.Size}}",
		.quiet = o->quiet ? "{{.ID}}" : NULL,
		.raw = "repository: {{.Repository}}\ntag: {{.Tag}}\nimage_id: {{.ID}}\n"
		       "created_at: {{.CreatedAt}}\nvirtual_size: {{.Size}}\n",
		.raw_quiet = "image_id: {{.ID}}"};
	struct dk_format *f;
	struct img_list all;

	if (dk_image_filter_open(&filter, e) < 0 || dk_format_open(c->arena, &spec, &f, e) < 0 ||
	    img_list(s, c->arena, &all, e) < 0)
		return -e->code;
	for (size_t i = 0; i < all.n; i++)
		if (add_image(f, &filter, args, &all.v[i], e) < 0)
			return -e->code;
	return dk_format_close(f, e);
}

int dk_cmd_images(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	struct img_store s;
	int r = dk_image_store(c, &s, e);

	if (r == 0)
		r = list(c, args, &s, e);
	img_store_close(&s);
	return r;
}

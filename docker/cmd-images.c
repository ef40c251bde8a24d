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
#include "docker/record.h"
#include "docker/units.h"
#include "docker/usage.h"

struct row {
	const struct img_listed *image;
	const char *repository, *tag, *digest;
	bool no_trunc;
	const struct usage *usage; /* NULL: not asked */
};
/* Of all images together. */
struct usage { const struct img_list *all; uint64_t shared; size_t containers; };

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

static const struct usage *usage_of(const void *arg)
{
	return ((const struct row *)arg)->usage;
}

static struct dk_value get_containers(struct arena *a, const void *arg)
{
	return usage_of(arg) ? dk_stringf(a, "%zu", usage_of(arg)->containers) : dk_string("N/A");
}

static struct dk_value size_text(struct arena *a, uint64_t size)
{
	char buf[DK_UNIT_MAX];

	return dk_stringf(a, "%s", dk_human_size_precision(buf, (double)size, 4));
}

static struct dk_value get_shared(struct arena *a, const void *arg)
{
	return usage_of(arg) ? size_text(a, usage_of(arg)->shared) : dk_string("N/A");
}

static struct dk_value get_unique(struct arena *a, const void *arg)
{
	const struct row *r = arg;

	return r->usage ? size_text(a, r->image->image.size - r->usage->shared) : dk_string("N/A");
}

static const struct dk_column columns[] = {
	{"ID", "IMAGE ID", get_id, NULL},
	{"Repository", "REPOSITORY", get_repository, NULL},
	{"Tag", "TAG", get_tag, NULL},
	{"Digest", "DIGEST", get_digest, NULL},
	{"CreatedSince", "CREATED", get_since, NULL},
	{"CreatedAt", "CREATED AT", get_created, NULL},
	{"Size", "SIZE", get_size, NULL},
	{"Containers", "CONTAINERS", get_containers, NULL},
	{"VirtualSize", "SIZE", get_virtual_size, NULL},
	{"SharedSize", "SHARED SIZE", get_shared, NULL},
	{"UniqueSize", "UNIQUE SIZE", get_unique, NULL},
};
static const struct dk_columns image_columns = DK_COLUMNS("*formatter.imageContext", columns);

static int add_row(struct dk_format *f, struct row row, const char *name, struct err *e)
{
	struct arena *a = arena_new();
	const struct img_listed *l = row.image;
	struct err ignored = {0};
	struct img_ref ref;
	int r;

	row.repository = row.tag = row.digest = "<none>";
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
	const struct row row = {.image = l, .no_trunc = o->no_trunc};

	if (!dk_image_filter_matches(filter, l))
		return 0;
	for (size_t i = 0; i < l->tags.n; i++)
		if (wanted(filter->c, filter, args, l->tags.v[i]) &&
		    add_row(f, row, l->tags.v[i], e) < 0)
			return -e->code;
	if (l->tags.n)
		return 0;
	for (size_t i = 0; i < l->digests.n; i++)
		if (wanted(filter->c, filter, args, l->digests.v[i]) &&
		    add_row(f, row, l->digests.v[i], e) < 0)
			return -e->code;
	return l->digests.n || has_reference(filter, args) ? 0 : add_row(f, row, NULL, e);
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

/* ---- system df -v ---- */

static bool has_layer(const struct img_image *image, const char *chain)
{
	for (size_t i = 0; i < image->layers.n; i++)
		if (str_eq(image->layers.v[i].chain, chain))
			return true;
	return false;
}

/* What other images have, too. */
static uint64_t shared_size(const struct img_list *all, const struct img_image *image)
{
	uint64_t size = 0;

	for (size_t i = 0; i < image->layers.n; i++)
		for (size_t k = 0; k < all->n; k++)
			if (!str_eq(all->v[k].image.id, image->id) &&
			    has_layer(&all->v[k].image, image->layers.v[i].chain)) {
				size += image->layers.v[i].size;
				break;
			}
	return size;
}

static int add_usage(struct dk_format *f, const struct img_list *all, const struct img_listed *l, size_t containers,
		     struct err *e)
{
	const struct usage usage = {all, shared_size(all, &l->image), containers};
	const struct row row = {.image = l, .usage = &usage};
	const struct strv *names = l->tags.n ? &l->tags : &l->digests;

	for (size_t i = 0; i < names->n; i++)
		if (add_row(f, row, names->v[i], e) < 0)
			return -e->code;
	return names->n ? 0 : add_row(f, row, NULL, e);
}

struct count { const char *image; size_t n; };

static int count_one(struct dk_record *r, void *arg)
{
	struct count *n = arg;

	n->n += str_eq(r->image_id, n->image);
	return 0;
}

int dk_print_image_usage(struct dk_context *c, struct err *e)
{
	const struct dk_format_spec spec = {.columns = &image_columns, .table = "table {{.Repository}}\t{{.Tag}}\t{{.ID}}\t"
		"{{.CreatedSince}}\t{{.Size}}\t{{.SharedSize}}\t{{.UniqueSize}}\t{{.Containers}}"};
	struct img_list all = {0};
	struct dk_format *f;
	struct img_store s;
	int r = dk_image_store(c, &s, e);

	if (r == 0)
		r = img_list(&s, c->arena, &all, e);
	if (r == 0)
		r = dk_format_open(c->arena, &spec, &f, e);
	for (size_t i = 0; r == 0 && i < all.n; i++) {
		struct count n = {.image = all.v[i].image.id};

		r = dk_record_each(c->store, c->arena, count_one, &n, e);
		if (r == 0)
			r = add_usage(f, &all, &all.v[i], n.n, e);
	}
	img_store_close(&s);
	return r < 0 ? r : dk_format_close(f, e);
}

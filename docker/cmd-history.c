/* SPDX-License-Identifier: Apache-2.0 */
/* `docker history`: the steps that an image says it was made by, the newest first. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "docker/commands.h"
#include "docker/format.h"
#include "docker/image-program.h"
#include "docker/units.h"

enum { SHORT_TEXT = 45 };

struct row {
	const struct dk_history_options *o;
	const char *id, *created_by, *comment;
	struct timespec created;
	uint64_t size;
};

static struct dk_value get_id(struct arena *a, const void *arg)
{
	const struct row *r = arg;

	if (!r->id)
		return dk_string("<missing>");
	return r->o->no_trunc ? dk_string(r->id) : dk_stringf(a, "%.12s", r->id + strlen("sha256:"));
}

static struct dk_value get_at(struct arena *a, const void *arg)
{
	char buf[DK_UNIT_MAX];

	return dk_stringf(a, "%s", dk_time_rfc3339(buf, &((const struct row *)arg)->created));
}

static struct dk_value get_since(struct arena *a, const void *arg)
{
	const struct row *r = arg;
	char buf[DK_UNIT_MAX];

	if (!r->created.tv_sec)
		return dk_string("N/A");
	return dk_stringf(a, "%s ago", dk_human_duration(buf, (int64_t)time(NULL) - r->created.tv_sec));
}

/* The first 44 characters and an ellipsis; characters of UTF-8 stay whole. */
static struct dk_value get_created_by(struct arena *a, const void *arg)
{
	const struct row *r = arg;
	char *text = arena_strdup(a, r->created_by);
	size_t chars = 0, cut = 0;

	for (char *p = text; *p; p++) {
		if (*p == '\t')
			*p = ' ';
		if (((unsigned char)*p & 0xc0) == 0x80)
			continue;
		if (chars++ == SHORT_TEXT - 1)
			cut = (size_t)(p - text);
	}
	if (r->o->no_trunc || chars <= SHORT_TEXT)
		return dk_string(text);
	return dk_stringf(a, "%.*s\xe2\x80\xa6", (int)cut, text);
}

static struct dk_value get_size(struct arena *a, const void *arg)
{
	const struct row *r = arg;
	char buf[DK_UNIT_MAX];

	if (!r->o->human)
		return dk_stringf(a, "%llu", (unsigned long long)r->size);
	return dk_stringf(a, "%s", dk_human_size_precision(buf, (double)r->size, 3));
}

static struct dk_value get_comment(struct arena *a, const void *arg)
{
	(void)a;
	return dk_string(((const struct row *)arg)->comment);
}

static const struct dk_column columns[] = {
	{"ID", "IMAGE", get_id, NULL},
	{"CreatedSince", "CREATED", get_since, NULL},
	{"CreatedAt", "CREATED AT", get_at, NULL},
	{"CreatedBy", "CREATED BY", get_created_by, NULL},
	{"Size", "SIZE", get_size, NULL},
	{"Comment", "COMMENT", get_comment, NULL},
};
static const struct dk_columns history_columns = DK_COLUMNS("*formatter.historyContext", columns);

static const char *text_of(const struct json *step, const char *key)
{
	const char *s = json_get_str(step, key);

	return s ? s : "";
}

static bool is_empty(const struct json *step)
{
	const struct json *v = json_get(step, "empty_layer");

	return v && v->type == JSON_BOOL && v->boolean;
}

static int add_step(struct dk_format *f, struct row *row, const struct json *step, const char *id, struct err *e)
{
	const char *created = json_get_str(step, "created");

	row->id = id;
	row->created_by = text_of(step, "created_by");
	row->comment = text_of(step, "comment");
	row->created = (struct timespec){0};
	if (created)
		dk_time_parse(created, &row->created);
	return dk_format_row(f, row, e);
}

/* Steps with a layer take the image's layers in order; without a history each layer is a step. */
static int add_steps(struct dk_format *f, const struct dk_history_options *o, const struct img_image *image,
		     const struct json *doc, struct err *e)
{
	const struct json *history = json_get(doc, "history");
	size_t n = history && history->type == JSON_ARRAY ? history->n : 0, layer = 0;
	struct row row = {.o = o};

	for (size_t i = n; i-- > 0;) {
		const struct json *step = &history->items[i];

		row.size = 0;
		if (!is_empty(step) && layer < image->layers.n)
			row.size = image->layers.v[layer++].size;
		if (add_step(f, &row, step, i == n - 1 ? image->id : NULL, e) < 0)
			return -e->code;
	}
	for (; n == 0 && layer < image->layers.n; layer++) {
		row.size = image->layers.v[layer].size;
		if (add_step(f, &row, NULL, layer == 0 ? image->id : NULL, e) < 0)
			return -e->code;
	}
	return 0;
}

static int history(struct dk_context *c, const struct dk_args *args, const struct img_store *s, struct err *e)
{
	const struct dk_history_options *o = args->options;
	struct dk_format_spec spec = {.columns = &history_columns, .format = o->format,
		.table = o->human ? "table {{.ID}}\t{{.CreatedSince}}\t{{.CreatedBy}}\t{{.Size}}\t{{.Comment}}" :
				    "table {{.ID}}\t{{.CreatedAt}}\t{{.CreatedBy}}\t{{.Size}}\t{{.Comment}}",
		.quiet = o->quiet ? "{{.ID}}" : NULL};
	struct img_image image;
	const struct json *doc;
	struct dk_format *f;
	const char *text;

	if (dk_image_find(c, s, args->argv[0], &image, e) < 0 || img_config_text(s, &image, c->arena, &text, e) < 0 ||
	    json_parse(text, strlen(text), c->arena, &doc, e) < 0 ||
	    dk_format_open(c->arena, &spec, &f, e) < 0 || add_steps(f, o, &image, doc, e) < 0)
		return -e->code;
	return dk_format_close(f, e);
}

int dk_cmd_history(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	struct img_store s;
	int r = dk_image_store(c, &s, e);

	if (r == 0)
		r = history(c, args, &s, e);
	img_store_close(&s);
	return r;
}

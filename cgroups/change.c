/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A change of limits is all or nothing: what the files say is read before, and written back when
 * the kernel refuses one of the new values. Best effort, for the old values were once accepted, but
 * what they bound has gone on meanwhile.
 */
#include <string.h>

#include "base/io.h"
#include "base/str.h"
#include "cgroups/internal.h"

enum { TEXT_MAX = 4096 };

static uint32_t mask_of(const struct cg *cg, const struct cg_dir *d)
{
	return cg->ops == &cg_ops_v1 ? d->controllers : ~0u;
}

/* Files with a line for each device, "8:0 rbps=1024", or "default 100". */
static bool has_lines(const struct cg_setting *s)
{
	return s->controller == CG_IO || s->controller == CG_RDMA || s->controller == CG_MISC;
}

/* What takes back a line of which there was none. */
static char *no_line(struct arena *a, const struct cg_setting *s, size_t key)
{
	struct strbuf b = {0};
	char *text;

	if (!strchr(s->value, '='))
		return arena_printf(a, "%.*s %s", (int)key, s->value,
				    strstr(s->file, "throttle") ? "0" : "default");
	for (const char *c = s->value; *c; c++) {
		strbuf_addc(&b, *c);
		if (*c != '=')
			continue;
		strbuf_adds(&b, "max");
		c += strcspn(c, " ") - 1;
	}
	text = arena_strdup(a, strbuf_str(&b));
	strbuf_free(&b);
	return text;
}

/* The value that undoes s in a file with that text; NULL: there is none. */
static char *old_value(struct arena *a, const struct cg_setting *s, const char *text)
{
	size_t key = strcspn(s->value, " ");
	bool named = s->value[key] == ' ';

	if (!has_lines(s))
		return strchr(text, '\n') ? NULL : arena_strdup(a, *text ? text : "\n");
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (named ? strncmp(line, s->value, key + 1) == 0 : str_starts(line, "default "))
			return arena_printf(a, "%.*s", (int)strcspn(line, "\n"), line);
	}
	if (named)
		return no_line(a, s, key);
	return arena_printf(a, "%.*s", (int)strcspn(text, "\n"), text);
}

static void remember_file(struct cg_before *b, const struct cg_dir *d, const struct cg_setting *s)
{
	struct cg_setting *old = &b->list.v[b->list.n];
	char text[TEXT_MAX];

	if (io_read_small(d->fd, s->file, text, sizeof(text)) < 0)
		return;
	*old = *s;
	old->value = old_value(b->arena, s, text);
	if (!old->value)
		return;
	b->dirs[b->list.n++] = d->fd;
}

void cg_remember(const struct cg *cg, const struct cg_setting_list *l, struct cg_before *b)
{
	b->arena = arena_new();
	/* Twice, for a weight is lost while idle is 1. */
	b->list.v = arena_array(b->arena, 2 * l->n + 1, sizeof(*b->list.v));
	b->dirs = arena_array(b->arena, 2 * l->n + 1, sizeof(*b->dirs));
	for (size_t i = 0; i < cg->n; i++) {
		const struct cg_dir *d = &cg->dirs[i];

		for (size_t j = 0; j < l->n; j++) {
			struct cg_setting weight = l->v[j];

			if (!(mask_of(cg, d) & CG_BIT(weight.controller)))
				continue;
			weight.file = cg->ops == &cg_ops_v1 ? "cpu.shares" : "cpu.weight";
			if (str_eq(l->v[j].file, "cpu.idle"))
				remember_file(b, d, &weight);
			remember_file(b, d, &l->v[j]);
		}
	}
}

static void write_back(const struct cg_before *b, size_t i)
{
	const struct cg_setting *s = &b->list.v[i];
	char text[TEXT_MAX];

	if (has_lines(s) || io_read_small(b->dirs[i], s->file, text, sizeof(text)) < 0 ||
	    !str_eq(text, s->value))
		(void)io_write_value(b->dirs[i], s->file, s->value);
}

void cg_put_back(const struct cg *cg, const struct cg_plan *p, const struct cg_before *b)
{
	struct cg_plan old = *p;
	struct err ignored = {0};

	old.settings = b->list;
	old.filter_devices = false;
	if (cg->unit && b->list.n)
		(void)cg_update_scope(cg, &old, &ignored);
	/* Twice: what bounds each other may be in the wrong order for this direction. */
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = b->list.n; i-- > 0;)
			write_back(b, i);
}

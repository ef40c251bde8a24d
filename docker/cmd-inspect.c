/* SPDX-License-Identifier: Apache-2.0 */
/* `docker inspect` and `docker container inspect`. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "docker/format.h"
#include "docker/inspect.h"

int dk_inspect_container(struct dk_context *c, const char *ref, const struct dk_inspect_options *o,
			 struct dk_value *ret, struct err *e)
{
	struct dk_record *r;
	(void)o;

	if (dk_container_find(c, ref, &r, e) < 0)
		return -e->code;
	*ret = dk_container_document(c, c->store, r);
	return 0;
}

static dk_inspect_fn any_kind;

/* In Docker's order. */
static const struct { const char *type; dk_inspect_fn *fn; } kinds[] = {
	{"container", dk_inspect_container}, {"image", dk_inspect_image}, {"network", dk_inspect_network},
	{"volume", dk_inspect_volume},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static int any_kind(struct dk_context *c, const char *ref, const struct dk_inspect_options *o,
		    struct dk_value *ret, struct err *e)
{
	/* There is an image of that name, too, which nobody pulled. */
	if (str_eq(ref, "host") && dk_inspect_network && dk_inspect_container(c, ref, o, ret, e) == -ENOENT)
		return dk_inspect_network(c, ref, o, ret, e);
	for (size_t i = 0; i < KINDS; i++) {
		int r = kinds[i].fn ? kinds[i].fn(c, ref, o, ret, e) : -ENOENT;

		if (r != -ENOENT)
			return r;
	}
	return dk_error(c, e, ENOENT, "Error: No such object: %s", ref);
}

/* All that were found are printed before what is to be said of the others. */
int dk_inspect_all(struct dk_context *c, const struct dk_args *args, dk_inspect_fn *fn, struct err *e)
{
	const struct dk_inspect_options *o = args->options;
	struct err *bad = arena_array(c->arena, (size_t)args->argc + 1, sizeof(*bad));
	struct dk_inspect *out;
	int n = 0, r = dk_inspect_open(c->arena, o->format, &out, e);

	if (r != 0)
		return r;
	for (int i = 0; i < args->argc; i++) {
		struct err image = {0};
		struct dk_value doc;

		r = fn(c, args->argv[i], o, &doc, &bad[n]);
		if (r == 0)
			r = dk_inspect_add(out, doc, &bad[n]);
		/* what a template wants to know of it may be the image's */
		if (r < 0 && fn == any_kind && str_eq(args->argv[i], "host") &&
		    dk_inspect_image(c, "host", o, &doc, &image) == 0)
			r = dk_inspect_add(out, doc, &image);
		n += r < 0;
	}
	if (dk_inspect_close(out, e) < 0)
		return -e->code;
	for (int i = 0; i < n; i++)
		dk_print_error(c, &bad[i]);
	return n > 0;
}

static int bad_type(const char *type)
{
	return dk_fail(1, "unknown type: \"%s\": must be one of \"config\", \"container\", \"image\", \"network\", "
		       "\"node\", \"plugin\", \"secret\", \"service\", \"task\", \"volume\"", type);
}

int dk_cmd_inspect(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	const struct dk_inspect_options *o = args->options;

	if (!dk_given(args, "type"))
		return dk_inspect_all(c, args, any_kind, e);
	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i].fn && str_eq(o->type, kinds[i].type))
			return dk_inspect_all(c, args, kinds[i].fn, e);
	return bad_type(o->type ? o->type : "");
}

int dk_cmd_container_inspect(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	return dk_inspect_all(c, args, dk_inspect_container, e);
}

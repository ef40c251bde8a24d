/* SPDX-License-Identifier: Apache-2.0 */
/* `docker system prune`. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "docker/build-cache.h"
#include "docker/commands.h"
#include "docker/image-remove.h"
#include "docker/network-use.h"
#include "docker/prune.h"
#include "docker/units.h"

static const char *const known[] = {"label", "label!", "until", NULL};

static int print_total(uint64_t bytes)
{
	char size[DK_UNIT_MAX];

	printf("Total reclaimed space: %s\n", dk_human_size_precision(size, (double)bytes, 4));
	fflush(stdout);
	return 0;
}

static const char *warning(struct arena *a, const struct dk_prune_options *o)
{
	const char *filters = dk_filter_lines(a, &o->filter);

	return arena_printf(a, "WARNING! This will remove:\n"
			       "  - all stopped containers\n"
			       "  - all networks not used by at least one container\n"
			       "%s"
			       "  - %s\n"
			       "  - %s build cache\n"
			       "%s%s",
			    o->volumes ? "  - all anonymous volumes not used by at least one container\n" : "",
			    o->all ? "all images without at least one container associated to them"
				   : "all dangling images",
			    o->all ? "all" : "unused",
			    *filters ? "\n  Items to be pruned will be filtered with:\n" : "", filters);
}

int dk_cmd_system_prune(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	const struct dk_prune_options *o = args->options;
	struct dk_image_pruned images = {0};
	uint64_t bytes = 0;
	int r = dk_check_filter(c, &o->filter, known, e);

	if (r < 0)
		return r;
	if (!o->force && !dk_confirm(warning(c->arena, o)))
		return 0;
	r = dk_prune_containers(c, &o->filter, &bytes, e);
	if (r == 0)
		r = dk_prune_networks(c, &o->filter, e);
	if (r == 0 && o->volumes)
		r = dk_prune_volumes(c, &o->filter, false, &bytes, e);
	if (r == 0)
		r = dk_image_prune(c, o->all, &o->filter, &images, e);
	if (r == 0 && images.lines.len)
		printf("Deleted Images:\n%s\n", images.lines.p);
	strbuf_free(&images.lines);
	/* nothing of it has a label or a time that a filter could name */
	if (r == 0 && !o->filter.n)
		r = dk_build_cache_prune(c->store, &bytes, e);
	return r < 0 ? r : print_total(bytes + images.bytes);
}

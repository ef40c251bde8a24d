/* SPDX-License-Identifier: Apache-2.0 */
/* `docker image prune`. */
#include <stdio.h>

#include "docker/commands.h"
#include "docker/image-remove.h"
#include "docker/units.h"

int dk_cmd_image_prune(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	const struct dk_prune_options *o = args->options;
	struct dk_image_pruned pruned = {0};
	char size[DK_UNIT_MAX];
	int answer;

	if (!o->force) {
		printf("WARNING! This will remove all %s.\nAre you sure you want to continue? [y/N] ",
		       o->all ? "images without at least one container associated to them" : "dangling images");
		fflush(stdout);
		answer = getchar();
		if (answer != 'y' && answer != 'Y')
			return 0;
	}
	if (dk_image_prune(c, o->all, &o->filter, &pruned, e) < 0)
		return -e->code;
	if (pruned.lines.len)
		printf("Deleted Images:\n%s\n", pruned.lines.p);
	strbuf_free(&pruned.lines);
	printf("Total reclaimed space: %s\n", dk_human_size_precision(size, (double)pruned.bytes, 4));
	return 0;
}

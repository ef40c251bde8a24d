/* SPDX-License-Identifier: Apache-2.0 */
/* `docker container prune`. */
#include <errno.h>
#include <stdio.h>

#include "base/str.h"
#include "docker/commands.h"
#include "docker/control.h"
#include "docker/list.h"
#include "docker/network-use.h"
#include "docker/prune.h"
#include "docker/tree-size.h"
#include "docker/units.h"

/* 1: removed; 0: it is not to be, any more. */
static int prune_one(struct dk_context *c, const struct dk_row *row, const struct str_map *filter, uint64_t *bytes,
		     struct err *e)
{
	struct dk_container k = DK_CONTAINER_NONE(c);
	uint64_t size;
	int r;

	if (row->look.running || str_eq(row->look.status, DK_RESTARTING) ||
	    !dk_labels_fit(filter, &row->record->config.labels))
		return 0;
	r = dk_until_fits(c, filter, row->record->created, e);
	if (r <= 0)
		return r;
	size = dk_tree_size(dk_container_path(c->store, row->record->id, "rw/diff"));
	r = dk_take_over(&k, row->record->id, e);
	if (r != 0) { /* it was started or removed meanwhile */
		*e = (struct err){0};
		return 0;
	}
	r = dk_record_remove(k.store, k.record->id, k.record, false, e);
	dk_owner_note_exit(&k.owner, (int)k.record->state.exit_code);
	dk_owner_release(&k.owner);
	*bytes += r < 0 ? 0 : size;
	return r < 0 ? r : 1;
}

int dk_prune_containers(struct dk_context *c, const struct str_map *filter, uint64_t *bytes, struct err *e)
{
	struct dk_row_filter want = {.all = true, .last = -1};
	struct dk_rows rows;
	bool any = false;
	int r = dk_rows_load(c, &want, &rows, e);

	for (size_t i = rows.n; r >= 0 && i-- > 0;) {
		r = prune_one(c, &rows.v[i], filter, bytes, e);
		if (r <= 0)
			continue;
		printf("%s%s\n", any ? "" : "Deleted Containers:\n", rows.v[i].record->id);
		any = true;
	}
	if (any)
		printf("\n");
	fflush(stdout);
	return r < 0 ? r : 0;
}

int dk_cmd_container_prune(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	static const char *const known[] = {"label", "label!", "until", NULL};
	const struct dk_prune_options *o = args->options;
	char size[DK_UNIT_MAX];
	uint64_t bytes = 0;
	int r = dk_check_filter(c, &o->filter, known, e);

	if (r < 0)
		return r;
	if (!o->force && !dk_confirm("WARNING! This will remove all stopped containers."))
		return 0;
	r = dk_prune_containers(c, &o->filter, &bytes, e);
	if (r < 0)
		return r;
	printf("Total reclaimed space: %s\n", dk_human_size_precision(size, (double)bytes, 4));
	return 0;
}

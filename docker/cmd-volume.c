/* SPDX-License-Identifier: Apache-2.0 */
/* `docker volume create`, `rm` and `prune`. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "docker/commands.h"
#include "docker/format.h"
#include "docker/network-use.h"
#include "docker/prune.h"
#include "docker/tree-size.h"
#include "docker/units.h"
#include "docker/volume-use.h"

/* ---- create ---- */

int dk_cmd_volume_create(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	const struct dk_volume_create_options *o = args->options;
	struct dk_volume_want want = {.name = args->argc ? args->argv[0] : NULL, .driver = o->driver,
				      .labels = o->labels, .options = o->opt, .by_command = true};
	struct dk_volume v;
	struct dk_store *s;

	if (o->name && want.name)
		return dk_error(c, e, EINVAL, "conflicting options: cannot specify a volume-name through both --name "
				"and as a positional arg");
	if (o->name)
		want.name = o->name;
	if (dk_store_open(c, &s, e) < 0 || dk_volume_use(c->arena, &s->roots, &want, &v, e) < 0)
		return -e->code;
	return dk_write_stdout(arena_printf(c->arena, "%s\n", v.name), strlen(v.name) + 1, e);
}

/* ---- rm, prune ---- */

static int remove_one(struct dk_context *c, const struct dk_volume_users *users, const char *name, struct err *e)
{
	auto_strbuf struct strbuf ids = {0};
	struct dk_volume v;
	int r = dk_volume_find(c->arena, &c->store->roots, name, &v, e);

	if (r < 0)
		return dk_daemon_error(c, e, -r, "%s", arena_strdup(c->arena, e->msg));
	for (size_t i = 0; i < users->n; i++)
		if (str_eq(users->v[i].volume, name))
			strbuf_printf(&ids, "%s%s", ids.len ? ", " : "", users->v[i].container);
	if (ids.len)
		return dk_daemon_error(c, e, EBUSY, "remove %s: volume is in use - [%s]", name, strbuf_str(&ids));
	r = dk_volume_remove(&c->store->roots, name, e);
	return r < 0 ? dk_daemon_error(c, e, -r, "%s", arena_strdup(c->arena, e->msg)) : 0;
}

int dk_cmd_volume_rm(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	const struct dk_force_options *o = args->options;
	struct dk_volume_users users;
	bool failed = false;

	if (dk_volume_users(c, &users, e) < 0)
		return -e->code;
	for (int i = 0; i < args->argc; i++) {
		int r = remove_one(c, &users, args->argv[i], e);

		if (r == 0 || (r == -ENOENT && o->force)) {
			printf("%s\n", args->argv[i]);
			continue;
		}
		dk_print_error(c, e);
		failed = true;
	}
	fflush(stdout);
	return failed;
}

int dk_prune_volumes(struct dk_context *c, const struct str_map *filter, bool all_of_them, uint64_t *ret_bytes,
		     struct err *e)
{
	struct dk_volume_users users;
	struct dk_volumes all;
	bool first = true;
	int r = dk_volume_users(c, &users, e);

	if (r == 0)
		r = dk_volume_all(c->arena, &c->store->roots, &all, e);
	for (size_t i = 0; r == 0 && i < all.n; i++) {
		const struct dk_volume *v = &all.v[i];
		uint64_t size;

		if ((!all_of_them && !v->anonymous) || dk_volume_links(&users, v->name) ||
		    !dk_labels_fit(filter, &v->labels))
			continue;
		size = dk_tree_size(v->mountpoint);
		r = dk_volume_remove(&c->store->roots, v->name, e);
		if (r < 0)
			break;
		printf("%s%s\n", first ? "Deleted Volumes:\n" : "", v->name);
		first = false;
		*ret_bytes += size;
	}
	if (!first)
		printf("\n");
	fflush(stdout);
	return r;
}

int dk_cmd_volume_prune(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	static const char *const known[] = {"all", "label", "label!", NULL};
	const struct dk_prune_options *o = args->options;
	int all = dk_filter_bool(c, &o->filter, "all", e);
	char size[DK_UNIT_MAX];
	uint64_t bytes = 0;
	int r = all < -1 ? all : dk_check_filter(c, &o->filter, known, e);

	if (r < 0)
		return r;
	if (!o->force && !dk_confirm(o->all || all == 1
					     ? "WARNING! This will remove all local volumes not used by at least one "
					       "container."
					     : "WARNING! This will remove anonymous local volumes not used by at least "
					       "one container."))
		return 0;
	r = dk_prune_volumes(c, &o->filter, o->all || all == 1, &bytes, e);
	if (r == 0)
		printf("Total reclaimed space: %s\n", dk_human_size_precision(size, (double)bytes, 4));
	fflush(stdout);
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* `docker rm` and `docker rename`. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "docker/commands.h"
#include "docker/control.h"
#include "docker/each.h"
#include "docker/events.h"
#include "docker/rename.h"

/* ---- rm ---- */

static int refuse_running(struct dk_container *k, const char *ref, struct err *e)
{
	struct dk_look look;
	struct dk_record *r;

	if (dk_find_and_look(k->c, ref, &r, &look, e) < 0)
		return -e->code;
	if (look.paused)
		return dk_daemon_error(k->c, e, EBUSY, "You cannot remove a paused container %s. Unpause and then stop "
				       "the container before attempting removal or force remove", r->id);
	return dk_daemon_error(k->c, e, EBUSY, "You cannot remove a %s container %s. Stop the container before "
			       "attempting removal or force remove",
			       str_eq(look.status, DK_RESTARTING) ? look.status : DK_RUNNING, r->id);
}

static int remove_one(struct dk_context *c, const char *ref, void *options, struct err *e)
{
	const struct dk_rm_options *o = options;
	struct dk_container k = DK_CONTAINER_NONE(c);
	int r;

	/* One that is restarted by its policy in between is stopped once more. */
	while ((r = dk_take_over(&k, ref, e)) == 1) {
		if (!o->force)
			return refuse_running(&k, ref, e);
		if (dk_kill_all(c, k.record, e) < 0)
			return -e->code;
		if (k.record->options.remove) /* its owner has removed it */
			return 0;
	}
	if (r < 0)
		return r;
	r = dk_record_remove(k.store, k.record->id, k.record, o->volumes, e);
	dk_owner_note_exit(&k.owner, (int)k.record->state.exit_code);
	dk_owner_release(&k.owner);
	return r < 0 ? dk_daemon_error(c, e, e->code, "%s", e->msg) : 0;
}

int dk_cmd_rm(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	const struct dk_rm_options *o = args->options;
	int bad = 0;
	(void)e;

	for (int i = 0; i < args->argc; i++) {
		struct err why = {0};
		int r = remove_one(c, args->argv[i], args->options, &why);

		if (r == 0)
			printf("%s\n", args->argv[i]);
		else
			dk_print_error(c, &why);
		fflush(stdout);
		bad |= r < 0 && !(r == -ENOENT && o->force);
	}
	return bad;
}

/* ---- rename ---- */

struct rename { struct dk_context *c; const char *to, *from; bool reserved; };

static int set_name(struct dk_record *r, void *arg, struct err *e)
{
	struct rename *n = arg;
	char other[DK_ID_SIZE], *old = r->name;
	int code;

	if (str_eq(old, n->to))
		return dk_daemon_error(n->c, e, EINVAL, "Renaming a container with the same name as its current name");
	code = dk_name_reserve(n->c->store, n->to, r->id, other, e);
	if (code == -EEXIST)
		return dk_daemon_error(n->c, e, EEXIST, "Error when allocating new name: Conflict. The container name "
				       "\"/%s\" is already in use by container \"%s\". You have to remove (or rename) "
				       "that container to be able to reuse that name.", n->to, other);
	if (code < 0)
		return code;
	n->from = arena_strdup(n->c->arena, old);
	n->reserved = true;
	r->name = (char *)n->to;
	return 0;
}

static void announce_rename(struct dk_context *c, const char *id, const struct rename *n)
{
	struct dk_record *r;
	struct err e = {0};

	if (dk_record_load(c->store, id, c->arena, &r, &e) == 0)
		dk_container_event(c->store, r, "rename",
				   (struct dk_event_fact){"oldName", arena_printf(c->arena, "/%s", n->from)});
}

int dk_cmd_rename(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	const char *from = args->argv[0], *to = args->argv[1] + (args->argv[1][0] == '/');
	struct rename n = {c, to, NULL, false};
	char id[DK_ID_SIZE];
	int mark = -1, r = dk_container_find_id(c, from, id, e);

	if (r == 0 && !dk_valid_name(to))
		r = dk_daemon_error(c, e, EINVAL, "Error when allocating new name: Invalid container name (/%s), only "
				    "[a-zA-Z0-9][a-zA-Z0-9_.-] are allowed", to);
	if (r == 0)
		r = mark = dk_rename_mark(c->store, id, e);
	if (r >= 0)
		r = dk_record_update(c->store, id, set_name, &n, e);
	/* One of the names goes when it is known which one the record has. */
	if (n.reserved)
		dk_name_release(c->store, r == 0 ? n.from : to, id);
	if (mark >= 0)
		dk_rename_unmark(c->store, id, mark);
	if (r == 0) {
		announce_rename(c, id, &n);
		return 0;
	}
	dk_print_error(c, e);
	return dk_fail(1, "Error: failed to rename container named %s", from);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done when an owner died without an end of its own: killed, or with the machine. runtime/
 * ends what still runs (its own lock is free, too); then the record is told, or goes with all else if
 * it was of a --rm container. The half-made one, without a record, goes in any case.
 *
 * Whoever sweeps holds the owner lock of what he sweeps, so nobody starts it meanwhile.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/str.h"
#include "docker/happenings.h"
#include "docker/network.h"
#include "docker/record.h"
#include "docker/rename.h"
#include "runtime/state.h"
#include "spec/state.h"

enum { KILLED = 137 };

static bool says_running(const struct dk_record *r)
{
	return str_eq(r->state.status, DK_RUNNING) || str_eq(r->state.status, DK_RESTARTING);
}

static int mark_dead(struct dk_record *r, void *arg, struct err *e)
{
	char now[SPEC_TIME_SIZE];
	struct dk_store *s = arg;
	(void)e;

	if (!says_running(r))
		return 1;
	r->state.status = (char *)(r->state.started ? DK_EXITED : DK_CREATED);
	r->state.exit_code = r->state.started ? KILLED : 0;
	r->state.finished = arena_strdup(s->arena, spec_time_now(now));
	r->state.paused = false;
	if (r->state.started)
		dk_events_of_end(s, r, KILLED);
	dk_network_end(&s->roots, r->id, &r->network);
	return 0;
}

/* It has one from before its record is there until its removal has begun. */
static bool has_its_name(const struct dk_store *s, const struct dk_record *r)
{
	char holder[DK_ID_SIZE];

	return dk_name_lookup(s, r->name, holder) && str_eq(holder, r->id);
}

/* We own it. */
static int repair(struct dk_store *s, const char *id, struct err *e)
{
	auto_arena struct arena *a = arena_new();
	struct dk_record *r = NULL;
	int code = dk_record_load(s, id, a, &r, e);

	if (code == -ENOENT) { /* half made, or half removed */
		e->code = 0;
		return dk_record_remove(s, id, NULL, false, e);
	}
	if (code < 0)
		return code;
	if (has_its_name(s, r) && (!r->options.remove || str_eq(r->state.status, DK_CREATED)))
		return dk_record_update(s, id, mark_dead, s, e);
	if (says_running(r))
		dk_events_of_end(s, r, KILLED);
	dk_network_end(&s->roots, id, &r->network);
	return dk_record_remove(s, id, r, r->options.remove, e);
}

static bool is_orphan(const struct dk_store *s, const char *id)
{
	int lock = dk_owner_open(s, id);
	bool held = lock >= 0 && dk_owner_is_held(lock);

	if (lock >= 0)
		close(lock);
	return !held;
}

/* *swept: runtime/ has ended what the dead left. */
static void sweep_one(struct dk_store *s, const char *id, bool *swept)
{
	auto_owner struct dk_owner o = DK_OWNER_NONE;
	struct err e = {0};

	if (!is_orphan(s, id) || dk_owner_take(s, id, false, &o, &e) < 0)
		return;
	dk_owner_spend(&o);
	if (!*swept)
		rt_state_sweep(s->runtime.root);
	*swept = true;
	if (repair(s, id, &e) < 0) {
		log_warning("repair container %.12s: %s", id, e.msg);
		cleanup_close(&o.lock); /* the entry stays: the next command tries again */
		cleanup_close(&o.dir);
		return;
	}
	dk_owner_note_exit(&o, KILLED);
}

static void sweep_dir(struct dk_store *s, int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	bool swept = false;

	if (!d)
		return;
	for (struct dirent *de; (de = readdir(d));)
		if (img_is_hex(de->d_name, DK_ID_SIZE - 1))
			sweep_one(s, de->d_name, &swept);
		else if (dir == s->owners)
			dk_rename_repair(s, de->d_name);
	closedir(d);
	if (swept)
		dk_network_sweep(&s->roots);
}

void dk_sweep(struct dk_store *s)
{
	auto_close int mark = -1;

	sweep_dir(s, s->owners);
	if (faccessat(s->owners, ".swept", F_OK, 0) == 0)
		return;
	/* The first command since the machine was started. */
	sweep_dir(s, s->containers);
	dk_rename_repair_all(s);
	mark = openat(s->owners, ".swept", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
}

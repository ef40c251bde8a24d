/* SPDX-License-Identifier: Apache-2.0 */
/* Which container somebody means, and how it is doing. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "docker/record.h"
#include "runtime/container.h"

static bool is_there(const struct dk_store *s, const char *id)
{
	return faccessat(s->containers, id, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* How many ids begin so; the last of them is put into ret. */
static int count_prefix(const struct dk_store *s, const char *prefix, char ret[DK_ID_SIZE])
{
	int fd = openat(s->containers, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), n = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d)
		return 0;
	for (struct dirent *de; (de = readdir(d));)
		if (str_starts(de->d_name, prefix) && img_is_hex(de->d_name, DK_ID_SIZE - 1)) {
			memcpy(ret, de->d_name, DK_ID_SIZE);
			n++;
		}
	closedir(d);
	return n;
}

int dk_container_find_id(struct dk_context *c, const char *ref, char ret[DK_ID_SIZE], struct err *e)
{
	struct dk_store *s;
	const char *name = ref + (*ref == '/');
	size_t n = strlen(ref);
	int matches;

	if (dk_store_open(c, &s, e) < 0)
		return -e->code;
	if (img_is_hex(ref, DK_ID_SIZE - 1) && is_there(s, ref)) {
		memcpy(ret, ref, DK_ID_SIZE);
		return 0;
	}
	if (dk_name_lookup(s, name, ret))
		return 0;
	matches = n > 0 && n < DK_ID_SIZE && img_is_hex(ref, n) ? count_prefix(s, ref, ret) : 0;
	if (matches > 1)
		return dk_daemon_error(c, e, EINVAL, "Multiple IDs found with provided prefix: %s", ref);
	return matches ? 0 : dk_daemon_error(c, e, ENOENT, "No such container: %s", ref);
}

int dk_container_find(struct dk_context *c, const char *ref, struct dk_record **ret, struct err *e)
{
	char id[DK_ID_SIZE];
	int r = dk_container_find_id(c, ref, id, e);

	if (r == 0)
		r = dk_record_load(c->store, id, c->arena, ret, e);
	/* Removed meanwhile, or being made. */
	return r == -ENOENT ? dk_daemon_error(c, e, ENOENT, "No such container: %s", ref) : r;
}

/* ---- the state ---- */

static bool says_running(const struct dk_record *r)
{
	return str_eq(r->state.status, DK_RUNNING) || str_eq(r->state.status, DK_RESTARTING);
}

/*
 * The owner writes the end down after INIT has gone: until then the container counts as running. Of a
 * --rm container the record never says when it started.
 */
static void look_inside(const struct dk_store *s, const struct dk_record *r, struct dk_look *l)
{
	auto_container struct rt_container c = RT_CONTAINER_NONE;
	struct err e = {0};

	l->running = r->state.started != NULL;
	if (rt_container_open(s->arena, &s->runtime, r->id, &c, &e) == 0) {
		l->running = c.status != RT_CREATING || l->running;
		l->paused = c.status == RT_PAUSED;
		l->pid = c.pidfd >= 0 && c.status != RT_CREATING ? (pid_t)c.doc->init_pid : 0;
		if (c.status != RT_CREATING)
			l->started = c.doc->created;
	}
	l->status = l->paused ? "paused" : l->running ? DK_RUNNING : DK_CREATED;
	if (!l->pid && str_eq(r->state.status, DK_RESTARTING))
		l->status = DK_RESTARTING;
}

void dk_container_look(const struct dk_store *s, const struct dk_record *r, struct dk_look *ret)
{
	struct dk_look l = {.status = r->state.status};

	if (says_running(r))
		look_inside(s, r, &l);
	*ret = l;
}

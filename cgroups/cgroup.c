/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The face of the module: finds the driver and hands on. A struct cg without directories stands
 * for "runs without a cgroup of its own"; on it everything succeeds and does nothing.
 */
#include "cgroups/cgroup.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "cgroups/internal.h"

struct cg *cg_alloc(const struct cg_ops *ops)
{
	struct cg *cg = calloc(1, sizeof(*cg));

	if (!cg)
		die_out_of_memory();
	cg->ops = ops;
	cg->cpu_stat = -1;
	for (size_t i = 0; i < CG_CONTROLLERS; i++)
		cg->dirs[i].root = cg->dirs[i].fd = -1;
	return cg;
}

void cg_close(struct cg *cg)
{
	if (!cg)
		return;
	for (size_t i = 0; i < CG_CONTROLLERS; i++) {
		struct cg_dir *d = &cg->dirs[i];

		if (d->fd >= 0)
			close(d->fd);
		if (d->root >= 0)
			close(d->root);
		free(d->path);
		free(d->hierarchy);
	}
	if (cg->cpu_stat >= 0)
		close(cg->cpu_stat);
	free(cg->unit);
	free(cg->bus);
	free(cg);
}

static char *copy(const char *s)
{
	char *c = strdup(s);

	if (!c)
		die_out_of_memory();
	return c;
}

static int create_deferred(const struct cg_host *h, const struct cg_plan *p, struct cg *cg)
{
	char path[128];

	cg->deferred = p;
	cg->unit = copy(p->unit);
	cg->bus = copy(cg_systemd_socket(h->euid, path, sizeof(path)));
	return 0;
}

int cg_create_without_devices(const struct cg_host *h, const struct cg_plan *p, struct cg **ret_cg,
			      struct err *e)
{
	auto_cg struct cg *cg = NULL;
	int r = 0;

	if (p->driver == CG_DRIVER_NONE) {
		*ret_cg = cg_alloc(NULL);
		return 0;
	}
	cg = cg_alloc(p->kind == CG_V1 ? &cg_ops_v1 : &cg_ops_v2);
	if (p->driver == CG_DRIVER_SYSTEMD)
		r = create_deferred(h, p, cg);
	else if (p->kind == CG_V1)
		r = cg_create_v1(h, p, cg, e);
	else
		r = cg_create_v2(h, p, cg, e);
	if (r < 0)
		return r;
	*ret_cg = take_ptr(cg);
	return 0;
}

int cg_set_devices(struct cg *cg, const struct cg_plan *p, struct err *e)
{
	if (!cg->n || !p->filter_devices)
		return 0;
	return cg->ops->devices(cg, p, e);
}

int cg_create(const struct cg_host *h, const struct cg_plan *p, struct cg **ret_cg, struct err *e)
{
	auto_cg struct cg *cg = NULL;
	int r = cg_create_without_devices(h, p, &cg, e);

	if (r == 0)
		r = cg_set_devices(cg, p, e);
	if (r < 0) {
		struct err ignored;

		if (cg && cg->n)
			(void)cg_destroy(cg, &ignored);
		return r;
	}
	*ret_cg = take_ptr(cg);
	return 0;
}

int cg_fd(const struct cg *cg)
{
	return cg->n && cg->ops == &cg_ops_v2 ? cg->dirs[0].fd : -1;
}

static int attach_deferred(struct cg *cg, pid_t pid, struct err *e)
{
	const struct cg_plan *p = cg->deferred;
	int r = cg_attach_systemd(cg, p, pid, e);

	if (r < 0)
		return r;
	cg->deferred = NULL;
	/* The scope is empty but for its leaf, so nobody has to move. */
	r = cg_settle_v2(cg, "", p, e);
	return r < 0 ? r : cg_set_devices(cg, p, e);
}

int cg_attach(struct cg *cg, pid_t pid, struct err *e)
{
	if (cg->deferred)
		return attach_deferred(cg, pid, e);
	for (size_t i = 0; i < cg->n; i++) {
		int r = cg_join_dir(&cg->dirs[i], pid, e);

		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- saved state ---- */

struct strv cg_paths(const struct cg *cg, struct arena *a)
{
	struct strv s = {.v = arena_array(a, cg->n + 2, sizeof(char *))};

	for (size_t i = 0; i < cg->n; i++)
		s.v[s.n++] = cg->dirs[i].hierarchy
				     ? arena_printf(a, "v1:%s:%s", cg->dirs[i].hierarchy,
						    cg->dirs[i].path)
				     : arena_strdup(a, cg->dirs[i].path);
	if (cg->unit)
		s.v[s.n++] = arena_printf(a, "unit:%s", cg->unit);
	return s;
}

int cg_open(const struct strv *paths, struct cg **ret_cg, struct err *e)
{
	/* Only a unit: the process had not been moved in when this was written. */
	bool none = paths->n == 0 || str_starts(paths->v[0], "unit:");
	bool v1 = !none && str_starts(paths->v[0], "v1:");
	auto_cg struct cg *cg = cg_alloc(none ? NULL : v1 ? &cg_ops_v1 : &cg_ops_v2);
	int r = 0;

	if (v1)
		r = cg_open_v1(paths, cg, e);
	else if (!none)
		r = cg_open_v2(paths->v[0], cg, e);
	if (r < 0)
		return r;
	if (paths->n > 1 && str_starts(paths->v[1], "unit:"))
		cg->unit = copy(paths->v[1] + strlen("unit:"));
	*ret_cg = take_ptr(cg);
	return 0;
}

/* ---- while it lives ---- */

int cg_apply(struct cg *cg, const struct cg_plan *p, struct err *e)
{
	struct cg_before before = {0};
	int r;

	if (!cg->n && p->settings.n)
		return err_set(e, ENOENT, "%s: the container has no cgroup",
			       p->settings.v[0].origin);
	if (!cg->n)
		return 0;
	cg_remember(cg, &p->settings, &before);
	r = cg->ops->apply(cg, p, e);
	if (r == 0)
		r = cg_set_devices(cg, p, e);
	if (r < 0)
		cg_put_back(cg, p, &before);
	arena_free(before.arena);
	return r;
}

int cg_kill(struct cg *cg, struct err *e)
{
	return cg->n ? cg->ops->kill(cg, e) : 0;
}

int cg_freeze(struct cg *cg, struct err *e)
{
	if (!cg->n)
		return err_set(e, ENOENT, "the container has no cgroup, so it cannot be paused");
	return cg->ops->freeze(cg, true, e);
}

int cg_thaw(struct cg *cg, struct err *e)
{
	return cg->n ? cg->ops->freeze(cg, false, e) : 0;
}

int cg_is_frozen(struct cg *cg, struct err *e)
{
	return cg->n ? cg->ops->is_frozen(cg, e) : 0;
}

static int visit_procs(int dir, void *arg)
{
	return cg_read_procs(dir, arg);
}

int cg_procs(struct cg *cg, struct arena *a, struct u32v *ret_pids, struct err *e)
{
	auto_free pid_t *pids = NULL;
	struct cg_pids found = {0};
	struct u32v out = {0};
	int r = cg->n ? cg_walk(cg->ops->procs_dir(cg), visit_procs, &found, e) : 0;

	pids = found.v;
	if (r < 0)
		return r;
	out.v = arena_array(a, found.n + 1, sizeof(*out.v));
	for (size_t i = 0; i < found.n; i++)
		out.v[out.n++] = (uint32_t)pids[i];
	*ret_pids = out;
	return 0;
}

int cg_stats(struct cg *cg, unsigned what, struct cg_stats *ret_stats, struct err *e)
{
	struct cg_stats s = {0};
	int r = cg->n ? cg->ops->stats(cg, what, &s, e) : 0;

	if (r == 0)
		*ret_stats = s;
	return r;
}

int64_t cg_cpu_usec(struct cg *cg)
{
	return cg->n ? cg->ops->cpu_usec(cg) : -ENOENT;
}

int64_t cg_oom_kills(struct cg *cg)
{
	return cg->n ? cg->ops->oom_kills(cg) : -ENOENT;
}

enum cg_kind cg_kind_of(const struct cg *cg)
{
	return cg->n == 0 ? CG_NONE : cg->ops == &cg_ops_v1 ? CG_V1 : CG_V2;
}

int cg_open_file(const struct cg *cg, enum cg_controller c, const char *file, int flags)
{
	for (size_t i = 0; i < cg->n; i++) {
		int fd;

		if (cg->ops == &cg_ops_v1 && !(cg->dirs[i].controllers & CG_BIT(c)))
			continue;
		fd = openat(cg->dirs[i].fd, file, flags | O_NOFOLLOW | O_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	return -ENOENT;
}

int cg_destroy(struct cg *cg, struct err *e)
{
	return cg->n ? cg->ops->destroy(cg, e) : 0;
}

void cg_remove_empty(struct cg *cg)
{
	struct err ignored;

	for (size_t i = 0; i < cg->n; i++)
		(void)cg_remove_path(cg->dirs[i].root, cg->dirs[i].path, &ignored);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/container.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/procfs.h"
#include "base/str.h"
#include "base/sys.h"
#include "cgroups/resctrl.h"
#include "runtime/hooks.h"

enum { THAW_MS = 100 };

const char *rt_status_name(enum rt_status s)
{
	static const char *const names[] = {"creating", "created", "running", "paused", "stopped"};

	return names[s];
}

static enum rt_status find_status(struct rt_container *c)
{
	struct err e = {0};

	if (str_eq(c->doc->phase, "creating"))
		return c->in_the_making ? RT_CREATING : RT_STOPPED;
	if (c->pidfd < 0)
		return RT_STOPPED;
	if (c->cgroup && cg_is_frozen(c->cgroup, &e) == 1)
		return RT_PAUSED;
	return str_eq(c->doc->phase, "created") ? RT_CREATED : RT_RUNNING;
}

/* A maker that has let go wrote its last line before: perhaps after we had read. */
static int load_doc(struct arena *a, struct rt_container *c, struct err *e)
{
	int r = rt_state_load(&c->state, a, &c->doc, e);

	if (r < 0 || !str_eq(c->doc->phase, "creating"))
		return r;
	c->in_the_making = rt_state_is_owned(&c->state);
	return c->in_the_making ? 0 : rt_state_load(&c->state, a, &c->doc, e);
}

/* By what the record says. */
static int find_parts(struct rt_container *c, struct err *e)
{
	int r = 0;

	if (c->pidfd < 0 && !c->in_the_making)
		c->pidfd = rt_state_init(c->doc, c->procfs);
	if (!c->cgroup && c->doc->cgroup && c->doc->cgroup->paths.n)
		r = cg_open(&c->doc->cgroup->paths, &c->cgroup, e);
	return r == -ENOENT ? 0 : r;
}

static int load(struct arena *a, struct rt_container *c, struct err *e)
{
	int r = load_doc(a, c, e);

	if (r < 0)
		return r;
	c->procfs = procfs_open(e);
	if (c->procfs < 0)
		return c->procfs;
	r = find_parts(c, e);
	if (r < 0)
		return r;
	c->status = find_status(c);
	return 0;
}

int rt_container_reload(struct arena *a, struct rt_container *c, struct err *e)
{
	int r = rt_state_load(&c->state, a, &c->doc, e);

	c->in_the_making = false;
	return r < 0 ? r : find_parts(c, e);
}

/* With everything that was opened in *c, also on failure. */
static int open_and_load(struct arena *a, bool lock, struct rt_container *c, struct err *e)
{
	int r = lock ? rt_state_take_turn(&c->state, e) : 0;

	return r < 0 ? r : load(a, c, e);
}

static int finish_open(int r, const char *id, struct rt_container *c, struct rt_container *ret,
		       struct err *e)
{
	if (r == 0) {
		*ret = *c;
		return 0;
	}
	rt_container_close(c); /* ENOENT also when it was deleted while we waited for the lock */
	return r == -ENOENT ? err_set(e, ENOENT, "container does not exist: %s", id) : r;
}

int rt_container_open(struct arena *a, const struct rt_globals *g, const char *id,
		      struct rt_container *ret, struct err *e)
{
	struct rt_container c = RT_CONTAINER_NONE;
	int r = rt_state_open(g->root, id, &c.state, e);

	return finish_open(r < 0 ? r : open_and_load(a, false, &c, e), id, &c, ret, e);
}

int rt_container_open_locked(struct arena *a, const struct rt_globals *g, const char *id,
			     struct rt_container *ret, struct err *e)
{
	struct rt_container c = RT_CONTAINER_NONE;
	int r = rt_state_open(g->root, id, &c.state, e);

	return finish_open(r < 0 ? r : open_and_load(a, true, &c, e), id, &c, ret, e);
}

void rt_container_close(struct rt_container *c)
{
	rt_state_close(&c->state);
	cleanup_close(&c->procfs);
	cleanup_close(&c->pidfd);
	cg_close(c->cgroup);
	c->cgroup = NULL;
}

int rt_container_set_phase(struct rt_container *c, const char *phase, struct err *e)
{
	c->doc->phase = (char *)phase;
	return rt_state_save(&c->state, c->doc, e);
}

int rt_container_kill_all(struct rt_container *c, struct err *e)
{
	struct pollfd p = {c->pidfd, POLLIN, 0};
	int r = 0;

	if (c->cgroup)
		r = cg_kill(c->cgroup, e);
	else if (c->pidfd >= 0 && sys_pidfd_send_signal(c->pidfd, SIGKILL) < 0 && errno != ESRCH)
		r = err_sys(e, "kill the container %s", c->state.id);
	if (r < 0 || c->pidfd < 0)
		return r;
	/* In cgroup v1 what is frozen does not end, and somebody may be pausing it at this moment. */
	while ((r = poll(&p, 1, c->cgroup ? THAW_MS : -1)) == 0 || (r < 0 && errno == EINTR))
		if (r == 0)
			cg_thaw(c->cgroup, &(struct err){0});
	return 0;
}

int rt_container_remove(struct rt_container *c, struct err *e)
{
	const struct oci_spec *s = c->doc->config;
	struct hooks_run h = {.kind = "poststop", .status = "stopped", .state = c->doc};
	int r = 0;

	if (c->cgroup)
		r = cg_destroy(c->cgroup, e);
	if (r == 0)
		r = c->cgroup ? resctrl_remove(c->doc->intel_rdt_dir, e) : rt_state_destroy_groups(c->doc, e);
	if (r < 0)
		return r;
	rt_state_remove(&c->state);
	if (s && s->hooks) {
		h.list = &s->hooks->poststop;
		hooks_run_all(&h);
	}
	return 0;
}

int rt_container_each(const struct rt_globals *g, int (*fn)(const char *id, void *arg), void *arg,
		      struct err *e)
{
	DIR *d = opendir(g->root);
	int r = 0;

	if (!d)
		return errno == ENOENT ? 0 : err_sys(e, "open the state directory %s", g->root);
	for (struct dirent *de; r >= 0 && (de = readdir(d));)
		if (str_valid_id(de->d_name))
			r = fn(de->d_name, arg);
	closedir(d);
	return r < 0 ? r : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `brig start`: lets INIT of a created container go on to its exec. The fifo `start` in the state
 * directory is there until then; INIT holds it open for reading and writing.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "runtime/activation.h"
#include "runtime/cli.h"
#include "runtime/commands.h"
#include "runtime/container.h"
#include "runtime/hooks.h"

/* INIT alone has the fifo open for reading, until its exec or its end. */
static void await_exec(int fifo)
{
	struct pollfd p = {.fd = fifo};

	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
}

/* Ends the container, if it is still the one that we started. */
static void end_container(struct arena *a, const struct rt_globals *g, const struct spec_state *started)
{
	auto_container struct rt_container c = RT_CONTAINER_NONE;
	struct err e = {0};

	if (rt_container_open_locked(a, g, started->id, &c, &e) == 0 &&
	    c.doc->init_pid == started->init_pid && c.doc->init_start_time == started->init_start_time &&
	    rt_container_kill_all(&c, &e) == 0)
		return;
	if (e.code && e.code != ENOENT)
		log_warning("end the container: %s", e.msg);
}

/* A failure ends the container, as runtime.md wants it. */
static int run_poststart(struct arena *a, const struct rt_globals *g, const struct rt_container *c,
			 struct err *e)
{
	const struct oci_spec *s = c->doc->config;
	struct hooks_run h = {.kind = "poststart", .status = "running", .state = c->doc,
			      .pid = (pid_t)c->doc->init_pid};
	int r;

	if (!s || !s->hooks)
		return 0;
	h.list = &s->hooks->poststart;
	r = hooks_run(&h, e);
	if (r < 0)
		end_container(a, g, c->doc);
	return r;
}

/* The socket of a container that was created with one, when our caller is who wants to know. */
static int start_notify(const struct rt_container *c, struct err *e)
{
	struct err mine = {0};
	int r = getenv("NOTIFY_SOCKET") ? notify_bind(c->state.dir, &mine) : -ENOENT;

	if (r < 0 && r != -ENOENT)
		*e = mine;
	return r;
}

static int start_container(struct arena *a, const struct rt_globals *g, char **words, void *options,
			   struct err *e)
{
	auto_container struct rt_container c = RT_CONTAINER_NONE;
	auto_close int fifo = -1, notify = -1;
	const char *id = words[0];
	int r = rt_container_open_locked(a, g, id, &c, e);

	(void)options;
	if (r < 0)
		return r;
	if (c.status == RT_STOPPED)
		return err_set(e, EINVAL, "cannot start a container that has stopped");
	if (c.status == RT_RUNNING)
		return err_set(e, EINVAL, "cannot start an already running container");
	if (c.status != RT_CREATED)
		return err_set(e, EINVAL, "cannot start a container in the %s state", rt_status_name(c.status));
	fifo = openat(c.state.dir, "start", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
	if (fifo < 0)
		return errno == ENXIO ? err_set(e, EINVAL, "cannot start a container that has stopped")
				      : err_sys(e, "open the fifo `start` of %s", id);
	notify = start_notify(&c, e);
	if (notify < 0 && notify != -ENOENT)
		return notify;
	r = rt_container_set_phase(&c, "running", e);
	if (r < 0)
		return r;
	unlinkat(c.state.dir, "start", 0);
	if (write(fifo, "s", 1) != 1)
		return err_sys(e, "start the container %s", id);
	rt_state_close(&c.state); /* what follows may take long: others can have their turn */
	await_exec(fifo);
	r = run_poststart(a, g, &c, e);
	return r < 0 || notify < 0 ? r : notify_wait(notify, c.pidfd, (pid_t)c.doc->init_pid, e);
}

int cmd_start(int argc, char **argv, const struct rt_globals *g)
{
	const struct command_spec s = {
		.cli = {
			.usage = "brig start ID",
			.summary = "Starts the program of a created container.",
			.min_args = 1,
			.max_args = 1,
		},
		.body = start_container,
	};

	return command_run(&s, argc, argv, g);
}

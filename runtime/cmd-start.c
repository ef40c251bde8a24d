/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `brig start`: lets INIT of a created container go on to its exec. The fifo `start` among its
 * files (rt_state_dir) is there until then; INIT holds it open for reading and writing. It takes the one byte that
 * we write; where it fails before its exec, it writes its error there, for which we hold it open as well.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "runtime/activation.h"
#include "runtime/cli.h"
#include "runtime/commands.h"
#include "runtime/container.h"
#include "runtime/hooks.h"

/* INIT's own words, but others of the container's may have had a way to the fifo; and our byte is in front of
 * them when INIT could not take it. */
static int take_failure(int fifo, struct err *e)
{
	struct err said;

	if (read(fifo, &said, sizeof(said)) != (ssize_t)sizeof(said) || said.code <= 0 || !*said.msg)
		return err_set(e, EPROTO, "the container's first process failed before its exec");
	said.msg[sizeof(said.msg) - 1] = '\0';
	for (char *c = said.msg; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = '?';
	return err_set(e, said.code, "%s", said.msg);
}

/* Each event comes once (EPOLLET): our byte, which INIT has still to take, is not an answer. */
static int await_exec(int fifo, struct err *e)
{
	auto_close int ep = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event ev = {.events = EPOLLIN | EPOLLET};
	int n, waiting = 0;

	if (ep < 0 || epoll_ctl(ep, EPOLL_CTL_ADD, fifo, &ev) < 0)
		return err_sys(e, "wait for the start: epoll");
	do {
		n = epoll_wait(ep, &ev, 1, -1);
		if ((n < 0 && errno != EINTR) || ioctl(fifo, FIONREAD, &waiting) < 0)
			return err_sys(e, "wait for the start");
	} while (waiting <= 1 && (n < 0 || !(ev.events & EPOLLHUP)));
	if (waiting == 1)
		return err_set(e, EINVAL, "cannot start a container that has stopped");
	return waiting ? take_failure(fifo, e) : 0;
}

static int open_fifo(const struct rt_container *c, const char *id, int flags, struct err *e)
{
	auto_close int dir = rt_state_dir(&c->state, false, e);
	int fd = dir < 0 ? dir : openat(dir, "start", flags | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);

	if (dir < 0)
		return dir;
	if (fd < 0 && errno == ENXIO)
		return err_set(e, EINVAL, "cannot start a container that has stopped");
	return fd < 0 ? err_sys(e, "open the fifo `start` of %s", id) : fd;
}

static void remove_fifo(const struct rt_container *c)
{
	auto_close int dir = rt_state_dir(&c->state, false, &(struct err){0});

	if (dir >= 0)
		unlinkat(dir, "start", 0);
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
	auto_close int dir = getenv("NOTIFY_SOCKET") ? rt_state_dir(&c->state, false, &mine) : -ENOENT;
	int r = dir < 0 ? dir : notify_bind(dir, &mine);

	if (r < 0 && r != -ENOENT)
		*e = mine;
	return r;
}

static int start_container(struct arena *a, const struct rt_globals *g, char **words, void *options,
			   struct err *e)
{
	auto_container struct rt_container c = RT_CONTAINER_NONE;
	auto_close int fifo = -1, answer = -1, notify = -1;
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
	fifo = open_fifo(&c, id, O_WRONLY, e);
	answer = fifo < 0 ? fifo : open_fifo(&c, id, O_RDONLY, e);
	if (answer < 0)
		return answer;
	notify = start_notify(&c, e);
	if (notify < 0 && notify != -ENOENT)
		return notify;
	r = rt_container_set_phase(&c, "running", e);
	if (r < 0)
		return r;
	remove_fifo(&c);
	if (write(fifo, "s", 1) != 1)
		return err_sys(e, "start the container %s", id);
	cleanup_close(&fifo); /* now INIT alone writes */
	rt_state_close(&c.state); /* what follows may take long: others can have their turn */
	r = await_exec(answer, e);
	if (r == 0)
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

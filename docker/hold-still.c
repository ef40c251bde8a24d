/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who pauses a container may be killed before the container goes on. So another process does that: it
 * waits for the end of a pipe that nobody writes to, in a session of its own and deaf to signals.
 */
#include "docker/hold-still.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "docker/events.h"
#include "runtime/container.h"

static void keep(struct cg *cgroup, int pipe_end)
{
	struct err ignored = {0};
	sigset_t all;
	char byte;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	setsid();
	while (read(pipe_end, &byte, 1) < 0 && errno == EINTR)
		;
	_exit(cg_thaw(cgroup, &ignored) < 0);
}

int dk_hold_still(struct dk_context *c, const struct dk_record *r, struct dk_still *ret, struct err *e)
{
	auto_container struct rt_container k = RT_CONTAINER_NONE;
	auto_close int read_end = -1, write_end = -1;
	int ends[2], pid;
	int code = rt_container_open_locked(c->arena, &c->store->runtime, r->id, &k, e);

	if (code < 0)
		return code;
	if (k.status != RT_RUNNING)
		return 0;
	if (!k.cgroup)
		return err_set(e, ENOTSUP, "Cannot pause container %s: it has no cgroup (the host has none that may be "
			       "written)", r->id);
	if (pipe2(ends, 0) < 0)
		return err_sys(e, "make a pipe");
	read_end = ends[0];
	write_end = ends[1];
	pid = fork();
	if (pid == 0) {
		close(write_end);
		keep(k.cgroup, read_end);
	}
	if (pid < 0)
		return err_sys(e, "make a process");
	code = cg_freeze(k.cgroup, e);
	*ret = (struct dk_still){take_fd(&write_end), pid};
	if (code < 0)
		dk_let_go(c, NULL, ret);
	else
		dk_container_event(c->store, r, "pause", (struct dk_event_fact){0});
	return code;
}

void dk_let_go(struct dk_context *c, const struct dk_record *r, struct dk_still *s)
{
	if (s->keeper < 0)
		return;
	cleanup_close(&s->hold);
	while (waitpid(s->keeper, NULL, 0) < 0 && errno == EINTR)
		;
	s->keeper = -1;
	if (r)
		dk_container_event(c->store, r, "unpause", (struct dk_event_fact){0});
}

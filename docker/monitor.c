/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A forked child of the command, in a session of its own. It keeps the owner lock that the command
 * took, so the container is owned at every moment. Each start has its own arena and reads the record
 * anew (update and rename may have changed it), so that a container that restarts for years does not
 * make its monitor grow.
 */
#include "docker/monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/log.h"
#include "base/str.h"
#include "base/sys.h"
#include "docker/run.h"
#include "docker/station.h"
#include "spec/state.h"

#define MS 1000000ull
static const uint64_t first_pause = 100 * MS, last_pause = 60000 * MS, long_run = 10000 * MS;

/* ---- the report ---- */

/* What the command hears: nothing wrong, or an error whose text may be longer than *e holds. */
static void report(int *fd, struct dk_context *c, const struct err *e)
{
	int code = e ? e->code : 0;
	const char *text = e ? dk_error_text(c, e) : "";

	if (*fd < 0)
		return;
	if (io_write_all(*fd, &code, sizeof(code)) == 0 && *text)
		io_write_all(*fd, text, strlen(text));
	cleanup_close(fd);
}

static int hear(struct dk_context *c, int fd, struct err *e)
{
	auto_strbuf struct strbuf text = {0};
	int code;

	if (io_read_upto(fd, &code, sizeof(code)) != sizeof(code))
		return err_set(e, ECHILD, "Error response from daemon: the monitor of the container was killed");
	if (code == 0)
		return 0;
	if (io_read_fd(fd, 1 << 16, &text, "the monitor's report", e) < 0)
		return -e->code;
	return dk_error(c, e, code, "%s", strbuf_str(&text));
}

/* ---- restarting ---- */

static bool wants_restart(const struct dk_record *r, const struct dk_end *end)
{
	const char *policy = r->options.restart;

	if (r->state.stopped_by_user || !policy)
		return false;
	if (str_eq(policy, "always") || str_eq(policy, "unless-stopped"))
		return true;
	return str_eq(policy, "on-failure") && end->code != 0 &&
	       (!r->options.restart_max || r->state.restart_count < r->options.restart_max);
}

struct pause_note { const struct dk_end *end; const struct dk_container *k; char now[SPEC_TIME_SIZE]; };

static int set_restarting(struct dk_record *r, void *arg, struct err *e)
{
	struct pause_note *n = arg;
	(void)e;

	r->state.status = (char *)DK_RESTARTING;
	r->state.exit_code = n->end->code;
	r->state.oom_killed = n->end->oom_killed;
	r->state.finished = n->now;
	r->state.restart_count++;
	r->network = n->k->record->network;
	return 0;
}

/* True: once more. The record has the last word: stop and update write it. */
static bool restart_follows(struct dk_container *k, struct dk_station *s, const struct dk_end *end, uint64_t pause)
{
	struct pause_note n = {.end = end, .k = k};
	struct dk_record *r;
	struct err e = {0};

	s->woken = false;
	if (s->owner_left || dk_record_load(k->store, k->record->id, k->c->arena, &r, &e) < 0 || !wants_restart(r, end))
		return false;
	spec_time_now(n.now);
	if (dk_record_update(k->store, k->record->id, set_restarting, &n, &e) < 0)
		return false;
	while (dk_station_pause(s, pause)) {
		s->woken = false;
		if (s->owner_left || dk_record_load(k->store, k->record->id, k->c->arena, &r, &e) < 0 || !wants_restart(r, end))
			return false;
	}
	return true;
}

/* A new arena for a new start. */
static int reload(struct dk_container *k, struct err *e)
{
	struct arena *old = k->c->arena;
	struct arena *a = arena_new();
	struct dk_record *r;
	int code = dk_record_load(k->store, k->record->id, a, &r, e);

	if (code < 0) {
		arena_free(a);
		return code;
	}
	k->record = r;
	k->c->arena = k->store->arena = a;
	if (k->first_arena) /* has the context's own strings */
		k->first_arena = false;
	else
		arena_free(old);
	return 0;
}

/* ---- one run ---- */

static int wait_status(struct dk_container *k, const struct ns_exit *x)
{
	int status;

	if (k->launch.status_fd >= 0 && read(k->launch.status_fd, &status, sizeof(status)) == sizeof(status))
		return status;
	return x->signal ? x->signal : W_EXITCODE(x->status, 0);
}

static int start(struct dk_container *k, struct dk_station *s, struct err *e)
{
	int stdio[3];
	int r = dk_station_prepare(s, stdio, e);

	if (r == 0)
		r = dk_launch(k, stdio, e);
	if (r == 0 && dk_note_started(k, e) < 0) {
		struct dk_end end;
		struct ns_exit x;

		sys_pidfd_send_signal(k->launch.pidfd, SIGKILL);
		ns_reap(k->launch.pidfd, &x, NULL, &(struct err){0});
		dk_stopped(k, SIGKILL, &end);
		r = -e->code;
	}
	return r;
}

static int shed_segment(struct dl_phdr_info *info, size_t size, void *arg)
{
	const uintptr_t page = (uintptr_t)getpagesize();
	(void)size;
	(void)arg;

	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t at = (info->dlpi_addr + p->p_vaddr) & ~(page - 1);

		if (p->p_type == PT_LOAD && !(p->p_flags & PF_W))
			madvise((void *)at, info->dlpi_addr + p->p_vaddr + p->p_memsz - at, MADV_DONTNEED);
	}
	return 0;
}

void dk_monitor_shed(void)
{
	dl_iterate_phdr(shed_segment, NULL);
}

static void run(struct dk_container *k, struct dk_station *s, struct dk_end *ret_end)
{
	struct ns_exit x = {.signal = SIGKILL};
	struct err e = {0};

	s->task = dk_health_task(k);
	dk_monitor_shed();
	if (dk_station_run(s, &x, &e) < 0) {
		log_warning("container %.12s: %s", k->record->id, e.msg);
		sys_pidfd_send_signal(k->launch.pidfd, SIGKILL);
		ns_reap(k->launch.pidfd, &x, NULL, &e);
	}
	s->task = NULL;
	dk_health_end(); /* a probe that still writes would be in the way of the removal */
	dk_stopped(k, wait_status(k, &x), ret_end);
}

/* A failed restart counts as an end, with the code that `run` would have had. */
static void failed_restart(struct dk_container *k, const struct err *e, struct dk_end *ret_end)
{
	*ret_end = (struct dk_end){.code = dk_start_exit_code(dk_error_text(k->c, e))};
	rt_host_close(&k->host);
}

static int live(struct dk_container *k, struct dk_station *s, int *report_fd)
{
	struct dk_end end = {0};
	uint64_t pause = first_pause, begin = dk_now();
	struct err e = {0};
	int r = start(k, s, &e);

	if (r < 0) {
		int code = dk_start_exit_code(dk_error_text(k->c, &e));

		dk_abandon(k, &e, code);
		report(report_fd, k->c, &e);
		return code;
	}
	report(report_fd, k->c, NULL);
	for (;;) {
		if (r == 0)
			run(k, s, &end);
		else
			failed_restart(k, &e, &end);
		pause = dk_now() - begin > long_run ? first_pause : pause;
		if (!restart_follows(k, s, &end, pause))
			break;
		pause = pause * 2 > last_pause ? last_pause : pause * 2;
		e = (struct err){0};
		if (reload(k, &e) < 0)
			break;
		begin = dk_now();
		r = start(k, s, &e);
	}
	if (dk_finish(k, &end, &e) < 0)
		log_warning("container %.12s: %s", k->record->id, e.msg);
	return end.code;
}

/* ---- the process ---- */

static void leave_terminal(struct dk_store *s)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)s;
	setsid();
	if (chdir("/") < 0)
		log_warning("chdir to /: %s", err_name(errno));
	for (int i = 0; null >= 0 && i < 3; i++)
		dup2(null, i);
	cleanup_close(&null);
	prctl(PR_SET_NAME, "brig-monitor", 0, 0, 0);
}

static _Noreturn void monitor(struct dk_container *k, int client, int report_fd)
{
	struct dk_station s;
	struct err e = {0};
	int code, listener = dk_wire_listen(k->owner.dir, &e);
	int r = listener < 0 ? listener : dk_station_open(&s, k, listener, client, &e);

	leave_terminal(k->store);
	if (r < 0) {
		dk_abandon(k, &e, EXIT_SETUP_FAILED);
		report(&report_fd, k->c, &e);
		_exit(1);
	}
	k->first_arena = true;
	code = live(k, &s, &report_fd);
	dk_station_close(&s, code);
	_exit(0);
}

/* The lock is the child's now: the descriptor goes, the lock stays. */
static void let_go(struct dk_container *k)
{
	cleanup_close(&k->owner.lock);
	cleanup_close(&k->owner.dir);
}

int dk_start_detached(struct dk_container *k, int client, struct err *e)
{
	auto_close int mine = client, hears = -1;
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0) {
		dk_abandon(k, e, EXIT_SETUP_FAILED);
		return err_sys(e, "make a pipe for the monitor");
	}
	hears = fds[0];
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		cleanup_close(&hears);
		monitor(k, take_fd(&mine), fds[1]);
	}
	close(fds[1]);
	cleanup_close(&k->c->exe_mount); /* the monitor has it */
	if (pid < 0) {
		err_sys(e, "fork the monitor of the container");
		dk_abandon(k, e, EXIT_SETUP_FAILED);
		return -e->code;
	}
	let_go(k);
	return hear(k->c, hears, e);
}

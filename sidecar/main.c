/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `brigd`: reads its settings, forks the launcher, opens what is to be served, serves. SIGTERM and
 * SIGINT stop it: nothing new is taken, what runs may end, then it is ended; a second signal ends
 * it at once.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "sidecar/access-log.h"
#include "sidecar/access.h"
#include "sidecar/box.h"
#include "sidecar/config.h"
#include "sidecar/launcher.h"
#include "sidecar/page.h"
#include "sidecar/pool.h"
#include "sidecar/loop.h"
#include "sidecar/records.h"
#include "sidecar/run.h"
#include "sidecar/rundir.h"
#include "sidecar/server.h"
#include "sidecar/session.h"
#include "sidecar/sidecar.h"
#include "sidecar/snippet.h"

static struct loop_fd signals = {.fd = -1};
static struct loop_timer drain_timer;
static uint64_t drain_until_ns, give_up_ns;
static bool draining;
static int exit_code;
enum { GIVE_UP_S = 10 }; /* for sandboxes that were told to end */

static const struct route routes[] = {
	{METHOD_GET, "/", page_show},
	{METHOD_POST, "/execute", sidecar_execute},
	{METHOD_GET, "/executions/", sidecar_status},
	{METHOD_POST, "/executions/", sidecar_cancel},
	{METHOD_GET, "/files/", snippet_file},
	{METHOD_GET, "/health", sidecar_health},
	{METHOD_GET, "/metrics", sidecar_metrics},
	{0},
};
static const struct ws_route ws_routes[] = {
	{"/exec", access_check, snippet_opened, snippet_message},
	{"/ws/execute", access_check, snippet_opened, snippet_message},
	{"/session", access_check, session_opened, session_message},
	{"/ws/computer", access_check, session_opened, session_message},
	{0},
};

static bool authorise(struct conn *c)
{
	/* Files have a check of their own, /health and the page are public. */
	if (str_eq(c->path, "/health") || str_eq(c->path, "/") || str_starts(c->path, "/files/"))
		return true;
	return sidecar_authorise(c);
}

static const struct server server = {routes, ws_routes, authorise};

/* ---- the end ---- */

static void drained(struct loop_timer *t)
{
	if (run_running() + run_waiting() + server_unsent() == 0 || loop_now() >= give_up_ns) {
		server_stop();
		return;
	}
	if (loop_now() >= drain_until_ns)
		run_stop_all();
	loop_set_timer(t, 50);
}

static void signals_ready(struct loop_fd *f, uint32_t events)
{
	struct signalfd_siginfo si;
	(void)events;

	if (read(f->fd, &si, sizeof(si)) != sizeof(si))
		return;
	if (draining) {
		server_stop();
		return;
	}
	draining = true;
	server_close_listeners();
	run_drain();
	drain_until_ns = loop_now() + config.drain_s * 1000000000;
	give_up_ns = drain_until_ns + GIVE_UP_S * 1000000000ull;
	drain_timer.due = drained;
	loop_set_timer(&drain_timer, 0);
}

static int watch_signals(struct err *e)
{
	sigset_t set;
	int fd;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return err_sys(e, "signalfd");
	signals.ready = signals_ready;
	return loop_add(&signals, fd, EPOLLIN, e);
}

static void launcher_gone(void)
{
	fputs("brigd: the launcher has ended: so do we\n", stderr);
	exit_code = 1;
	server_stop();
}

/* Three for each connection, seven for each sandbox. Not more than needed: the library allocates for all. */
static void limit_descriptors(void)
{
	uint64_t want = 200 + 3 * config.max_connections + 7 * (config.max_running + config.pool + config.pool_python);
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) < 0)
		return;
	if (r.rlim_max < want)
		fprintf(stderr, "brigd: the limit of open files is %llu, these settings may need %llu (see LimitNOFILE)\n",
			(unsigned long long)r.rlim_max, (unsigned long long)want);
	r.rlim_cur = want < 1024 ? 1024 : want;
	if (r.rlim_cur > r.rlim_max)
		r.rlim_cur = r.rlim_max;
	setrlimit(RLIMIT_NOFILE, &r);
}

static void prepare_pool(void)
{
	struct box_spec s;

	sidecar_default_spec(&s);
	pool_keep(&s, config.pool);
	snippet_prepare_pool();
}

static int serve(struct err *e)
{
	int r = launcher_start(config.brig, e);

	if (!config.sidecar_secret)
		fputs("brigd: without a secret every /execute is refused: set ZEROTH_SANDBOX_SIDECAR_SECRET or "
		      "--sidecar-secret-file\n", stderr);
	limit_descriptors();
	if (r == 0)
		r = loop_open(e);
	if (r == 0)
		r = watch_signals(e);
	if (r == 0)
		r = box_open(launcher_gone, run_start_waiting, e);
	if (r == 0)
		r = records_open(config.max_ids, e);
	if (r == 0)
		r = rundir_open(e);
	if (r == 0)
		r = access_log_open(e);
	if (r == 0)
		r = server_open(&server, e);
	if (r < 0) {
		rundir_close();
		return r;
	}
	prepare_pool();
	server_run();
	pool_close();
	server_close();
	run_stop_all();
	launcher_stop();
	rundir_close();
	return 0;
}

int main(int argc, char **argv)
{
	auto_arena struct arena *a = arena_new();
	struct err e = {0};
	int r = config_read(a, argc, argv, &e);

	if (r == CONFIG_HELP)
		return 0;
	if (r == 0)
		r = serve(&e);
	if (r < 0) {
		fprintf(stderr, "brigd: %s\n", e.msg);
		return 1;
	}
	return exit_code;
}

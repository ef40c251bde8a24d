/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a probe prints is kept up to DK_HEALTH_OUTPUT bytes and thrown away beyond that; what it leaves
 * in the background may hold the pipe open, so its end is that of the process.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/sys.h"
#include "docker/exec.h"
#include "docker/health.h"
#include "docker/lists.h"
#include "docker/station.h"
#include "docker/streams.h"
#include "docker/units.h"
#include "nsenter/signals.h"

#define MS 1000000

static void add_output(struct dk_probe_result *r, const char *data, size_t n)
{
	size_t room = DK_HEALTH_OUTPUT - r->n;
	size_t take = n < room ? n : room;

	memcpy(r->output + r->n, data, take);
	r->n += (uint32_t)take;
	if (n > room && room > 0) {
		memcpy(r->output + r->n, "...", 3);
		r->n += 3;
	}
}

static void fail(struct dk_probe_result *r, const char *text)
{
	r->code = DK_PROBE_FAILED;
	r->n = (uint32_t)snprintf(r->output, sizeof(r->output), "%.*s", DK_HEALTH_OUTPUT, text);
}

/* False: the end. */
static bool read_output(int fd, struct dk_probe_result *r)
{
	char buf[4096];
	ssize_t n = read(fd, buf, sizeof(buf));

	if (n > 0 && r->n < DK_HEALTH_OUTPUT)
		add_output(r, buf, (size_t)n);
	return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

/* True: the process has ended, and its output is read. */
static bool wait_for(int pidfd, int out, int64_t timeout, struct dk_probe_result *r)
{
	const uint64_t end = dk_now() + (uint64_t)timeout;
	struct pollfd p[2] = {{out, POLLIN, 0}, {pidfd, POLLIN, 0}};
	bool exited = false;

	for (;;) {
		uint64_t now = dk_now();
		uint64_t left = exited || now >= end ? 0 : (end - now) / MS + 1;
		int n = poll(p, 2, left > 3600000 ? 3600000 : (int)left);

		if (n < 0 && errno != EINTR)
			return false;
		if (n == 0 && exited)
			return true;
		if (n == 0 && dk_now() >= end)
			return false;
		if (n > 0 && p[0].revents && !read_output(out, r))
			p[0].fd = -1;
		if (n > 0 && p[1].revents) {
			exited = true;
			p[1].fd = -1;
		}
	}
}

static void take_too_long(struct dk_exec *x, int64_t timeout, struct dk_probe_result *r)
{
	auto_arena struct arena *a = arena_new();
	char *output = arena_strndup(a, r->output, r->n);
	char span[64];

	rt_exec_kill(&x->x);
	if (timeout % 1000000000 == 0)
		snprintf(span, sizeof(span), "%llds", (long long)(timeout / 1000000000));
	else
		snprintf(span, sizeof(span), "%gms", (double)timeout / MS);
	fail(r, arena_printf(a, "Health check exceeded timeout (%s)%s%s", span, *output ? ": " : "", output));
}

static void follow(struct dk_exec *x, int out, int64_t timeout, struct dk_probe_result *r)
{
	struct ns_exit end;
	struct err e = {0};

	if (!wait_for(x->x.pidfd, out, timeout, r)) {
		take_too_long(x, timeout, r);
		return;
	}
	if (ns_reap(x->x.pidfd, &end, NULL, &e) < 0)
		fail(r, e.msg);
	else
		r->code = end.signal ? 128 + end.signal : end.status;
}

/* CMD ARG..., CMD-SHELL TEXT */
static char **words(struct arena *a, const struct dk_record *r)
{
	const struct strv *test = &r->config.healthcheck->test, *shell = &r->config.shell;
	struct strv v = {0};

	if (str_eq(test->v[0], "CMD-SHELL") && !shell->n) {
		dk_strv_add(a, &v, (char *)"/bin/sh");
		dk_strv_add(a, &v, (char *)"-c");
	}
	for (size_t i = 0; str_eq(test->v[0], "CMD-SHELL") && i < shell->n; i++)
		dk_strv_add(a, &v, shell->v[i]);
	for (size_t i = 1; i < test->n; i++)
		dk_strv_add(a, &v, test->v[i]);
	return v.v;
}

void dk_probe_run(struct dk_context *c, struct dk_record *r, int64_t timeout, struct dk_probe_result *ret)
{
	static const struct dk_exec_options plain;
	auto_exec struct dk_exec x = {DK_EXEC_NONE, .c = c, .o = &plain, .record = r, .argv = words(c->arena, r)};
	struct err e = {0};
	auto_close int null = dk_null_open(&e), out = -1, in = -1;
	int fds[2], code;

	*ret = (struct dk_probe_result){.code = DK_PROBE_FAILED};
	if (!x.argv || null < 0 || pipe2(fds, O_CLOEXEC) < 0)
		return;
	out = fds[0];
	in = fds[1];
	code = rt_container_open(c->arena, &c->store->runtime, r->id, &x.container, &e);
	if (code == 0 && x.container.status == RT_PAUSED) {
		ret->code = DK_PROBE_SKIPPED;
		return;
	}
	if (code == 0 && x.container.pidfd < 0)
		code = err_set(&e, ESRCH, "the container has ended");
	if (code == 0)
		code = dk_exec_prepare(&x, &e);
	if (code == 0)
		code = dk_exec_start(&x, (const int[3]){null, in, in}, &e);
	cleanup_close(&in);
	if (code == 0)
		follow(&x, out, timeout, ret);
	else
		fail(ret, arena_printf(c->arena, "OCI runtime exec failed: exec failed: unable to start container process: "
				       "%s: unknown", dk_exec_words(c->arena, e.msg, e.code)
				       ? dk_exec_words(c->arena, e.msg, e.code) : e.msg));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The systemd driver: a transient scope around the container's process, made by the service
 * manager of the system (root) or of the user (rootless) at its private socket, where no D-Bus
 * daemon is in between.
 *
 * A scope needs a process from the start, so nothing happens before cg_attach: it asks for the
 * scope with the process and the limits in it (scope-limits.c), waits for the job, moves the
 * process on into the leaf ("container", or as an annotation says) and writes the limits there too. The scope is delegated:
 * what lies below it is ours, while systemd may write the files of the scope itself again at any
 * time (daemon-reload); so they change only through it. The scope ends by itself when its last
 * process has ended; we ask for its end all the same, for only then its name is free for sure.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/procfs.h"
#include "base/str.h"
#include "cgroups/dbus.h"
#include "cgroups/internal.h"

/*
 * As root of the host the system's manager. Root of a user namespace that somebody's session made
 * (podman) belongs to the manager of that user; without a session it may have a system of its own.
 */
const char *cg_systemd_socket(uid_t uid, char *buf, size_t size)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");
	bool session = dir && *dir == '/';

	if (uid == 0 && (!session || procfs_initial_userns()))
		snprintf(buf, size, "/run/systemd/private");
	else if (session)
		snprintf(buf, size, "%s/systemd/private", dir);
	else
		snprintf(buf, size, "/run/user/%u/systemd/private", uid);
	return buf;
}

static void property_string(struct strbuf *b, const char *name, const char *value)
{
	cg_put_property(b, name, "s");
	dbus_put_string(b, value);
}

static void property_bool(struct strbuf *b, const char *name, bool value)
{
	cg_put_property(b, name, "b");
	dbus_put_u32(b, value);
}

/* What a scope of ours is. */
static void put_basics(struct strbuf *b, const struct cg_plan *p, pid_t pid)
{
	property_string(b, "Description", "brig container");
	property_string(b, "Slice", p->slice);
	property_bool(b, "Delegate", true);
	property_bool(b, "DefaultDependencies", false);
	/* No failed scope stays to block the next container with this id. */
	property_string(b, "CollectMode", "inactive-or-failed");
	cg_put_property(b, "PIDs", "au");
	dbus_put_u32(b, sizeof(uint32_t));
	dbus_put_u32(b, (uint32_t)pid);
	cg_put_accounting(b);
}

/* The body of StartTransientUnit: ssa(sv)a(sa(sv)). Annotations come last, so they win. */
static int put_start(struct strbuf *b, const struct cg *cg, const struct cg_plan *p, pid_t pid,
		     struct err *e)
{
	struct dbus_array properties;
	int r;

	dbus_put_string(b, cg->unit);
	dbus_put_string(b, "fail");
	properties = dbus_array_begin(b);
	put_basics(b, p, pid);
	r = cg_put_limits(b, p, e);
	if (r == 0)
		r = cg_put_properties(b, &p->annotations, e);
	dbus_array_end(b, properties);
	dbus_array_end(b, dbus_array_begin(b));
	return r;
}

static int refused(const struct cg *cg, struct dbus_message *m, const char *what, struct err *e)
{
	const char *text;
	char safe[256];

	if (dbus_get_string(m, &text) < 0)
		text = m->error;
	return err_set(e, EPERM, "systemd does not %s the scope %s: %s", what, cg->unit,
		       str_escape(safe, sizeof(safe), text));
}

/* The reply to our call: the path of the job. */
static int job_of(const struct cg *cg, struct dbus_message *m, char job[256], struct err *e)
{
	const char *text = "";

	if (m->type == DBUS_ERROR)
		return refused(cg, m, "make", e);
	if (dbus_get_string(m, &text) < 0 || strlen(text) >= 256)
		return err_set(e, EBADMSG, "systemd answered without a job");
	memcpy(job, text, strlen(text) + 1);
	return 0;
}

/* JobRemoved(u id, o job, s unit, s result): 1 it was our job, 0 another signal. */
static int job_done(const struct cg *cg, struct dbus_message *m, const char *job, struct err *e)
{
	const char *path, *unit, *result;
	uint32_t id;

	if (m->type != DBUS_SIGNAL || !str_eq(m->member, "JobRemoved"))
		return 0;
	if (dbus_get_u32(m, &id) < 0 || dbus_get_string(m, &path) < 0 ||
	    dbus_get_string(m, &unit) < 0 || dbus_get_string(m, &result) < 0)
		return err_set(e, EBADMSG, "systemd sent a broken signal");
	if (!str_eq(path, job))
		return 0;
	if (!str_eq(result, "done"))
		return err_set(e, EIO, "systemd could not start the scope %s: %.64s", cg->unit,
			       result);
	return 1;
}

/* Signals before the reply are of other jobs: ours has no signal before systemd names it. */
static int wait_job(struct dbus *d, const struct cg *cg, uint32_t serial, struct err *e)
{
	char job[256] = "";
	int r = 0;

	while (r == 0) {
		struct dbus_message m;

		r = dbus_receive(d, &m, e);
		if (r < 0)
			return r;
		if (m.reply_to == serial && (m.type == DBUS_REPLY || m.type == DBUS_ERROR))
			r = job_of(cg, &m, job, e);
		else if (*job)
			r = job_done(cg, &m, job, e);
		dbus_message_free(&m);
	}
	return r < 0 ? r : 0;
}

static int64_t manager_call(struct dbus *d, const char *member, const char *signature,
			    const struct strbuf *body, struct err *e)
{
	const struct dbus_call call = {
		.path = "/org/freedesktop/systemd1",
		.interface = "org.freedesktop.systemd1.Manager",
		.member = member,
		.signature = signature,
		.body = body,
	};

	return dbus_send(d, &call, e);
}

static int start_scope(const struct cg *cg, const struct cg_plan *p, pid_t pid, struct err *e)
{
	auto_strbuf struct strbuf body = {0};
	struct dbus d;
	int64_t serial;
	int r = put_start(&body, cg, p, pid, e);

	if (r == 0)
		r = dbus_connect(&d, cg->bus, e);
	if (r < 0)
		return r;
	serial = manager_call(&d, "StartTransientUnit", "ssa(sv)a(sa(sv))", &body, e);
	r = serial < 0 ? (int)serial : wait_job(&d, cg, (uint32_t)serial, e);
	dbus_close(&d);
	return r;
}

/* Until the answer to our call, which says nothing but whether it went well. */
static int wait_reply(struct dbus *d, const struct cg *cg, uint32_t serial, struct err *e)
{
	for (;;) {
		struct dbus_message m;
		bool ours;
		int r = dbus_receive(d, &m, e);

		if (r < 0)
			return r;
		ours = m.reply_to == serial;
		if (ours && m.type == DBUS_ERROR)
			r = refused(cg, &m, "change", e);
		dbus_message_free(&m);
		if (ours)
			return r;
	}
}

int cg_update_scope(const struct cg *cg, const struct cg_plan *p, struct err *e)
{
	auto_strbuf struct strbuf body = {0};
	struct dbus_array properties;
	char path[128];
	struct dbus d;
	int64_t serial;
	int r;

	dbus_put_string(&body, cg->unit);
	dbus_put_u32(&body, true); /* until the scope ends */
	properties = dbus_array_begin(&body);
	r = cg_put_limits(&body, p, e);
	if (r < 0 || body.len == properties.begin)
		return r;
	dbus_array_end(&body, properties);
	r = dbus_connect(&d, cg_systemd_socket(geteuid(), path, sizeof(path)), e);
	if (r < 0)
		return r;
	serial = manager_call(&d, "SetUnitProperties", "sba(sv)", &body, e);
	r = serial < 0 ? (int)serial : wait_reply(&d, cg, (uint32_t)serial, e);
	dbus_close(&d);
	return r;
}

void cg_stop_scope(const struct cg *cg)
{
	auto_strbuf struct strbuf body = {0};
	struct err ignored;
	char path[128];
	struct dbus d;
	int64_t serial;

	dbus_put_string(&body, cg->unit);
	dbus_put_string(&body, "replace");
	if (dbus_connect(&d, cg_systemd_socket(geteuid(), path, sizeof(path)), &ignored) < 0)
		return;
	serial = manager_call(&d, "StopUnit", "ss", &body, &ignored);
	if (serial >= 0)
		(void)wait_job(&d, cg, (uint32_t)serial, &ignored);
	dbus_close(&d);
}

/* Where systemd has put the process: the scope's path below the mount. */
static int scope_of(pid_t pid, struct arena *a, char **ret_path, struct err *e)
{
	struct cg_host h = {.root = -1};
	char path[32], text[4096];
	ssize_t n;
	int r;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	n = io_read_small(AT_FDCWD, path, text, sizeof(text));
	if (n < 0)
		return err_set(e, (int)-n, "read %s: %s", path, err_name((int)-n));
	r = cg_parse_self(a, text, &h, e);
	if (r < 0)
		return r;
	if (!h.own[1])
		return err_set(e, EIO, "the new scope is not visible from our cgroup namespace");
	*ret_path = h.own;
	return 0;
}

int cg_attach_systemd(struct cg *cg, const struct cg_plan *p, pid_t pid, struct err *e)
{
	auto_arena struct arena *a = arena_new();
	struct cg_plan plan = {.kind = CG_V2, .explicit_path = true};
	char *scope;
	int r = start_scope(cg, p, pid, e);

	if (r == 0)
		r = scope_of(pid, a, &scope, e);
	if (r < 0)
		return r;
	if (!*p->leaf)
		return cg_open_v2(scope, cg, e);
	plan.path = arena_printf(a, "%s/%s", scope, p->leaf);
	r = cg_make_v2(-1, &plan, cg, e);
	return r < 0 ? r : cg_join_dir(&cg->dirs[0], pid, e);
}

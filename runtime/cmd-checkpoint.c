/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `brig checkpoint`: criu writes the processes of a container to files. Then they are ended and the
 * container is removed, as runc and crun do, unless it is to go on. The container stays locked
 * meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "runtime/commands.h"
#include "runtime/container.h"
#include "runtime/criu-files.h"
#include "runtime/criu-options.h"

struct checkpoint {
	struct criu_options common;
	const char *parent_path, *page_server, *status_fd, *id;
	char *address; /* of the page server */
	unsigned port;
	int status; /* descriptor of --status-fd, with that */
	bool leave_running, pre_dump, link_remap, tcp_skip_in_flight;
};

/* "ADDRESS:PORT"; the address of IPv6 in brackets. */
static int parse_page_server(struct checkpoint *o, struct err *e)
{
	const char *colon = strrchr(o->page_server, ':');
	size_t n = colon ? (size_t)(colon - o->page_server) : 0;
	bool brackets = n > 2 && o->page_server[0] == '[' && colon[-1] == ']';
	uint64_t port;

	if (n == 0 || str_u64(colon + 1, UINT16_MAX, &port) < 0 || port == 0)
		return err_set(e, EINVAL, "--page-server: \"%.64s\" is not ADDRESS:PORT", o->page_server);
	o->port = (unsigned)port;
	o->address = strndup(o->page_server + brackets, n - 2 * brackets);
	return o->address ? 0 : err_sys(e, "--page-server");
}

static int parse_status_fd(struct checkpoint *o, struct err *e)
{
	uint64_t fd;

	if (str_u64(o->status_fd, INT_MAX, &fd) < 0 || fcntl((int)fd, F_GETFD) < 0)
		return err_set(e, EBADF, "--status-fd: %.16s is no descriptor that we were given", o->status_fd);
	o->status = (int)fd;
	return 0;
}

static int check(struct checkpoint *o, struct err *e)
{
	if (o->parent_path && *o->parent_path == '/')
		return err_set(e, EINVAL, "--parent-path must be relative to --image-path");
	if (o->page_server && parse_page_server(o, e) < 0)
		return -e->code;
	return o->status_fd ? parse_status_fd(o, e) : 0;
}

static int check_status(const struct rt_container *c, const char *id, struct err *e)
{
	if (c->status != RT_RUNNING && c->status != RT_PAUSED)
		return err_set(e, EINVAL, "container cannot be checkpointed in %s state",
			       rt_status_name(c->status));
	if (!c->doc->config || !c->doc->config->process || !c->doc->config->linux_)
		return err_set(e, ENOTSUP, "%s cannot be checkpointed: its configuration was not kept "
					   "(sandboxes do not)", id);
	return 0;
}

/* The plan that the container was made by. */
static int load_plan(struct arena *a, const struct rt_container *c, struct rt_host *h,
		     struct plan **ret, struct err *e)
{
	struct plan_options po = {
		.id = c->doc->id,
		.bundle = c->doc->bundle,
		.systemd_cgroup = c->doc->systemd,
		.no_cgroup = !c->doc->cgroup,
	};
	struct plan_input in = {c->doc->config, &po, h};
	int r = rt_host_probe(a, h, e);

	return r < 0 ? r : plan_build(a, &in, ret, e);
}

/* The directory by which criu stops the container; NULL: it stops each process. */
static const char *find_freezer(const struct rt_container *c, struct arena *a)
{
	for (size_t i = 0; c->doc->cgroup && i < c->doc->cgroup->paths.n; i++) {
		const char *path = c->doc->cgroup->paths.v[i];

		if (*path == '/')
			return arena_printf(a, "/sys/fs/cgroup%s", path);
		if (str_starts(path, "v1:freezer:"))
			return arena_printf(a, "/sys/fs/cgroup/freezer%s", path + sizeof("v1:freezer:") - 1);
	}
	return NULL;
}

static void put_page_server(const struct checkpoint *o, struct strbuf *b)
{
	auto_strbuf struct strbuf server = {0};

	criu_put_str(&server, 1, o->address);
	criu_put_uint(&server, 2, o->port);
	criu_put_bytes(b, CRIU_OPT_PAGE_SERVER, server.p, server.len);
}

static void put_options(const struct checkpoint *o, const struct rt_container *c, struct arena *a,
			struct criu_call *call)
{
	struct strbuf *b = &call->opts;
	const char *freezer = find_freezer(c, a);

	criu_put_uint(b, CRIU_OPT_PID, (uint64_t)c->doc->init_pid);
	criu_put_str(b, CRIU_OPT_ROOT, c->doc->rootfs);
	if (o->page_server)
		put_page_server(o, b);
	if (o->status_fd) {
		criu_put_uint(b, CRIU_OPT_STATUS_FD, CRIU_FIRST_FD + call->n_fds);
		call->fds[call->n_fds++] = o->status;
	}
	if (o->leave_running)
		criu_put_uint(b, CRIU_OPT_LEAVE_RUNNING, true);
	if (o->link_remap)
		criu_put_uint(b, CRIU_OPT_LINK_REMAP, true);
	if (o->tcp_skip_in_flight)
		criu_put_uint(b, CRIU_OPT_TCP_SKIP_IN_FLIGHT, true);
	if (freezer)
		criu_put_str(b, CRIU_OPT_FREEZE_CGROUP, freezer);
	if (o->parent_path)
		criu_put_str(b, CRIU_OPT_PARENT_IMG, o->parent_path);
	if (o->parent_path || o->pre_dump)
		criu_put_uint(b, CRIU_OPT_TRACK_MEM, true);
}

static int check_parent(const struct checkpoint *o, const struct criu_dirs *d, struct err *e)
{
	if (o->parent_path && faccessat(d->images, o->parent_path, F_OK, 0) < 0)
		return err_sys(e, "--parent-path: %s below %s", o->parent_path, o->common.image_path);
	return criu_check_features(o->parent_path || o->pre_dump, o->common.lazy_pages, "checkpoint", e);
}

static int put_outside(const struct criu_tree *t, int images, struct arena *a, struct strbuf *opts,
		       struct err *e)
{
	int r = criu_put_dump_namespaces(t->plan, a, opts, e);

	if (r == 0)
		r = criu_put_dump_mounts(t, a, opts, e);
	return r < 0 ? r : criu_dump_streams(t, images, opts, e);
}

static int dump(const struct checkpoint *o, struct arena *a, const struct rt_container *c,
		const struct plan *p, struct err *e)
{
	auto_criu_dirs struct criu_dirs d = CRIU_DIRS_NONE;
	struct criu_call call = {
		.what = "checkpoint",
		.type = o->pre_dump ? CRIU_PRE_DUMP : CRIU_DUMP,
		/* Else it notices at its next notification, when it can put everything right. */
		.die_with_us = o->common.lazy_pages,
		.log_dir = -1,
		.log_file = "dump.log",
	};
	struct criu_tree t = {.procfs = c->procfs, .pid = (pid_t)c->doc->init_pid, .plan = p};
	struct criu_reply reply;
	int r = criu_open_dirs(&o->common, a, &call, &d, e);

	if (r == 0)
		r = check_parent(o, &d, e);
	if (r == 0)
		r = criu_options_put(&o->common, &c->doc->annotations, &call, e);
	if (r == 0) {
		put_options(o, c, a, &call);
		r = put_outside(&t, d.images, a, &call.opts, e);
	}
	if (r == 0)
		r = criu_run(&call, &reply, e);
	strbuf_free(&call.opts);
	return r;
}

/* criu has ended the processes. */
static int remove_container(struct rt_container *c, struct err *e)
{
	int r = rt_container_kill_all(c, e);

	return r < 0 ? r : rt_container_remove(c, e);
}

static int checkpoint(struct arena *a, const struct rt_globals *g, const struct checkpoint *o,
		      struct err *e)
{
	auto_container struct rt_container c = RT_CONTAINER_NONE;
	struct rt_host h = {.procfs = -1, .cgroups = {.root = -1}};
	struct plan *p;
	int r = rt_container_open_locked(a, g, o->id, &c, e);

	if (r == 0)
		r = check_status(&c, o->id, e);
	if (r < 0)
		return r;
	r = load_plan(a, &c, &h, &p, e);
	if (r == 0)
		r = dump(o, a, &c, p, e);
	rt_host_close(&h);
	return r < 0 || o->leave_running || o->pre_dump ? r : remove_container(&c, e);
}

static int checkpoint_command(struct arena *a, const struct rt_globals *g, char **words, void *options,
			      struct err *e)
{
	struct checkpoint *o = options;
	int r = criu_options_check(&o->common, e);

	o->id = words[0];
	if (r == 0)
		r = check(o, e);
	return r < 0 ? r : checkpoint(a, g, o, e);
}

int cmd_checkpoint(int argc, char **argv, const struct rt_globals *g)
{
	struct checkpoint o = {.common = {.make_dir = true}};
	const struct cli_option options[] = {
		CRIU_OPTION_ROWS(&o.common),
		{"leave-running", 0, CLI_FLAG, &o.leave_running, NULL, "let the container go on afterwards"},
		{"pre-dump", 0, CLI_FLAG, &o.pre_dump, NULL, "only the memory, and let the container go on"},
		{"parent-path", 0, CLI_STRING, &o.parent_path, "DIR", "an earlier pre-dump, relative to --image-path"},
		{"link-remap", 0, CLI_FLAG, &o.link_remap, NULL, "allow open files that were removed"},
		{"tcp-skip-in-flight", 0, CLI_FLAG, &o.tcp_skip_in_flight, NULL, "skip TCP connections in the making"},
		{"page-server", 0, CLI_STRING, &o.page_server, "ADDRESS:PORT", "send memory to a criu page-server"},
		{"status-fd", 0, CLI_STRING, &o.status_fd, "FD", "gets a NUL when lazy pages can be asked for"},
	};
	const struct command_spec s = {
		.cli = {
			.usage = "brig checkpoint [OPTION...] ID",
			.summary = "Writes a running container to files by CRIU, and ends it.",
			.options = options,
			.n = sizeof(options) / sizeof(options[0]),
			.min_args = 1,
			.max_args = 1,
		},
		.body = checkpoint_command,
		.options = &o,
	};

	return command_run(&s, argc, argv, g);
}

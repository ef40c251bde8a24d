/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `brig restore`: `brig run`, but from a checkpoint. The configuration is the bundle's; what the
 * processes do, and their limits, capabilities and filters, are in the checkpoint.
 */
#include <errno.h>

#include "base/cleanup.h"
#include "nsenter/signals.h"
#include "runtime/bundle.h"
#include "runtime/commands.h"
#include "runtime/foreground.h"
#include "runtime/restore.h"

struct restore_options {
	struct criu_options common;
	const char *bundle, *pid_file, *console_socket, *lsm_profile, *lsm_mount_context, *id;
	bool detach, keep, no_pivot, no_new_keyring, no_subreaper;
};

static int parse(int argc, char **argv, struct restore_options *o, struct err *e)
{
	const struct cli_option options[] = {
		CRIU_OPTION_ROWS(&o->common),
		{"bundle", 'b', CLI_STRING, &o->bundle, "DIR", "the bundle (default: the working directory)"},
		{"detach", 'd', CLI_FLAG, &o->detach, NULL, "do not wait for the container"},
		{"keep", 0, CLI_FLAG, &o->keep, NULL, "keep the container's state after its end"},
		{"pid-file", 0, CLI_STRING, &o->pid_file, "FILE", "write the pid of the first process to FILE"},
		{"console-socket", 0, CLI_STRING, &o->console_socket, "SOCKET", "send the terminal's master there"},
		{"lsm-profile", 0, CLI_STRING, &o->lsm_profile, "LABEL", "apparmor:PROFILE or selinux:LABEL of the processes"},
		{"lsm-mount-context", 0, CLI_STRING, &o->lsm_mount_context, "LABEL", "SELinux label of the mounts"},
		/* What these ask for is in the checkpoint. */
		{"no-pivot", 0, CLI_FLAG, &o->no_pivot, NULL, NULL},
		{"no-new-keyring", 0, CLI_FLAG, &o->no_new_keyring, NULL, NULL},
		{"no-subreaper", 0, CLI_FLAG, &o->no_subreaper, NULL, NULL},
	};
	const struct cli c = {
		.usage = "brig restore [OPTION...] ID",
		.summary = "Makes a container from a checkpoint, and lets its processes go on.",
		.options = options,
		.n = sizeof(options) / sizeof(options[0]),
		.min_args = 1,
		.max_args = 1,
	};
	int r = cli_parse(&c, argc, argv, e);

	if (r < 0 || r == CLI_HELP)
		return r;
	o->id = argv[r];
	if (!str_valid_id(o->id))
		return err_set(e, EINVAL, "invalid container ID format: %s", o->id);
	return criu_options_check(&o->common, e);
}

/* The exit code, or -errno. */
static int wait_and_end(struct rt_launch *l, const struct restore_options *o, int sigfd, struct err *e)
{
	int code = rt_wait_for_end(l, sigfd, e), r;

	if (code < 0)
		return code;
	if (o->keep) {
		rt_launch_detach(l);
		return code;
	}
	r = rt_launch_end(l, e);
	return r < 0 ? r : code;
}

static int restore_and_wait(struct rt_restore *s, const struct restore_options *o, struct err *e)
{
	auto_close int sigfd = o->detach ? -1 : ns_signals_open(NULL, e);
	struct rt_launch *l = &s->launch;
	int r;

	if (!o->detach && sigfd < 0)
		return sigfd;
	r = rt_restore(s, e);
	if (r < 0)
		return r;
	r = rt_write_pid_file(o->pid_file, l->pid, e);
	if (r < 0) {
		rt_kill_and_end(l);
		return r;
	}
	if (!o->detach)
		return wait_and_end(l, o, sigfd, e);
	rt_launch_detach(l);
	return 0;
}

static int restore(struct rt_restore *s, const struct restore_options *o, struct rt_host *h,
		   struct err *e)
{
	struct rt_launch *l = &s->launch;
	struct plan_options po = {
		.id = o->id,
		.no_pivot = o->no_pivot,
		.no_new_keyring = o->no_new_keyring,
		.systemd_cgroup = l->globals->systemd_cgroup,
		.no_cgroup = l->globals->no_cgroup,
	};
	struct rt_bundle b;
	struct plan *p;
	int r = rt_bundle_load(l->arena, o->bundle, NULL, &b, e);

	if (r < 0)
		return r;
	rt_state_sweep(l->globals->root);
	r = rt_host_probe(l->arena, h, e);
	if (r < 0)
		return r;
	po.bundle = b.path;
	r = plan_build(l->arena, &(struct plan_input){b.spec, &po, h}, &p, e);
	if (r == 0)
		r = rt_check_console(p, o->console_socket, o->detach, e);
	if (r < 0)
		return r;
	l->plan = p;
	l->host = h;
	l->console_socket = o->console_socket;
	return restore_and_wait(s, o, e);
}

int cmd_restore(int argc, char **argv, const struct rt_globals *g)
{
	auto_arena struct arena *a = arena_new();
	struct restore_options o = {0};
	struct rt_host h = {.procfs = -1, .cgroups = {.root = -1}};
	struct rt_restore s = {.launch = {RT_LAUNCH_NONE, .globals = g, .arena = a}, .options = &o.common};
	struct err e = {0};
	int r = parse(argc, argv, &o, &e);

	if (r == CLI_HELP)
		return 0;
	if (r >= 0) {
		s.lsm_profile = o.lsm_profile;
		s.lsm_mount_context = o.lsm_mount_context;
		r = restore(&s, &o, &h, &e);
		rt_host_close(&h);
	}
	return r < 0 ? command_failed(&e, 1) : r;
}

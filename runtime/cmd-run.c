/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `brig create`, and `brig run`, which is create, start and wait in one without the stop between
 * them. Strictly what config.json says. In the foreground signals go on to the container, and its
 * exit status is ours.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "base/sys.h"
#include "nsenter/signals.h"
#include "runtime/activation.h"
#include "runtime/bundle.h"
#include "runtime/cli.h"
#include "runtime/commands.h"
#include "runtime/console.h"
#include "runtime/interrupt.h"
#include "runtime/foreground.h"
#include "runtime/launch.h"
#include "runtime/self.h"

struct run_options {
	const char *bundle, *config, *pid_file, *console_socket, *pidfd_socket, *id;
	unsigned preserve_fds;
	bool no_pivot, no_new_keyring, detach, keep, no_subreaper;
};

static const char run_usage[] = "brig run [OPTION...] ID", create_usage[] = "brig create [OPTION...] ID";

static int parse(int argc, char **argv, bool create, struct run_options *o, struct err *e)
{
	const struct cli_option options[] = {
		{"bundle", 'b', CLI_STRING, &o->bundle, "DIR", "the bundle (default: the working directory)"},
		{"config", 'f', CLI_STRING, &o->config, "FILE", "the configuration (default: config.json in the bundle)"},
		{"pid-file", 0, CLI_STRING, &o->pid_file, "FILE", "write the pid of the first process to FILE"},
		{"console-socket", 0, CLI_STRING, &o->console_socket, "SOCKET", "send the terminal's master there"},
		{"pidfd-socket", 0, CLI_STRING, &o->pidfd_socket, "SOCKET", "send a pidfd of the first process there"},
		{"preserve-fds", 0, CLI_UINT, &o->preserve_fds, "N", "pass N descriptors, from 3 on, to the container"},
		{"no-pivot", 0, CLI_FLAG, &o->no_pivot, NULL, "move the root instead of pivot_root (initramfs)"},
		{"no-new-keyring", 0, CLI_FLAG, &o->no_new_keyring, NULL, "keep the caller's session keyring"},
		{"no-subreaper", 0, CLI_FLAG, &o->no_subreaper, NULL, NULL},
		/* of run only: */
		{"detach", 'd', CLI_FLAG, &o->detach, NULL, "do not wait for the container"},
		{"keep", 0, CLI_FLAG, &o->keep, NULL, "keep the container's state after its end"},
	};
	const struct cli c = {
		.usage = create ? create_usage : run_usage,
		.summary = create ? "Creates a container from an OCI bundle; `brig start` starts it."
				  : "Runs a container from an OCI bundle and waits for it.",
		.options = options,
		.n = sizeof(options) / sizeof(options[0]) - (create ? 2 : 0),
		.min_args = 1,
		.max_args = 1,
	};
	int r = cli_parse(&c, argc, argv, e);

	if (r < 0 || r == CLI_HELP)
		return r;
	o->id = argv[r];
	if (!str_valid_id(o->id))
		return err_set(e, EINVAL, "invalid container ID format: %s", o->id);
	return activation_check_fds(o->preserve_fds, e);
}

/* What the caller wants to know of the new process. */
static int report(const struct rt_launch *l, const struct run_options *o, int pidfd_socket,
		  struct err *e)
{
	int r = rt_write_pid_file(o->pid_file, l->pid, e);

	if (r == 0 && pidfd_socket >= 0)
		r = console_send(pidfd_socket, l->pidfd, "pidfd", e);
	return r;
}

static int launch_and_wait(struct rt_launch *l, const struct run_options *o, int pidfd_socket,
			   struct err *e)
{
	auto_close int sigfd = ns_signals_open(NULL, e);
	auto_interrupt struct interrupt in = INTERRUPT_NONE;
	int code = 0, r;

	if (sigfd < 0)
		return sigfd;
	r = interrupt_open(&in, 0, e);
	l->interrupt = in.set;
	if (r == 0)
		r = rt_launch(l, e);
	if (r < 0)
		return r;
	r = report(l, o, pidfd_socket, e);
	if (r == 0 && l->notify_fd >= 0)
		r = notify_wait_in_child(l->notify_fd, l->pidfd, e);
	if (r == 0)
		r = code = rt_wait_for_end(l, sigfd, e);
	if (r < 0) {
		rt_kill_and_end(l);
		return r;
	}
	if (o->keep) {
		rt_launch_detach(l);
		return code;
	}
	r = rt_launch_end(l, e);
	return r < 0 ? r : code;
}

static int launch_and_leave(struct rt_launch *l, const struct run_options *o, int pidfd_socket,
			    struct err *e)
{
	int r = rt_launch(l, e);

	if (r < 0)
		return r;
	r = report(l, o, pidfd_socket, e);
	if (r == 0 && l->notify_fd >= 0)
		r = notify_wait(l->notify_fd, l->pidfd, l->pid, e);
	if (r < 0) {
		rt_kill_and_end(l);
		return r;
	}
	if (l->plan->options.create)
		rt_launch_leave();
	rt_launch_detach(l);
	return 0;
}

/* Whether ids of the container could write our executable; see self.h. */
static bool is_exposed_to(const struct oci_spec *s)
{
	const struct oci_id_mapping_list none = {.n = 0};

	for (size_t i = 0; s->linux_ && i < s->linux_->namespaces.n; i++) {
		const struct oci_namespace *ns = &s->linux_->namespaces.v[i];

		if (str_eq(ns->type, "user") && !ns->path)
			return self_is_exposed_to(&s->linux_->uid_mappings);
	}
	return self_is_exposed_to(&none);
}

/* Before an exec of ours the network namespace would be begun in vain. */
static int load_protected(struct rt_launch *l, const struct run_options *o, struct rt_bundle *b,
			  struct err *e)
{
	bool first = self_can_become();
	int r = rt_bundle_load(l->arena, o->bundle, o->config, b, e);

	if (r == 0 && first)
		rt_launch_begin_net(l, b->spec);
	if (r == 0 && is_exposed_to(b->spec))
		r = self_protect(l->globals->argv, &l->exe_mount, e);
	if (r == 0 && !first)
		rt_launch_begin_net(l, b->spec);
	return r;
}

static int load_and_launch(struct rt_launch *l, const struct run_options *o, struct rt_host *h,
			   bool create, struct err *e)
{
	struct rt_bundle b;
	struct plan *p;
	struct plan_options po = {
		.id = o->id,
		.preserve_fds = o->preserve_fds,
		.no_pivot = o->no_pivot,
		.no_new_keyring = o->no_new_keyring,
		.systemd_cgroup = l->globals->systemd_cgroup,
		.no_cgroup = l->globals->no_cgroup,
		.create = create,
		.handler_dir = l->globals->handler_dir,
	};
	bool leave = create || o->detach;
	const char *receiver;
	auto_close int pidfd_socket = -1;
	int r = load_protected(l, o, &b, e);

	if (r < 0)
		return r;
	rt_state_sweep(l->globals->root);
	r = rt_host_probe(l->arena, h, e);
	if (r < 0)
		return r;
	po.bundle = b.path;
	activation_plan(l->arena, l->globals, &po);
	r = plan_build(l->arena, &(struct plan_input){b.spec, &po, h}, &p, e);
	if (r == 0)
		r = rt_check_console(p, o->console_socket, leave, e);
	if (r < 0)
		return r;
	if (p->rootfs)
		p->rootfs->leaving = l->exe_mount;
	l->plan = p;
	l->host = h;
	l->console_socket = o->console_socket;
	receiver = o->pidfd_socket ? o->pidfd_socket : str_map_get(&b.spec->annotations, "run.oci.pidfd_receiver");
	if (receiver)
		pidfd_socket = console_connect(receiver, e);
	if (receiver && pidfd_socket < 0)
		return pidfd_socket;
	return leave ? launch_and_leave(l, o, pidfd_socket, e) : launch_and_wait(l, o, pidfd_socket, e);
}

static int command(int argc, char **argv, const struct rt_globals *g, bool create)
{
	auto_arena struct arena *a = arena_new();
	struct run_options o = {0};
	struct rt_host h = {.procfs = -1, .cgroups = {.root = -1}};
	struct rt_launch l = {RT_LAUNCH_NONE, .globals = g, .arena = a};
	struct err e = {0};
	int r = parse(argc, argv, create, &o, &e);

	if (r == CLI_HELP)
		return 0;
	if (r < 0)
		return command_failed(&e, create ? 1 : EXIT_SETUP_FAILED);
	r = load_and_launch(&l, &o, &h, create, &e);
	rt_launch_drop_net(&l); /* whose thread writes to it */
	rt_host_close(&h);
	if (r >= 0)
		return r;
	return command_failed(&e, create ? 1 : exec_exit_code(&e, l.exec_failed, EXIT_SETUP_FAILED));
}

int cmd_run(int argc, char **argv, const struct rt_globals *g)
{
	return command(argc, argv, g, false);
}

int cmd_create(int argc, char **argv, const struct rt_globals *g)
{
	return command(argc, argv, g, true);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `brig run`: a container from an OCI bundle in the foreground, strictly what config.json says.
 * Signals go on to the container; its exit status is ours.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "base/sys.h"
#include "nsenter/signals.h"
#include "runtime/bundle.h"
#include "runtime/cli.h"
#include "runtime/commands.h"
#include "runtime/launch.h"

struct run_options {
	const char *bundle, *pid_file, *id;
	unsigned preserve_fds;
	bool no_pivot, no_new_keyring;
};

static int parse(int argc, char **argv, struct run_options *o, struct err *e)
{
	const struct cli_option options[] = {
		{"bundle", 'b', CLI_STRING, &o->bundle, "DIR", "the bundle (default: the working directory)"},
		{"pid-file", 0, CLI_STRING, &o->pid_file, "FILE", "write the pid of the first process to FILE"},
		{"preserve-fds", 0, CLI_UINT, &o->preserve_fds, "N", "pass N descriptors, from 3 on, to the container"},
		{"no-pivot", 0, CLI_FLAG, &o->no_pivot, NULL, "move the root instead of pivot_root (initramfs)"},
		{"no-new-keyring", 0, CLI_FLAG, &o->no_new_keyring, NULL, "keep the caller's session keyring"},
	};
	const struct cli c = {
		.usage = "brig run [OPTION...] ID",
		.summary = "Runs a container from an OCI bundle and waits for it.",
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
	return rt_check_preserved(o->preserve_fds, e);
}

/* No newline: go-runc and conmon parse the whole file as a number. */
static int write_pid_file(const char *path, pid_t pid, struct err *e)
{
	auto_strbuf struct strbuf b = {0};

	if (!path)
		return 0;
	strbuf_printf(&b, "%ld", (long)pid);
	return io_replace_file(AT_FDCWD, path, b.p, b.len, 0644, e);
}

/* From the start to the end of the container; its exit code, or -errno. */
static int run_to_end(struct rt_launch *l, const char *pid_file, struct err *e)
{
	auto_close int sigfd = ns_signals_open(NULL, e);
	struct ns_exit x = {0};
	struct err ignored = {0};
	int r, r2;

	if (sigfd < 0)
		return sigfd;
	r = rt_launch(l, e);
	if (r < 0)
		return r;
	r = write_pid_file(pid_file, l->pid, e);
	if (r < 0)
		sys_pidfd_send_signal(l->pidfd, SIGKILL);
	r2 = ns_wait(&(struct ns_wait){.pidfd = l->pidfd, .sigfd = sigfd}, &x, NULL,
		     r < 0 ? &ignored : e);
	r = r < 0 ? r : r2;
	r2 = rt_launch_end(l, r < 0 ? &ignored : e);
	r = r < 0 ? r : r2;
	if (r < 0)
		return r;
	return x.signal ? EXIT_SIGNAL_BASE + x.signal : x.status;
}

static int load_and_run(struct arena *a, const struct run_options *o, struct rt_host *h,
			struct rt_launch *l, struct err *e)
{
	struct rt_bundle b;
	struct plan *p;
	int r = rt_bundle_load(a, o->bundle, &b, e);
	struct plan_options po = {
		.id = o->id,
		.preserve_fds = o->preserve_fds,
		.no_pivot = o->no_pivot,
		.no_new_keyring = o->no_new_keyring,
		.systemd_cgroup = l->globals->systemd_cgroup,
	};

	if (r < 0)
		return r;
	r = rt_host_probe(a, h, e);
	if (r < 0)
		return r;
	po.bundle = b.path;
	r = plan_build(a, b.spec, &po, h, &p, e);
	if (r < 0)
		return r;
	l->plan = p;
	l->host = h;
	return run_to_end(l, o->pid_file, e);
}

int cmd_run(int argc, char **argv, const struct rt_globals *g)
{
	auto_arena struct arena *a = arena_new();
	struct run_options o = {0};
	struct rt_host h = {.procfs = -1, .cgroups = {.root = -1}};
	struct rt_launch l = {RT_LAUNCH_NONE, .globals = g, .arena = a};
	struct err e = {0};
	int r = parse(argc, argv, &o, &e);

	if (r == CLI_HELP)
		return 0;
	if (r < 0)
		return command_failed(&e, EXIT_SETUP_FAILED);
	rt_state_sweep(g->root);
	r = load_and_run(a, &o, &h, &l, &e);
	rt_host_close(&h);
	if (r < 0)
		return command_failed(&e, exec_exit_code(&e, l.exec_failed, EXIT_SETUP_FAILED));
	return r;
}

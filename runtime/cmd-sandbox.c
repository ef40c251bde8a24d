/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `brig sandbox`: request -> completed spec -> plan -> launch -> supervise -> one JSON result. The
 * same engine as `brig run`; what is different is decided in the spec's defaults, and here: the
 * tiny init, output by pipes, secrets, and a result in every case, also when nothing started.
 *
 * Work that the payload does not need is done while it runs (the cache key).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/procfs.h"
#include "base/sys.h"
#include "base/str.h"
#include "nsenter/signals.h"
#include "runtime/cli.h"
#include "runtime/commands.h"
#include "runtime/console.h"
#include "runtime/interrupt.h"
#include "runtime/launch.h"
#include "runtime/result.h"
#include "runtime/sandbox-image.h"
#include "runtime/sandbox-job.h"
#include "runtime/sandbox-request.h"
#include "runtime/supervise.h"

struct job {
	struct arena *a;
	struct sandbox_request q;
	struct rt_host host;
	struct rt_launch launch;
	struct sandbox_result result;
	struct supervise_output output;
	struct rootfs_overlay overlay; /* of an image's layers */
	struct plan *plan;
	struct sandbox_job when; /* --job */
	struct sandbox_net net;
	uint64_t start_ns;
	char id[sizeof("sandbox-") + 32];
	int result_fd;
	int out[2], err[2], in[2]; /* pipes; [0] is the read end */
};

/* ---- facts for the defaults ---- */

static struct oci_rlimit_list own_rlimits(struct arena *a)
{
	static const struct { const char *type; int resource; } limits[] = {
		{"RLIMIT_CORE", RLIMIT_CORE},         {"RLIMIT_NOFILE", RLIMIT_NOFILE},
		{"RLIMIT_MEMLOCK", RLIMIT_MEMLOCK},   {"RLIMIT_MSGQUEUE", RLIMIT_MSGQUEUE},
		{"RLIMIT_SIGPENDING", RLIMIT_SIGPENDING}, {"RLIMIT_NICE", RLIMIT_NICE},
		{"RLIMIT_RTPRIO", RLIMIT_RTPRIO},     {"RLIMIT_STACK", RLIMIT_STACK},
		{"RLIMIT_NPROC", RLIMIT_NPROC},
	};
	enum { N = sizeof(limits) / sizeof(limits[0]) };
	struct oci_rlimit_list l = {.v = arena_array(a, N, sizeof(*l.v))};

	for (size_t i = 0; i < N; i++) {
		struct rlimit r;

		if (getrlimit((unsigned)limits[i].resource, &r) < 0)
			continue;
		l.v[l.n++] = (struct oci_rlimit){(char *)limits[i].type, r.rlim_cur, r.rlim_max};
	}
	return l;
}

static bool has_workspace(struct arena *a, const char *root)
{
	struct stat st;

	return root && lstat(arena_printf(a, "%s" SANDBOX_WORKSPACE, root), &st) == 0 &&
	       S_ISDIR(st.st_mode);
}

static bool root_has_workspace(struct job *j)
{
	bool found = has_workspace(j->a, j->q.sb.spec->root->path);

	for (size_t i = 0; !found && i < j->overlay.lower.n; i++)
		found = has_workspace(j->a, j->overlay.lower.v[i]);
	return found;
}

static int complete_spec(struct job *j, struct err *e)
{
	struct sandbox_host facts = {
		.cgroup_v2 = j->host.cgroups.kind == CG_V2,
		.environ = (const char *const *)environ,
		.rlimits = own_rlimits(j->a),
	};
	char score[32];
	int r = (int)procfs_read(j->host.procfs, "self/oom_score_adj", score, sizeof(score), e);

	if (r >= 0)
		r = sandbox_image_apply(j->a, &j->q.sb, &j->overlay, e);
	facts.root_has_workspace = root_has_workspace(j);
	if (r == 0 && str_i64(score, &facts.oom_score_adj) == 0)
		r = sandbox_defaults(j->a, &j->q.sb, &facts, e);
	if (r == 0 && (j->q.copies.n || j->q.copy_out))
		r = sandbox_files_check(j->q.sb.spec, e);
	if (r == 0 && j->q.terminal_fd)
		j->q.sb.spec->process->terminal = (struct opt_bool){true, true};
	return r < 0 ? r : 0;
}

/* ---- the plan ---- */

static int make_id(struct job *j, struct err *e)
{
	uint64_t random[2];

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return err_sys(e, "make an id: getrandom");
	snprintf(j->id, sizeof(j->id), "sandbox-%016" PRIx64 "%016" PRIx64, random[0], random[1]);
	return 0;
}

/* The files of the secrets. Readable by all: in there, all is the program. */
static void plan_secrets(struct job *j)
{
	struct rootfs_plan *p = j->plan->rootfs;
	const struct strv *names = &j->q.sb.options.secrets;
	struct rootfs_mount *v;

	if (!names->n || j->q.print_plan)
		return;
	v = arena_array(j->a, p->n_mounts + names->n, sizeof(*v));
	memcpy(v, p->mounts, p->n_mounts * sizeof(*v));
	for (size_t i = 0; i < names->n; i++)
		v[p->n_mounts++] = (struct rootfs_mount){
			.kind = ROOTFS_FILE,
			.target = arena_printf(j->a, SANDBOX_SECRETS "/%s", names->v[i]),
			.data = j->q.secrets[i].text,
			.mode = 0444,
			.fd = -1,
		};
	p->mounts = v;
}

static struct oci_id_mapping *shift(struct arena *a, const struct oci_id_mapping_list *maps,
				    uint32_t on_disk, uint32_t inside)
{
	struct oci_id_mapping *m = arena_new_of(a, struct oci_id_mapping);

	for (size_t i = 0; i < maps->n; i++)
		if (inside >= maps->v[i].container_id &&
		    inside - maps->v[i].container_id < maps->v[i].size)
			*m = (struct oci_id_mapping){
				on_disk, maps->v[i].host_id + inside - maps->v[i].container_id, 1};
	return m;
}

/*
 * The directory for outputs belongs to somebody on the host, the program is somebody else: an
 * id-mapped mount makes them one. Without privileges there is none; then a single id does it
 * (choose_userns).
 */
static int plan_outputs(struct job *j, struct err *e)
{
	const struct sandbox_options *o = &j->q.sb.options;
	const struct oci_user *u = &j->q.sb.spec->process->user;
	struct rootfs_plan *p = j->plan->rootfs;
	struct stat st;

	if (!o->outputs || !j->host.privileged)
		return 0;
	if (stat(o->outputs, &st) < 0 || !S_ISDIR(st.st_mode))
		return err_set(e, ENOTDIR, "outputs: %s is not a directory", o->outputs);
	for (size_t i = 0; i < p->n_mounts; i++) {
		struct rootfs_mount *m = &p->mounts[i];

		if (m->kind != ROOTFS_BIND || !str_eq(m->target, o->outputs_at))
			continue;
		m->uid_maps = shift(j->a, &j->plan->uid_maps, st.st_uid, u->uid);
		m->gid_maps = shift(j->a, &j->plan->gid_maps, st.st_gid, u->gid);
		m->n_uid_maps = m->n_gid_maps = 1;
		m->idmap = m->uid_maps->host_id != st.st_uid || m->gid_maps->host_id != st.st_gid;
	}
	return 0;
}

/* A name can be looked up through pasta; a root file system that is given has its own resolv.conf. */
static void plan_ports(struct job *j)
{
	const struct sandbox_options *o = &j->q.sb.options;
	struct rootfs_plan *p = j->plan->rootfs;
	struct rootfs_mount *v;

	if (!o->ports)
		return;
	j->net = (struct sandbox_net){.ports = o->ports, .minder = NS_CHILD_NONE};
	j->launch.net = &j->net;
	if (!o->host_rootfs)
		return;
	v = arena_array(j->a, p->n_mounts + 1, sizeof(*v));
	memcpy(v, p->mounts, p->n_mounts * sizeof(*v));
	v[p->n_mounts++] = (struct rootfs_mount){
		.kind = ROOTFS_FILE,
		.target = "/etc/resolv.conf",
		.data = "nameserver " SANDBOX_DNS_ADDRESS "\n",
		.mode = 0444,
		.fd = -1,
	};
	p->mounts = v;
}

static enum plan_userns choose_userns(const struct job *j)
{
	static const enum plan_userns modes[] = {
		[SANDBOX_USERNS_AUTO] = PLAN_USERNS_AUTO,
		[SANDBOX_USERNS_SINGLE] = PLAN_USERNS_SINGLE,
		[SANDBOX_USERNS_RANGE] = PLAN_USERNS_RANGE,
	};
	const struct sandbox_options *o = &j->q.sb.options;

	/* Files of outputs belong to the caller, and only he can look into his store of images. */
	if (o->userns.v == SANDBOX_USERNS_AUTO && (o->outputs || o->image) && !j->host.privileged)
		return PLAN_USERNS_SINGLE;
	return modes[o->userns.v];
}

static int make_plan(struct job *j, struct err *e)
{
	const struct sandbox_options *o = &j->q.sb.options;
	char cwd[4096];
	struct plan_options po = {
		.id = j->id,
		.bundle = getcwd(cwd, sizeof(cwd)),
		.sandbox = true,
		.host_rootfs = o->host_rootfs,
		.overlay = j->overlay.lower.n ? &j->overlay : NULL,
		.default_seccomp = o->default_seccomp,
		.tiny_init = o->init.v,
		.die_with_parent = true,
		.best_effort = o->best_effort.v,
		.hostname_optional = o->default_hostname && o->best_effort.v,
		.bind_proc = o->proc.v == SANDBOX_PROC_BIND,
		.userns = choose_userns(j),
		.systemd_cgroup = j->launch.globals->systemd_cgroup,
		.no_cgroup = j->launch.globals->no_cgroup,
	};
	int r;

	if (!po.bundle)
		return err_sys(e, "find the working directory");
	po.bundle = arena_strdup(j->a, po.bundle);
	r = make_id(j, e);
	if (r == 0)
		r = plan_build(j->a, &(struct plan_input){j->q.sb.spec, &po, &j->host}, &j->plan, e);
	if (r == 0)
		r = plan_outputs(j, e);
	if (r < 0)
		return r;
	if (j->q.job_fd && !j->plan->share_vm)
		return err_set(e, EINVAL, "--job: not where a namespace is joined");
	plan_secrets(j);
	sandbox_files_plan(j->a, j->plan, &j->q.copies);
	j->launch.keep_cwd = j->q.copy_out;
	plan_ports(j);
	j->launch.plan = j->plan;
	j->launch.host = &j->host;
	j->result.warnings = j->plan->cgroup->warnings;
	return 0;
}

/* ---- run ---- */

static int make_pipe(int fds[2], struct err *e)
{
	return pipe2(fds, O_CLOEXEC) < 0 ? err_sys(e, "make a pipe for the program") : 0;
}

static int open_stdin(struct job *j, struct err *e)
{
	const char *path = j->q.stdin_path ? j->q.stdin_path : "/dev/null";
	int r;

	if (j->q.sb.options.stdin_text) {
		r = make_pipe(j->in, e);
		j->launch.stdio[0] = j->in[0];
		return r;
	}
	if (str_eq(path, "-"))
		return 0; /* ours, as it is */
	j->in[0] = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (j->in[0] < 0)
		return err_sys(e, "open %s for the program's stdin", path);
	j->launch.stdio[0] = j->in[0];
	return 0;
}

static int open_streams(struct job *j, struct err *e)
{
	int r;

	if (j->q.terminal_fd) /* takes their places */
		return 0;
	r = open_stdin(j, e);
	if (r == 0)
		r = make_pipe(j->out, e);
	if (r == 0)
		r = make_pipe(j->err, e);
	j->launch.stdio[1] = j->out[1];
	j->launch.stdio[2] = j->err[1];
	return r;
}

static int64_t cpu_usec(void *arg)
{
	return cg_cpu_usec(arg);
}

/* How many CPUs the program can use at once, in thousandths. */
static uint64_t usable_cpus(const struct oci_spec *s)
{
	const struct oci_cpu *c = s->linux_->resources->cpu;

	if (c->quota.set && c->quota.v > 0 && c->period.set && c->period.v > 0)
		return (uint64_t)c->quota.v * 1000 / c->period.v + 1;
	return (uint64_t)sysconf(_SC_NPROCESSORS_CONF) * 1000;
}

static void add_warning(struct job *j, char *text)
{
	struct strv *w = &j->result.warnings;
	char **v = arena_array(j->a, w->n + 1, sizeof(char *));

	if (w->n)
		memcpy(v, w->v, w->n * sizeof(char *));
	v[w->n] = text;
	*w = (struct strv){v, w->n + 1};
}

/* Before the start: a limit that nobody can watch must not be found out about afterwards. */
static int check_cpu_limit(struct job *j, struct err *e)
{
	struct sandbox_options *o = &j->q.sb.options;
	static char warning[] = "cpu-time: not enforced, there is no cgroup to read the CPU time from";

	if (!o->cpu_time_ns.v || j->plan->cgroup->driver != CG_DRIVER_NONE)
		return 0;
	if (!o->best_effort.v)
		return err_set(e, EOPNOTSUPP, "cpu-time: there is no cgroup of our own to read the CPU time "
					      "from (--best-effort goes on without the limit)");
	o->cpu_time_ns.v = 0;
	add_warning(j, warning);
	return 0;
}

/* With one thread a core there is nothing to do. */
static int plan_core_scheduling(struct job *j, struct err *e)
{
	const struct sandbox_options *o = &j->q.sb.options;
	int r = o->core_scheduling.v ? sec_core_scheduling_probe(e) : 0;

	if (r < 0 && o->best_effort.v) {
		add_warning(j, arena_printf(j->a, "core-scheduling: %s", e->msg));
		*e = (struct err){0};
		return 0;
	}
	j->plan->options.core_scheduling = r > 0;
	return r < 0 ? err_wrap(e, "core-scheduling") : 0;
}

static int supervise_job(struct job *j, int sigfd, struct err *e)
{
	const struct sandbox_options *o = &j->q.sb.options;
	struct supervise_input in = {
		.out_fd = j->out[0],
		.err_fd = j->err[0],
		.out_to = j->q.stdout_fd,
		.err_to = j->q.stderr_fd,
		.in_fd = take_fd(&j->in[1]),
		.in = o->stdin_text,
		.in_len = o->stdin_text ? strlen(o->stdin_text) : 0,
		.pidfd = j->launch.pidfd,
		.status_fd = j->launch.status_fd,
		.sigfd = sigfd,
		.reader_fd = j->result_fd,
		.start_ns = j->start_ns,
		.wall_ns = o->timeout_ns.v,
		.cpu_ns = o->cpu_time_ns.v,
		.cpus_milli = usable_cpus(j->q.sb.spec),
		.cpu_usec = cpu_usec,
		.arg = j->launch.cgroup,
		.output_limit = o->output_limit.v,
		.kill_on_output = o->output_action.v == SANDBOX_OUTPUT_KILL,
	};

	/* The program has its own copies: without these, the end of its output is seen. */
	cleanup_close(&j->in[0]);
	cleanup_close(&j->out[1]);
	cleanup_close(&j->err[1]);
	return supervise(&in, &j->output, e);
}

static char no_hostname[] = "hostname: not set, a seccomp filter around us refuses it";

/* The wall time counts from the beginning of the set-up; with --job from when the job comes. */
static int launch(struct job *j, struct err *e)
{
	auto_interrupt struct interrupt in = INTERRUPT_NONE;
	uint64_t limit = j->q.job_fd ? 0 : j->q.sb.options.timeout_ns.v;
	int r = interrupt_open(&in, limit, e);

	if (r < 0)
		return r;
	j->launch.interrupt = in.set;
	if (j->q.job_fd) {
		j->when = (struct sandbox_job){.fd = j->q.job_fd, .reader_fd = j->result_fd};
		if (sandbox_job_prepare(&j->launch, &j->when, e) < 0)
			return -e->code;
	}
	r = rt_launch(&j->launch, e);
	if (r == 0 && j->launch.no_hostname)
		add_warning(j, no_hostname);
	if (j->when.came_ns)
		j->start_ns = j->when.came_ns;
	if (j->when.timeout_ms)
		j->q.sb.options.timeout_ns.v = j->when.timeout_ms * 1000000;
	if (r == -EINTR && limit && supervise_now() - j->start_ns >= limit)
		return err_wrap(e, "the time limit passed during the set-up");
	return r;
}

static int send_terminal(struct job *j, struct err *e)
{
	int r = console_send(j->q.terminal_fd, j->launch.console_master, "/dev/ptmx", e);

	cleanup_close(&j->launch.console_master);
	if (r < 0)
		sys_pidfd_send_signal(j->launch.pidfd, SIGKILL);
	return r < 0 ? err_wrap(e, "--terminal") : 0;
}

static int run_to_end(struct job *j, struct err *e)
{
	auto_close int sigfd = ns_signals_open(NULL, e);
	struct cg_stats stats = {0};
	struct err ignored = {0};
	int r, ended;

	if (sigfd < 0)
		return sigfd;
	j->start_ns = supervise_now();
	r = launch(j, e);
	sandbox_request_forget(&j->q);
	j->result.cache_key = sandbox_cache_key(j->a, &j->q.sb);
	if (r < 0)
		return r;
	r = j->q.terminal_fd ? send_terminal(j, e) : 0;
	if (r < 0) {
		rt_launch_end(&j->launch, &ignored);
		return r;
	}
	r = supervise_job(j, sigfd, e);
	if (r == 0)
		r = cg_stats(j->launch.cgroup, CG_STATS_MEMORY | CG_STATS_CPU | CG_STATS_PIDS, &stats, e);
	if (r == 0)
		result_judge(&j->result, &j->output, &stats);
	if (r == 0 && j->q.copy_out)
		r = sandbox_files_take(j->a, &(struct sandbox_take){j->launch.cwd_fd, j->q.copy_out, &j->q.copies},
				       &j->result.files, e);
	cleanup_close(&j->launch.cwd_fd);
	ended = rt_launch_end(&j->launch, r < 0 ? &ignored : e);
	return r < 0 ? r : ended;
}

static int print_text(struct job *j, const struct strbuf *b, struct err *e)
{
	int r = io_write_all(j->result_fd, b->p, b->len);

	return r < 0 ? err_set(e, -r, "write the result: %s", err_name(-r)) : 0;
}

static int print_plan(struct job *j, struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	struct json_writer w;

	json_writer_init(&w, &b, true);
	plan_write(&w, j->plan);
	strbuf_addc(&b, '\n');
	return print_text(j, &b, e);
}

static int print_key(struct job *j, struct err *e)
{
	auto_strbuf struct strbuf b = {0};

	strbuf_printf(&b, "%s\n", sandbox_cache_key(j->a, &j->q.sb));
	return print_text(j, &b, e);
}

static int run(struct job *j, struct err *e)
{
	int r = rt_host_probe(j->a, &j->host, e);

	if (r == 0)
		r = complete_spec(j, e);
	if (r < 0)
		return r;
	if (j->q.print_key)
		return print_key(j, e);
	r = make_plan(j, e);
	if (r == 0)
		r = plan_core_scheduling(j, e);
	if (r < 0)
		return r;
	if (j->q.print_plan)
		return print_plan(j, e);
	j->result.out_went_on = j->q.stdout_fd;
	j->result.err_went_on = j->q.stderr_fd;
	r = check_cpu_limit(j, e);
	if (r == 0)
		r = open_streams(j, e);
	return r < 0 ? r : run_to_end(j, e);
}

/* ---- the command ---- */

/* O_TRUNC: the result of an earlier run must not be taken for ours. */
static int open_result(struct job *j, struct err *e)
{
	if (!j->q.result_path)
		return 0;
	j->result_fd = open(j->q.result_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0600);
	return j->result_fd < 0 ? err_sys(e, "open %s for the result", j->q.result_path) : 0;
}

static int finish(struct job *j, int r, struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	const struct oci_spec *s = j->q.sb.spec;
	int code;

	if (r < 0) {
		code = exec_exit_code(e, j->launch.exec_failed, EXIT_SETUP_FAILED);
		result_setup_failed(&j->result, e->msg, code);
		command_failed(e, code);
	} else if (j->q.print_key || j->q.print_plan) {
		return 0;
	}
	if (s) {
		j->result.command = s->process->args;
		j->result.workdir = s->process->cwd;
	}
	result_write(&j->result, &b);
	code = result_exit_code(&j->result);
	if (print_text(j, &b, e) < 0)
		return command_failed(e, EXIT_SETUP_FAILED);
	return code;
}

/* The record for when there is no memory left to write one; only our own, not that of a child. */
static struct {
	struct strbuf text;
	struct job *job;
	pid_t pid;
} last_record;

static void write_last_record(void)
{
	struct job *j = last_record.job;
	struct err ignored;

	if (getpid() != last_record.pid)
		return;
	if (j->result_fd == STDOUT_FILENO && open_result(j, &ignored) < 0)
		return;
	(void)io_write_all(j->result_fd, last_record.text.p, last_record.text.len);
}

static void prepare_last_record(struct job *j)
{
	struct sandbox_result r = {0};

	last_record.job = j;
	last_record.pid = getpid();
	result_setup_failed(&r, "out of memory", EXIT_SETUP_FAILED);
	last_record.text.len = 0;
	result_write(&r, &last_record.text);
	on_out_of_memory(write_last_record);
}

int sandbox_refused(const struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	struct sandbox_result r = {0};

	result_setup_failed(&r, e->msg, EXIT_SETUP_FAILED);
	result_write(&r, &b);
	(void)io_write_all(STDOUT_FILENO, b.p, b.len);
	return command_failed(e, EXIT_SETUP_FAILED);
}

int cmd_sandbox(int argc, char **argv, const struct rt_globals *g)
{
	auto_arena struct arena *a = arena_new();
	struct job j = {
		.a = a,
		.host = {.procfs = -1, .cgroups = {.root = -1}},
		.launch = {RT_LAUNCH_NONE, .globals = g, .arena = a, .ephemeral = true},
		.result_fd = STDOUT_FILENO,
		.out = {-1, -1}, .err = {-1, -1}, .in = {-1, -1},
	};
	struct err e = {0};
	int r, opened;

	prepare_last_record(&j);
	r = sandbox_request_parse(a, argc, argv, &j.q, &e);
	if (r == CLI_HELP)
		return 0;
	opened = open_result(&j, r < 0 ? &(struct err){0} : &e);
	if (opened < 0)
		j.result_fd = STDOUT_FILENO;
	if (r >= 0)
		r = opened;
	if (r >= 0) {
		rt_state_sweep(g->root);
		r = run(&j, &e);
	}
	r = finish(&j, r, &e);
	on_out_of_memory(NULL);
	strbuf_free(&last_record.text);
	supervise_free(&j.output);
	rt_host_close(&j.host);
	return r;
}

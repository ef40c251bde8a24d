/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `docker exec`: a further process with what the container has, joined by us without anybody's help.
 * A failure to start it is said on stdout with a carriage return, as Docker's engine does it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/path.h"
#include "base/str.h"
#include "docker/commands.h"
#include "docker/container-spec.h"
#include "docker/container.h"
#include "docker/control.h"
#include "docker/copy.h"
#include "docker/events.h"
#include "docker/relay.h"
#include "docker/user.h"
#include "nsenter/signals.h"
#include "runtime/exec.h"

enum { ACCOUNTS_MAX = 1 << 20 };

#define OCI_EXEC "OCI runtime exec failed: exec failed: unable to start container process: "

struct job {
	struct dk_context *c;
	const struct dk_exec_options *o;
	char **argv;
	struct dk_record *record;
	struct rt_container container;
	struct dk_spec spec;
	struct rt_exec x;
	struct dk_copy copy;
	char id[DK_ID_SIZE]; /* of this exec, in events */
};

/* ---- the process ---- */

static char *read_in_root(struct job *j, int root, const char *path)
{
	auto_strbuf struct strbuf b = {0};
	struct err ignored = {0};
	auto_close int fd = path_open_in_root(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, &ignored);

	if (fd < 0 || io_read_fd(fd, ACCOUNTS_MAX, &b, path, &ignored) < 0)
		return NULL;
	return arena_strndup(j->c->arena, strbuf_str(&b), b.len);
}

/* The files as the container sees them; they are only read, in its root. */
static int find_user(struct job *j, struct err *e)
{
	const char *own = j->o->user && *j->o->user ? j->o->user : j->record->config.user;
	struct dk_user_want want = {.user = own, .groups = &j->record->options.group_add};
	char path[32];
	auto_close int root = -1;
	struct dk_accounts acc;

	snprintf(path, sizeof(path), "%d/root", (int)j->container.doc->init_pid);
	/* A magic link, of the process that the pidfd has been checked for. */
	root = openat(j->container.procfs, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return err_sys(e, "open the root of the container");
	acc.passwd = read_in_root(j, root, "/etc/passwd");
	acc.group = read_in_root(j, root, "/etc/group");
	return dk_user_find(j->c->arena, &acc, &want, &j->spec.oci->process->user, e);
}

static void add_env(struct job *j)
{
	struct oci_process *p = j->spec.oci->process;
	struct strv all = {.v = arena_array(j->c->arena, p->env.n + j->o->env.n + 2, sizeof(char *))};

	for (size_t i = 0; i < p->env.n; i++)
		if (!str_starts(p->env.v[i], "TERM=") || j->o->tty)
			all.v[all.n++] = p->env.v[i];
	for (size_t i = 0; i < j->o->env.n; i++)
		all.v[all.n++] = j->o->env.v[i]; /* the last of a name counts */
	if (j->o->tty && !j->record->config.tty) {
		memmove(all.v + 1, all.v, all.n++ * sizeof(char *));
		all.v[0] = (char *)"TERM=xterm";
	}
	p->env = all;
}

static int make_process(struct job *j, struct err *e)
{
	struct dk_spec_input in = {.c = j->c, .store = j->c->store, .record = j->record};
	struct oci_process *p;

	if (dk_spec_process(&in, &j->spec, e) < 0)
		return -e->code;
	p = j->spec.oci->process;
	p->terminal = (struct opt_bool){true, j->o->tty};
	p->args = (struct strv){j->argv, 0};
	while (j->argv[p->args.n])
		p->args.n++;
	if (j->o->workdir && *j->o->workdir)
		p->cwd = j->o->workdir;
	add_env(j);
	return find_user(j, e);
}

/* ---- running ---- */

/*
 * The streams that the process inherits from us; ours come back by `saved`. Output goes through pipes of
 * ours: with ours for its own, what the program leaves in the background would keep our caller waiting
 * for the end of the output.
 */
static int set_streams(struct job *j, int saved[3], struct err *e)
{
	auto_close int null = open("/dev/null", O_RDWR | O_CLOEXEC | O_NOCTTY);
	const bool piped = !j->o->detach && !j->o->tty;
	const int to[3] = {
		j->o->interactive && !j->o->detach ? -1 : null,
		piped ? j->copy.pipes[0][1] : j->o->detach ? null : -1,
		piped ? j->copy.pipes[1][1] : j->o->detach ? null : -1,
	};

	if (null < 0)
		return err_sys(e, "open /dev/null");
	for (int i = 0; i < 3; i++)
		if (to[i] >= 0) {
			saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 3);
			if (dup2(to[i], i) < 0)
				return err_sys(e, "dup2 to %d", i);
		}
	return 0;
}

static void restore_streams(int saved[3])
{
	for (int i = 0; i < 3; i++) {
		if (saved[i] >= 0)
			dup2(saved[i], i);
		cleanup_close(&saved[i]);
	}
}

/* SIGTERM ends the client and not the program, which goes on. */
static bool leave(int sig, void *arg)
{
	struct job *j = arg;

	if (sig != SIGTERM && sig != SIGINT && sig != SIGHUP && sig != SIGQUIT)
		return true;
	dk_copy_leave(&j->copy);
	_exit(sig == SIGTERM ? 0 : EXIT_SIGNAL_BASE + sig);
}

static int wait_for_end(struct job *j, int sigfd, const struct dk_keys *keys, struct err *e)
{
	struct ns_wait w = {.pidfd = j->x.pidfd, .sigfd = sigfd, .handle = leave, .arg = j};
	struct ns_exit x = {0};
	int r;

	if (j->x.console_master >= 0) {
		struct dk_relay relay = {j->x.console_master, sigfd, j->x.pidfd, j->o->interactive, *keys};

		r = dk_relay(&relay, e);
		if (r == DK_DETACHED)
			return 0;
		if (r == 0)
			r = ns_reap(j->x.pidfd, &x, NULL, e);
	} else {
		r = dk_copy_until_end(&j->copy, &w, &x, e);
		dk_copy_leave(&j->copy);
		if (r == -EPIPE) /* as if the signal had ended us, but for what was started */
			return EXIT_SIGNAL_BASE + SIGPIPE;
	}
	if (r < 0)
		return r;
	return x.signal ? EXIT_SIGNAL_BASE + x.signal : x.status;
}

static int launch(struct job *j, struct err *e)
{
	static const struct cli_list no_groups;
	int saved[3] = {-1, -1, -1};
	int r = j->o->detach || j->o->tty ? 0 : dk_copy_pipes(&j->copy, e);

	j->copy.to[0] = STDOUT_FILENO;
	j->copy.to[1] = STDERR_FILENO;
	if (r == 0)
		r = set_streams(j, saved, e);

	j->x = (struct rt_exec){
		RT_EXEC_NONE, .container = &j->container, .spec = j->spec.oci, .globals = &j->c->store->runtime,
		.arena = j->c->arena, .sub_cgroups = &no_groups, .new_keyring = true,
		.container_seccomp = j->spec.options.container_seccomp,
	};
	if (r == 0)
		r = rt_exec(&j->x, e);
	restore_streams(saved);
	dk_copy_started(&j->copy);
	return r;
}

static int announce(struct job *j, struct err *e)
{
	static const char *const actions[] = {"exec_create", "exec_start"};
	auto_strbuf struct strbuf words = {0};

	if (dk_new_id(j->id, e) < 0)
		return -e->code;
	for (size_t i = 0; j->argv[i]; i++)
		strbuf_printf(&words, "%s ", j->argv[i]);
	if (j->argv[0] && j->argv[1])
		words.p[--words.len] = '\0';
	for (size_t i = 0; i < 2; i++)
		dk_container_event(j->c->store, j->record, arena_printf(j->c->arena, "%s: %s", actions[i], words.p),
				   (struct dk_event_fact){"execID", j->id});
	return 0;
}

/* ---- failing ---- */

static int say(const char *text, int code)
{
	printf("%s\r\n", text);
	fflush(stdout);
	return code;
}

/* The codes of newer engines: what is not there is 127. */
static int explain(struct job *j, struct err *e)
{
	struct arena *a = j->c->arena;
	char *msg = arena_strdup(a, e->msg);
	const char *words = dk_exec_words(a, msg, e->code);
	bool missing = e->code == ENOENT;

	if (words && j->o->detach)
		return dk_daemon_error(j->c, e, e->code, OCI_EXEC "%s: unknown", words);
	if (words)
		return say(arena_printf(a, OCI_EXEC "%s: unknown", words), missing ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
	if (strstr(msg, "working directory") || strstr(msg, "cwd"))
		return say(arena_printf(a, OCI_EXEC "chdir to cwd (\"%s\") set in config.json failed: %s: unknown",
					j->spec.oci->process->cwd, missing ? "no such file or directory"
					: e->code == EACCES ? "permission denied" : err_name(e->code)),
			   missing ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
	return say(arena_printf(a, OCI_EXEC "%s: unknown", msg), EXIT_NOT_EXECUTABLE);
}

/* ---- the command ---- */

static int check(struct job *j, const char *ref, struct err *e)
{
	struct dk_look look;
	int r = dk_find_and_look(j->c, ref, &j->record, &look, e);

	if (r < 0)
		return r;
	if (!look.running || !look.pid)
		return dk_daemon_error(j->c, e, ESRCH, "Container %s is not running", j->record->id);
	if (look.paused)
		return dk_daemon_error(j->c, e, EBUSY, "Container %s is paused, unpause the container before exec",
				       j->record->id);
	if (j->o->privileged && !j->c->store->config.allow_privileged)
		return dk_daemon_error(j->c, e, EPERM, "privileged containers are not allowed here "
				       "(\"allow-privileged\" in the configuration of brig-docker)");
	r = rt_container_open(j->c->arena, &j->c->store->runtime, j->record->id, &j->container, e);
	if (r < 0 || j->container.pidfd < 0)
		return dk_daemon_error(j->c, e, ESRCH, "Container %s is not running", j->record->id);
	return 0;
}

static int run(struct job *j, const struct dk_keys *keys, struct err *e)
{
	auto_close int sigfd = -1;
	int r = make_process(j, e);

	if (r < 0)
		return say(e->msg, EXIT_NOT_EXECUTABLE);
	if (j->spec.oci->process->cwd[0] != '/')
		return say("OCI runtime exec failed: exec failed: Cwd must be an absolute path: unknown", EXIT_NOT_EXECUTABLE);
	if (j->o->privileged)
		j->record->options.privileged = true;
	if (!j->o->detach)
		sigfd = ns_signals_open(NULL, e);
	if (announce(j, e) < 0)
		return -e->code;
	r = launch(j, e);
	if (r < 0)
		return explain(j, e);
	if (j->o->detach)
		return 0;
	r = wait_for_end(j, sigfd, keys, e);
	dk_container_event(j->c->store, j->record, "exec_die", (struct dk_event_fact){"execID", j->id});
	return r;
}

int dk_cmd_exec(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	struct job j = {.c = c, .o = args->options, .argv = args->argv + 1, .container = RT_CONTAINER_NONE,
			.copy = DK_COPY_NONE};
	struct dk_keys keys;
	int r = dk_parse_keys(c, j.o->detach_keys, &keys, e);

	if (r < 0)
		return r;
	if (j.o->tty && j.o->interactive && !j.o->detach && !isatty(STDIN_FILENO))
		return dk_fail(1, "the input device is not a TTY");
	if (dk_protect(c, e) < 0)
		return -e->code;
	r = check(&j, args->argv[0], e);
	if (r == 0)
		r = run(&j, &keys, e);
	dk_copy_close(&j.copy);
	rt_exec_close(&j.x);
	rt_container_close(&j.container);
	return r;
}

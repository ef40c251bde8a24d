/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spec goes to brig in a memfd: environment values are in no command line. The order of the
 * descriptors below is the order in which the child gets them: 0, 1, 3, 4, ...
 */
#include "sidecar/box.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/sys.h"
#include "json/writer.h"
#include "sidecar/config.h"
#include "sidecar/launcher.h"
#include "sidecar/loop.h"

enum { MAX_PENDING = 64 };

static struct loop_fd answers = {.fd = -1};
static struct box *pending[MAX_PENDING]; /* a ring; NULL: nobody waits for this one any more */
static size_t first_pending, n_pending;
static void (*launcher_gone)(void), (*on_room)(void);

/* ---- answers ---- */

static void take_answer(int pidfd)
{
	struct box *b = pending[first_pending];

	first_pending = (first_pending + 1) % MAX_PENDING;
	n_pending--;
	if (!b) { /* closed meanwhile: brig ends by itself */
		cleanup_close(&pidfd);
		return;
	}
	if (pidfd < 0)
		b->failed = -pidfd;
	else
		b->pidfd = pidfd;
	if (b->stopped && pidfd >= 0)
		sys_pidfd_send_signal(pidfd, SIGTERM);
	if (b->answered)
		b->answered(b);
}

static void answers_ready(struct loop_fd *f, uint32_t events)
{
	int pidfd, r = launcher_receive(&pidfd);
	(void)events;

	if (r > 0 && n_pending > 0) {
		take_answer(pidfd);
		on_room();
	} else if (r < 0) {
		f->fd = -1;
		launcher_gone();
	}
}

bool box_room(void)
{
	return n_pending < MAX_PENDING;
}

int box_open(void (*gone)(void), void (*room)(void), struct err *e)
{
	launcher_gone = gone;
	on_room = room;
	answers.ready = answers_ready;
	return loop_add(&answers, launcher_descriptor(), EPOLLIN, e);
}

/* ---- the spec ---- */

static void member_strv(struct json_writer *w, const char *key, const struct strv *v)
{
	json_key(w, key);
	json_begin_array(w);
	for (size_t i = 0; i < v->n; i++)
		json_str(w, v->v[i]);
	json_end_array(w);
}

static void write_process(struct json_writer *w, const struct box_spec *s)
{
	auto_strbuf struct strbuf entry = {0};

	json_key(w, "process");
	json_begin_object(w);
	if (s->args.n)
		member_strv(w, "args", &s->args);
	json_member_str(w, "cwd", s->cwd);
	if (s->uid) {
		json_key(w, "user");
		json_begin_object(w);
		json_member_u64(w, "uid", s->uid);
		json_member_u64(w, "gid", s->uid);
		json_end_object(w);
	}
	json_key(w, "env");
	json_begin_array(w);
	for (size_t i = 0; i < s->env.n; i++) {
		entry.len = 0;
		strbuf_printf(&entry, "%s=%s", s->env.v[i].key, s->env.v[i].value);
		json_str(w, entry.p);
	}
	json_end_array(w);
	json_end_object(w);
}

static void annotation(struct json_writer *w, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void annotation(struct json_writer *w, const char *name, const char *fmt, ...)
{
	char key[64], value[512];
	va_list ap;

	snprintf(key, sizeof(key), "org.brig.%s", name);
	va_start(ap, fmt);
	vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	json_member_str(w, key, value);
}

static void write_annotations(struct json_writer *w, const struct box_spec *s)
{
	json_key(w, "annotations");
	json_begin_object(w);
	if (s->image && !s->rootfs)
		json_member_str(w, "org.brig.image", s->image);
	if (s->timeout_ms == BOX_NO_TIMEOUT)
		annotation(w, "timeout", "none");
	else if (s->timeout_ms)
		annotation(w, "timeout", "%llums", (unsigned long long)s->timeout_ms);
	if (s->memory_bytes)
		annotation(w, "memory", "%llu", (unsigned long long)s->memory_bytes);
	if (s->pids)
		annotation(w, "pids", "%llu", (unsigned long long)s->pids);
	if (s->cpus > 0)
		annotation(w, "cpus", "%.2f", s->cpus);
	if (s->output_limit)
		annotation(w, "output-limit", "%llu", (unsigned long long)s->output_limit);
	if (s->ports)
		json_member_str(w, "org.brig.ports", s->ports);
	if (s->outputs) {
		json_member_str(w, "org.brig.outputs", s->outputs);
		annotation(w, "outputs-at", "%s/outputs", s->cwd);
	}
	if (config.best_effort)
		annotation(w, "best-effort", "true");
	json_end_object(w);
}

static void write_spec(struct strbuf *b, const struct box_spec *s)
{
	struct json_writer w;

	json_writer_init(&w, b, false);
	json_begin_object(&w);
	write_process(&w, s);
	if (s->rootfs) {
		json_key(&w, "root");
		json_begin_object(&w);
		json_member_str(&w, "path", s->rootfs);
		json_end_object(&w);
	}
	write_annotations(&w, s);
	json_end_object(&w);
}

char *box_key(struct arena *a, const struct box_spec *s)
{
	auto_strbuf struct strbuf b = {0};
	struct box_spec common = *s;

	common.args = (struct strv){0};
	common.env = (struct str_map){0};
	common.timeout_ms = 0;
	write_spec(&b, &common);
	return arena_printf(a, "%s %d %d %d", b.p, s->terminal, s->copy_out != NULL, s->has_stdin);
}

static int spec_fd(const struct box_spec *s, struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	auto_close int fd = memfd_create("spec", MFD_CLOEXEC);
	int r = fd < 0 ? -errno : 0;

	write_spec(&b, s);
	if (r == 0)
		r = io_write_all(fd, b.p, b.len);
	if (r < 0)
		return err_set(e, -r, "write the spec of a sandbox: %s", err_name(-r));
	return take_fd(&fd);
}

/* ---- the start ---- */

enum { CHILD_IN, CHILD_RESULT, CHILD_SPEC, CHILD_OUT, CHILD_ERR, CHILD_JOB, CHILD_N };

/* The child's ends in `theirs`. flow: 'r' we read, 'w' we write. */
static int make_pipe(int *ours, int *theirs, char flow)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC) < 0)
		return -errno;
	*ours = p[flow == 'w'];
	*theirs = p[flow == 'r'];
	return 0;
}

static int make_channels(struct box *b, const struct box_spec *s, int *theirs)
{
	int pair[2], r = make_pipe(&b->result, &theirs[CHILD_RESULT], 'r');

	if (r == 0 && s->terminal) {
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
			return -errno;
		b->terminal = pair[0];
		theirs[CHILD_OUT] = pair[1];
		return 0;
	}
	if (r == 0 && s->has_stdin)
		r = make_pipe(&b->in, &theirs[CHILD_IN], 'w');
	if (r == 0)
		r = make_pipe(&b->out, &theirs[CHILD_OUT], 'r');
	if (r == 0)
		r = make_pipe(&b->err, &theirs[CHILD_ERR], 'r');
	if (r == 0 && !s->args.n)
		r = make_pipe(&b->job, &theirs[CHILD_JOB], 'w');
	return r;
}

static void add_arg(struct strv *v, const char *arg)
{
	v->v[v->n++] = (char *)arg;
}

/* Descriptor numbers in the child follow from the order: absent ones are filled with /dev/null. */
static void make_argv(struct arena *a, const struct box_spec *s, struct strv *v)
{
	v->v = arena_array(a, 32 + 2 * s->n_files, sizeof(char *));
	add_arg(v, "brig");
	if (config.state_root) {
		add_arg(v, "--root");
		add_arg(v, config.state_root);
	}
	add_arg(v, "sandbox");
	add_arg(v, "--spec");
	add_arg(v, "/proc/self/fd/3");
	if (s->terminal) {
		add_arg(v, "--no-init");
		add_arg(v, "--terminal");
		add_arg(v, "fd:4");
	} else {
		add_arg(v, "--stdin");
		add_arg(v, s->has_stdin ? "-" : "none");
		add_arg(v, "--stdout");
		add_arg(v, "fd:4");
		add_arg(v, "--stderr");
		add_arg(v, "fd:5");
	}
	if (!s->args.n) {
		add_arg(v, "--job");
		add_arg(v, "fd:6");
	}
	if (s->copy_out) {
		add_arg(v, "--copy-out");
		add_arg(v, s->copy_out);
	}
	for (size_t i = 0; i < s->n_files; i++) {
		add_arg(v, "--copy-in");
		add_arg(v, arena_printf(a, "%s:%s", s->files[i].path, s->files[i].name));
	}
}

static int send_request(const struct box_spec *s, const int *theirs, struct err *e)
{
	auto_arena struct arena *a = arena_new();
	auto_close int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct strv argv = {0};
	struct launch_request q = {.argv = &argv, .n_fds = CHILD_N};
	int fds[CHILD_N];

	make_argv(a, s, &argv);
	for (size_t i = 0; i < CHILD_N; i++)
		fds[i] = theirs[i] < 0 ? null : theirs[i];
	q.fds = fds;
	return launcher_send(&q, e);
}

int box_start(struct box *b, const struct box_spec *s, struct err *e)
{
	int theirs[CHILD_N] = {-1, -1, -1, -1, -1, -1}, r;

	if (n_pending == MAX_PENDING)
		return err_set(e, EAGAIN, "start a sandbox: too many are being started");
	r = make_channels(b, s, theirs);
	if (r < 0) {
		err_set(e, -r, "make the pipes of a sandbox: %s", err_name(-r));
	} else {
		theirs[CHILD_SPEC] = spec_fd(s, e);
		r = theirs[CHILD_SPEC] < 0 ? theirs[CHILD_SPEC] : send_request(s, theirs, e);
	}
	for (size_t i = 0; i < CHILD_N; i++)
		cleanup_close(&theirs[i]);
	if (r < 0) {
		box_close(b);
		return r;
	}
	pending[(first_pending + n_pending++) % MAX_PENDING] = b;
	return 0;
}

/* ---- the end ---- */

void box_stop(struct box *b)
{
	b->stopped = true;
	if (b->pidfd >= 0)
		sys_pidfd_send_signal(b->pidfd, SIGTERM);
}

void box_kill(struct box *b)
{
	if (b->pidfd >= 0)
		sys_pidfd_send_signal(b->pidfd, SIGKILL);
}

void box_close(struct box *b)
{
	for (size_t i = 0; i < n_pending; i++) {
		size_t at = (first_pending + i) % MAX_PENDING;

		if (pending[at] == b)
			pending[at] = NULL;
	}
	cleanup_close(&b->in);
	cleanup_close(&b->out);
	cleanup_close(&b->err);
	cleanup_close(&b->result);
	cleanup_close(&b->job);
	cleanup_close(&b->terminal);
	cleanup_close(&b->pidfd);
}

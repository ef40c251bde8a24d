/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parent waits while INIT stands in front of the row that starts the program. Where INIT shares our
 * memory, a plan that is changed here is the one it works with. Where it does not (no clone3, or
 * a sanitizer), it reads the same document from one shared mapping and changes its own.
 */
#include "runtime/sandbox-job.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/str.h"
#include "json/fields.h"
#include "runtime/supervise.h"

struct sandbox_job_text { size_t len; char text[]; };

struct job_document {
	struct strv args, env;
	struct opt_u64 timeout_ms;
};

static const struct json_field job_fields[] = {
	JSON_FIELD(struct job_document, args, "args", .required = true),
	JSON_FIELD(struct job_document, env, "env"),
	JSON_FIELD(struct job_document, timeout_ms, "timeout_ms"),
};
static const struct json_table job_table = JSON_TABLE(struct job_document, job_fields);

/* True when there is something to read, or the end. */
static int wait_for_bytes(const struct rt_launch *l, const struct sandbox_job *j, struct err *e)
{
	struct pollfd fds[] = {
		{.fd = j->fd, .events = POLLIN},
		{.fd = l->interrupt, .events = POLLIN},
		{.fd = j->reader_fd},
	};

	while (poll(fds, 3, -1) < 0)
		if (errno != EINTR)
			return err_sys(e, "poll");
	if (fds[1].revents)
		return err_set(e, EINTR, "told to end");
	if (fds[2].revents)
		return err_set(e, EPIPE, "nobody waits for the result any more");
	return 0;
}

static int read_document(const struct rt_launch *l, const struct sandbox_job *j, struct strbuf *b,
			 struct err *e)
{
	char buf[16384];
	ssize_t n;

	for (;;) {
		if (wait_for_bytes(l, j, e) < 0)
			return -e->code;
		n = read(j->fd, buf, sizeof(buf));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, "read");
		if (n == 0)
			return b->len ? 0 : err_set(e, ECANCELED, "its sender went away");
		if (b->len + (size_t)n > JSON_MAX_BYTES)
			return err_set(e, EFBIG, "it is larger than %u bytes", JSON_MAX_BYTES);
		strbuf_add(b, buf, (size_t)n);
	}
}

static int parse_document(struct arena *a, const struct strbuf *b, struct job_document *d,
			  struct err *e)
{
	const struct json *v = NULL;
	int r = json_parse(b->p, b->len, a, &v, e);

	if (r == 0)
		r = json_read_struct(&(struct json_reader){a, "", e}, v, &job_table, d);
	if (r == 0 && (!d->args.n || !*d->args.v[0]))
		r = err_set(e, EINVAL, "args: there is nothing to run");
	for (size_t i = 0; r == 0 && i < d->env.n; i++)
		if (!strchr(d->env.v[i], '=') || d->env.v[i][0] == '=')
			r = err_set(e, EINVAL, "env[%zu]: is not of the form NAME=value", i);
	return r;
}

static void put_env(char **envp, size_t *n, char *entry)
{
	size_t len = strcspn(entry, "=") + 1;

	for (size_t i = 0; i < *n; i++)
		if (strncmp(envp[i], entry, len) == 0) {
			envp[i] = entry;
			return;
		}
	envp[(*n)++] = entry;
}

/* The plan is ours; it is const for those who only follow it. */
static void apply(struct rt_launch *l, const struct job_document *d)
{
	struct plan *p = (struct plan *)l->plan;
	char **envp = arena_array(l->arena, p->n_env + d->env.n + 2, sizeof(*envp));
	size_t n = 0;

	for (; n < p->n_env; n++)
		envp[n] = p->envp[n];
	for (size_t i = 0; i < d->env.n; i++)
		put_env(envp, &n, d->env.v[i]);
	p->envp = envp;
	p->n_env = n;
	p->argv = d->args.v;
	p->spec->process->args = d->args;
}

static int wait_for_job(struct rt_launch *l, void *job, struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	struct job_document d = {0};
	struct sandbox_job *j = job;

	if (read_document(l, j, &b, e) < 0 || parse_document(l->arena, &b, &d, e) < 0)
		return err_wrap(e, "the job");
	j->came_ns = supervise_now();
	j->timeout_ms = d.timeout_ms.v;
	apply(l, &d);
	if (j->text) {
		memcpy(j->text->text, b.p, b.len);
		j->text->len = b.len;
	}
	return 0;
}

static int learn_job(struct rt_launch *l, void *job, struct err *e)
{
	const struct sandbox_job_text *t = ((struct sandbox_job *)job)->text;
	struct strbuf b = {.p = (char *)t->text, .len = t->len};
	struct job_document d = {0};

	if (parse_document(l->arena, &b, &d, e) < 0)
		return err_wrap(e, "the job");
	apply(l, &d);
	return 0;
}

int sandbox_job_prepare(struct rt_launch *l, struct sandbox_job *j, struct err *e)
{
	l->hold = wait_for_job;
	l->hold_arg = j;
	if (rt_launch_shares_memory(l->plan))
		return 0;
	j->text = mmap(NULL, sizeof(*j->text) + JSON_MAX_BYTES, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (j->text == MAP_FAILED)
		return err_sys(e, "map memory for the job");
	l->learn = learn_job;
	return 0;
}

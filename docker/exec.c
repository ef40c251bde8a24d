/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/exec.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/path.h"
#include "base/str.h"
#include "docker/user.h"

enum { ACCOUNTS_MAX = 1 << 20 };

/* ---- the process ---- */

static char *read_in_root(struct dk_exec *x, int root, const char *path)
{
	auto_strbuf struct strbuf b = {0};
	struct err ignored = {0};
	auto_close int fd = path_open_in_root(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, &ignored);

	if (fd < 0 || io_read_fd(fd, ACCOUNTS_MAX, &b, path, &ignored) < 0)
		return NULL;
	return arena_strndup(x->c->arena, strbuf_str(&b), b.len);
}

/* The files as the container sees them; they are only read, in its root. */
static int find_user(struct dk_exec *x, struct err *e)
{
	const char *own = x->o->user && *x->o->user ? x->o->user : x->record->config.user;
	struct dk_user_want want = {.user = own, .groups = &x->record->options.group_add};
	char path[32];
	auto_close int root = -1;
	struct dk_accounts acc;

	snprintf(path, sizeof(path), "%d/root", (int)x->container.doc->init_pid);
	/* A magic link, of the process that the pidfd has been checked for. */
	root = openat(x->container.procfs, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return err_sys(e, "open the root of the container");
	acc.passwd = read_in_root(x, root, "/etc/passwd");
	acc.group = read_in_root(x, root, "/etc/group");
	return dk_user_find(x->c->arena, &acc, &want, &x->spec.oci->process->user, e);
}

static void add_env(struct dk_exec *x)
{
	struct oci_process *p = x->spec.oci->process;
	struct strv all = {.v = arena_array(x->c->arena, p->env.n + x->o->env.n + 2, sizeof(char *))};

	for (size_t i = 0; i < p->env.n; i++)
		if (!str_starts(p->env.v[i], "TERM=") || x->o->tty)
			all.v[all.n++] = p->env.v[i];
	for (size_t i = 0; i < x->o->env.n; i++)
		all.v[all.n++] = x->o->env.v[i]; /* the last of a name counts */
	if (x->o->tty && !x->record->config.tty) {
		memmove(all.v + 1, all.v, all.n++ * sizeof(char *));
		all.v[0] = (char *)"TERM=xterm";
	}
	p->env = all;
}

int dk_exec_prepare(struct dk_exec *x, struct err *e)
{
	struct dk_spec_input in = {.c = x->c, .store = x->c->store, .record = x->record};
	struct oci_process *p;

	if (dk_spec_process(&in, &x->spec, e) < 0)
		return -e->code;
	p = x->spec.oci->process;
	p->terminal = (struct opt_bool){true, x->o->tty};
	p->args = (struct strv){x->argv, 0};
	while (x->argv[p->args.n])
		p->args.n++;
	if (x->o->workdir && *x->o->workdir)
		p->cwd = x->o->workdir;
	add_env(x);
	return find_user(x, e);
}

/* ---- the start ---- */

/* The process inherits our streams; ours come back by `saved`. */
static int set_streams(const int stdio[3], int saved[3], struct err *e)
{
	for (int i = 0; i < 3; i++) {
		if (stdio[i] < 0)
			continue;
		saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 3);
		if (dup2(stdio[i], i) < 0)
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

int dk_exec_start(struct dk_exec *x, const int stdio[3], struct err *e)
{
	static const struct cli_list no_groups;
	int saved[3] = {-1, -1, -1};
	int r = set_streams(stdio, saved, e);

	x->x = (struct rt_exec){
		RT_EXEC_NONE, .container = &x->container, .spec = x->spec.oci, .globals = &x->c->store->runtime,
		.arena = x->c->arena, .sub_cgroups = &no_groups, .new_keyring = true,
		.container_seccomp = x->spec.options.container_seccomp,
	};
	if (r == 0)
		r = rt_exec(&x->x, e);
	restore_streams(saved);
	return r;
}

void dk_exec_close(struct dk_exec *x)
{
	rt_exec_close(&x->x);
	rt_container_close(&x->container);
}

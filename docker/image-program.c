/* SPDX-License-Identifier: Apache-2.0 */
/*
 * brig-image is looked for beside the running program (a build tree) and in libexec. Children are
 * spawned without copying this process; what they write on stderr is the user's to read, and their
 * exit code becomes ours.
 */
#include "docker/image-program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "docker/happenings.h"
#include "docker/store.h"

enum { CAPTURE_CAP = 16 << 20 };

void dk_args_add(struct dk_context *c, struct strv *args, const char *arg)
{
	char **more = arena_array(c->arena, args->n + 2, sizeof(char *));

	if (args->n)
		memcpy(more, args->v, args->n * sizeof(char *));
	more[args->n++] = (char *)arg;
	args->v = more;
}

int dk_wait_program(int pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int set_actions(posix_spawn_file_actions_t *actions, const struct dk_program *p)
{
	int r = 0;

	if (p->in >= 0)
		r = posix_spawn_file_actions_adddup2(actions, p->in, STDIN_FILENO);
	if (r == 0 && p->out >= 0)
		r = posix_spawn_file_actions_adddup2(actions, p->out, STDOUT_FILENO);
	if (r == 0 && p->err > 0)
		r = posix_spawn_file_actions_adddup2(actions, p->err, STDERR_FILENO);
	return r;
}

static int spawn(struct dk_context *c, const char *path, char **argv, const struct dk_program *p, pid_t *ret)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t set;
	int r;

	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	/* a program in the middle of a pipe has to die by SIGPIPE, whatever we do with ours */
	sigemptyset(&set);
	posix_spawnattr_setsigmask(&attr, &set);
	sigaddset(&set, SIGPIPE);
	posix_spawnattr_setsigdefault(&attr, &set);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	r = set_actions(&actions, p);
	if (r == 0)
		r = strchr(path, '/') ? posix_spawn(ret, path, &actions, &attr, argv, c->env) :
					posix_spawnp(ret, path, &actions, &attr, argv, c->env);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	return -r;
}

static int capture(int fd, struct strbuf *b, const char *name, struct err *e)
{
	return io_read_fd(fd, CAPTURE_CAP, b, name, e);
}

static int run(struct dk_context *c, const char *path, const struct strv *argv, const struct dk_program *p,
	       struct err *e)
{
	struct dk_program own = *p;
	auto_close int read_end = -1, write_end = -1;
	int ends[2], r;
	pid_t pid;

	fflush(stdout);
	if (p->captured) {
		if (pipe2(ends, O_CLOEXEC) < 0)
			return err_sys(e, "make a pipe");
		read_end = ends[0];
		own.out = write_end = ends[1];
	}
	r = spawn(c, path, argv->v, &own, &pid);
	if (r < 0)
		return err_set(e, -r, "run %s: %s", argv->v[0], err_name(-r));
	if (p->captured) {
		close(take_fd(&write_end));
		r = capture(read_end, p->captured, argv->v[0], e);
		close(take_fd(&read_end));
	}
	if (r < 0) {
		dk_wait_program(pid);
		return r;
	}
	r = dk_wait_program(pid);
	return r < 0 ? err_set(e, -r, "wait for %s: %s", argv->v[0], err_name(-r)) : r;
}

/* The program `name` in the directory of the one at buf. */
static bool is_beside(char *buf, size_t size, const char *name)
{
	char *slash = strrchr(buf, '/');
	size_t n = strlen(name) + 1;

	if (!slash || (size_t)(slash + 1 - buf) + n >= size)
		return false;
	memcpy(slash + 1, name, n);
	return access(buf, X_OK) == 0;
}

bool dk_program_beside(const char *name, char *buf, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", buf, size - 1);
	char real[PATH_MAX];

	if (n > 0) {
		buf[n] = '\0';
		if (is_beside(buf, size, name))
			return true;
	}
	/* `run` has mapped a copy of the program that has no path; the kernel noted what was executed */
	if (!realpath((const char *)getauxval(AT_EXECFN), real) || strlen(real) >= size)
		return false;
	memcpy(buf, real, strlen(real) + 1);
	return is_beside(buf, size, name);
}

static int find_brig_image(char *buf, size_t size, struct err *e)
{
	if (dk_program_beside("brig-image", buf, size))
		return 0;
	snprintf(buf, size, "%s/brig-image", BRIG_LIBEXECDIR);
	if (access(buf, X_OK) < 0)
		return err_set(e, ENOENT, "%s is missing, which reads and writes images: brig is not installed "
			       "completely", buf);
	return 0;
}

static int brig_image_argv(struct dk_context *c, const struct strv *args, const struct dk_program *p,
			   struct strv *ret, struct err *e)
{
	struct dk_store *store;

	if (dk_store_open(c, &store, e) < 0)
		return -e->code;
	dk_args_add(c, ret, "brig-image");
	dk_args_add(c, ret, "--data");
	dk_args_add(c, ret, store->roots.data);
	if (p->prefix) {
		dk_args_add(c, ret, "--prefix");
		dk_args_add(c, ret, p->prefix);
	}
	for (size_t i = 0; i < args->n; i++)
		dk_args_add(c, ret, args->v[i]);
	return 0;
}

int dk_run_brig_image(struct dk_context *c, const struct strv *args, const struct dk_program *p, struct err *e)
{
	char path[PATH_MAX];
	struct strv argv = {0};

	if (find_brig_image(path, sizeof(path), e) < 0 || brig_image_argv(c, args, p, &argv, e) < 0)
		return -e->code;
	return run(c, path, &argv, p, e);
}

int dk_run_image_maker(struct dk_context *c, const struct strv *args, const char *name, const char **ret_id,
		       struct err *e)
{
	auto_strbuf struct strbuf out = {0};
	struct dk_program p = {.prefix = "Error response from daemon: ", .in = -1, .out = -1, .captured = &out};
	struct img_ref ref;
	int r = dk_run_brig_image(c, args, &p, e);

	if (r != 0)
		return r;
	printf("%s", strbuf_str(&out));
	fflush(stdout);
	*ret_id = arena_strndup(c->arena, strbuf_str(&out), strcspn(strbuf_str(&out), "\n"));
	if (str_eq(args->v[0], "import"))
		dk_image_event(&c->store->roots, "import", *ret_id, *ret_id, NULL);
	if (name && img_ref_parse(c->arena, name, &ref, e) == 0)
		dk_image_event(&c->store->roots, "tag", *ret_id, img_ref_familiar(c->arena, &ref), NULL);
	return 0;
}

int dk_start_brig_image(struct dk_context *c, const struct strv *args, const struct dk_program *p,
			int *ret_pid, struct err *e)
{
	char path[PATH_MAX];
	struct strv argv = {0};
	pid_t pid;
	int r;

	if (find_brig_image(path, sizeof(path), e) < 0 || brig_image_argv(c, args, p, &argv, e) < 0)
		return -e->code;
	r = spawn(c, path, argv.v, p, &pid);
	if (r < 0)
		return err_set(e, -r, "run %s: %s", path, err_name(-r));
	*ret_pid = pid;
	return 0;
}

int dk_remove_in_userns(int at, const char *name, struct err *e)
{
	char path[PATH_MAX], where[64], *argv[] = {"brig-image", "remove", path, NULL};
	char program[PATH_MAX];
	struct dk_context c = {.env = environ};
	pid_t pid;
	ssize_t n = 0;
	int r;

	if (at != AT_FDCWD) {
		snprintf(where, sizeof(where), "/proc/self/fd/%d", at);
		n = readlink(where, path, sizeof(path) - 1);
		if (n < 0)
			return err_sys(e, "find the path of a directory");
	}
	if (snprintf(path + n, sizeof(path) - (size_t)n, "%s%s", n ? "/" : "", name) >= (int)(sizeof(path) - (size_t)n))
		return err_set(e, ENAMETOOLONG, "the path of %s is too long", name);
	if (find_brig_image(program, sizeof(program), e) < 0)
		return -e->code;
	r = spawn(&c, program, argv, &(struct dk_program){.in = -1, .out = -1}, &pid);
	if (r < 0)
		return err_set(e, -r, "run %s: %s", program, err_name(-r));
	return dk_wait_program(pid) == 0 ? 0 : err_set(e, EACCES, "remove %s", path);
}

int dk_run_program(struct dk_context *c, const struct strv *argv, const char *package,
		   const struct dk_program *p, struct err *e)
{
	int r = run(c, argv->v[0], argv, p, e);

	if (r == -ENOENT)
		return err_set(e, ENOENT, "%s is not installed, which this command needs: install the package %s",
			       argv->v[0], package);
	return r;
}

int dk_text_file(struct arena *a, const char *text, size_t len, char **ret_path, struct err *e)
{
	auto_close int fd = memfd_create("brig-document", 0);
	int r;

	if (fd < 0)
		return err_sys(e, "make a file in memory");
	r = io_write_all(fd, text, len);
	if (r < 0)
		return err_set(e, -r, "write a file in memory: %s", err_name(-r));
	*ret_path = arena_printf(a, "/proc/self/fd/%d", fd);
	return take_fd(&fd);
}

int dk_image_store(struct dk_context *c, struct img_store *ret, struct err *e)
{
	struct dk_store *store;

	if (dk_store_open(c, &store, e) < 0)
		return -e->code;
	return img_store_open(ret, store->roots.data, e);
}

const char *dk_missing_image(struct dk_context *c, const char *text)
{
	struct img_ref ref;
	struct err ignored = {0};

	return img_ref_parse(c->arena, text, &ref, &ignored) < 0 ? text : img_ref_familiar(c->arena, &ref);
}

int dk_image_find(struct dk_context *c, const struct img_store *s, const char *text, struct img_image *ret,
		  struct err *e)
{
	int r = img_resolve(s, text, c->arena, ret, e);

	if (r > 0)
		return 0;
	if (r < 0)
		return dk_daemon_error(c, e, e->code, "%s", e->msg);
	return dk_daemon_error(c, e, ENOENT, "No such image: %s", dk_missing_image(c, text));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A running container is reached through /proc/PID, opened here and looked at again, so that a pid
 * that was given to somebody else is noticed: what it sees, its tmpfs and volumes too, is what is
 * copied. The layers of a stopped one are mounted by brig-image; a path below one of its volumes or
 * binds leads to the host's directory.
 */
#include "docker/container-view.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"

static int open_process(struct dk_view *v, struct err *e)
{
	struct dk_look look, again;

	dk_container_look(v->c->store, v->record, &look);
	v->running = look.running && look.pid > 0;
	if (!v->running)
		return 0;
	v->proc = open(arena_printf(v->c->arena, "/proc/%ld", (long)look.pid), O_PATH | O_DIRECTORY);
	dk_container_look(v->c->store, v->record, &again);
	if (v->proc >= 0 && again.running && again.pid == look.pid)
		return 0;
	return dk_daemon_error(v->c, e, EAGAIN, "Container %s is ending", v->record->id);
}

int dk_view_open(struct dk_context *c, const char *name, struct dk_view *ret, struct err *e)
{
	*ret = (struct dk_view){.c = c, .name = name, .suffix = "", .proc = -1, .owner = DK_OWNER_NONE};
	if (dk_container_find(c, name, &ret->record, e) < 0)
		return -e->code;
	return open_process(ret, e);
}

void dk_view_close(struct dk_view *v)
{
	if (v->proc >= 0)
		close(v->proc);
	v->proc = -1;
	dk_owner_release(&v->owner);
}

static void add(struct dk_view *v, const char *option, const char *value)
{
	dk_args_add(v->c, &v->args, option);
	dk_args_add(v->c, &v->args, value);
}

/* The mount that the path is in, the deepest one; -1: none. */
static int find_mount(const struct dk_record *r, const char *path)
{
	size_t best = 0;
	int found = -1;

	for (size_t i = 0; i < r->options.mounts.n; i++) {
		const char *target = r->options.mounts.v[i].target;
		size_t n = strlen(target);

		if (strncmp(path, target, n) == 0 && (path[n] == '/' || path[n] == '\0') && n > best) {
			best = n;
			found = (int)i;
		}
	}
	return found;
}

/* A volume or bind: its directory, or that of the file which is bound. */
static void use_directory(struct dk_view *v, const char *source, const char *rest)
{
	const char *slash = strrchr(source, '/');
	struct stat st;

	if (stat(source, &st) == 0 && !S_ISDIR(st.st_mode) && slash) {
		add(v, "--dir", arena_printf(v->c->arena, "%.*s/", (int)(slash - source), source));
		v->path = slash + 1;
		return;
	}
	add(v, "--dir", source);
	v->path = *rest ? rest : "/";
}

static int make_upper(struct dk_view *v, struct err *e)
{
	static const char *const dirs[] = {"rw", "rw/diff", "rw/work"};
	int r = dk_owner_take(v->c->store, v->record->id, false, &v->owner, e);

	if (r == -EBUSY)
		return dk_daemon_error(v->c, e, EBUSY, "Container %s is being started or removed", v->record->id);
	if (r < 0)
		return r;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++)
		if (mkdir(dk_container_path(v->c->store, v->record->id, dirs[i]), i ? 0755 : 0700) < 0 &&
		    errno != EEXIST)
			return err_sys(e, "make a directory for the container's files");
	return 0;
}

int dk_view_layers(struct dk_view *v, struct strv *ret_lower, char **ret_upper, struct err *e)
{
	char *upper = dk_container_path(v->c->store, v->record->id, "rw/diff");
	char *points = arena_printf(v->c->arena, "%s/mount-points", v->c->store->roots.data);

	if (v->record->host_rootfs)
		return dk_daemon_error(v->c, e, EINVAL, "the container's root file system is this host's (image "
				       "\"host\"): it has no layers");
	/* below all: what a container's own mounts lie on, and /.dockerenv */
	*ret_lower = (struct strv){0};
	for (size_t i = 0; i < v->record->layers.n; i++)
		dk_args_add(v->c, ret_lower, v->record->layers.v[i]);
	if (access(points, F_OK) == 0)
		dk_args_add(v->c, ret_lower, points);
	*ret_upper = access(upper, F_OK) == 0 ? upper : NULL;
	return 0;
}

static int use_layers(struct dk_view *v, bool write, struct err *e)
{
	struct strv lower;
	char *upper;

	if (write && make_upper(v, e) < 0)
		return -e->code;
	if (dk_view_layers(v, &lower, &upper, e) < 0)
		return -e->code;
	if (upper && !write)
		add(v, "--lower", upper);
	for (size_t i = 0; i < lower.n; i++)
		add(v, "--lower", lower.v[i]);
	if (write) {
		add(v, "--upper", upper);
		add(v, "--work", dk_container_path(v->c->store, v->record->id, "rw/work"));
	}
	return 0;
}

int dk_view_path(struct dk_view *v, const char *path, bool write, struct err *e)
{
	const struct dk_record *r = v->record;
	char *clean = arena_alloc(v->c->arena, strlen(path) + 3);
	int mount;

	if (path_clean(path, clean, strlen(path) + 3) < 0)
		return dk_daemon_error(v->c, e, ENAMETOOLONG, "the path is too long");
	mount = find_mount(r, clean);
	if (write && (mount < 0 ? r->options.read_only : r->options.mounts.v[mount].readonly))
		return dk_daemon_error(v->c, e, EROFS, mount < 0 ? "container rootfs is marked read-only" :
								   "mounted volume is marked read-only");
	v->args = (struct strv){0};
	v->path = path;
	if (v->running) {
		v->suffix = "-own";
		add(v, "--proc", arena_printf(v->c->arena, "%d", v->proc));
		return 0;
	}
	if (mount >= 0 && r->mount_paths.n > (size_t)mount && *r->mount_paths.v[mount]) {
		/* the end of the path as it was given: "/." and "/" mean something */
		const char *rest = clean + strlen(r->options.mounts.v[mount].target);
		const char *end = str_ends(path, "/.") ? "/." : str_ends(path, "/") ? "/" : "";

		use_directory(v, r->mount_paths.v[mount], arena_printf(v->c->arena, "%s%s", rest, end));
		return 0;
	}
	return use_layers(v, write, e);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layers are mounted as one overlay without an upper directory, so nothing is copied and nothing
 * is left. User and working directory of the image are not taken over: a sandbox has its own, and what
 * an image says must not weaken them.
 */
#include "runtime/sandbox-image.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "image/store.h"
#include "runtime/sandbox-net.h"
#include "runtime/state.h"

static bool has_variable(const struct strv *env, const char *entry)
{
	size_t n = strcspn(entry, "=") + 1;

	for (size_t i = 0; i < env->n; i++)
		if (strncmp(env->v[i], entry, n) == 0)
			return true;
	return false;
}

static void add_env(struct arena *a, struct strv *env, const struct strv *more)
{
	struct strv all = {.v = arena_array(a, env->n + more->n + 1, sizeof(char *))};

	for (size_t i = 0; i < more->n; i++)
		if (!has_variable(env, more->v[i]))
			all.v[all.n++] = more->v[i];
	for (size_t i = 0; i < env->n; i++)
		all.v[all.n++] = env->v[i];
	*env = all;
}

static struct strv command_of(struct arena *a, const struct img_config *c)
{
	struct strv all = {.v = arena_array(a, c->entrypoint.n + c->cmd.n + 1, sizeof(char *))};

	for (size_t i = 0; i < c->entrypoint.n; i++)
		all.v[all.n++] = c->entrypoint.v[i];
	for (size_t i = 0; i < c->cmd.n; i++)
		all.v[all.n++] = c->cmd.v[i];
	return all;
}

static int find(struct arena *a, const char *name, struct img_image *image, struct strv *ret_dirs,
		struct err *e)
{
	const char *root = rt_default_data_root(a);
	struct img_store store;
	int r;

	if (!root)
		return err_set(e, ENOENT, "image %s: where images are kept is not known: set HOME or "
			       "BRIG_DOCKER_DATA", name);
	r = img_store_open(&store, root, e);
	if (r < 0)
		return r;
	r = img_resolve(&store, name, a, image, e);
	if (r == 1)
		*ret_dirs = img_layer_dirs(&store, a, image);
	img_store_close(&store);
	if (r < 0)
		return err_wrap(e, "annotations[\"org.brig.image\"]");
	return r == 1 ? 0 : err_set(e, ENOENT, "image %s is not in %s: brig-docker pull, load or import "
				    "gets it there", name, root);
}

/*
 * The layer on top of every image: what is mounted over need not be in the image then, every image has
 * a /workspace, and a name server where `ports` opens a way to one. That file is made last. Where the data
 * root is somebody else's and has no such layer, the image has to have them.
 */
static int make_mount_points(struct arena *a, const char *path)
{
	static const char *const dirs[] = {"", "/dev", "/etc", "/proc", "/sys", "/tmp", "/workspace"};
	auto_strbuf struct strbuf resolv_conf = {0};
	auto_close int etc = -1;
	struct err e;

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		if (mkdir(arena_printf(a, "%s%s", path, dirs[i]), 0755) < 0 && errno != EEXIST)
			return -errno;
	etc = open(arena_printf(a, "%s/etc", path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (etc < 0)
		return -errno;
	strbuf_adds(&resolv_conf, "nameserver " SANDBOX_DNS_ADDRESS "\n");
	return io_replace_file(etc, "resolv.conf", &resolv_conf, 0644, &e);
}

static char *mount_points(struct arena *a)
{
	char *path = arena_printf(a, "%s/sandbox-mount-points", rt_default_data_root(a));
	const char *last = arena_printf(a, "%s/etc/resolv.conf", path);
	mode_t mask;

	if (access(last, F_OK) < 0) {
		mask = umask(022);
		(void)make_mount_points(a, path);
		umask(mask);
	}
	return access(last, F_OK) == 0 ? path : NULL;
}

static void set_root(struct arena *a, struct oci_root *root, const struct strv *dirs,
		     struct rootfs_overlay *overlay)
{
	char *points = mount_points(a);

	root->path = dirs->v[0];
	if (!points && dirs->n == 1)
		return;
	overlay->lower.v = arena_array(a, dirs->n + 2, sizeof(char *));
	if (points)
		overlay->lower.v[overlay->lower.n++] = points;
	for (size_t i = 0; i < dirs->n; i++)
		overlay->lower.v[overlay->lower.n++] = dirs->v[i];
}

int sandbox_image_apply(struct arena *a, struct sandbox *sb, struct rootfs_overlay *overlay,
			struct err *e)
{
	struct sandbox_options *o = &sb->options;
	struct oci_process *p = sb->spec->process;
	struct img_image image = {0};
	struct strv dirs = {0};

	if (!o->image)
		return 0;
	if (sb->spec->root->path)
		return err_set(e, EINVAL, "annotations[\"org.brig.image\"] and root.path are both given");
	if (find(a, o->image, &image, &dirs, e) < 0)
		return -e->code;
	o->image = image.id ? image.id : o->image;
	add_env(a, &p->env, &image.config.env);
	if (!p->args.n)
		p->args = command_of(a, &image.config);
	if (image.host)
		return 0;
	if (!dirs.n)
		return err_set(e, EINVAL, "image %s has no layers", o->image);
	set_root(a, sb->spec->root, &dirs, overlay);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making a container: the image's configuration with the options laid over it becomes the record,
 * volumes get their directories, the name is reserved. Nothing runs yet.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "docker/container-spec.h"
#include "docker/container.h"
#include "docker/events.h"
#include "docker/links.h"
#include "docker/lists.h"
#include "docker/platform.h"
#include "docker/volume.h"
#include "image/store.h"
#include "spec/state.h"

enum { WHOLE = 1 << 20 /* more than a string of ours has */ };

/* ---- the image ---- */

/* The familiar name with its tag, as in "Unable to find image 'x:latest' locally". */
static const char *full_name(struct dk_context *c, const char *ref)
{
	struct img_ref r;
	struct err ignored = {0};

	return img_ref_parse(c->arena, ref, &r, &ignored) < 0 ? ref : img_ref_familiar(c->arena, &r);
}

static bool is_id(const char *ref)
{
	return img_is_hex(ref, 64) || img_digest_valid(ref);
}

/* 0 for an image of another platform as well: it is as good as not there. */
static int resolve(struct dk_context *c, struct img_store *images, const struct dk_run_options *o,
		   struct img_image *ret, struct err *e)
{
	struct dk_platform p = {0};
	int r = o->platform && *o->platform ? dk_platform_parse(c->arena, o->platform, &p, e) : 0;

	if (r == 0)
		r = img_resolve(images, o->image, c->arena, ret, e);
	return r == 1 && p.os && !dk_platform_is(&p, ret->os, ret->architecture) ? 0 : r;
}

static int find_image(struct dk_container *k, const struct dk_run_options *o, struct img_store *images,
		      struct img_image *ret, struct err *e)
{
	struct dk_context *c = k->c;
	const char *pull = o->pull ? o->pull : "missing";
	int r = img_store_open(images, k->store->roots.data, e);

	if (r == 0)
		r = resolve(c, images, o, ret, e);
	if (r < 0 || (r == 1 && (!str_eq(pull, "always") || ret->host || ret->link)))
		return r < 0 ? r : 0;
	if (str_eq(pull, "never") || is_id(o->image))
		return dk_daemon_error(c, e, ENOENT, "No such image: %s", full_name(c, o->image));
	if (r == 0)
		dk_fail(0, "Unable to find image '%s' locally", full_name(c, o->image));
	if (!dk_pull_image)
		return dk_daemon_error(c, e, ENOENT, "No such image: %s", full_name(c, o->image));
	r = dk_pull_image(c, o->image, o->quiet, e);
	if (r < 0)
		return r;
	img_store_close(images);
	r = img_store_open(images, k->store->roots.data, e);
	if (r == 0)
		r = resolve(c, images, o, ret, e);
	return r == 0 ? dk_daemon_error(c, e, ENOENT, "No such image: %s", full_name(c, o->image))
		      : r < 0 ? r : 0;
}

/* ---- Config ---- */

static void append(struct arena *a, struct strv *l, char *s)
{
	char **v = arena_array(a, l->n + 2, sizeof(char *));

	if (l->n)
		memcpy(v, l->v, l->n * sizeof(char *));
	v[l->n] = s;
	l->v = v;
	l->n++;
}

static bool has(const struct strv *l, const char *s, size_t n)
{
	for (size_t i = 0; i < l->n; i++)
		if (strncmp(l->v[i], s, n) == 0)
			return true;
	return false;
}

/* The options' own first, then what only the image has. */
static struct strv merge_env(struct arena *a, const struct strv *own, const struct strv *image)
{
	struct strv env = {.v = arena_array(a, own->n + image->n + 1, sizeof(char *))};

	for (size_t i = 0; i < own->n; i++)
		env.v[env.n++] = own->v[i];
	for (size_t i = 0; i < image->n; i++)
		if (!has(&env, image->v[i], strcspn(image->v[i], "=") + 1))
			env.v[env.n++] = image->v[i];
	return env;
}

static struct str_map merge_labels(struct arena *a, const struct str_map *own, const struct str_map *image)
{
	struct str_map m = {.v = arena_array(a, own->n + image->n + 1, sizeof(*m.v))};

	for (size_t i = 0; i < image->n; i++)
		m.v[m.n++] = image->v[i];
	for (size_t i = 0; i < own->n; i++) {
		size_t at = 0;

		while (at < image->n && !str_eq(m.v[at].key, own->v[i].key))
			at++;
		m.v[at < image->n ? at : m.n++] = own->v[i];
	}
	return m;
}

static struct strv merge_ports(struct arena *a, const struct dk_run_options *o, const struct img_config *image)
{
	struct strv ports = {0}, own;

	for (size_t i = 0; i < o->ports.n; i++) {
		char *p = arena_printf(a, "%u/%s", o->ports.v[i].container_port, o->ports.v[i].proto);

		if (!has(&ports, p, WHOLE))
			dk_strv_add(a, &ports, p);
	}
	own = ports; /* the image's are different from each other, and may be many */
	for (size_t i = 0; i < image->exposed_ports.n; i++)
		if (!has(&own, image->exposed_ports.v[i].name, WHOLE))
			dk_strv_add(a, &ports, image->exposed_ports.v[i].name);
	return ports;
}

static struct img_healthcheck *merge_health(struct arena *a, const struct dk_health_options *h,
					    const struct img_healthcheck *image)
{
	struct img_healthcheck *m = arena_new_of(a, struct img_healthcheck);

	if (!h->set && !h->none)
		return (struct img_healthcheck *)image;
	if (image)
		*m = *image;
	if (h->none) {
		m->test = (struct strv){0};
		append(a, &m->test, (char *)"NONE");
		return m;
	}
	if (h->command) {
		m->test = (struct strv){0};
		append(a, &m->test, (char *)"CMD-SHELL");
		append(a, &m->test, h->command);
	}
	m->interval = h->interval ? h->interval : m->interval;
	m->timeout = h->timeout ? h->timeout : m->timeout;
	m->start_period = h->start_period ? h->start_period : m->start_period;
	m->start_interval = h->start_interval ? h->start_interval : m->start_interval;
	m->retries = h->retries ? h->retries : m->retries;
	return m;
}

/* --entrypoint takes the image's command away, too; an empty one only the entrypoint. */
static void merge_command(const struct dk_run_options *o, const struct img_config *image,
			  struct dk_container_config *f)
{
	f->cmd = o->command;
	if (!o->entrypoint_set) {
		f->entrypoint = image->entrypoint;
		if (!f->cmd.n)
			f->cmd = image->cmd;
	}
	f->entrypoint_null = f->entrypoint.n == 0;
}

static void merge_config(struct dk_container *k, const struct dk_run_options *o,
			 const struct img_config *image)
{
	struct arena *a = k->c->arena;
	struct dk_container_config *f = &k->record->config;
	bool none_named = !o->attach.n;

	merge_command(o, image, f);
	if (o->entrypoint_set && *o->entrypoint) {
		append(a, &f->entrypoint, o->entrypoint);
		f->entrypoint_null = false;
	}
	f->user = o->user && *o->user ? o->user : image->user;
	f->workdir = o->workdir && *o->workdir ? o->workdir : image->working_dir;
	f->stop_signal = o->stop_signal && *o->stop_signal ? o->stop_signal : image->stop_signal;
	f->stop_timeout = o->stop_timeout;
	f->image = o->image;
	f->attach_stdin = !o->detach && (none_named ? o->interactive : o->attach_stdin);
	f->attach_stdout = !o->detach && (none_named || o->attach_stdout);
	f->attach_stderr = !o->detach && (none_named || o->attach_stderr);
	f->tty = o->tty;
	f->open_stdin = o->interactive;
	f->stdin_once = o->interactive && f->attach_stdin;
	f->env = merge_env(a, &o->env, &image->env);
	f->labels = merge_labels(a, &o->labels, &image->labels);
	f->on_build = image->on_build;
	f->shell = image->shell;
	f->exposed_ports = merge_ports(a, o, image);
	f->healthcheck = merge_health(a, &o->health, image->healthcheck);
	f->domainname = o->domainname;
	f->volumes = (struct strv){0};
	for (size_t i = 0; i < o->anonymous.n; i++)
		append(a, &f->volumes, o->anonymous.v[i]);
	for (size_t i = 0; i < image->volumes.n; i++)
		if (!has(&f->volumes, image->volumes.v[i].name, WHOLE))
			append(a, &f->volumes, image->volumes.v[i].name);
}

static int choose_program(struct dk_container *k, struct err *e)
{
	struct dk_record *r = k->record;
	struct strv all = {0};

	for (size_t i = 0; i < r->config.entrypoint.n; i++)
		dk_strv_add(k->c->arena, &all, r->config.entrypoint.v[i]);
	for (size_t i = 0; i < r->config.cmd.n; i++)
		dk_strv_add(k->c->arena, &all, r->config.cmd.v[i]);
	if (!all.n)
		return dk_daemon_error(k->c, e, EINVAL, "No command specified");
	/* A quota of the layer that is written to; the store's file system has none. */
	if (r->options.storage_opt.n)
		return dk_daemon_error(k->c, e, ENOTSUP, "--storage-opt is supported only for overlay over xfs "
				       "with 'pquota' mount option");
	r->path = all.v[0];
	r->args = (struct strv){all.v + 1, all.n - 1};
	return 0;
}

/* Docker takes the host's name where the host's network is used. */
static char *choose_hostname(struct dk_container *k, const struct dk_run_options *o)
{
	char host[HOST_NAME_MAX + 1];

	if (o->hostname && *o->hostname)
		return o->hostname;
	if (dk_network_kind(&k->record->network) == DK_NETWORK_HOST && gethostname(host, sizeof(host)) == 0)
		return arena_strdup(k->c->arena, host);
	return arena_strndup(k->c->arena, k->record->id, 12);
}

/* ---- mounts ---- */

static void add_mount(struct arena *a, struct dk_run_options *o, const struct dk_mount *m)
{
	struct dk_mount *v = arena_array(a, o->mounts.n + 1, sizeof(*v));

	if (o->mounts.n)
		memcpy(v, o->mounts.v, o->mounts.n * sizeof(*v));
	v[o->mounts.n] = *m;
	o->mounts.v = v;
	o->mounts.n++;
}

static bool has_target(const struct dk_run_options *o, const char *target)
{
	for (size_t i = 0; i < o->mounts.n; i++)
		if (str_eq(o->mounts.v[i].target, target))
			return true;
	return false;
}

/* NAME[:ro|rw]: what the other container has where this one has nothing yet. */
static int add_volumes_from(struct dk_container *k, struct dk_run_options *o, const char *text,
			    struct err *e)
{
	const char *colon = strchr(text, ':');
	char *ref = arena_strndup(k->c->arena, text, colon ? (size_t)(colon - text) : strlen(text));
	struct dk_record *other;

	if (colon && !str_eq(colon, ":ro") && !str_eq(colon, ":rw"))
		return dk_daemon_error(k->c, e, EINVAL, "invalid mode: %s", colon + 1);
	if (dk_container_find(k->c, ref, &other, e) < 0)
		return -e->code;
	for (size_t i = 0; i < other->options.mounts.n; i++) {
		struct dk_mount m = other->options.mounts.v[i];

		if (m.type == DK_MOUNT_TMPFS || has_target(o, m.target))
			continue;
		m.readonly |= str_eq(colon, ":ro");
		add_mount(k->c->arena, o, &m);
	}
	return 0;
}

static char *clean_target(struct arena *a, const char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	return arena_strndup(a, path, n);
}

static int gather_mounts(struct dk_container *k, struct dk_run_options *o, const struct img_config *image,
			 struct err *e)
{
	struct arena *a = k->c->arena;

	for (size_t i = 0; i < o->volumes_from.n; i++)
		if (add_volumes_from(k, o, o->volumes_from.v[i], e) < 0)
			return -e->code;
	for (size_t i = 0; i < image->volumes.n; i++) {
		struct dk_mount m = {.type = DK_MOUNT_VOLUME, .origin = DK_FROM_IMAGE, .mode = (char *)"",
				     .target = clean_target(a, image->volumes.v[i].name)};

		if (m.target[0] == '/' && m.target[1] && !strstr(m.target, "/..") &&
		    !has_target(o, m.target))
			add_mount(a, o, &m);
	}
	return 0;
}

static int make_source(struct dk_container *k, const struct dk_mount *m, struct err *e)
{
	char buf[PATH_MAX];
	struct stat st;

	if (stat(m->source, &st) == 0)
		return 0;
	if (!m->create_source || errno != ENOENT)
		return dk_daemon_error(k->c, e, errno,
				       "invalid mount config for type \"bind\": bind source path does not exist: %s",
				       m->source);
	if ((size_t)snprintf(buf, sizeof(buf), "%s/", m->source) >= sizeof(buf))
		return dk_daemon_error(k->c, e, ENAMETOOLONG, "the path %.100s... is too long", m->source);
	for (char *p = buf + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(buf, 0755) < 0 && errno != EEXIST)
			return dk_daemon_error(k->c, e, errno,
					       "error while creating mount source path '%s': mkdir %s: %s",
					       m->source, buf, err_name(errno));
		*p = '/';
	}
	return 0;
}

static int use_volume(struct dk_container *k, struct dk_mount *m, char **ret, struct err *e)
{
	struct dk_volume_want want = {.name = m->source, .driver = m->driver, .labels = m->labels,
				      .options = m->driver_options};
	struct dk_volume v;

	if (dk_volume_use(k->c->arena, &k->store->roots, &want, &v, e) < 0)
		return -e->code;
	m->source = v.name;
	*ret = m->subpath ? arena_printf(k->c->arena, "%s/%s", v.mountpoint, m->subpath) : v.mountpoint;
	return 0;
}

static int place_mounts(struct dk_container *k, struct dk_run_options *o, struct err *e)
{
	struct strv *paths = &k->record->mount_paths;
	int r = 0;

	paths->v = arena_array(k->c->arena, o->mounts.n + 1, sizeof(char *));
	for (size_t i = 0; r == 0 && i < o->mounts.n; i++) {
		struct dk_mount *m = &o->mounts.v[i];

		paths->v[i] = (char *)"";
		if (m->type == DK_MOUNT_BIND) {
			paths->v[i] = m->source;
			r = make_source(k, m, e);
		} else if (m->type == DK_MOUNT_VOLUME) {
			r = use_volume(k, m, &paths->v[i], e);
		}
	}
	paths->n = o->mounts.n;
	return r;
}

/* ---- the name ---- */

static int take_name(struct dk_container *k, const struct dk_run_options *o, struct err *e)
{
	const char *name = o->name + (o->name && *o->name == '/');
	char other[DK_ID_SIZE];
	int r;

	if (!o->name || !*o->name)
		return dk_name_invent(k->store, k->record->id, &k->record->name, e);
	if (!dk_valid_name(name))
		return dk_daemon_error(k->c, e, EINVAL, "Invalid container name (%s), only "
				       "[a-zA-Z0-9][a-zA-Z0-9_.-] are allowed", o->name);
	r = dk_name_reserve(k->store, name, k->record->id, other, e);
	if (r == -EEXIST)
		return dk_daemon_error(k->c, e, EEXIST, "Conflict. The container name \"/%s\" is already "
				       "in use by container \"%s\". You have to remove (or rename) that "
				       "container to be able to reuse that name.", name, other);
	k->record->name = arena_strdup(k->c->arena, name);
	return r;
}

/* ---- all of it ---- */

static int make_dir(struct dk_container *k, struct err *e)
{
	if (mkdirat(k->store->containers, k->record->id, 0700) < 0)
		return dk_daemon_error(k->c, e, errno, "make the directory of the container: %s",
				       err_name(errno));
	return 0;
}

static int fill(struct dk_container *k, struct dk_run_options *o, const struct img_store *images,
		const struct img_image *image, struct err *e)
{
	struct dk_record *r = k->record;
	struct dk_settle settle = {.options = o, .image_ports = &r->config.exposed_ports,
				   .default_network = k->store->config.default_network};
	char now[SPEC_TIME_SIZE];

	r->version = DK_RECORD_VERSION;
	r->created = arena_strdup(k->c->arena, spec_time_now(now));
	r->image_id = image->id;
	r->host_rootfs = image->host;
	r->layers = img_layer_dirs(images, k->c->arena, image);
	merge_config(k, o, &image->config);
	if (choose_program(k, e) < 0 ||
	    dk_run_resolve(k->c, o, (unsigned)sysconf(_SC_NPROCESSORS_ONLN), e) < 0 ||
	    dk_network_settle(k->c->arena, &settle, &r->network, e) < 0 ||
	    gather_mounts(k, o, &image->config, e) < 0)
		return -e->code;
	r->config.hostname = choose_hostname(k, o);
	return 0;
}

/*
 * With the host's ids the container's root is who the files of /proc/sys and /sys belong to, and no capability is
 * asked for at a write there: only the read-only mounts keep it out. CAP_SYS_ADMIN takes those away.
 */
/* The user namespace is that of another container then. */
static bool joins(const struct dk_run_options *o)
{
	bool network = o->networks.n && str_starts(o->networks.v[0].name, "container:");

	return network || (o->pid && str_starts(o->pid, "container:")) || (o->ipc && str_starts(o->ipc, "container:"));
}

static const char *outgrows(struct dk_container *k, const struct dk_run_options *o)
{
	const char *mode = o->userns && *o->userns ? o->userns : k->store->config.userns;
	struct err later = {0}; /* a name that is none is refused with the other options */
	struct strv caps = {0};

	if (geteuid() != 0 || (str_eq(mode, "private") && !joins(o)))
		return NULL;
	if (o->systempaths_unconfined)
		return "--security-opt systempaths=unconfined";
	dk_spec_capabilities(k->c->arena, o, &caps, &later);
	return has(&caps, "CAP_SYS_ADMIN", WHOLE) ? "the capability SYS_ADMIN" : NULL;
}

static int check_rights(struct dk_container *k, const struct dk_run_options *o, struct err *e)
{
	const char *what;

	if (k->store->config.allow_privileged)
		return 0;
	if (o->privileged)
		return dk_daemon_error(k->c, e, EPERM, "privileged containers are not allowed here "
				       "(\"allow-privileged\" in the configuration of brig-docker)");
	what = outgrows(k, o);
	return !what ? 0 : dk_daemon_error(k->c, e, EPERM, "%s would give the container's root the host's kernel "
					   "settings: it is allowed with --userns=private, or by "
					   "\"allow-privileged\" in the configuration of brig-docker", what);
}

static int check_allowed(struct dk_container *k, const struct dk_run_options *o, struct err *e)
{
	if (o->storage_opt.n)
		return dk_daemon_error(k->c, e, ENOTSUP, "--storage-opt is supported only for overlay over xfs with "
				       "'pquota' mount option");
	if (dk_share_check(k->c, o, e) < 0 || dk_links_check(k->c, o, e) < 0)
		return -e->code;
	if (o->cpu_shares < 0)
		return dk_daemon_error(k->c, e, EINVAL, "shares: invalid argument");
	return check_rights(k, o, e);
}

static int make(struct dk_container *k, struct dk_run_options *o, bool start_now, struct err *e)
{
	struct img_store images = {.dir = -1};
	struct img_image image = {0};
	int r = find_image(k, o, &images, &image, e);

	if (r == 0)
		r = fill(k, o, &images, &image, e);
	if (r == 0)
		r = dk_owner_take(k->store, k->record->id, true, &k->owner, e);
	if (r == 0)
		r = make_dir(k, e);
	if (r == 0)
		r = take_name(k, o, e);
	if (r == 0)
		r = place_mounts(k, o, e);
	if (r == 0) {
		k->record->options = *o;
		k->record->state.status = (char *)(start_now ? DK_RUNNING : DK_CREATED);
		r = dk_record_save(k->store, k->record, e);
	}
	/* `rmi` takes the image away first and then looks for containers of it. */
	if (r == 0 && !img_still_there(&images, &image))
		r = dk_daemon_error(k->c, e, ENOENT, "No such image: %s", full_name(k->c, o->image));
	img_store_close(&images);
	return r;
}

int dk_create(struct dk_container *k, struct dk_run_options *o, bool start_now, struct err *e)
{
	struct err ignored = {0};
	char id[DK_ID_SIZE];
	int r = dk_store_open(k->c, &k->store, e);

	if (r == 0)
		r = dk_new_id(id, e);
	if (r == 0)
		r = check_allowed(k, o, e);
	if (r < 0)
		return r;
	k->record = arena_new_of(k->c->arena, struct dk_record);
	k->record->id = arena_strdup(k->c->arena, id);
	r = make(k, o, start_now, e);
	if (r < 0 && k->owner.lock >= 0) {
		dk_owner_spend(&k->owner);
		k->record->options = *o;
		dk_record_remove(k->store, id, k->record, true, &ignored);
		dk_owner_release(&k->owner);
	}
	if (r == 0)
		dk_container_event(k->store, k->record, "create", (struct dk_event_fact){0});
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All files are read whenever a device is asked for: there are one or two. A device is found by the
 * file's kind and its own name; the file's common edits are applied once, before those of its first
 * device.
 */
#include "docker/cdi.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "json/fields.h"

enum { FILE_MAX = 4 << 20, GPU_MAX = 64 };

#define ENGINE "Error response from daemon: "

/* ---- the files ---- */

struct node {
	char *path, *host_path, *type, *permissions;
	struct opt_i64 major, minor;
	struct opt_u32 file_mode, uid, gid;
};
struct mount { char *host_path, *container_path, *type; struct strv options; };
struct hook { char *name, *path; struct strv args, env; struct opt_i64 timeout; };
struct edits {
	struct strv env;
	struct { struct node *v; size_t n; } nodes;
	struct { struct mount *v; size_t n; } mounts;
	struct { struct hook *v; size_t n; } hooks;
	struct u32v gids;
};
struct device { char *name; struct edits *edits; };
struct document {
	char *version, *kind;
	struct { struct device *v; size_t n; } devices;
	struct edits *edits;
	bool applied; /* the common edits are in the spec */
};

static const struct json_field node_fields[] = {
	JSON_FIELD(struct node, path, "path", .required = true),
	JSON_FIELD(struct node, host_path, "hostPath"),
	JSON_FIELD(struct node, type, "type"),
	JSON_FIELD(struct node, permissions, "permissions"),
	JSON_FIELD(struct node, major, "major"),
	JSON_FIELD(struct node, minor, "minor"),
	JSON_FIELD(struct node, file_mode, "fileMode"),
	JSON_FIELD(struct node, uid, "uid"),
	JSON_FIELD(struct node, gid, "gid"),
};
static const struct json_table node_table = JSON_TABLE(struct node, node_fields);

static const struct json_field mount_fields[] = {
	JSON_FIELD(struct mount, host_path, "hostPath", .required = true),
	JSON_FIELD(struct mount, container_path, "containerPath", .required = true),
	JSON_FIELD(struct mount, type, "type"),
	JSON_FIELD(struct mount, options, "options"),
};
static const struct json_table mount_table = JSON_TABLE(struct mount, mount_fields);

static const char *const hook_names[] = {"prestart", "createRuntime", "createContainer", "startContainer",
					 "poststart", "poststop", NULL};
static const struct json_field hook_fields[] = {
	JSON_FIELD(struct hook, name, "hookName", .required = true, .names = hook_names),
	JSON_FIELD(struct hook, path, "path", .required = true),
	JSON_FIELD(struct hook, args, "args"),
	JSON_FIELD(struct hook, env, "env"),
	JSON_FIELD(struct hook, timeout, "timeout"),
};
static const struct json_table hook_table = JSON_TABLE(struct hook, hook_fields);

static const struct json_field edits_fields[] = {
	JSON_FIELD(struct edits, env, "env"),
	JSON_FIELD(struct edits, nodes, "deviceNodes", .sub = &node_table),
	JSON_FIELD(struct edits, mounts, "mounts", .sub = &mount_table),
	JSON_FIELD(struct edits, hooks, "hooks", .sub = &hook_table),
	JSON_FIELD(struct edits, gids, "additionalGids"),
};
static const struct json_table edits_table = JSON_TABLE(struct edits, edits_fields);

static const struct json_field device_fields[] = {
	JSON_FIELD(struct device, name, "name", .required = true),
	JSON_FIELD(struct device, edits, "containerEdits", .sub = &edits_table),
};
static const struct json_table device_table = JSON_TABLE(struct device, device_fields);

static const struct json_field document_fields[] = {
	JSON_FIELD(struct document, version, "cdiVersion", .required = true),
	JSON_FIELD(struct document, kind, "kind", .required = true),
	JSON_FIELD(struct document, devices, "devices", .sub = &device_table),
	JSON_FIELD(struct document, edits, "containerEdits", .sub = &edits_table),
};
static const struct json_table document_table = JSON_TABLE(struct document, document_fields);

struct library {
	struct arena *a;
	struct document **v;
	size_t n;
	const char *yaml;  /* a file that cannot be read; NULL: none */
};

static int load_file(struct library *l, int dir, const char *path, const char *name, struct err *e)
{
	auto_strbuf struct strbuf text = {0};
	struct json_reader r = {.arena = l->a, .path = "", .e = e};
	struct document *d = arena_new_of(l->a, struct document), **v;
	const struct json *doc;

	if (io_read_file(dir, name, FILE_MAX, &text, e) < 0 || json_parse(text.p, text.len, l->a, &doc, e) < 0 ||
	    json_read_struct(&r, doc, &document_table, d) < 0)
		return err_wrap(e, "CDI file %s/%s", path, name);
	v = arena_array(l->a, l->n + 1, sizeof(struct document *));
	if (l->n)
		memcpy(v, l->v, l->n * sizeof(struct document *));
	v[l->n++] = d;
	l->v = v;
	return 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int wanted(const struct dirent *d)
{
	return str_ends(d->d_name, ".json") || str_ends(d->d_name, ".yaml") || str_ends(d->d_name, ".yml");
}

static int load_dir(struct library *l, const char *path, struct err *e)
{
	auto_close int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent **list = NULL;
	int r = 0, n;

	if (dir < 0)
		return errno == ENOENT ? 0 : err_sys(e, "open %s", path);
	n = scandir(path, &list, wanted, by_name);
	for (int i = 0; i < n; i++) {
		const char *name = list[i]->d_name;

		if (r == 0 && str_ends(name, ".json"))
			r = load_file(l, dir, path, name, e);
		else if (!str_ends(name, ".json"))
			l->yaml = arena_printf(l->a, "%s/%s", path, name);
		free(list[i]);
	}
	free(list);
	return r;
}

static int load(struct library *l, const struct strv *dirs, struct err *e)
{
	const char *own = getenv("BRIG_CDI_DIRS");
	char *all = arena_strdup(l->a, own && *own ? own : "/etc/cdi:/var/run/cdi"), *save = NULL;
	int r = 0;

	for (size_t i = 0; dirs && i < dirs->n && r == 0; i++)
		r = load_dir(l, dirs->v[i], e);
	if (dirs)
		return r;
	for (char *dir = strtok_r(all, ":", &save); dir && r == 0; dir = strtok_r(NULL, ":", &save))
		r = load_dir(l, dir, e);
	return r;
}

/* ---- into the spec ---- */

struct target {
	struct arena *a;
	struct oci_spec *spec;
	struct strv *sources;
};

/* Room for one more in a list of an arena. */
#define GROW(a, list)                                                                   \
	do {                                                                            \
		void *more_ = arena_array((a), (list)->n + 2, sizeof(*(list)->v));     \
		if ((list)->n)                                                          \
			memcpy(more_, (list)->v, (list)->n * sizeof(*(list)->v));      \
		(list)->v = more_;                                                      \
	} while (0)

static void add_env(struct target *t, char *entry)
{
	struct strv *env = &t->spec->process->env;
	size_t n = strcspn(entry, "=");

	for (size_t i = 0; i < env->n; i++)
		if (strncmp(env->v[i], entry, n) == 0 && env->v[i][n] == '=') {
			env->v[i] = entry;
			return;
		}
	GROW(t->a, env);
	env->v[env->n++] = entry;
}

static int find_node(const struct node *n, const char *host, struct oci_device *d, struct err *e)
{
	struct stat st;

	if (stat(host, &st) < 0)
		return err_set(e, errno, "device %s: %s", host, err_name(errno));
	if (!S_ISCHR(st.st_mode) && !S_ISBLK(st.st_mode))
		return err_set(e, ENODEV, "device %s: it is no device node", host);
	*d = (struct oci_device){
		.type = (char *)(S_ISBLK(st.st_mode) ? "b" : "c"), .path = n->path,
		.major = {true, n->major.set ? n->major.v : major(st.st_rdev)},
		.minor = {true, n->minor.set ? n->minor.v : minor(st.st_rdev)},
		.file_mode = n->file_mode.set ? n->file_mode : (struct opt_u32){true, st.st_mode & 07777},
		.uid = n->uid, .gid = n->gid,
	};
	return 0;
}

static int add_node(struct target *t, const struct node *n, struct err *e)
{
	struct oci_linux *l = t->spec->linux_;
	struct oci_device_rule_list *rules = &l->resources->devices;
	char *host = n->host_path ? n->host_path : n->path;
	struct oci_device d;

	if (find_node(n, host, &d, e) < 0)
		return -e->code;
	GROW(t->a, &l->devices);
	GROW(t->a, t->sources);
	GROW(t->a, rules);
	l->devices.v[l->devices.n++] = d;
	t->sources->v[t->sources->n++] = host;
	if (!rules->n)
		rules->v[rules->n++] = (struct oci_device_rule){.type = (char *)"a", .access = (char *)"rwm"};
	rules->v[rules->n++] = (struct oci_device_rule){
		.allow = true, .type = d.type, .major = d.major, .minor = d.minor,
		.access = n->permissions ? n->permissions : (char *)"rwm"};
	return 0;
}

static void add_mount(struct target *t, const struct mount *m)
{
	struct oci_mount_list *l = &t->spec->mounts;
	struct strv options = m->options;
	bool bind = false;

	for (size_t i = 0; i < options.n; i++)
		bind |= str_eq(options.v[i], "bind") || str_eq(options.v[i], "rbind");
	if (!bind && (!m->type || str_eq(m->type, "bind"))) {
		GROW(t->a, &options);
		options.v[options.n++] = (char *)"rbind";
	}
	GROW(t->a, l);
	l->v[l->n++] = (struct oci_mount){.destination = m->container_path, .source = m->host_path,
					  .type = m->type ? m->type : (char *)"bind", .options = options};
}

static void add_hook(struct target *t, const struct hook *h)
{
	struct oci_hooks *all = t->spec->hooks;
	struct oci_hook_list *l;

	if (!all)
		all = t->spec->hooks = arena_new_of(t->a, struct oci_hooks);
	struct oci_hook_list *const lists[] = {&all->prestart, &all->create_runtime, &all->create_container,
					       &all->start_container, &all->poststart, &all->poststop};

	l = lists[str_index(hook_names, h->name)];
	GROW(t->a, l);
	l->v[l->n++] = (struct oci_hook){h->path, h->args, h->env, h->timeout};
}

static void add_gid(struct target *t, uint32_t gid)
{
	struct u32v *l = &t->spec->process->user.additional_gids;

	for (size_t i = 0; i < l->n; i++)
		if (l->v[i] == gid)
			return;
	GROW(t->a, l);
	l->v[l->n++] = gid;
}

static int apply(struct target *t, const struct edits *d, struct err *e)
{
	if (!d)
		return 0;
	for (size_t i = 0; i < d->env.n; i++)
		add_env(t, d->env.v[i]);
	for (size_t i = 0; i < d->nodes.n; i++)
		if (add_node(t, &d->nodes.v[i], e) < 0)
			return -e->code;
	for (size_t i = 0; i < d->mounts.n; i++)
		add_mount(t, &d->mounts.v[i]);
	for (size_t i = 0; i < d->hooks.n; i++)
		add_hook(t, &d->hooks.v[i]);
	for (size_t i = 0; i < d->gids.n; i++)
		add_gid(t, d->gids.v[i]);
	return 0;
}

/* ---- what is asked for ---- */

static const struct device *find(const struct library *l, const char *name, struct document **ret)
{
	size_t kind = strcspn(name, "=");

	for (size_t i = l->n; i-- > 0;) {
		struct document *d = l->v[i];

		if (strlen(d->kind) != kind || strncmp(d->kind, name, kind) != 0 || !name[kind])
			continue;
		for (size_t k = 0; k < d->devices.n; k++)
			if (str_eq(d->devices.v[k].name, name + kind + 1)) {
				*ret = d;
				return &d->devices.v[k];
			}
	}
	return NULL;
}

static int inject(const struct library *l, struct target *t, const char *name, struct err *e)
{
	struct document *from;
	const struct device *d = find(l, name, &from);
	int r = 0;

	if (!d && l->yaml)
		return err_set(e, ENODEV, ENGINE "CDI device injection failed: unresolvable CDI devices %s (%s is "
						 "YAML, which is not read: have it written as JSON)", name, l->yaml);
	if (!d)
		return err_set(e, ENODEV, ENGINE "CDI device injection failed: unresolvable CDI devices %s", name);
	if (!from->applied)
		r = apply(t, from->edits, e);
	from->applied = true;
	if (r == 0)
		r = apply(t, d->edits, e);
	return r < 0 ? err_wrap(e, ENGINE "CDI device injection failed: %s", name) : 0;
}

static bool has_kind(const struct library *l, const char *kind)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_eq(l->v[i]->kind, kind))
			return true;
	return false;
}

static int no_driver(struct arena *a, const struct dk_gpu_request *g, struct err *e)
{
	auto_strbuf struct strbuf caps = {0};

	(void)a;
	for (size_t i = 0; i < g->capabilities.n; i++)
		strbuf_printf(&caps, "%s%s", i ? " " : "", g->capabilities.v[i]);
	return err_set(e, ENODEV, ENGINE "could not select device driver \"%s\" with capabilities: [[%s]]",
		       g->driver ? g->driver : "", caps.len ? strbuf_str(&caps) : "gpu");
}

/* As Docker does with CDI: the ids, or the first `count`, or all. */
static int inject_gpus(const struct library *l, struct target *t, const struct dk_gpu_request *g, struct err *e)
{
	int r = 0;

	if (!has_kind(l, "nvidia.com/gpu") && l->yaml)
		return err_set(e, ENODEV, ENGINE "CDI device injection failed: %s is YAML, which is not read: have it "
						 "written as JSON", l->yaml);
	if (!has_kind(l, "nvidia.com/gpu"))
		return no_driver(t->a, g, e);
	for (size_t i = 0; i < g->ids.n && r == 0; i++)
		r = inject(l, t, arena_printf(t->a, "nvidia.com/gpu=%s", g->ids.v[i]), e);
	if (g->ids.n)
		return r;
	if (g->count < 0)
		return inject(l, t, "nvidia.com/gpu=all", e);
	if (g->count > GPU_MAX)
		return err_set(e, ERANGE, ENGINE "--gpus %lld: at most %d", (long long)g->count, GPU_MAX);
	for (int64_t i = 0; i < g->count && r == 0; i++)
		r = inject(l, t, arena_printf(t->a, "nvidia.com/gpu=%lld", (long long)i), e);
	return r;
}

int dk_cdi_apply(struct arena *a, const struct dk_cdi_want *want, struct oci_spec *spec,
		 struct strv *sources, struct err *e)
{
	struct library l = {.a = a};
	struct target t = {a, spec, sources};
	int r = 0;

	if (!want->devices.n && !want->n_gpus)
		return 0;
	if (load(&l, want->dirs, e) < 0)
		return err_wrap(e, "Error response from daemon");
	for (size_t i = 0; i < want->devices.n && r == 0; i++)
		r = inject(&l, &t, want->devices.v[i], e);
	for (size_t i = 0; i < want->n_gpus && r == 0; i++)
		r = inject_gpus(&l, &t, &want->gpus[i], e);
	return r;
}

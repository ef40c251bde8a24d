/* SPDX-License-Identifier: Apache-2.0 */
/* The inspect document of an image, with Docker's keys in Docker's order. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "docker/commands.h"
#include "docker/image-program.h"
#include "docker/inspect.h"
#include "docker/units.h"

static struct dk_value name_set(struct arena *a, const struct img_name *v, size_t n)
{
	struct dk_value set = dk_dict();

	for (size_t i = 0; i < n; i++)
		dk_put(a, &set, v[i].name, dk_struct("struct {}"));
	return set;
}

static struct dk_value healthcheck(struct arena *a, const struct img_healthcheck *h)
{
	struct dk_value v = dk_struct("container.HealthConfig");

	dk_put_omit(a, &v, "Test", dk_strings(a, &h->test, true));
	dk_put_omit(a, &v, "Interval", dk_int(h->interval));
	dk_put_omit(a, &v, "Timeout", dk_int(h->timeout));
	dk_put_omit(a, &v, "StartPeriod", dk_int(h->start_period));
	dk_put_omit(a, &v, "StartInterval", dk_int(h->start_interval));
	dk_put_omit(a, &v, "Retries", dk_int(h->retries));
	return v;
}

static const char *or_empty(const char *s)
{
	return s ? s : "";
}

static struct dk_value config(struct arena *a, const struct img_config *c)
{
	static const char *const flags[] = {"AttachStdin", "AttachStdout", "AttachStderr"};
	static const char *const tty[] = {"Tty", "OpenStdin", "StdinOnce"};
	struct dk_value v = dk_struct("container.Config");

	dk_put(a, &v, "Hostname", dk_string(""));
	dk_put(a, &v, "Domainname", dk_string(""));
	dk_put(a, &v, "User", dk_string(or_empty(c->user)));
	for (int i = 0; i < 3; i++)
		dk_put(a, &v, flags[i], dk_bool(false));
	dk_put_omit(a, &v, "ExposedPorts",
		    c->exposed_ports.n ? name_set(a, c->exposed_ports.v, c->exposed_ports.n) : dk_null_dict());
	for (int i = 0; i < 3; i++)
		dk_put(a, &v, tty[i], dk_bool(false));
	dk_put(a, &v, "Env", dk_strings(a, &c->env, true));
	dk_put(a, &v, "Cmd", dk_strings(a, &c->cmd, true));
	if (c->healthcheck)
		dk_put(a, &v, "Healthcheck", healthcheck(a, c->healthcheck));
	else
		dk_put_omit(a, &v, "Healthcheck", dk_null_pointer("container.HealthConfig"));
	dk_put(a, &v, "Image", dk_string(""));
	dk_put(a, &v, "Volumes", c->volumes.n ? name_set(a, c->volumes.v, c->volumes.n) : dk_null_dict());
	dk_put(a, &v, "WorkingDir", dk_string(or_empty(c->working_dir)));
	dk_put(a, &v, "Entrypoint", dk_strings(a, &c->entrypoint, true));
	dk_put(a, &v, "OnBuild", dk_strings(a, &c->on_build, true));
	dk_put(a, &v, "Labels", dk_string_map(a, &c->labels, true));
	dk_put_omit(a, &v, "StopSignal", dk_string(or_empty(c->stop_signal)));
	dk_put_omit(a, &v, "Shell", dk_strings(a, &c->shell, true));
	return v;
}

static struct dk_value graph_driver(struct arena *a, const struct img_store *s, const struct img_image *image)
{
	struct strv dirs = img_layer_dirs(s, a, image);
	auto_strbuf struct strbuf lower = {0};
	struct dk_value v = dk_struct("types.GraphDriverData"), data = dk_dict();

	for (size_t i = 1; i < dirs.n; i++)
		strbuf_printf(&lower, "%s%s", i > 1 ? ":" : "", dirs.v[i]);
	data.text_elements = true;
	if (lower.len)
		dk_put(a, &data, "LowerDir", dk_string(arena_strdup(a, lower.p)));
	if (dirs.n)
		dk_put(a, &data, "UpperDir", dk_string(dirs.v[0]));
	dk_put(a, &v, "Data", data);
	dk_put(a, &v, "Name", dk_string("overlay2"));
	return v;
}

static struct dk_value rootfs(struct arena *a, const struct img_image *image)
{
	struct dk_value v = dk_struct("types.RootFS"), layers = dk_array();

	for (size_t i = image->layers.n; i-- > 0;)
		dk_push(a, &layers, dk_string(image->layers.v[i].diff_id));
	dk_put(a, &v, "Type", dk_string("layers"));
	dk_put_omit(a, &v, "Layers", layers);
	return v;
}

/* The record's inode changes with each name that it gets. */
static struct dk_value metadata(struct arena *a, const struct img_store *s, const struct img_image *image)
{
	struct dk_value v = dk_struct("image.Metadata");
	struct timespec t = {0};
	char buf[DK_UNIT_MAX];
	struct stat st;

	if (s->dir >= 0 && fstatat(s->dir, arena_printf(a, "ids/%s", image->id + strlen("sha256:")), &st, 0) == 0)
		t = st.st_ctim;
	dk_put(a, &v, "LastTagTime", dk_stringf(a, "%s", dk_time_rfc3339(buf, &t)));
	return v;
}

/* As Docker writes it, without zeros at the end of the fraction. */
static const char *created(struct arena *a, const struct img_image *image)
{
	const char *text = or_empty(image->created);
	struct timespec t;
	char buf[DK_UNIT_MAX];

	/* in another zone it stays so */
	if (!*text || text[strlen(text) - 1] != 'Z' || dk_time_parse(text, &t) < 0)
		return text;
	return arena_strdup(a, dk_time_rfc3339(buf, &t));
}

static int document(struct dk_context *c, const struct img_store *s, struct img_listed *l, struct dk_value *ret,
		    struct err *e)
{
	struct arena *a = c->arena;
	const struct img_image *i = &l->image;
	const struct img_config none = {0};
	struct dk_value v = dk_struct("types.ImageInspect");
	const struct json *text;
	const char *json;

	if (img_names(s, a, l, e) < 0 || img_config_text(s, i, a, &json, e) < 0 ||
	    json_parse(json, strlen(json), a, &text, e) < 0)
		return -e->code;
	dk_put_named(a, &v, "Id", "ID", dk_string(i->id));
	dk_put(a, &v, "RepoTags", dk_strings(a, &l->tags, false));
	dk_put(a, &v, "RepoDigests", dk_strings(a, &l->digests, false));
	dk_put(a, &v, "Parent", dk_string(""));
	dk_put(a, &v, "Comment", dk_string(or_empty(i->comment)));
	dk_put(a, &v, "Created", dk_string(created(a, i)));
	dk_put(a, &v, "Container", dk_string(or_empty(json_get_str(text, "container"))));
	dk_put(a, &v, "ContainerConfig", config(a, &none));
	dk_put(a, &v, "DockerVersion", dk_string(or_empty(json_get_str(text, "docker_version"))));
	dk_put(a, &v, "Author", dk_string(or_empty(i->author)));
	dk_put(a, &v, "Config", config(a, &i->config));
	dk_put(a, &v, "Architecture", dk_string(or_empty(i->architecture)));
	dk_put_omit(a, &v, "Variant", dk_string(or_empty(i->variant)));
	dk_put(a, &v, "Os", dk_string(or_empty(i->os)));
	dk_put_omit(a, &v, "OsVersion", dk_string(or_empty(json_get_str(text, "os.version"))));
	dk_put(a, &v, "Size", dk_int((int64_t)i->size));
	dk_put(a, &v, "VirtualSize", dk_int((int64_t)i->size));
	dk_put(a, &v, "GraphDriver", graph_driver(a, s, i));
	dk_put(a, &v, "RootFS", rootfs(a, i));
	dk_put(a, &v, "Metadata", metadata(a, s, i));
	*ret = v;
	return 0;
}

int dk_inspect_image(struct dk_context *c, const char *ref, const struct dk_inspect_options *o,
		     struct dk_value *ret, struct err *e)
{
	struct img_listed l = {0};
	struct img_store s;
	int r = dk_image_store(c, &s, e);

	(void)o;
	if (r == 0)
		r = img_resolve(&s, ref, c->arena, &l.image, e);
	if (r > 0)
		r = document(c, &s, &l, ret, e);
	else if (r == 0 || r == -EINVAL)
		r = dk_daemon_error(c, e, ENOENT, "no such image: %s: %s%s", ref, r == 0 ? "No such image: " : "",
				    r == 0 ? dk_missing_image(c, ref) : e->msg);
	img_store_close(&s);
	return r;
}

int dk_cmd_image_inspect(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	return dk_inspect_all(c, args, dk_inspect_image, e);
}

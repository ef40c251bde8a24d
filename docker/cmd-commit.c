/* SPDX-License-Identifier: Apache-2.0 */
/* `docker commit`: what the container has changed becomes a layer on top of its image. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "docker/commands.h"
#include "docker/container-view.h"
#include "docker/events.h"
#include "docker/hold-still.h"
#include "docker/image-change.h"
#include "docker/image-document.h"

static void add_name(struct arena *a, const struct strv *from, struct img_name **v, size_t *n)
{
	*v = arena_array(a, from->n + 1, sizeof(**v));
	*n = from->n;
	for (size_t i = 0; i < from->n; i++)
		(*v)[i].name = from->v[i];
}

/* The container's configuration as that of an image. */
static struct img_config config_of(struct arena *a, const struct dk_container_config *c)
{
	struct img_config config = {
		.user = c->user, .working_dir = c->workdir, .stop_signal = c->stop_signal, .env = c->env,
		.entrypoint = c->entrypoint, .cmd = c->cmd, .shell = c->shell, .on_build = c->on_build,
		.labels = c->labels, .healthcheck = c->healthcheck,
	};

	add_name(a, &c->volumes, &config.volumes.v, &config.volumes.n);
	add_name(a, &c->exposed_ports, &config.exposed_ports.v, &config.exposed_ports.n);
	return config;
}

static const char *created_by(struct arena *a, const struct dk_record *r)
{
	struct strbuf b = {0};
	const char *text;

	strbuf_adds(&b, r->path ? r->path : "");
	for (size_t i = 0; i < r->args.n; i++)
		strbuf_printf(&b, " %s", r->args.v[i]);
	text = arena_strdup(a, strbuf_str(&b));
	strbuf_free(&b);
	return text;
}

static int commit(struct dk_view *v, const struct dk_args *args, const struct img_config *config, struct err *e)
{
	const struct dk_commit_options *o = args->options;
	struct dk_image_document d = {.config = config, .author = o->author, .comment = o->message,
				      .created_by = created_by(v->c->arena, v->record)};
	struct strv lower, argv = {0};
	auto_close int document = -1;
	char *upper, *path;
	const char *id;
	int r;

	if (dk_view_layers(v, &lower, &upper, e) < 0)
		return -e->code;
	document = dk_image_document(v->c, &d, &path, e);
	if (document < 0)
		return document;
	dk_args_add(v->c, &argv, "commit");
	dk_args_add(v->c, &argv, "--document");
	dk_args_add(v->c, &argv, path);
	dk_args_add(v->c, &argv, "--base");
	dk_args_add(v->c, &argv, v->record->image_id);
	if (upper) {
		dk_args_add(v->c, &argv, "--diff");
		dk_args_add(v->c, &argv, upper);
	}
	if (args->argc > 1) {
		dk_args_add(v->c, &argv, "--name");
		dk_args_add(v->c, &argv, args->argv[1]);
	}
	r = dk_run_image_maker(v->c, &argv, args->argc > 1 ? args->argv[1] : NULL, &id, e);
	if (r == 0)
		dk_container_event(v->c->store, v->record, "commit", (struct dk_event_fact){"imageID", id});
	return r;
}

/* The files do not change while they are read. */
static int commit_still(struct dk_view *v, const struct dk_args *args, const struct img_config *config, struct err *e)
{
	const struct dk_commit_options *o = args->options;
	struct dk_still still = DK_STILL_NONE;
	int r = o->pause && v->running ? dk_hold_still(v->c, v->record, &still, e) : 0;

	if (r == -ENOTSUP && !dk_given(args, "pause")) {
		dk_fail(0, "WARNING: the container goes on while it is committed, for it has no cgroup that could pause it");
		*e = (struct err){0};
		r = 0;
	}
	if (r < 0)
		return dk_daemon_error(v->c, e, -r, "%s", arena_strdup(v->c->arena, e->msg));
	r = commit(v, args, config, e);
	dk_let_go(v->c, v->record, &still);
	return r;
}

int dk_cmd_commit(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	const struct dk_commit_options *o = args->options;
	struct img_config config;
	struct img_ref ref;
	struct dk_view v;
	int r;

	if (args->argc > 1 && img_ref_parse(c->arena, args->argv[1], &ref, e) < 0)
		return -e->code;
	r = dk_view_open(c, args->argv[0], &v, e);
	if (r == 0) {
		config = config_of(c->arena, &v.record->config);
		r = dk_image_change(c->arena, &o->change, &config, e);
		r = r < 0 ? dk_daemon_error(c, e, e->code, "%s", e->msg) : commit_still(&v, args, &config, e);
	}
	dk_view_close(&v);
	return r;
}

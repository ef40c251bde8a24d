/* SPDX-License-Identifier: Apache-2.0 */
/* `docker import`, and `import --link DIR NAME`, which registers a directory without copying it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "docker/commands.h"
#include "docker/image-change.h"
#include "docker/image-document.h"
#include "docker/image-program.h"

int dk_image_document(struct dk_context *c, const struct dk_image_document *d, char **ret_path, struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	struct json_writer w;

	json_writer_init(&w, &b, false);
	json_begin_object(&w);
	json_key(&w, "config");
	json_write_struct(&w, &img_config_table, d->config);
	json_member_str(&w, "author", d->author ? d->author : "");
	json_member_str(&w, "comment", d->comment ? d->comment : "");
	json_member_str(&w, "created_by", d->created_by ? d->created_by : "");
	json_end_object(&w);
	return dk_text_file(c->arena, b.p, b.len, ret_path, e);
}

static int run_import(struct dk_context *c, const struct dk_args *args, const struct img_config *config,
		      struct err *e)
{
	const struct dk_import_options *o = args->options;
	struct dk_image_document d = {.config = config};
	const char *source = args->argv[0], *id;
	auto_close int document = -1;
	struct strv argv = {0};
	char *path;

	d.comment = o->message && *o->message ? o->message : o->link ? "" : "Imported from -";
	document = dk_image_document(c, &d, &path, e);
	if (document < 0)
		return document;
	dk_args_add(c, &argv, "import");
	if (o->link)
		dk_args_add(c, &argv, "--link");
	dk_args_add(c, &argv, "--document");
	dk_args_add(c, &argv, path);
	if (args->argc > 1) {
		dk_args_add(c, &argv, "--name");
		dk_args_add(c, &argv, args->argv[1]);
	}
	/* a name that looks like an option is a file all the same */
	dk_args_add(c, &argv, source[0] == '-' && source[1] ? arena_printf(c->arena, "./%s", source) : source);
	return dk_run_image_maker(c, &argv, args->argc > 1 ? args->argv[1] : NULL, &id, e);
}

int dk_cmd_import(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	const struct dk_import_options *o = args->options;
	const char *source = args->argv[0];
	struct img_config config = {0};
	struct img_ref ref;

	if (args->argc > 1 && img_ref_parse(c->arena, args->argv[1], &ref, e) < 0)
		return -e->code;
	if (strncmp(source, "http://", 7) == 0 || strncmp(source, "https://", 8) == 0)
		return dk_error(c, e, ENOSYS, "import from a URL is not supported: download the file and import it");
	if (!o->link && strcmp(source, "-") != 0 && access(source, R_OK) < 0)
		return dk_error(c, e, errno, "open %s: %s", source,
				errno == ENOENT ? "no such file or directory" : err_name(errno));
	if (dk_image_change(c->arena, &o->change, &config, e) < 0)
		return dk_daemon_error(c, e, e->code, "%s", e->msg);
	return run_import(c, args, &config, e);
}

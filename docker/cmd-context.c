/* SPDX-License-Identifier: Apache-2.0 */
/* `docker context ls` and `inspect`: there is one, "default", and nobody listens at its address. */
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "docker/commands.h"
#include "docker/format.h"
#include "docker/inspect.h"

static const char description[] = "Current DOCKER_HOST based configuration";

static const char *endpoint(struct dk_context *c)
{
	const char *other = dk_other_engine(c);

	return other ? other : "unix:///var/run/docker.sock";
}

static struct dk_value get_name(struct arena *a, const void *row)
{
	(void)a, (void)row;
	return dk_string("default");
}

static struct dk_value get_description(struct arena *a, const void *row)
{
	(void)a, (void)row;
	return dk_string(description);
}

static struct dk_value get_endpoint(struct arena *a, const void *row)
{
	(void)a;
	return dk_string(row);
}

static struct dk_value get_current(struct arena *a, const void *row)
{
	(void)a, (void)row;
	return dk_bool(true);
}

static struct dk_value get_error(struct arena *a, const void *row)
{
	(void)a, (void)row;
	return dk_string("");
}

static const struct dk_column columns[] = {
	{"Current", "", get_current, NULL}, {"Description", "DESCRIPTION", get_description, NULL},
	{"DockerEndpoint", "DOCKER ENDPOINT", get_endpoint, NULL}, {"Error", "ERROR", get_error, NULL},
	{"Name", "NAME", get_name, NULL},
};
static const struct dk_columns context_columns = DK_COLUMNS("*formatter.clientContextContext", columns);

int dk_cmd_context_ls(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	const struct dk_list_options *o = args->options;
	struct dk_format_spec spec = {
		.columns = &context_columns, .format = o->format,
		.table = "table {{.Name}}{{if .Current}} *{{end}}\t{{.Description}}\t{{.DockerEndpoint}}\t{{.Error}}",
		.quiet = o->quiet ? "{{.Name}}" : NULL};
	struct dk_format *f;
	int r = dk_format_open(c->arena, &spec, &f, e);

	if (r == 0)
		r = dk_format_row(f, endpoint(c), e);
	return r < 0 ? r : dk_format_close(f, e);
}

static int inspect_one(struct dk_context *c, const char *ref, const struct dk_inspect_options *o,
		       struct dk_value *ret, struct err *e)
{
	struct dk_value v = dk_struct("context.contextWithTLSListing"), endpoints = dk_dict();
	struct dk_value docker = dk_dict(), storage = dk_dict();
	struct arena *a = c->arena;

	(void)o;
	if (!str_eq(ref, "default"))
		return dk_error(c, e, ENOENT, "context \"%s\": context not found", ref);
	dk_put(a, &docker, "Host", dk_string(endpoint(c)));
	dk_put(a, &docker, "SkipTLSVerify", dk_bool(false));
	dk_put(a, &endpoints, "docker", docker);
	dk_put(a, &storage, "MetadataPath", dk_string("<IN MEMORY>"));
	dk_put(a, &storage, "TLSPath", dk_string("<IN MEMORY>"));
	dk_put(a, &v, "Name", dk_string("default"));
	dk_put(a, &v, "Metadata", dk_dict());
	dk_put(a, &v, "Endpoints", endpoints);
	dk_put(a, &v, "TLSMaterial", dk_dict());
	dk_put(a, &v, "Storage", storage);
	*ret = v;
	return 0;
}

int dk_cmd_context_inspect(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	static char *current[] = {"default", NULL};
	struct dk_args one = *args;

	if (!one.argc) {
		one.argc = 1;
		one.argv = current;
	}
	return dk_inspect_all(c, &one, inspect_one, e);
}

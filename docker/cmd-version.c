/* SPDX-License-Identifier: Apache-2.0 */
/* `docker version`. Client and engine are the same program; its own version is the component "brig". */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/str.h"
#include "docker/about.h"
#include "docker/commands.h"
#include "docker/format.h"

const char *dk_go_arch(struct arena *a)
{
	static const struct { const char *machine, *go; } names[] = {
		{"x86_64", "amd64"}, {"aarch64", "arm64"}, {"i686", "386"}, {"armv7l", "arm"}, {"loongarch64", "loong64"},
	};
	struct utsname u;

	uname(&u);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (str_eq(u.machine, names[i].machine))
			return names[i].go;
	return arena_strdup(a, u.machine);
}

const char *dk_kernel_version(struct arena *a)
{
	struct utsname u;

	uname(&u);
	return arena_strdup(a, u.release);
}

static void put(struct arena *a, struct dk_value *v, const char *key, const char *text)
{
	dk_put(a, v, key, dk_string(text));
}

static struct dk_value client(struct arena *a)
{
	struct dk_value v = dk_struct("system.clientVersion");

	put(a, &v, "Version", DK_CLIENT_VERSION);
	dk_put_named(a, &v, "ApiVersion", "APIVersion", dk_string(DK_API_VERSION));
	put(a, &v, "DefaultAPIVersion", DK_API_VERSION);
	put(a, &v, "GitCommit", BRIG_VERSION);
	put(a, &v, "GoVersion", DK_GO_VERSION);
	put(a, &v, "Os", "linux");
	put(a, &v, "Arch", dk_go_arch(a));
	put(a, &v, "Context", "default");
	return v;
}

static struct dk_value engine_details(struct arena *a)
{
	struct dk_value v = dk_dict();

	put(a, &v, "ApiVersion", DK_API_VERSION);
	put(a, &v, "Arch", dk_go_arch(a));
	put(a, &v, "Experimental", "false");
	put(a, &v, "GitCommit", BRIG_VERSION);
	put(a, &v, "GoVersion", DK_GO_VERSION);
	put(a, &v, "KernelVersion", dk_kernel_version(a));
	put(a, &v, "MinAPIVersion", DK_MIN_API_VERSION);
	put(a, &v, "Os", "linux");
	return v;
}

static struct dk_value component(struct arena *a, const char *name, const char *version, struct dk_value details)
{
	struct dk_value v = dk_struct("types.ComponentVersion");

	put(a, &v, "Name", name);
	put(a, &v, "Version", version);
	dk_put(a, &v, "Details", details);
	return v;
}

static struct dk_value server(struct arena *a)
{
	struct dk_value v = dk_struct("types.Version"), platform = dk_struct("struct { Name string }");
	struct dk_value list = dk_array(), details = dk_dict();

	put(a, &platform, "Name", "");
	dk_put(a, &v, "Platform", platform);
	dk_push(a, &list, component(a, "Engine", DK_SERVER_VERSION, engine_details(a)));
	put(a, &details, "GitCommit", "");
	dk_push(a, &list, component(a, "brig", BRIG_VERSION, details));
	dk_put(a, &v, "Components", list);
	put(a, &v, "Version", DK_SERVER_VERSION);
	dk_put_named(a, &v, "ApiVersion", "APIVersion", dk_string(DK_API_VERSION));
	put(a, &v, "MinAPIVersion", DK_MIN_API_VERSION);
	put(a, &v, "GitCommit", BRIG_VERSION);
	put(a, &v, "GoVersion", DK_GO_VERSION);
	put(a, &v, "Os", "linux");
	put(a, &v, "Arch", dk_go_arch(a));
	put(a, &v, "KernelVersion", dk_kernel_version(a));
	return v;
}

static int print_text(struct dk_context *c, bool engine, struct err *e)
{
	const char *arch = dk_go_arch(c->arena);
	auto_strbuf struct strbuf b = {0};

	strbuf_printf(&b, "Client:\n Version:           %s\n API version:       %s\n Go version:        %s\n"
			  " Git commit:        %s\n OS/Arch:           linux/%s\n Context:           default\n",
		      DK_CLIENT_VERSION, DK_API_VERSION, DK_GO_VERSION, BRIG_VERSION, arch);
	if (engine)
		strbuf_printf(&b, "\nServer:\n Engine:\n  Version:          %s\n"
				  "  API version:      %s (minimum version %s)\n  Go version:       %s\n"
				  "  Git commit:       %s\n  OS/Arch:          linux/%s\n  Experimental:     false\n"
				  " brig:\n  Version:          %s\n  GitCommit:        \n",
			      DK_SERVER_VERSION, DK_API_VERSION, DK_MIN_API_VERSION, DK_GO_VERSION, BRIG_VERSION, arch,
			      BRIG_VERSION);
	return dk_write_stdout(b.p, b.len, e);
}

int dk_cmd_version(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	const struct dk_format_options *o = args->options;
	bool engine = !dk_other_engine(c);
	struct dk_value v = dk_struct("system.versionInfo");
	int r;

	dk_put(c->arena, &v, "Client", client(c->arena));
	dk_put(c->arena, &v, "Server", engine ? server(c->arena) : dk_null_pointer("types.Version"));
	if (o->format && *o->format)
		r = dk_print_formatted(c->arena, o->format, "version", v, e);
	else
		r = print_text(c, engine, e);
	return engine ? r : dk_no_engine(c, e);
}

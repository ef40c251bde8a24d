/* SPDX-License-Identifier: Apache-2.0 */
/* `brig spec`: a configuration to begin with. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/path.h"
#include "base/str.h"
#include "runtime/cli.h"
#include "runtime/commands.h"
#include "spec/default.h"
#include "spec/spec.h"

/* What a sandbox spec looks like: all of it may be left out but process.args. */
static const char sandbox_spec[] =
	"{\n"
	"    \"process\": {\n"
	"        \"args\": [\"python3\", \"-c\", \"print(2+2)\"]\n"
	"    },\n"
	"    \"annotations\": {\n"
	"        \"org.brig.timeout\": \"10s\",\n"
	"        \"org.brig.memory\": \"256m\",\n"
	"        \"org.brig.cpus\": \"1\",\n"
	"        \"org.brig.pids\": \"64\"\n"
	"    }\n"
	"}\n";

static void default_spec(struct arena *a, bool rootless, struct strbuf *out)
{
	struct spec_default_options o = {.rootless = rootless, .uid = geteuid(), .gid = getegid()};
	struct json_writer w;

	json_writer_init(&w, out, true);
	spec_write(&w, spec_default(a, &o));
	strbuf_addc(out, '\n');
}

/* A new config.json in dir, or stdout without one. An existing file is never replaced. */
static int put(const char *dir, const struct strbuf *text, struct err *e)
{
	auto_close int dirfd = -1, fd = -1;
	int r;

	if (dir) {
		dirfd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (dirfd < 0)
			return err_sys(e, "open the bundle %s", dir);
		fd = openat(dirfd, "config.json", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		if (fd < 0)
			return err_sys(e, "create %s/config.json", dir);
	}
	r = io_write_all(dir ? fd : STDOUT_FILENO, text->p, text->len);
	return r < 0 ? err_set(e, -r, "write the spec: %s", err_name(-r)) : 0;
}

int cmd_spec(int argc, char **argv, const struct rt_globals *g)
{
	auto_arena struct arena *a = arena_new();
	auto_strbuf struct strbuf text = {0};
	bool rootless = false, sandbox = false;
	const char *bundle = NULL;
	const struct cli_option options[] = {
		{"bundle", 'b', CLI_STRING, &bundle, "DIR", "write DIR/config.json instead of stdout"},
		{"rootless", 0, CLI_FLAG, &rootless, NULL, "for the calling user, in a user namespace"},
		{"sandbox", 0, CLI_FLAG, &sandbox, NULL, "a spec for `brig sandbox`"},
	};
	const struct cli c = {
		.usage = "brig spec [OPTION...]",
		.summary = "Prints a config.json to begin with.",
		.options = options,
		.n = sizeof(options) / sizeof(options[0]),
	};
	struct err e = {0};
	int r = cli_parse(&c, argc, argv, &e);

	(void)g;
	if (r == CLI_HELP)
		return 0;
	if (r >= 0) {
		if (sandbox)
			strbuf_adds(&text, sandbox_spec);
		else
			default_spec(a, rootless, &text);
		r = put(bundle, &text, &e);
	}
	return r < 0 ? command_failed(&e, 1) : 0;
}

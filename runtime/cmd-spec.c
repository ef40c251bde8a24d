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

struct spec_options {
	const char *bundle, *file;
	bool rootless, sandbox;
};

static bool to_stdout(const struct spec_options *o)
{
	return o->file ? str_eq(o->file, "-") : o->sandbox && !o->bundle;
}

/* As the other runtimes do, config.json; an existing file is never replaced. A descriptor. */
static int open_output(const struct spec_options *o, struct err *e)
{
	auto_close int dir = -1;
	int fd;

	if (to_stdout(o))
		return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (o->bundle && (dir = open(o->bundle, O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0)
		return err_sys(e, "open the bundle %s", o->bundle);
	fd = openat(o->bundle ? dir : AT_FDCWD, o->file ? o->file : "config.json",
		    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	return fd < 0 ? err_sys(e, "create %s%s%s", o->bundle ? o->bundle : "", o->bundle ? "/" : "",
				o->file ? o->file : "config.json")
		      : fd;
}

static int make_spec(struct arena *a, const struct rt_globals *g, char **words, void *options, struct err *e)
{
	const struct spec_options *o = options;
	auto_strbuf struct strbuf text = {0};
	auto_close int fd = open_output(o, e);
	int r;

	(void)g;
	(void)words;
	if (fd < 0)
		return fd;
	if (o->sandbox)
		strbuf_adds(&text, sandbox_spec);
	else
		default_spec(a, o->rootless, &text);
	r = io_write_all(fd, text.p, text.len);
	return r < 0 ? err_set(e, -r, "write the spec: %s", err_name(-r)) : 0;
}

int cmd_spec(int argc, char **argv, const struct rt_globals *g)
{
	struct spec_options o = {0};
	const struct cli_option options[] = {
		{"bundle", 'b', CLI_STRING, &o.bundle, "DIR", "where config.json is made, instead of here"},
		{"file", 'f', CLI_STRING, &o.file, "FILE", "another name than config.json; \"-\": stdout"},
		{"rootless", 0, CLI_FLAG, &o.rootless, NULL, "for the calling user, in a user namespace"},
		{"sandbox", 0, CLI_FLAG, &o.sandbox, NULL, "a spec for `brig sandbox`, on stdout unless --bundle or --file is given"},
	};
	const struct command_spec s = {
		.cli = {
			.usage = "brig spec [OPTION...]",
			.summary = "Makes a config.json to begin with.",
			.options = options,
			.n = sizeof(options) / sizeof(options[0]),
		},
		.body = make_spec,
		.options = &o,
	};

	return command_run(&s, argc, argv, g);
}

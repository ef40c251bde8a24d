/* SPDX-License-Identifier: Apache-2.0 */
/* `brig plan`: what `brig run` would do with a bundle, as JSON. Changes nothing. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/io.h"
#include "base/str.h"
#include "runtime/bundle.h"
#include "runtime/cli.h"
#include "runtime/commands.h"

static int print_plan(struct arena *a, const char *bundle, struct plan_options *po, struct rt_host *h,
		      struct err *e)
{
	auto_strbuf struct strbuf out = {0};
	struct json_writer w;
	struct rt_bundle b;
	struct plan *p;
	int r = rt_bundle_load(a, bundle, NULL, &b, e);

	if (r == 0)
		r = rt_host_probe(a, h, e);
	if (r < 0)
		return r;
	po->bundle = b.path;
	r = plan_build(a, &(struct plan_input){b.spec, po, h}, &p, e);
	if (r < 0)
		return r;
	json_writer_init(&w, &out, true);
	plan_write(&w, p);
	strbuf_addc(&out, '\n');
	r = io_write_all(STDOUT_FILENO, out.p, out.len);
	return r < 0 ? err_set(e, -r, "write the plan: %s", err_name(-r)) : 0;
}

int cmd_plan(int argc, char **argv, const struct rt_globals *g)
{
	auto_arena struct arena *a = arena_new();
	const char *bundle = NULL;
	const struct cli_option options[] = {
		{"bundle", 'b', CLI_STRING, &bundle, "DIR", "the bundle (default: the working directory)"},
	};
	const struct cli c = {
		.usage = "brig plan [OPTION...] [ID]",
		.summary = "Prints what `brig run` would do, step by step. Needs no privileges.",
		.options = options,
		.n = sizeof(options) / sizeof(options[0]),
		.max_args = 1,
	};
	struct plan_options po = {.id = "plan", .handler_dir = g->handler_dir};
	struct rt_host h = {.procfs = -1, .cgroups = {.root = -1}};
	struct err e = {0};
	int r = cli_parse(&c, argc, argv, &e);

	if (r == CLI_HELP)
		return 0;
	if (r >= 0 && r < argc && !str_valid_id(argv[r]))
		r = err_set(&e, EINVAL, "invalid container ID format: %s", argv[r]);
	if (r >= 0 && r < argc)
		po.id = argv[r];
	if (r >= 0)
		r = print_plan(a, bundle, &po, &h, &e);
	rt_host_close(&h);
	return r < 0 ? command_failed(&e, 1) : 0;
}

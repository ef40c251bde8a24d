/* SPDX-License-Identifier: Apache-2.0 */
/* `docker start` and `docker restart`. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "docker/attach.h"
#include "docker/commands.h"
#include "docker/control.h"
#include "docker/each.h"
#include "docker/events.h"
#include "docker/foreground.h"
#include "docker/monitor.h"

static int set_starting(struct dk_record *r, void *arg, struct err *e)
{
	(void)arg;
	(void)e;
	r->state = (struct dk_state){.status = (char *)DK_RUNNING, .exit_code = r->state.exit_code,
				     .finished = r->state.finished};
	return 0;
}

/* The record says it before there is anything to end. */
static int announce(struct dk_container *k, struct err *e)
{
	int r = dk_record_update(k->store, k->record->id, set_starting, NULL, e);

	if (r == 0)
		r = dk_reload(k->c, &k->record, e);
	if (r < 0)
		dk_owner_release(&k->owner);
	return r;
}

static int start_one(struct dk_context *c, const char *ref, void *options, struct err *e)
{
	struct dk_container k = DK_CONTAINER_NONE(c);
	int r = dk_take_over(&k, ref, e);
	(void)options;

	if (r != 0)
		return r < 0 ? r : 0; /* it runs already */
	r = announce(&k, e);
	return r < 0 ? r : dk_start_detached(&k, -1, e);
}

/* With its output, and its exit code for ours. */
static int start_attached(struct dk_context *c, const char *ref, const struct dk_start_options *o, struct err *e)
{
	struct dk_container k = DK_CONTAINER_NONE(c);
	struct dk_keys keys;
	int r = dk_parse_keys(c, o->detach_keys, &keys, e);

	if (r == 0)
		r = dk_take_over(&k, ref, e);
	if (r == 1)
		return dk_attach_running(c, k.record, &(struct dk_attach_how){!o->interactive, true, &keys}, e);
	if (r == 0)
		r = announce(&k, e);
	if (r < 0)
		return r;
	k.record->config.attach_stdout = k.record->config.attach_stderr = true;
	k.record->config.attach_stdin = o->interactive && k.record->config.open_stdin;
	return dk_run_monitored(&k, &keys, e);
}

int dk_cmd_start(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	const struct dk_start_options *o = args->options;
	auto_strbuf struct strbuf failed = {0};
	int r;

	if (dk_protect(c, &c->exe_mount, e) < 0)
		return -e->code;
	if (o->attach || o->interactive) {
		if (args->argc > 1)
			return dk_fail(1, "you cannot start and attach multiple containers at once");
		r = start_attached(c, args->argv[0], o, e);
		if (r != -ENOENT || !strstr(e->msg, "No such container"))
			return r;
		dk_print_error(c, e);
		return 1;
	}
	for (int i = 0; i < args->argc; i++) {
		struct err why = {0};

		if (start_one(c, args->argv[i], NULL, &why) == 0) {
			printf("%s\n", args->argv[i]);
			fflush(stdout);
			continue;
		}
		dk_print_error(c, &why);
		strbuf_printf(&failed, "%s%s", failed.len ? ", " : "", args->argv[i]);
	}
	return failed.len ? dk_fail(1, "Error: failed to start containers: %s", failed.p) : 0;
}

static int set_remove(struct dk_record *r, void *arg, struct err *e)
{
	const bool *remove = arg;
	(void)e;

	r->options.remove = *remove;
	return 0;
}

/* A --rm container outlives the stop in the middle: its monitor looks at the record before it removes it. */
static int stop_for_restart(struct dk_context *c, struct dk_record *r, const struct dk_stop *how, struct err *e)
{
	bool remove = r->options.remove, off = false;
	int code = remove ? dk_record_update(c->store, r->id, set_remove, &off, e) : 0;

	if (code == 0)
		code = dk_stop(c, r, how, e);
	if (remove && dk_record_update(c->store, r->id, set_remove, &remove, e) < 0)
		return -e->code;
	return code;
}

static int restart_one(struct dk_context *c, const char *ref, void *options, struct err *e)
{
	const struct dk_stop_options *o = options;
	struct dk_record *r;

	if (dk_container_find(c, ref, &r, e) < 0 ||
	    stop_for_restart(c, r, &(struct dk_stop){o->signal, o->timeout}, e) < 0)
		return -e->code;
	if (start_one(c, r->id, NULL, e) < 0)
		return -e->code;
	dk_container_event(c->store, r, "restart", (struct dk_event_fact){0});
	return 0;
}

int dk_cmd_restart(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	return dk_protect(c, &c->exe_mount, e) < 0 ? -e->code : dk_each_argument(c, args, restart_one, e);
}

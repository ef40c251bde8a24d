/* SPDX-License-Identifier: Apache-2.0 */
/* `docker stop`, `kill`, `wait`. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "docker/commands.h"
#include "docker/control.h"
#include "docker/each.h"

static int stop_one(struct dk_context *c, const char *ref, void *options, struct err *e)
{
	const struct dk_stop_options *o = options;
	struct dk_record *r;

	if (dk_container_find(c, ref, &r, e) < 0)
		return -e->code;
	return dk_stop(c, r, &(struct dk_stop){o->signal, o->timeout}, e);
}

int dk_cmd_stop(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	return dk_each_argument(c, args, stop_one, e);
}

/* SIGKILL is for the whole container, and its end is awaited; others are for its first process. */
static int kill_one(struct dk_context *c, const char *ref, void *options, struct err *e)
{
	const struct dk_kill_options *o = options;
	const char *name = o->signal && *o->signal ? o->signal : "KILL";
	int sig = dk_signal_number(name), r;
	struct dk_record *rec;
	struct dk_look look;

	r = dk_find_and_look(c, ref, &rec, &look, e);
	if (r == -ENOENT)
		return dk_daemon_error(c, e, ENOENT, "Cannot kill container: %s: No such container: %s", ref, ref);
	if (r < 0)
		return r;
	if (sig < 0)
		return dk_daemon_error(c, e, EINVAL, "Invalid signal: %s", name);
	if (!look.running)
		return dk_daemon_error(c, e, ESRCH, "Cannot kill container: %s: Container %s is not running", ref,
				       rec->id);
	if (sig == SIGKILL)
		return dk_kill_all(c, rec, e);
	r = dk_signal(c, rec, sig, e);
	return r == -ESRCH ? dk_daemon_error(c, e, ESRCH, "Cannot kill container: %s: Container %s is not running",
					     ref, rec->id) : r;
}

int dk_cmd_kill(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	return dk_each_argument(c, args, kill_one, e);
}

/* ---- wait ---- */

/* Between a look at the record and the lock the owner may have ended; then the record knows. */
static int wait_one(struct dk_context *c, const char *ref, int64_t *ret_code, struct err *e)
{
	char id[DK_ID_SIZE];
	auto_close int lock = -1;
	struct dk_record *r;
	int code = 0;

	if (dk_container_find_id(c, ref, id, e) < 0)
		return -e->code;
	lock = dk_owner_open(c->store, id);
	if (lock >= 0 && dk_owner_wait(lock, &code)) {
		*ret_code = code;
		return 0;
	}
	if (dk_container_find(c, ref, &r, e) < 0)
		return -e->code;
	*ret_code = r->state.exit_code;
	return 0;
}

int dk_cmd_wait(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	int bad = 0;

	for (int i = 0; i < args->argc; i++) {
		struct err why = {0};
		int64_t code = 0;

		if (wait_one(c, args->argv[i], &code, &why) == 0) {
			printf("%lld\n", (long long)code);
			fflush(stdout);
			continue;
		}
		dk_print_error(c, &why);
		bad = 1;
	}
	(void)e;
	return bad;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* `docker run` and `docker create`. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "docker/commands.h"
#include "docker/foreground.h"
#include "docker/health.h"
#include "docker/monitor.h"
#include "docker/run.h"

/* ---- --cidfile ---- */

/* The file is there from the beginning, so that two runs with the same one do not both start. */
static int make_cidfile(struct dk_context *c, const char *path, struct err *e)
{
	int fd;
	struct stat st;

	if (!path || !*path)
		return -1;
	if (stat(path, &st) == 0)
		return dk_error(c, e, EEXIST, "container ID file found, make sure the other container isn't "
				"running or delete %s", path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return dk_error(c, e, errno, "failed to create the container ID file: open %s: %s", path,
				errno == ENOENT ? "no such file or directory"
				: errno == EACCES ? "permission denied" : err_name(errno));
	return fd;
}

static bool publishes(const struct dk_network_settings *n)
{
	for (size_t i = 0; i < n->ports.n; i++)
		if (n->ports.v[i].published)
			return true;
	return false;
}

static int create(struct dk_container *k, struct dk_run_options *o, bool start_now, struct err *e)
{
	bool wanted = o->cidfile && *o->cidfile;
	auto_close int cid = wanted ? make_cidfile(k->c, o->cidfile, e) : -1;
	int r;

	if (wanted && cid < 0)
		return cid;
	r = dk_create(k, o, start_now, e);
	if (r == 0 && o->oom_kill_disable && !o->memory)
		dk_fail(0, "WARNING: OOM killer is disabled for the container, but no memory limit is set, this can "
			"result in the system running out of resources.");
	if (r == 0 && dk_network_kind(&k->record->network) == DK_NETWORK_HOST && publishes(&k->record->network))
		dk_fail(0, "WARNING: Published ports are discarded when using host network mode");
	if (r == 0 && cid >= 0)
		r = io_write_all(cid, k->record->id, strlen(k->record->id));
	if (r < 0 && wanted)
		unlink(o->cidfile);
	return r;
}

/* ---- the commands ---- */

static int print_id(const struct dk_container *k, struct err *e)
{
	char line[DK_ID_SIZE + 1];
	int r;

	snprintf(line, sizeof(line), "%s\n", k->record->id);
	r = io_write_all(STDOUT_FILENO, line, strlen(line));
	return r < 0 ? err_set(e, -r, "write /dev/stdout: %s", err_name(-r)) : 0;
}

int dk_cmd_create(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	struct dk_container k = DK_CONTAINER_NONE(c);
	int r = create(&k, args->options, false, e);

	if (r < 0)
		return r;
	dk_owner_release(&k.owner);
	return print_id(&k, e) < 0 ? -e->code : 0;
}

/* The id comes first, whatever becomes of the start. */
static int run_detached(struct dk_container *k, struct err *e)
{
	if (print_id(k, e) < 0) {
		dk_abandon(k, e, EXIT_SETUP_FAILED);
		return -e->code;
	}
	return dk_start_detached(k, -1, e) < 0 ? -e->code : 0;
}

int dk_cmd_run(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	struct dk_run_options *o = args->options;
	struct dk_container k = DK_CONTAINER_NONE(c);
	struct dk_keys keys;
	int r;

	if (o->tty && !o->detach && o->interactive && !isatty(STDIN_FILENO))
		return dk_fail(1, "the input device is not a TTY");
	if (o->detach && o->attach.n)
		return dk_fail(1, "conflicting options: cannot specify both --attach and --detach");
	r = dk_parse_keys(c, o->detach_keys, &keys, e);
	if (r == 0)
		r = dk_protect(c, &c->exe_mount, e);
	if (r == 0)
		r = create(&k, o, true, e);
	if (r < 0)
		return r;
	if (o->detach)
		return run_detached(&k, e);
	/* Nobody but a monitor looks after the health. A caller's pipe that is no -i goes past it. */
	if (o->tty || (dk_health_wanted(k.record) && str_eq(k.store->config.stdin_, "empty")))
		return dk_run_monitored(&k, &keys, e);
	return dk_run_attached(&k, e);
}

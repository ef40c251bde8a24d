/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a record to a running container, and from a container that has ended back to a record.
 *
 * A read-only container runs without an upper directory. Where a mount point is missing in its image
 * that fails, before anything of it has run; then it gets one, and the record says so for the next time.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/str.h"
#include "docker/container-spec.h"
#include "docker/container.h"
#include "docker/events.h"
#include "docker/happenings.h"
#include "docker/hosts.h"
#include "docker/links.h"
#include "docker/remove.h"
#include "nsenter/ns.h"
#include "nsenter/signals.h"
#include "runtime/container.h"

/* ---- directories ---- */

static int make_dir(int at, const char *path, struct err *e)
{
	return mkdirat(at, path, 0755) < 0 && errno != EEXIST ? err_sys(e, "make the directory %s", path) : 0;
}

/* The layer that is put on every image: what is mounted over, so that it need not be made. */
static int fill_mount_points(int dir, struct err *e)
{
	static const char *const dirs[] = {"dev", "dev/pts", "dev/shm", "etc", "proc", "sys"};
	static const char *const files[] = {".dockerenv", "dev/console", "etc/hostname", "etc/hosts", "etc/resolv.conf"};

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		if (make_dir(dir, dirs[i], e) < 0)
			return -e->code;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (mknodat(dir, files[i], S_IFREG | 0755, 0) < 0)
			return err_sys(e, "make the file %s", files[i]);
	return symlinkat("/proc/mounts", dir, "etc/mtab") < 0 ? err_sys(e, "make the link etc/mtab") : 0;
}

/* It appears by rename, so it is whole or not there. */
static int make_mount_points(const struct dk_store *s, struct err *e)
{
	char *path = arena_printf(s->arena, "%s/mount-points", s->roots.data);
	char *temporary = arena_printf(s->arena, "%s.%d", path, (int)getpid());
	auto_close int dir = -1;
	struct err ignored = {0};
	mode_t mask;
	int r;

	if (access(path, F_OK) == 0)
		return 0;
	mask = umask(022);
	r = make_dir(AT_FDCWD, temporary, e);
	dir = r < 0 ? -1 : open(temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r == 0)
		r = dir < 0 ? err_sys(e, "open %s", temporary) : fill_mount_points(dir, e);
	umask(mask);
	if (r == 0 && rename(temporary, path) < 0 && errno != ENOTEMPTY && errno != EEXIST)
		r = err_sys(e, "make %s", path);
	if (access(temporary, F_OK) == 0)
		dk_remove_tree(AT_FDCWD, temporary, &ignored);
	return r;
}

static int make_upper(struct dk_container *k, const struct rootfs_overlay *o, struct err *e)
{
	auto_close int dir = openat(k->store->containers, k->record->id, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err ignored = {0};
	mode_t mask;
	int r;

	if (!o->upper)
		return 0;
	if (dir < 0)
		return err_sys(e, "open the directory of the container");
	/* A mount that was not to be synced cannot be trusted after a crash; it is ours alone, so it goes. */
	dk_remove_tree(dir, "rw/work", &ignored);
	mask = umask(022);
	r = make_dir(dir, "rw", e);
	if (r == 0)
		r = make_dir(dir, "rw/diff", e);
	if (r == 0)
		r = make_dir(dir, "rw/work", e);
	umask(mask);
	return r;
}

/* ---- the start ---- */

static int find_running(void *arg, const char *name, int *ret_pid, struct err *e)
{
	struct dk_container *k = arg;
	struct dk_record *r;
	struct dk_look look;

	if (dk_container_find(k->c, name, &r, e) < 0)
		return -e->code;
	dk_container_look(k->store, r, &look);
	if (!look.pid)
		return dk_daemon_error(k->c, e, ESRCH, "cannot join network of a non running container: %s", r->id);
	*ret_pid = look.pid;
	return 0;
}

static struct strv extra_hosts(struct arena *a, const struct dk_run_options *o)
{
	struct strv l = {.v = arena_array(a, o->extra_hosts.n + 1, sizeof(char *))};

	for (size_t i = 0; i < o->extra_hosts.n; i++)
		l.v[l.n++] = arena_printf(a, "%s:%s", o->extra_hosts.v[i].name, o->extra_hosts.v[i].ip);
	return l;
}

static int prepare_network(struct dk_container *k, struct err *e)
{
	struct dk_record *r = k->record;
	struct dk_network_start *start = arena_new_of(k->c->arena, struct dk_network_start);

	*start = (struct dk_network_start){
		.roots = k->store->roots,
		.id = r->id,
		.name = r->name,
		.hostname = r->config.hostname,
		.files = dk_container_path(k->store, r->id, NULL),
		.settings = &r->network,
		.extra_hosts = extra_hosts(k->c->arena, &r->options),
		.find = find_running,
		.find_arg = k,
	};
	return dk_network_prepare(k->c->arena, start, &k->network, e);
}

/* The directory of the container whose network is joined. */
static char *other_files(struct dk_container *k)
{
	struct dk_record *other;
	struct err ignored = {0};

	if (k->network->kind != DK_NETWORK_CONTAINER ||
	    dk_container_find(k->c, k->record->network.mode + strlen("container:"), &other, &ignored) < 0)
		return NULL;
	return dk_container_path(k->store, other->id, NULL);
}

static int write_hosts(struct dk_container *k, struct err *e)
{
	const struct dk_run_options *o = &k->record->options;
	struct dk_hosts h = {
		.dir = dk_container_path(k->store, k->record->id, NULL),
		.hostname = k->record->config.hostname,
		.domainname = k->record->config.domainname,
		.network = k->network,
		.dns = o->dns, .dns_search = o->dns_search, .dns_options = o->dns_option,
		.other = other_files(k),
	};

	h.extra_hosts = extra_hosts(k->c->arena, o);
	k->link_env = (struct strv){0};
	if (dk_links_add(k, &h.extra_hosts, &k->link_env, e) < 0)
		return -e->code;
	return dk_hosts_write(k->c->arena, &h, e);
}

static void add_dockerenv(struct arena *a, struct rootfs_plan *p)
{
	struct rootfs_mount *v = arena_array(a, p->n_mounts + 1, sizeof(*v));

	memcpy(v, p->mounts, p->n_mounts * sizeof(*v));
	v[p->n_mounts++] = (struct rootfs_mount){
		.kind = ROOTFS_FILE, .target = "/.dockerenv", .data = "", .mode = 0755, .fd = -1};
	p->mounts = v;
}

static int launch_with(struct dk_container *k, const int stdio[3], struct err *e)
{
	struct dk_spec_input in = {k->c, k->store, k->record, &k->host, k->network, &k->share, &k->link_env};
	struct dk_spec *spec = arena_new_of(k->c->arena, struct dk_spec);
	struct plan *plan;
	int r = dk_spec_build(&in, spec, e);

	if (r == 0)
		r = make_upper(k, &spec->overlay, e);
	spec->options.limits_change = k->record->options.detach || !k->record->options.remove;
	if (r < 0)
		return r;
	k->launch = (struct rt_launch){
		RT_LAUNCH_NONE, .host = &k->host, .globals = &k->store->runtime, .arena = k->c->arena, .ephemeral = true,
		.network = k->network->kind == DK_NETWORK_BRIDGED ? dk_network_attach : NULL,
		.network_arg = k->network,
	};
	rt_launch_begin_net(&k->launch, spec->oci);
	r = plan_build(k->c->arena, &(struct plan_input){spec->oci, &spec->options, &k->host}, &plan, e);
	if (r < 0) {
		rt_launch_drop_net(&k->launch);
		return r;
	}
	dk_spec_place_devices(spec, plan->rootfs);
	dk_share_place(&k->share, plan->rootfs);
	if (k->record->host_rootfs)
		add_dockerenv(k->c->arena, plan->rootfs);
	k->launch.plan = plan;
	k->launch.exe_mount = plan->rootfs->leaving = take_fd(&k->c->exe_mount);
	k->launch.interrupt = k->interrupt;
	memcpy(k->launch.stdio, stdio, sizeof(k->launch.stdio));
	return rt_launch(&k->launch, e);
}

/* What is shared is taken anew each time: a mount that was attached goes with its container. */
static int launch_once(struct dk_container *k, const int stdio[3], struct err *e)
{
	int r = dk_share_prepare(k, e);

	if (r == 0)
		r = launch_with(k, stdio, e);
	dk_share_release(&k->share);
	return r;
}

static int launch(struct dk_container *k, const int stdio[3], struct err *e)
{
	int r = k->record->host_rootfs ? 0 : make_mount_points(k->store, e);

	if (r == 0)
		r = prepare_network(k, e);
	if (r == 0)
		r = rt_host_probe(k->c->arena, &k->host, e);
	if (r == 0)
		r = write_hosts(k, e);
	if (r == 0)
		r = launch_once(k, stdio, e);
	if (r == -EROFS && k->record->options.read_only && !k->record->needs_upper && !k->launch.exec_failed &&
	    !k->record->host_rootfs) {
		*e = (struct err){0};
		k->record->needs_upper = true;
		r = launch_once(k, stdio, e);
	}
	dk_network_release(k->network);
	return r;
}

int dk_launch(struct dk_container *k, const int stdio[3], struct err *e)
{
	int r = launch(k, stdio, e);

	if (r == 0) {
		k->launched = true;
		dk_events_of_start(k->store, k->record);
		return 0;
	}
	dk_owner_spend(&k->owner);
	dk_network_end(&k->store->roots, k->record->id, &k->record->network);
	return dk_explain_start(k, e);
}

static int set_started(struct dk_record *r, void *arg, struct err *e)
{
	const struct dk_container *k = arg;
	(void)e;

	r->state = (struct dk_state){
		.status = (char *)DK_RUNNING,
		.started = k->record->state.started,
		.restart_count = k->record->state.restart_count,
	};
	r->network = k->record->network;
	r->needs_upper = k->record->needs_upper;
	return 0;
}

int dk_note_started(struct dk_container *k, struct err *e)
{
	k->record->state.started = arena_strdup(k->c->arena, k->launch.created);
	return dk_record_update(k->store, k->record->id, set_started, k, e);
}

/* ---- the end ---- */

static int code_of(int status)
{
	return WIFSIGNALED(status) ? EXIT_SIGNAL_BASE + WTERMSIG(status) : WEXITSTATUS(status);
}

void dk_stopped(struct dk_container *k, int status, struct dk_end *ret_end)
{
	struct err e = {0};

	*ret_end = (struct dk_end){.code = code_of(status),
				   .oom_killed = k->launch.cgroup && cg_oom_kills(k->launch.cgroup) > 0};
	if (rt_launch_end(&k->launch, &e) < 0)
		log_warning("container %.12s: %s", k->record->id, e.msg);
	k->launched = false;
	dk_record_refresh_name(k->store, k->c->arena, k->record);
	if (ret_end->oom_killed)
		dk_container_event(k->store, k->record, "oom", (struct dk_event_fact){0});
	dk_events_of_end(k->store, k->record, ret_end->code);
	dk_network_end(&k->store->roots, k->record->id, &k->record->network);
	rt_host_close(&k->host);
}

struct end_note { const struct dk_container *k; const struct dk_end *end; const char *now; };

static int set_ended(struct dk_record *r, void *arg, struct err *e)
{
	const struct end_note *n = arg;
	(void)e;

	r->state.status = (char *)DK_EXITED;
	r->state.exit_code = n->end->code;
	r->state.oom_killed = n->end->oom_killed;
	r->state.finished = (char *)n->now;
	r->state.paused = false;
	dk_network_forget(&r->network); /* it may have been connected with more meanwhile */
	return 0;
}

/* It could not be removed: to be tried again by `rm`. */
static int set_dead(struct dk_record *r, void *arg, struct err *e)
{
	set_ended(r, arg, e);
	r->state.status = (char *)DK_DEAD;
	return 0;
}

/* `restart` may want it to be kept this time; attached ones are not asked, for speed. */
static bool is_to_go(const struct dk_container *k)
{
	struct dk_record *now;

	if (!k->record->options.remove || !k->record->options.detach)
		return k->record->options.remove;
	return dk_record_load(k->store, k->record->id, k->c->arena, &now, &(struct err){0}) < 0 || now->options.remove;
}

int dk_finish(struct dk_container *k, const struct dk_end *end, struct err *e)
{
	char now[SPEC_TIME_SIZE];
	struct end_note n = {k, end, spec_time_now(now)};
	int r;

	dk_owner_spend(&k->owner);
	dk_owner_note_exit(&k->owner, end->code);
	if (!is_to_go(k))
		r = dk_record_update(k->store, k->record->id, set_ended, &n, e);
	else if ((r = dk_record_remove(k->store, k->record->id, k->record, true, e)) < 0)
		dk_record_update(k->store, k->record->id, set_dead, &n, &(struct err){0});
	dk_owner_release(&k->owner);
	return r;
}

struct failure { const struct err *why; int code; };

static int set_failed(struct dk_record *r, void *arg, struct err *e)
{
	static const char prefix[] = "Error response from daemon: ";
	const struct failure *f = arg;
	const char *why = f->why->msg;
	(void)e;

	r->state.status = (char *)DK_CREATED;
	r->state.exit_code = f->code;
	r->state.error = (char *)(str_starts(why, prefix) ? why + strlen(prefix) : why);
	return 0;
}

void dk_abandon(struct dk_container *k, const struct err *why, int code)
{
	struct failure f = {why, code};
	struct err e = {0};
	int r;

	rt_host_close(&k->host);
	dk_owner_spend(&k->owner);
	r = k->record->options.remove ? dk_record_remove(k->store, k->record->id, k->record, true, &e)
				      : dk_record_update(k->store, k->record->id, set_failed, &f, &e);
	if (r < 0)
		log_warning("container %.12s: %s", k->record->id, e.msg);
	dk_owner_release(&k->owner);
}

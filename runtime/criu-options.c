/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/criu-options.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "runtime/plan.h"

enum { LOG_LEVEL_WANTED = 4, DEFAULT_MODE = 6 /* criu_cg_mode */ };

static const struct { const char *name; unsigned number; } cgroup_modes[] = {
	{"ignore", 0}, {"soft", 3}, {"full", 4}, {"strict", 5},
};

/* 0 or -errno; *ret is criu_cg_mode. */
static int find_mode(const char *name, unsigned *ret, struct err *e)
{
	if (!name || !*name) {
		*ret = DEFAULT_MODE;
		return 0;
	}
	for (size_t i = 0; i < sizeof(cgroup_modes) / sizeof(cgroup_modes[0]); i++)
		if (str_eq(cgroup_modes[i].name, name)) {
			*ret = cgroup_modes[i].number;
			return 0;
		}
	return err_set(e, EINVAL, "--manage-cgroups-mode: \"%.32s\" is none of soft, full, strict, ignore", name);
}

static int find_namespaces(const struct cli_list *l, uint64_t *ret, struct err *e)
{
	static const uint64_t flags[] = {CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWNS,
					 CLONE_NEWPID, CLONE_NEWUSER};
	uint64_t all = 0;

	for (size_t i = 0; i < l->n; i++) {
		uint64_t flag = 0;

		for (size_t k = 0; k < sizeof(flags) / sizeof(flags[0]); k++)
			if (str_eq(plan_ns_name(flags[k]), l->v[i]))
				flag = flags[k];
		if (!flag)
			return err_set(e, EINVAL, "--empty-ns: \"%.32s\" is no namespace", l->v[i]);
		all |= flag;
	}
	*ret = all;
	return 0;
}

int criu_options_check(struct criu_options *o, struct err *e)
{
	uint64_t flags;
	unsigned mode;

	if (!o->image_path)
		o->image_path = "checkpoint";
	if (find_mode(o->cgroups_mode, &mode, e) < 0)
		return -e->code;
	return find_namespaces(&o->empty_ns, &flags, e);
}

int criu_check_features(bool track, bool lazy, const char *what, struct err *e)
{
	struct criu_call c = {.what = what, .type = CRIU_FEATURE_CHECK, .log_dir = -1};
	struct criu_reply reply;
	int r = track || lazy ? criu_run(&c, &reply, e) : 0;

	if (r < 0)
		return r;
	/* Without it a pre-dump, and all that builds on one, would silently be of no use. */
	if (track && !reply.mem_track)
		return err_set(e, ENOTSUP, "%s: --pre-dump and --parent-path need a kernel that tracks "
					   "changed memory (CONFIG_MEM_SOFT_DIRTY)", what);
	if (lazy && !reply.lazy_pages)
		return err_set(e, ENOTSUP, "%s: --lazy-pages needs a kernel with userfaultfd that sees forks and "
					   "unmaps (CONFIG_USERFAULTFD), and a criu that knows it", what);
	return 0;
}

static void put_flag(struct strbuf *b, enum criu_opt field, bool v)
{
	if (v)
		criu_put_uint(b, field, true);
}

int criu_options_put(const struct criu_options *o, const struct str_map *annotations,
		     struct criu_call *c, struct err *e)
{
	const char *config = str_map_get(annotations, "org.criu.config");
	uint64_t empty;
	unsigned mode;

	if (find_mode(o->cgroups_mode, &mode, e) < 0 || find_namespaces(&o->empty_ns, &empty, e) < 0)
		return -e->code;
	criu_put_uint(&c->opts, CRIU_OPT_LOG_LEVEL, LOG_LEVEL_WANTED);
	criu_put_str(&c->opts, CRIU_OPT_LOG_FILE, c->log_file);
	put_flag(&c->opts, CRIU_OPT_NOTIFY_SCRIPTS, true);
	put_flag(&c->opts, CRIU_OPT_ORPHAN_PTS_MASTER, true);
	put_flag(&c->opts, CRIU_OPT_TCP_ESTABLISHED, o->tcp_established);
	put_flag(&c->opts, CRIU_OPT_EXT_UNIX_SK, o->ext_unix_sk);
	put_flag(&c->opts, CRIU_OPT_SHELL_JOB, o->shell_job);
	put_flag(&c->opts, CRIU_OPT_FILE_LOCKS, o->file_locks);
	put_flag(&c->opts, CRIU_OPT_AUTO_DEDUP, o->auto_dedup);
	put_flag(&c->opts, CRIU_OPT_LAZY_PAGES, o->lazy_pages);
	put_flag(&c->opts, CRIU_OPT_MANAGE_CGROUPS, true);
	criu_put_uint(&c->opts, CRIU_OPT_MANAGE_CGROUPS_MODE, mode);
	if (empty)
		criu_put_uint(&c->opts, CRIU_OPT_EMPTY_NS, empty);
	if (!config || *config)
		criu_put_str(&c->opts, CRIU_OPT_CONFIG_FILE, config ? config : "/etc/criu/brig.conf");
	return 0;
}

static int open_dir(const char *path, const char *option, bool make, struct err *e)
{
	int fd;

	if (make && mkdir(path, 0700) < 0 && errno != EEXIST)
		return err_sys(e, "%s: make %s", option, path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? err_sys(e, "%s: open %s", option, path) : fd;
}

int criu_open_dirs(const struct criu_options *o, struct arena *a, struct criu_call *c,
		   struct criu_dirs *ret, struct err *e)
{
	struct criu_dirs d = CRIU_DIRS_NONE;

	d.images = open_dir(o->image_path, "--image-path", o->make_dir, e);
	if (d.images < 0)
		return d.images;
	if (o->work_path)
		d.work = open_dir(o->work_path, "--work-path", true, e);
	if (o->work_path && d.work < 0) {
		criu_close_dirs(&d);
		return -e->code;
	}
	c->log_dir = d.work >= 0 ? d.work : d.images;
	c->log_path = arena_printf(a, "%s/%s", d.work >= 0 ? o->work_path : o->image_path, c->log_file);
	unlinkat(c->log_dir, c->log_file, 0); /* errors of an earlier run are not ours */
	c->image_path = o->image_path;
	c->work_path = o->work_path;
	criu_put_uint(&c->opts, CRIU_OPT_IMAGES_DIR_FD, CRIU_IMAGES_FD);
	criu_put_uint(&c->opts, CRIU_OPT_WORK_DIR_FD, CRIU_WORK_FD);
	*ret = d;
	return 0;
}

void criu_close_dirs(struct criu_dirs *d)
{
	cleanup_close(&d->images);
	cleanup_close(&d->work);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What `brig checkpoint` and `brig restore` have in common on their command lines. */
#pragma once

#include "base/arena.h"
#include "runtime/cli.h"
#include "runtime/criu.h"
#include "spec/types.h"

struct criu_options {
	const char *image_path, *work_path;
	const char *cgroups_mode; /* NULL: criu's default */
	struct cli_list empty_ns;
	bool make_dir; /* the image directory is made when it is missing, 0700 */
	bool tcp_established, ext_unix_sk, shell_job, file_locks, auto_dedup, lazy_pages;
};

/* Rows of a command's option table. */
#define CRIU_OPTION_ROWS(o)                                                                        \
	{"image-path", 0, CLI_STRING, &(o)->image_path, "DIR", "the checkpoint (default: ./checkpoint)"}, \
	{"work-path", 0, CLI_STRING, &(o)->work_path, "DIR", "for criu's log and working files"},    \
	{"tcp-established", 0, CLI_FLAG, &(o)->tcp_established, NULL, "allow open TCP connections"}, \
	{"ext-unix-sk", 0, CLI_FLAG, &(o)->ext_unix_sk, NULL, "allow unix sockets to the outside"},  \
	{"shell-job", 0, CLI_FLAG, &(o)->shell_job, NULL, "allow a terminal of the outside"},        \
	{"file-locks", 0, CLI_FLAG, &(o)->file_locks, NULL, "allow file locks"},                     \
	{"empty-ns", 0, CLI_LIST, &(o)->empty_ns, "NAMESPACE", "make this namespace, but leave it empty"}, \
	{"manage-cgroups-mode", 0, CLI_STRING, &(o)->cgroups_mode, "soft|full|strict|ignore",        \
	 "how criu treats cgroups"},                                                                  \
	{"auto-dedup", 0, CLI_FLAG, &(o)->auto_dedup, NULL, "punch used pages out of the images"},   \
	{"lazy-pages", 0, CLI_FLAG, &(o)->lazy_pages, NULL, "send memory when it is used (criu lazy-pages)"}

/* What this criu and this kernel can do; -ENOTSUP with a message that names the option. */
int criu_check_features(bool track, bool lazy, const char *what, struct err *e);
/* Sets defaults; the refusals. */
int criu_options_check(struct criu_options *o, struct err *e);
/* Their fields, the log, and the configuration file; the annotation org.criu.config names another
 * one, or none when it is empty. c->log_dir and log_path must be set. */
int criu_options_put(const struct criu_options *o, const struct str_map *annotations,
		     struct criu_call *c, struct err *e);

struct criu_dirs { int images, work; }; /* work: -1 without --work-path */
#define CRIU_DIRS_NONE {-1, -1}

/* Fills c->log_dir and log_path for c->log_file, and the paths, and
 * adds them to c->opts. */
int criu_open_dirs(const struct criu_options *o, struct arena *a, struct criu_call *c,
		   struct criu_dirs *ret, struct err *e);
void criu_close_dirs(struct criu_dirs *d);
#define auto_criu_dirs __attribute__((cleanup(criu_close_dirs)))

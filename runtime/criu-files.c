/* SPDX-License-Identifier: Apache-2.0 */
/*
 * descriptors.json is the list that runc and crun write: what /proc/PID/fd says of 0, 1 and 2. For a
 * file that lies outside of the container's mounts (the host's /dev/null, a fifo of the caller) that
 * is not enough: criu then wants a name made of mount and inode, which takes the path's place.
 */
#include "runtime/criu-files.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/procfs.h"
#include "json/json.h"
#include "json/writer.h"
#include "nsenter/ns.h"

enum { STREAMS = 3, TEXT = 4096, STREAMS_MAX = 64 << 10, MOUNTINFO_MAX = 16 << 20 };

static const char file_name[] = "descriptors.json";

/* ---- streams ---- */

/* Whether the container has the mount with that number. */
static int has_mount(const struct criu_tree *t, unsigned id, struct err *e)
{
	char path[64], *save;
	auto_close int fd = -1;
	auto_strbuf struct strbuf b = {0};

	snprintf(path, sizeof(path), "%ld/mountinfo", (long)t->pid);
	fd = procfs_openat(t->procfs, path, O_RDONLY, e);
	if (fd < 0 || io_read_fd(fd, MOUNTINFO_MAX, &b, path, e) < 0)
		return -e->code;
	for (char *line = b.p ? strtok_r(b.p, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save))
		if (strtoul(line, NULL, 10) == id)
			return 1;
	return 0;
}

/* The number of the mount that a descriptor of the process lies on. */
static int mount_of(const struct criu_tree *t, int fd, unsigned *ret, struct err *e)
{
	char path[64], text[1024], *at;
	ssize_t n;

	snprintf(path, sizeof(path), "%ld/fdinfo/%d", (long)t->pid, fd);
	n = procfs_read(t->procfs, path, text, sizeof(text), e);
	if (n < 0)
		return (int)n;
	at = strstr(text, "mnt_id:");
	if (!at)
		return err_set(e, EINVAL, "%s names no mount", path);
	*ret = (unsigned)strtoul(at + strlen("mnt_id:"), NULL, 10);
	return 0;
}

/* Replaces the text of a file outside of the container's mounts by criu's name for it. */
static int name_if_outside(const struct criu_tree *t, int fd, char *text, struct err *e)
{
	char path[64];
	struct stat st;
	unsigned mount = 0;
	int r;

	snprintf(path, sizeof(path), "/proc/%ld/fd/%d", (long)t->pid, fd);
	if (stat(path, &st) < 0)
		return err_sys(e, "stat %s", path);
	r = mount_of(t, fd, &mount, e);
	if (r == 0)
		r = has_mount(t, mount, e);
	if (r == 0)
		snprintf(text, TEXT, "file[%x:%llx]", mount, (unsigned long long)st.st_ino);
	return r < 0 ? r : 0;
}

/* The empty text for a stream that is closed. */
static int describe_stream(const struct criu_tree *t, int fd, char *text, struct err *e)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%ld/fd/%d", (long)t->pid, fd);
	n = readlink(path, text, TEXT - 1);
	if (n < 0 && errno != ENOENT)
		return err_sys(e, "read the link %s", path);
	text[n < 0 ? 0 : n] = '\0';
	return *text == '/' ? name_if_outside(t, fd, text, e) : 0;
}

int criu_dump_streams(const struct criu_tree *t, int images, struct strbuf *opts, struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	struct json_writer w;
	char text[TEXT];

	json_writer_init(&w, &b, false);
	json_begin_array(&w);
	for (int i = 0; i < STREAMS; i++) {
		if (describe_stream(t, i, text, e) < 0)
			return -e->code;
		json_str(&w, text);
		if (strncmp(text, "file[", 5) == 0)
			criu_put_str(opts, CRIU_OPT_EXTERNAL, text);
	}
	json_end_array(&w);
	return io_replace_file(images, file_name, &b, 0600, e);
}

/* Pipes and what was named by us; everything else criu opens by its path in the container. */
static bool is_inherited(const char *text)
{
	return strncmp(text, "pipe:", 5) == 0 || strncmp(text, "file[", 5) == 0;
}

static bool is_repeated(const struct json *list, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (list->items[k].type == JSON_STRING &&
		    strcmp(list->items[k].text, list->items[i].text) == 0)
			return true;
	return false;
}

int criu_restore_streams(int images, struct arena *a, struct strbuf *opts, struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	const struct json *list;
	int r = io_read_file(images, file_name, STREAMS_MAX, &b, e);

	if (r == 0)
		r = json_parse(strbuf_str(&b), b.len, a, &list, e);
	if (r < 0)
		return err_wrap(e, "%s of the checkpoint", file_name);
	if (list->type != JSON_ARRAY)
		return err_set(e, EINVAL, "%s of the checkpoint is not a list", file_name);
	for (uint32_t i = 0; i < list->n && i < STREAMS; i++)
		if (list->items[i].type == JSON_STRING && is_inherited(list->items[i].text) &&
		    !is_repeated(list, i))
			criu_put_inherit_fd(opts, list->items[i].text, (int)i);
	return 0;
}

/* ---- namespaces ---- */

/* Namespaces that criu can leave out of a dump; the names that runc and crun give them as well. */
static const char *outside_name(uint64_t type)
{
	return type == CLONE_NEWNET ? "extRootNetNS" : type == CLONE_NEWPID ? "extRootPidNS" : NULL;
}

int criu_put_dump_namespaces(const struct plan *p, struct arena *a, struct strbuf *opts, struct err *e)
{
	for (size_t i = 0; i < p->n_joins; i++) {
		const struct plan_join *j = &p->joins[i];
		auto_close int fd = -1;
		struct stat st;

		if (!outside_name(j->flag))
			continue;
		if (ns_open(j->path, j->flag, &fd, e) < 0)
			return -e->code;
		if (fstat(fd, &st) < 0)
			return err_sys(e, "stat %s", j->path);
		criu_put_str(opts, CRIU_OPT_EXTERNAL,
			     arena_printf(a, "%s[%llu]:%s", ns_name(j->flag),
					  (unsigned long long)st.st_ino, outside_name(j->flag)));
	}
	return 0;
}

int criu_put_restore_namespaces(const struct plan *p, struct criu_call *c, struct err *e)
{
	for (size_t i = 0; i < p->n_joins; i++) {
		const struct plan_join *j = &p->joins[i];

		if (j->flag == CLONE_NEWCGROUP || j->flag == CLONE_NEWTIME)
			return err_set(e, ENOTSUP, "linux.namespaces: criu cannot restore into the existing %s "
						   "namespace %s", j->type, j->path);
		if (!outside_name(j->flag)) {
			criu_put_pair(&c->opts, CRIU_OPT_JOIN_NS, ns_name(j->flag), j->path);
			continue;
		}
		if (c->n_fds == CRIU_MAX_FDS)
			return err_set(e, E2BIG, "linux.namespaces: too many are joined");
		if (ns_open(j->path, j->flag, &c->fds[c->n_fds], e) < 0)
			return -e->code;
		criu_put_inherit_fd(&c->opts, outside_name(j->flag), CRIU_FIRST_FD + (int)c->n_fds++);
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory of resctrl is a group: mkdir makes it with all its files, rmdir removes it with the
 * groups for monitoring below it. What went wrong with a write is in info/last_cmd_status.
 */
#include "cgroups/resctrl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/procfs.h"
#include "base/str.h"

enum { FILE_MAX = 64 << 10, MOUNTINFO_MAX = 16 << 20, RESCTRL_MAGIC = 0x7655821 };

static const char usual_mount[] = "/sys/fs/resctrl";

static bool has_schemata(const struct oci_intel_rdt *r)
{
	return r->l3_cache_schema || r->mem_bw_schema || r->schemata.n;
}

void resctrl_plan(struct arena *a, const char *root, const struct oci_intel_rdt *r, const char *id,
		  struct resctrl *ret)
{
	const char *clos = r->clos_id && *r->clos_id ? r->clos_id : NULL;

	*ret = (struct resctrl){0};
	ret->control = clos && str_eq(clos, "/") ? root : arena_printf(a, "%s/%s", root, clos ? clos : id);
	if (r->enable_monitoring.v)
		ret->monitor = arena_printf(a, "%s/mon_groups/%s", ret->control, id);
	ret->ours = clos ? ret->monitor : ret->control;
}

/* "36 35 98:0 / MOUNTPOINT options - resctrl source options" */
static const char *find_in_mountinfo(struct arena *a, char *text)
{
	char *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *type = strstr(line, " - resctrl "), *p = line;

		for (int field = 0; type && p && field < 4; field++)
			p = strchr(p + 1, ' ');
		if (type && p)
			return arena_printf(a, "%.*s", (int)strcspn(p + 1, " "), p + 1);
	}
	return NULL;
}

const char *resctrl_mount(struct arena *a, int procfs, struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	auto_close int fd = -1;
	const char *found = NULL;
	struct statfs fs;

	if (statfs(usual_mount, &fs) == 0 && fs.f_type == RESCTRL_MAGIC)
		return usual_mount;
	fd = procfs_openat(procfs, "self/mountinfo", O_RDONLY, e);
	if (fd < 0 || io_read_fd(fd, MOUNTINFO_MAX, &b, "mountinfo", e) < 0)
		return NULL;
	if (b.p)
		found = find_in_mountinfo(a, b.p);
	if (!found)
		err_set(e, ENOENT, "linux.intelRdt: resctrl is not mounted; on a CPU that has it: "
				   "mount -t resctrl resctrl %s", usual_mount);
	return found;
}

static int make_dir(const char *path, struct err *e)
{
	if (mkdir(path, 0755) == 0)
		return 0;
	if (errno == ENOSPC)
		return err_set(e, ENOSPC, "linux.intelRdt: make %s: no group is left on this CPU", path);
	return err_sys(e, "linux.intelRdt: make %s", path);
}

static int make_control(const struct resctrl *g, const struct oci_intel_rdt *r, struct err *e)
{
	bool named = r->clos_id && *r->clos_id;
	struct stat st;
	int code = 0;

	if (stat(g->control, &st) < 0)
		code = errno;
	else if (!named)
		code = EEXIST; /* not ours, so it must not be used and removed */
	if (code == 0)
		return 0;
	if (code != ENOENT)
		return err_set(e, code, "linux.intelRdt: the group %s: %s", g->control, err_name(code));
	if (named && !has_schemata(r))
		return err_set(e, ENOENT, "linux.intelRdt.closID: the group %s does not exist, and there is "
					  "no schema to make it with", g->control);
	code = make_dir(g->control, e);
	return code < 0 ? code : 1;
}

int resctrl_make(const struct resctrl *g, const struct oci_intel_rdt *r, struct err *e)
{
	int is_new = make_control(g, r, e), m;

	if (is_new < 0 || !g->monitor)
		return is_new;
	m = make_dir(g->monitor, e);
	if (m < 0 && is_new)
		rmdir(g->control);
	return m < 0 ? m : is_new;
}

/* ---- schemata ---- */

static void add_line(struct strbuf *b, const char *line)
{
	if (line && *line)
		strbuf_printf(b, "%s\n", line);
}

static int write_schemata(const struct resctrl *g, const struct strbuf *b, struct err *e)
{
	char path[4096], why[256] = "";
	int r;

	snprintf(path, sizeof(path), "%s/schemata", g->control);
	r = io_write_value(AT_FDCWD, path, strbuf_str(b));
	if (r == 0)
		return 0;
	snprintf(path, sizeof(path), "%s/../info/last_cmd_status", g->control);
	io_read_small(AT_FDCWD, path, why, sizeof(why));
	return err_set(e, -r, "linux.intelRdt: write %s/schemata: %s%s%s", g->control, err_name(-r),
		       *why ? ": " : "", why);
}

/* Steps over "NAME:" of a line; false when it has another name. */
static bool same_resource(const char *line, const char **ret_values, const char *name, size_t n)
{
	while (*line == ' ')
		line++;
	if (strncmp(line, name, n) != 0 || line[n] != ':')
		return false;
	*ret_values = line + n + 1;
	return true;
}

/* "0=7f0;1=01f" has "1=1f": the kernel fills up with zeros. */
static bool has_value(const char *values, const char *want)
{
	char *end;
	unsigned long domain = strtoul(want, &end, 10), value;

	if (*end != '=')
		return false;
	value = strtoul(end + 1, NULL, 16); /* both sides alike, so also for decimal ones */
	for (const char *p = values; *p && *p != '\n'; p += *p == ';') {
		unsigned long d = strtoul(p, &end, 10);

		if (*end == '=' && d == domain && strtoul(end + 1, NULL, 16) == value)
			return true;
		p += strcspn(p, ";\n");
	}
	return false;
}

/* Every value of the line is in the file. */
static bool line_is_set(const char *file, const char *line)
{
	size_t n = strcspn(line, ":");
	const char *values = NULL;

	for (const char *l = file; *l && !values; l += strcspn(l, "\n"), l += *l == '\n')
		same_resource(l, &values, line, n);
	if (!values || !line[n])
		return false;
	for (const char *want = line + n + 1; *want && *want != '\n'; want += *want == ';') {
		if (!has_value(values, want))
			return false;
		want += strcspn(want, ";\n");
	}
	return true;
}

static int compare_schemata(const struct resctrl *g, const struct strbuf *b, struct err *e)
{
	auto_strbuf struct strbuf have = {0};
	char path[4096];
	int r;

	snprintf(path, sizeof(path), "%s/schemata", g->control);
	r = io_read_file(AT_FDCWD, path, FILE_MAX, &have, e);
	if (r < 0)
		return err_wrap(e, "linux.intelRdt");
	for (const char *l = strbuf_str(b); *l; l += strcspn(l, "\n"), l += *l == '\n')
		if (!line_is_set(strbuf_str(&have), l))
			return err_set(e, EINVAL, "linux.intelRdt: the group %s exists, and its schemata are not "
						  "%.*s", g->control, (int)strcspn(l, "\n"), l);
	return 0;
}

int resctrl_set(const struct resctrl *g, const struct oci_intel_rdt *r, bool is_new, struct err *e)
{
	auto_strbuf struct strbuf b = {0};

	if (!has_schemata(r))
		return 0;
	add_line(&b, r->l3_cache_schema);
	add_line(&b, r->mem_bw_schema);
	for (size_t i = 0; i < r->schemata.n; i++)
		add_line(&b, r->schemata.v[i]);
	return is_new ? write_schemata(g, &b, e) : compare_schemata(g, &b, e);
}

static int add_task(const char *dir, pid_t pid, struct err *e)
{
	char path[4096], text[32];
	int r;

	snprintf(path, sizeof(path), "%s/tasks", dir);
	snprintf(text, sizeof(text), "%ld", (long)pid);
	r = io_write_value(AT_FDCWD, path, text);
	return r < 0 ? err_set(e, -r, "linux.intelRdt: write %s: %s", path, err_name(-r)) : 0;
}

int resctrl_attach(const struct resctrl *g, pid_t pid, struct err *e)
{
	int r = add_task(g->control, pid, e);

	return r < 0 || !g->monitor ? r : add_task(g->monitor, pid, e);
}

int resctrl_remove(const char *ours, struct err *e)
{
	if (!ours || rmdir(ours) == 0 || errno == ENOENT)
		return 0;
	return err_sys(e, "linux.intelRdt: remove %s", ours);
}

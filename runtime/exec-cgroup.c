/* SPDX-License-Identifier: Apache-2.0 */
/* Works on the strings of a record: "/path" for v2, "v1:hierarchy:/path" for each one of v1. */
#include "runtime/exec-cgroup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/procfs.h"
#include "base/str.h"

/* "cpu" in "cpu,cpuacct". */
static bool has_word(const char *list, size_t len, const char *word, size_t n)
{
	for (const char *end = list + len; list < end;) {
		size_t k = 0;

		while (list + k < end && list[k] != ',')
			k++;
		if (k == n && memcmp(list, word, n) == 0)
			return true;
		list += k + 1;
	}
	return false;
}

/* The part of args that is for a path of a record; NULL: none. */
static const char *sub_for(const char *path, const struct cli_list *args)
{
	const char *hierarchy = str_starts(path, "v1:") ? path + 3 : NULL;
	size_t len = hierarchy ? strcspn(hierarchy, ":") : 0;

	for (size_t i = 0; i < args->n; i++) {
		const char *colon = strchr(args->v[i], ':'), *word = args->v[i];

		if (!colon)
			return word;
		while (hierarchy && word < colon) {
			size_t k = strcspn(word, ",:");

			if (has_word(hierarchy, len, word, k))
				return colon + 1;
			word += k + 1;
		}
	}
	return NULL;
}

static bool has_dot_dot(const char *path)
{
	for (const char *s = path; (s = strstr(s, "..")); s += 2)
		if ((s == path || s[-1] == '/') && (s[2] == '/' || !s[2]))
			return true;
	return false;
}

static int check_args(const struct rt_container *c, const struct cli_list *args, struct err *e)
{
	bool v1 = c->doc->cgroup && c->doc->cgroup->paths.n &&
		  str_starts(c->doc->cgroup->paths.v[0], "v1:");

	if (!c->cgroup)
		return err_set(e, EINVAL, "--cgroup %s: the container has no cgroup of its own",
			       args->v[0]);
	for (size_t i = 0; i < args->n; i++) {
		const char *arg = args->v[i], *colon = strchr(arg, ':');

		if (!colon && args->n > 1)
			return err_set(e, EINVAL, "invalid --cgroup argument: %s (missing "
						  "<controller>: prefix)", arg);
		if (has_dot_dot(colon ? colon + 1 : arg))
			return err_set(e, EINVAL, "--cgroup %s: %s is not a sub cgroup path", arg,
				       colon ? colon + 1 : arg);
		if (colon && (strchr(colon + 1, ':') || !v1))
			return err_set(e, EINVAL, "invalid --cgroup argument: %s%s", arg,
				       v1 ? "" : " (cgroup v2 has no <controller>: prefix)");
	}
	return 0;
}

int exec_open_sub_cgroup(const struct rt_container *c, struct arena *a, const struct cli_list *args,
			 struct cg **ret, struct err *e)
{
	int r = check_args(c, args, e);
	const struct strv *have = r < 0 ? NULL : &c->doc->cgroup->paths;
	struct strv paths = {0};

	if (r < 0)
		return r;
	paths.v = arena_array(a, have->n + 1, sizeof(char *));
	for (size_t i = 0; i < have->n; i++) {
		const char *sub = sub_for(have->v[i], args);

		if (str_starts(have->v[i], "unit:"))
			continue;
		while (sub && *sub == '/')
			sub++;
		/* cg_open resolves without links and beneath the hierarchy */
		paths.v[paths.n++] = sub && *sub ? arena_printf(a, "%s/%s", have->v[i], sub) : have->v[i];
	}
	r = cg_open(&paths, ret, e);
	return r == -ENOENT ? err_set(e, ENOENT, "--cgroup %s: no such cgroup below the container's", args->v[0])
			    : r;
}

int exec_open_init_cgroup(const struct rt_container *c, struct cg **ret, struct err *e)
{
	const char *own = c->doc->cgroup->paths.v[0];
	size_t n = strlen(own);
	char file[64], text[8192], *line, *end;
	struct strv paths = {.v = (char *[]){NULL, NULL}, .n = 1};

	snprintf(file, sizeof(file), "%ld/cgroup", (long)c->doc->init_pid);
	if (procfs_read(c->procfs, file, text, sizeof(text), e) < 0)
		return -e->code;
	line = str_starts(text, "0::") ? text : strstr(text, "\n0::");
	if (!line)
		return err_set(e, ENOENT, "the first process is in no cgroup of v2");
	line = strstr(line, "0::") + 3;
	end = strchr(line, '\n');
	if (end)
		*end = '\0';
	if (strncmp(line, own, n) != 0 || line[n] != '/')
		return err_set(e, EBUSY, "the container's cgroup %s takes no processes (it has "
					 "controllers for its children), and the first process is "
					 "not below it", own);
	paths.v[0] = line;
	return cg_open(&paths, ret, e);
}

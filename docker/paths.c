/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of the command line, as texts: nothing is looked up. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "docker/parts.h"

/* Drops the last part of the path in b, not below `floor`. */
static size_t drop_part(const char *b, size_t n, size_t floor)
{
	while (n > floor && b[n - 1] != '/')
		n--;
	return n > 1 && b[n - 1] == '/' ? n - 1 : n;
}

char *dk_clean_path(struct arena *a, const char *path)
{
	bool absolute = path[0] == '/';
	char *out = arena_alloc(a, strlen(path) + 3);
	size_t n = 0, floor = absolute ? 1 : 0;

	if (absolute)
		out[n++] = '/';
	for (const char *s = path; *s;) {
		size_t len = strcspn(s, "/");

		if (len == 2 && s[0] == '.' && s[1] == '.' && (n > floor || absolute)) {
			n = drop_part(out, n, floor);
		} else if (len && !(len == 1 && s[0] == '.')) {
			if (n && out[n - 1] != '/')
				out[n++] = '/';
			memcpy(out + n, s, len);
			n += len;
			/* A leading ".." of a relative path stays. */
			if (!absolute && len == 2 && s[0] == '.' && s[1] == '.')
				floor = n;
		}
		s += len;
		s += *s == '/';
	}
	if (!n)
		out[n++] = '.';
	out[n] = '\0';
	return out;
}

char *dk_absolute(struct arena *a, const char *path, struct err *e)
{
	char cwd[PATH_MAX];

	if (path[0] == '/')
		return dk_clean_path(a, path);
	if (!getcwd(cwd, sizeof(cwd))) {
		err_sys(e, "working directory");
		return NULL;
	}
	return dk_clean_path(a, arena_printf(a, "%s/%s", cwd, path));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /etc/subuid, /etc/subgid ("name-or-uid:start:count") and the name in /etc/passwd, read whole with
 * a cap and split by hand: no NSS, so nothing is loaded and nothing can block.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "base/str.h"
#include "nsenter/idmap.h"

enum { FILE_CAP = 4 * 1024 * 1024 };

/* The next line of *rest, cut into up to n fields at ':' (the last one keeps what follows); NULL at
 * the end. Works in place. Returns the number of fields. */
static size_t next_line(char **rest, char **fields, size_t n)
{
	char *line = *rest, *end = strchr(line, '\n');
	size_t k = 0;

	if (end)
		*end = '\0';
	*rest = end ? end + 1 : line + strlen(line);
	while (k < n) {
		char *colon = k + 1 < n ? strchr(line, ':') : NULL;

		fields[k++] = line;
		if (!colon)
			break;
		*colon = '\0';
		line = colon + 1;
	}
	return k;
}

static int read_whole(const char *file, struct strbuf *b, struct err *e)
{
	int r = io_read_file(AT_FDCWD, file, FILE_CAP, b, e);

	return r == -ENOENT ? 0 : r;
}

static bool parse_range(const char *start, const char *count, struct ns_subid *ret_range)
{
	uint64_t s, c;

	if (str_u64(start, UINT32_MAX - 1, &s) < 0 || str_u64(count, UINT32_MAX, &c) < 0)
		return false;
	if (c == 0 || s + c > UINT32_MAX)
		return false;
	*ret_range = (struct ns_subid){.start = (uint32_t)s, .count = (uint32_t)c};
	return true;
}

static bool is_user(const char *field, const struct ns_user *u, const char *number)
{
	return strcmp(field, number) == 0 || (u->name && *u->name && strcmp(field, u->name) == 0);
}

int ns_subids(const char *file, const struct ns_user *u, struct ns_subid *ranges, size_t max,
	      struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	int r = read_whole(file, &b, e);
	char number[16], *rest = b.p, *f[3];
	size_t n = 0;

	if (r < 0)
		return r;
	snprintf(number, sizeof(number), "%u", u->uid);
	while (rest && *rest && n < max) {
		struct ns_subid range;

		if (next_line(&rest, f, 3) < 3)
			continue;
		if (is_user(f[0], u, number) && parse_range(f[1], f[2], &range))
			ranges[n++] = range;
	}
	return (int)n;
}

int ns_user_name(uid_t uid, char *buf, size_t size, struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	int r = read_whole("/etc/passwd", &b, e);
	char number[16], *rest = b.p, *f[4];

	if (r < 0)
		return r;
	snprintf(number, sizeof(number), "%u", uid);
	while (rest && *rest) {
		if (next_line(&rest, f, 4) < 4 || strcmp(f[2], number) != 0)
			continue;
		if (!*f[0] || strlen(f[0]) >= size)
			continue;
		memcpy(buf, f[0], strlen(f[0]) + 1);
		return 1;
	}
	return 0;
}

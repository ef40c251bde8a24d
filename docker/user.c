/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As Docker does it: a name is looked for before a number is read; with a group given there are no
 * supplementary ones; a number without an entry has the group 0.
 */
#include "docker/user.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"

enum { FIELDS = 7, ID_MAX = 2147483647, GROUPS_MAX = 1024 };

struct line { const char *field[FIELDS]; size_t len[FIELDS]; int n; };

/* The next line of a colon-separated file; false at its end. */
static bool next_line(const char **text, struct line *l)
{
	const char *p = *text, *end;

	if (!p || !*p)
		return false;
	end = p + strcspn(p, "\n");
	*l = (struct line){.n = 0};
	while (l->n < FIELDS) {
		size_t n = strcspn(p, ":\n");

		l->field[l->n] = p;
		l->len[l->n++] = n;
		p += n;
		if (p >= end)
			break;
		p++;
	}
	*text = *end ? end + 1 : end;
	return true;
}

static bool is_text(const struct line *l, int i, const char *s, size_t n)
{
	return i < l->n && l->len[i] == n && memcmp(l->field[i], s, n) == 0;
}

static bool is_number(const char *s, size_t n, uint64_t max, uint64_t *ret)
{
	char buf[24];

	if (n == 0 || n >= sizeof(buf))
		return false;
	memcpy(buf, s, n);
	buf[n] = '\0';
	return str_u64(buf, max, ret) == 0;
}

static bool id_of(const struct line *l, int i, uint32_t *ret)
{
	uint64_t v;

	if (i >= l->n || !is_number(l->field[i], l->len[i], ID_MAX, &v))
		return false;
	*ret = (uint32_t)v;
	return true;
}

struct entry { bool found; uint32_t uid, gid; const char *name; size_t name_len; };

/* By name, else by number. */
static struct entry find_passwd(const char *passwd, const char *who, size_t n)
{
	struct entry by_id = {.found = false};
	uint64_t id = 0;
	bool number = is_number(who, n, ID_MAX, &id);
	struct line l;

	while (next_line(&passwd, &l)) {
		struct entry x = {true, 0, 0, l.field[0], l.len[0]};

		if (!id_of(&l, 2, &x.uid) || !id_of(&l, 3, &x.gid))
			continue;
		if (is_text(&l, 0, who, n))
			return x;
		if (number && x.uid == id && !by_id.found)
			by_id = x;
	}
	return by_id;
}

/* 1: found. */
static int find_group(const char *group, const char *who, size_t n, uint32_t *ret)
{
	struct line l;
	uint64_t id;

	while (next_line(&group, &l))
		if (is_text(&l, 0, who, n) && id_of(&l, 2, ret))
			return 1;
	if (!is_number(who, n, UINT64_MAX, &id))
		return 0;
	*ret = (uint32_t)id;
	return id > ID_MAX ? -ERANGE : 1;
}

static bool lists(const struct line *l, const char *name, size_t n)
{
	const char *p = l->n > 3 ? l->field[3] : NULL, *end = p ? p + l->len[3] : NULL;

	while (p && p < end) {
		const char *comma = memchr(p, ',', (size_t)(end - p));
		size_t have = comma ? (size_t)(comma - p) : (size_t)(end - p);

		if (have == n && memcmp(p, name, n) == 0)
			return true;
		p += have + 1;
	}
	return false;
}

static void add_group(struct oci_user *u, uint32_t gid)
{
	for (size_t i = 0; i < u->additional_gids.n; i++)
		if (u->additional_gids.v[i] == gid)
			return;
	if (u->additional_gids.n < GROUPS_MAX)
		u->additional_gids.v[u->additional_gids.n++] = gid;
}

static void add_own_groups(const char *group, const struct entry *x, struct oci_user *u)
{
	struct line l;
	uint32_t gid;

	while (x->found && next_line(&group, &l))
		if (lists(&l, x->name, x->name_len) && id_of(&l, 2, &gid))
			add_group(u, gid);
}

static int range_error(struct err *e)
{
	return err_set(e, ERANGE, "uids and gids must be in range 0-%d", ID_MAX);
}

/* Beyond the range, or with a sign: what Docker's parser takes for a number. */
static bool is_odd_number(const char *s, size_t n)
{
	size_t digits = strspn(s + (*s == '-'), "0123456789") + (*s == '-');

	return n > (size_t)(*s == '-') && digits >= n;
}

static int find_user(const struct dk_accounts *acc, const char *who, size_t n, struct entry *ret,
		     struct err *e)
{
	uint64_t id;

	*ret = find_passwd(acc->passwd, who, n);
	if (ret->found)
		return 0;
	if (is_number(who, n, ID_MAX, &id)) {
		ret->uid = (uint32_t)id;
		return 0;
	}
	if (is_odd_number(who, n))
		return range_error(e);
	return err_set(e, ENOENT, "unable to find user %.*s: no matching entries in passwd file",
		       (int)(n < 200 ? n : 200), who);
}

static int resolve_group(const struct dk_accounts *acc, const char *name, uint32_t *ret, struct err *e)
{
	int r = find_group(acc->group, name, strlen(name), ret);

	if (r == -ERANGE || (r == 0 && is_odd_number(name, strlen(name))))
		return range_error(e);
	if (r == 0)
		return err_set(e, ENOENT, "unable to find group %.200s: no matching entries in group file", name);
	return 0;
}

int dk_user_find(struct arena *a, const struct dk_accounts *acc, const struct dk_user_want *want,
		 struct oci_user *ret, struct err *e)
{
	const char *user = want->user && *want->user ? want->user : "0";
	const char *colon = strchr(user, ':');
	size_t n = colon ? (size_t)(colon - user) : strlen(user);
	struct oci_user u = {.additional_gids = {.v = arena_array(a, GROUPS_MAX, sizeof(uint32_t))}};
	struct entry x;

	if (find_user(acc, n ? user : "0", n ? n : 1, &x, e) < 0)
		return -e->code;
	u.uid = x.uid;
	u.gid = x.gid;
	if (colon && colon[1]) {
		if (resolve_group(acc, colon + 1, &u.gid, e) < 0)
			return -e->code;
	} else {
		add_own_groups(acc->group, &x, &u);
	}
	for (size_t i = 0; want->groups && i < want->groups->n; i++) {
		uint32_t gid;

		if (resolve_group(acc, want->groups->v[i], &gid, e) < 0)
			return -e->code;
		add_group(&u, gid);
	}
	*ret = u;
	return 0;
}

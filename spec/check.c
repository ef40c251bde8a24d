/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of values which more than one section of the spec has. */
#include "spec/check.h"

#include <ctype.h>
#include <errno.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

enum { MAX_MAPPINGS = 340 }; /* user_namespaces(7): since Linux 4.15 */

int check_fail(struct err *e, const char *fmt, ...)
{
	char msg[sizeof(e->msg)], clean[sizeof(e->msg)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	return err_set(e, EINVAL, "%s", str_escape(clean, sizeof(clean), msg));
}

bool check_is_absolute(const char *path)
{
	return path && path[0] == '/';
}

bool check_has_dotdot(const char *path)
{
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 2 && path[0] == '.' && path[1] == '.')
			return true;
		path += n;
		path += strspn(path, "/");
	}
	return false;
}

bool check_has_control(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			return true;
	return false;
}

/* The decimal number at *s, which moves behind it; -1 when there is none or it is too large. */
static long take_number(const char **s)
{
	long v = 0;

	if (**s < '0' || **s > '9')
		return -1;
	for (; **s >= '0' && **s <= '9'; (*s)++) {
		v = v * 10 + (**s - '0');
		if (v > 1000000)
			return -1;
	}
	return v;
}

bool check_is_list(const char *s)
{
	while (*s) {
		long first = take_number(&s), last = first;

		if (first >= 0 && *s == '-') {
			s++;
			last = take_number(&s);
		}
		if (first < 0 || last < first)
			return false;
		if (*s == ',' && s[1])
			s++;
		else if (*s)
			return false;
	}
	return true;
}

bool check_is_interface(const char *s)
{
	if (!*s || strlen(s) >= IFNAMSIZ || str_eq(s, ".") || str_eq(s, ".."))
		return false;
	for (; *s; s++)
		if (*s == '/' || *s == ':' || isspace((unsigned char)*s))
			return false;
	return true;
}

int check_id(const char *path, uint32_t id, struct err *e)
{
	if (id > INT32_MAX)
		return check_fail(e, "%s: %u is larger than %d", path, id, INT32_MAX);
	return 0;
}

/* Whether [a, a + n) and [b, b + m) have an id in common. */
static bool overlap(uint64_t a, uint64_t n, uint64_t b, uint64_t m)
{
	return a < b + m && b < a + n;
}

static int check_against_earlier(const char *path, const struct oci_id_mapping_list *list, size_t i,
				 struct err *e)
{
	const struct oci_id_mapping *m = &list->v[i];

	for (size_t k = 0; k < i; k++) {
		const struct oci_id_mapping *o = &list->v[k];

		if (overlap(m->container_id, m->size, o->container_id, o->size))
			return check_fail(e, "%s[%zu]: its container ids overlap with entry %zu",
					  path, i, k);
		if (overlap(m->host_id, m->size, o->host_id, o->size))
			return check_fail(e, "%s[%zu]: its host ids overlap with entry %zu", path,
					  i, k);
	}
	return 0;
}

int check_id_mappings(const char *path, const struct oci_id_mapping_list *list, struct err *e)
{
	int r = 0;

	if (list->n > MAX_MAPPINGS)
		return check_fail(e, "%s: has %zu entries, the kernel takes %d", path, list->n,
				  MAX_MAPPINGS);
	for (size_t i = 0; r == 0 && i < list->n; i++) {
		const struct oci_id_mapping *m = &list->v[i];

		if (m->size == 0)
			return check_fail(e, "%s[%zu].size: must be larger than 0", path, i);
		/* the last id of all, (uid_t)-1, means "no id" in the kernel */
		if ((uint64_t)m->container_id + m->size > UINT32_MAX ||
		    (uint64_t)m->host_id + m->size > UINT32_MAX)
			return check_fail(e, "%s[%zu].size: %u goes beyond the last id", path, i,
					  m->size);
		r = check_against_earlier(path, list, i, e);
	}
	return r;
}

const struct oci_namespace *check_find_namespace(const struct oci_linux *l, const char *type)
{
	for (size_t i = 0; l && i < l->namespaces.n; i++)
		if (str_eq(l->namespaces.v[i].type, type))
			return &l->namespaces.v[i];
	return NULL;
}

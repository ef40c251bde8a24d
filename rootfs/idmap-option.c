/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crun's mount options idmap=MAPS and ridmap=MAPS, for mounts without uidMappings of their own:
 *
 *   idmap=uids=0-1-10#10-11-10;gids=@0-100-10
 *
 * FILE-ID-ID-LENGTH, as containerID, hostID and size of a mapping; with "@" the second id is one of
 * the container's user namespace and becomes the host's id of it.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/str.h"
#include "rootfs/internal.h"

struct id_list { const struct oci_id_mapping *v; size_t n; };

/* A number up to the character `end`; what is behind that. */
static const char *parse_id(const char *p, char end, uint32_t *ret)
{
	char digits[16];
	size_t n = strspn(p, "0123456789");
	uint64_t v;

	if (n == 0 || n >= sizeof(digits) || (p[n] != end && end))
		return NULL;
	memcpy(digits, p, n);
	digits[n] = '\0';
	if (str_u64(digits, UINT32_MAX, &v) < 0)
		return NULL;
	*ret = (uint32_t)v;
	return p + n + (end != '\0');
}

static bool to_host(uint32_t *id, uint32_t size, struct id_list container)
{
	for (size_t i = 0; i < container.n; i++) {
		const struct oci_id_mapping *m = &container.v[i];

		if (*id >= m->container_id && *id - m->container_id < m->size &&
		    size <= m->size - (*id - m->container_id)) {
			*id = *id - m->container_id + m->host_id;
			return true;
		}
	}
	return false;
}

/* The maps up to ';' or the end; what is there, or NULL. */
static const char *parse_maps(struct arena *a, const char *p, struct id_list container, struct id_list *ret)
{
	struct oci_id_mapping *v = arena_array(a, strlen(p) / sizeof("0-0-0") + 1, sizeof(*v));
	size_t n = 0;

	for (;; p++) {
		bool relative = *p == '@';
		struct oci_id_mapping *m = &v[n++];

		p = parse_id(p + relative, '-', &m->container_id);
		p = p ? parse_id(p, '-', &m->host_id) : NULL;
		p = p ? parse_id(p, '\0', &m->size) : NULL;
		if (!p || !m->size || (relative && !to_host(&m->host_id, m->size, container)))
			return NULL;
		if (*p != '#')
			break;
	}
	*ret = (struct id_list){v, n};
	return *p == ';' || !*p ? p : NULL;
}

int idmap_option_parse(struct arena *a, const char *maps, const struct rootfs_options *o,
		       struct rootfs_mount *m, struct err *e)
{
	struct id_list uids = {0}, gids = {0};
	const char *p = maps;

	while (p && *p) {
		if (str_starts(p, "uids="))
			p = parse_maps(a, p + 5, (struct id_list){o->uid_maps, o->n_uid_maps}, &uids);
		else if (str_starts(p, "gids="))
			p = parse_maps(a, p + 5, (struct id_list){o->gid_maps, o->n_gid_maps}, &gids);
		else
			p = NULL;
		if (p && *p == ';')
			p++;
	}
	if (!p || !uids.n || !gids.n)
		return err_set(e, EINVAL, "mount %s: \"idmap=%.100s\" is not uids=ID-ID-LENGTH[#...];gids=... of ids that "
			       "the container has", m->target, maps);
	m->uid_maps = uids.v;
	m->n_uid_maps = uids.n;
	m->gid_maps = gids.v;
	m->n_gid_maps = gids.n;
	return 0;
}

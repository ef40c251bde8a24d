/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --mount: one record of comma-separated KEY=VALUE. What is only wrong for the engine (a relative
 * target, an unknown type) passes here and fails in dk_resolve_mounts, as it does with Docker.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "docker/cli-parse.h"
#include "docker/flag-tables.h"
#include "docker/lists.h"
#include "docker/parts.h"
#include "docker/units.h"

struct mount_parse {
	struct arena *a;
	struct dk_mount m;
	bool bind_option, volume_option, tmpfs_option;
};

typedef int set_key(struct mount_parse *p, const char *key, char *value, struct err *e);

static int bad_value(const char *key, const char *value, struct err *e)
{
	return err_set(e, EINVAL, "invalid value for %s: %s", key, value);
}

static int to_bool(const char *key, const char *value, bool *ret, struct err *e)
{
	static const char *const words[] = {"1", "t", "T", "TRUE", "true", "True",
					    "0", "f", "F", "FALSE", "false", "False", NULL};
	int i = str_index(words, value);

	if (i < 0)
		return bad_value(key, value, e);
	*ret = i < 6;
	return 0;
}

static int set_type(struct mount_parse *p, const char *key, char *value, struct err *e)
{
	(void)key, (void)e;
	p->m.type_name = dk_lower(p->a, value);
	return 0;
}

static int set_source(struct mount_parse *p, const char *key, char *value, struct err *e)
{
	(void)key;
	p->m.source = value[0] == '.' ? dk_absolute(p->a, value, e) : value;
	return p->m.source ? 0 : -e->code;
}

static int set_target(struct mount_parse *p, const char *key, char *value, struct err *e)
{
	(void)key, (void)e;
	p->m.target = value;
	return 0;
}

static int set_readonly(struct mount_parse *p, const char *key, char *value, struct err *e)
{
	return to_bool(key, value, &p->m.readonly, e);
}

static int set_consistency(struct mount_parse *p, const char *key, char *value, struct err *e)
{
	(void)key, (void)e;
	p->m.consistency = dk_lower(p->a, value);
	return 0;
}

static int set_propagation(struct mount_parse *p, const char *key, char *value, struct err *e)
{
	(void)key, (void)e;
	p->m.propagation = dk_lower(p->a, value);
	return 0;
}

static int set_non_recursive(struct mount_parse *p, const char *key, char *value, struct err *e)
{
	return to_bool(key, value, &p->m.non_recursive, e);
}

static int set_recursive(struct mount_parse *p, const char *key, char *value, struct err *e)
{
	static const char *const words[] = {"enabled", "disabled", "writable", "readonly", NULL};
	int i = str_index(words, dk_lower(p->a, value));

	(void)key;
	if (i < 0)
		return err_set(e, EINVAL, "invalid value for bind-recursive: %s (must be \"enabled\", \"disabled\", \"writable\", or \"readonly\")",
			       value);
	p->m.non_recursive = i == 1;
	p->m.readonly_non_recursive = i == 2;
	p->m.readonly_force_recursive = i == 3;
	return 0;
}

static int set_no_copy(struct mount_parse *p, const char *key, char *value, struct err *e)
{
	return to_bool(key, value, &p->m.no_copy, e);
}

static int set_subpath(struct mount_parse *p, const char *key, char *value, struct err *e)
{
	(void)key, (void)e;
	p->m.subpath = value;
	return 0;
}

static int set_driver(struct mount_parse *p, const char *key, char *value, struct err *e)
{
	(void)key, (void)e;
	p->m.driver = value;
	return 0;
}

static void put_pair(struct arena *a, struct str_map *map, const char *text)
{
	size_t n = strcspn(text, "=");

	dk_map_add(a, map, arena_strndup(a, text, n), arena_strdup(a, text[n] ? text + n + 1 : ""), true);
}

static int set_label(struct mount_parse *p, const char *key, char *value, struct err *e)
{
	(void)key, (void)e;
	put_pair(p->a, &p->m.labels, value);
	return 0;
}

static int set_volume_opt(struct mount_parse *p, const char *key, char *value, struct err *e)
{
	(void)key, (void)e;
	put_pair(p->a, &p->m.driver_options, value);
	return 0;
}

static int set_tmpfs_size(struct mount_parse *p, const char *key, char *value, struct err *e)
{
	struct err why = {0};

	return dk_parse_bytes(value, &p->m.tmpfs_size, &why) < 0 ? bad_value(key, value, e) : 0;
}

static int set_tmpfs_mode(struct mount_parse *p, const char *key, char *value, struct err *e)
{
	char *end;
	unsigned long mode;

	if (!*value || strspn(value, "01234567") != strlen(value) || strlen(value) > 10)
		return bad_value(key, value, e);
	mode = strtoul(value, &end, 8);
	if (mode > UINT32_MAX)
		return bad_value(key, value, e);
	p->m.tmpfs_mode = (uint32_t)mode;
	return 0;
}

enum option_of { ANY, BIND, VOLUME, TMPFS };

static const struct mount_key {
	const char *name;
	set_key *set;
	enum option_of of;
	bool bare; /* may stand without a value, for true */
} keys[] = {
	{"type", set_type, ANY, false},
	{"source", set_source, ANY, false},
	{"src", set_source, ANY, false},
	{"target", set_target, ANY, false},
	{"dst", set_target, ANY, false},
	{"destination", set_target, ANY, false},
	{"readonly", set_readonly, ANY, true},
	{"ro", set_readonly, ANY, true},
	{"consistency", set_consistency, ANY, false},
	{"bind-propagation", set_propagation, BIND, false},
	{"bind-nonrecursive", set_non_recursive, BIND, true},
	{"bind-recursive", set_recursive, BIND, false},
	{"volume-nocopy", set_no_copy, VOLUME, true},
	{"volume-label", set_label, VOLUME, false},
	{"volume-driver", set_driver, VOLUME, false},
	{"volume-opt", set_volume_opt, VOLUME, false},
	{"volume-subpath", set_subpath, VOLUME, false},
	{"tmpfs-size", set_tmpfs_size, TMPFS, false},
	{"tmpfs-mode", set_tmpfs_mode, TMPFS, false},
};

static int set_field(struct mount_parse *p, char *field, struct err *e)
{
	size_t n = strcspn(field, "=");
	char *key = dk_lower(p->a, arena_strndup(p->a, field, n));
	const struct mount_key *k = NULL;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (str_eq(keys[i].name, key))
			k = &keys[i];
	if (!field[n] && (!k || !k->bare))
		return err_set(e, EINVAL, "invalid field '%s' must be a key=value pair", field);
	if (!k)
		return err_set(e, EINVAL, "unexpected key '%s' in '%s'", key, field);
	p->bind_option |= k->of == BIND;
	p->volume_option |= k->of == VOLUME;
	p->tmpfs_option |= k->of == TMPFS;
	return k->set(p, key, field[n] ? field + n + 1 : arena_strdup(p->a, "true"), e);
}

static int cannot_mix(const char *options, const char *type, struct err *e)
{
	return err_set(e, EINVAL, "cannot mix '%s-*' options with mount type '%s'", options, type);
}

static int needs(const char *option, const char *other, struct err *e)
{
	return err_set(e, EINVAL, "option 'bind-recursive=%s' requires '%s' to be specified in conjunction",
		       option, other);
}

/* Whether all fields together make sense. */
static int check_fields(struct mount_parse *p, struct err *e)
{
	struct dk_mount *m = &p->m;

	if (!*m->type_name)
		return err_set(e, EINVAL, "type is required");
	if (!m->target || !*m->target)
		return err_set(e, EINVAL, "target is required");
	if (p->volume_option && !str_eq(m->type_name, "volume"))
		return cannot_mix("volume", m->type_name, e);
	if (p->bind_option && !str_eq(m->type_name, "bind"))
		return cannot_mix("bind", m->type_name, e);
	if (p->tmpfs_option && !str_eq(m->type_name, "tmpfs"))
		return cannot_mix("tmpfs", m->type_name, e);
	if (m->readonly_non_recursive && !m->readonly)
		return needs("writable", "readonly", e);
	if (m->readonly_force_recursive && !m->readonly)
		return needs("readonly", "readonly", e);
	if (m->readonly_force_recursive && !str_eq(m->propagation, "rprivate"))
		return needs("readonly", "bind-propagation=rprivate", e);
	return 0;
}

int dk_flag_mount(const struct dk_value_slot *slot, const char *text, struct err *e)
{
	static const char *const types[] = {"bind", "volume", "tmpfs", NULL};
	struct mount_parse p = {.a = slot->c->arena, .m.origin = DK_FROM_MOUNT_FLAG,
				.m.type_name = (char *)"volume", .m.mode = (char *)""};
	struct { struct dk_mount *v; size_t n; } *list = slot->out;
	struct strv fields = {0};
	int type;

	if (!*text)
		return err_set(e, EINVAL, "EOF");
	if (dk_split_csv(p.a, text, &fields, e) < 0)
		return -e->code;
	for (size_t i = 0; i < fields.n; i++)
		if (set_field(&p, fields.v[i], e) < 0)
			return -e->code;
	if (check_fields(&p, e) < 0)
		return -e->code;
	type = str_index(types, p.m.type_name);
	p.m.unknown_type = type < 0;
	p.m.type = type < 0 ? DK_MOUNT_BIND : (enum dk_mount_type)type;
	*dk_list_add(p.a, list) = p.m;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * -v, and what the engine makes of -v, --mount and --tmpfs: one list of mounts in the order of the
 * flags, or its errors. Two levels as in Docker: the client only tells binds from anonymous volumes
 * and makes paths absolute, the engine knows modes and targets.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "docker/lists.h"
#include "docker/parts.h"
#include "docker/tmpfs-options.h"

/* ---- the client's part ---- */

/*
 * The source of a specification in *source, NULL when it names a target only. A letter and a colon
 * at the start of a part is a Windows drive for Docker's client, so it does not end the part.
 */
static int client_parts(struct dk_context *c, const char *spec, char **source, struct err *e)
{
	size_t begin = 0, parts = 0, n = strlen(spec);

	*source = NULL;
	if (n <= 2)
		return n ? 0 : dk_error(c, e, EINVAL, "invalid empty volume spec");
	for (size_t i = 0; i <= n; i++) {
		if (spec[i] && spec[i] != ':')
			continue;
		if (spec[i] == ':' && i == begin + 1 && isalpha((unsigned char)spec[begin]))
			continue;
		if (i == begin)
			return dk_error(c, e, EINVAL, "invalid spec: %s: empty section between colons", spec);
		if (parts == 2 && spec[i])
			return dk_error(c, e, EINVAL, "invalid spec: %s: too many colons", spec);
		if (parts == 0 && spec[i])
			*source = arena_strndup(c->arena, spec, i);
		parts++;
		begin = i + 1;
	}
	return 0;
}

int dk_check_volumes(struct dk_context *c, struct dk_run_options *o, struct err *e)
{
	struct arena *a = c->arena;

	for (size_t i = 0; i < o->volume_flags.n; i++) {
		char *spec = o->volume_flags.v[i], *source;

		if (client_parts(c, spec, &source, e) < 0)
			return -e->code;
		if (!source) {
			if (!dk_strv_has(&o->anonymous, spec))
				dk_strv_add(a, &o->anonymous, spec);
			continue;
		}
		if (source[0] == '.') {
			char *path = dk_absolute(a, arena_strndup(a, spec, strcspn(spec, ":")), e);

			if (!path)
				return -e->code;
			spec = arena_printf(a, "%s%s", path, spec + strcspn(spec, ":"));
		}
		if (!dk_strv_has(&o->binds, spec))
			dk_strv_add(a, &o->binds, spec);
	}
	return 0;
}

/* ---- the engine's part ---- */

static const char *const propagations[] = {"private", "rprivate", "slave", "rslave", "shared", "rshared", NULL};

/* What a word of a mode is; each kind may come once. */
enum mode_kind { MODE_ACCESS, MODE_LABEL, MODE_PROPAGATION, MODE_COPY, MODE_CONSISTENCY, MODE_KINDS };

static int mode_kind(const char *word)
{
	static const struct { const char *word; enum mode_kind kind; } words[] = {
		{"rw", MODE_ACCESS}, {"ro", MODE_ACCESS}, {"z", MODE_LABEL}, {"Z", MODE_LABEL},
		{"nocopy", MODE_COPY}, {"consistent", MODE_CONSISTENCY}, {"cached", MODE_CONSISTENCY},
		{"delegated", MODE_CONSISTENCY}, {"default", MODE_CONSISTENCY},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (str_eq(words[i].word, word))
			return words[i].kind;
	return str_index(propagations, word) >= 0 ? MODE_PROPAGATION : -1;
}

/* Takes the mode over into m (which may be NULL); false when it is none. */
static bool read_mode(struct arena *a, const char *mode, struct dk_mount *m)
{
	bool seen[MODE_KINDS] = {false};

	for (const char *s = mode; *mode; s++) {
		size_t n = strcspn(s, ",");
		char *word = arena_strndup(a, s, n);
		int kind = mode_kind(word);

		if (kind < 0 || seen[kind])
			return false;
		seen[kind] = true;
		if (m && kind == MODE_ACCESS)
			m->readonly = str_eq(word, "ro");
		else if (m && kind == MODE_PROPAGATION)
			m->propagation = word;
		else if (m && kind == MODE_COPY)
			m->no_copy = true;
		else if (m && kind == MODE_CONSISTENCY)
			m->consistency = word;
		s += n;
		if (!*s)
			break;
	}
	return true;
}

/* Why the target is none; NULL: it is one. */
static char *bad_target(struct arena *a, const char *target)
{
	if (!target || !*target)
		return arena_strdup(a, "field Target must not be empty");
	if (str_eq(dk_clean_path(a, target), "/"))
		return arena_strdup(a, "invalid specification: destination can't be '/'");
	if (target[0] != '/')
		return arena_printf(a, "invalid mount path: '%s' mount path must be absolute", target);
	return NULL;
}

/* Why the mount cannot be; NULL: it can. */
static char *bad_mount(struct arena *a, const struct dk_mount *m)
{
	char *why = bad_target(a, m->target);

	if (why || m->unknown_type)
		return why ? why : arena_strdup(a, "mount type unknown");
	switch (m->type) {
	case DK_MOUNT_BIND:
		if (!m->source || !*m->source)
			return arena_strdup(a, "field Source must not be empty");
		if (m->propagation && str_index(propagations, m->propagation) < 0)
			return arena_printf(a, "invalid propagation mode: %s", m->propagation);
		if (m->source[0] != '/')
			return arena_printf(a, "invalid mount path: '%s' mount path must be absolute", m->source);
		return NULL;
	case DK_MOUNT_VOLUME:
		if ((!m->source || !*m->source) && m->readonly)
			return arena_strdup(a, "must not set ReadOnly mode when using anonymous volumes");
		return NULL;
	case DK_MOUNT_TMPFS:
		break;
	}
	return m->source && *m->source ? arena_strdup(a, "field Source must not be specified") : NULL;
}

/* What volumes may be called; paths are a frequent mistake. */
static int check_volume_name(struct dk_context *c, const char *name, struct err *e)
{
	static const char rest[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

	if (strlen(name) == 1)
		return dk_daemon_error(c, e, EINVAL, "create %s: volume name is too short, names should be at least two "
				       "alphanumeric characters", name);
	if (!isalnum((unsigned char)name[0]) || name[strspn(name, rest)])
		return dk_daemon_error(c, e, EINVAL, "create %s: %s includes invalid characters for a local volume name, only "
				       "\"[a-zA-Z0-9][a-zA-Z0-9_.-]\" are allowed. If you intended to pass a host directory, "
				       "use absolute path", name, dk_quoted(c->arena, name));
	return 0;
}

static int bad_spec(struct dk_context *c, const char *spec, struct err *e)
{
	return dk_daemon_error(c, e, EINVAL, "invalid volume specification: '%s'", spec);
}

/* A bind of HostConfig.Binds, or an anonymous volume. */
static int read_bind(struct dk_context *c, const char *spec, struct dk_mount *m, struct err *e)
{
	struct arena *a = c->arena;
	char *part[3] = {NULL}, *why;
	size_t n = 0;

	for (const char *s = spec; n < 4; s++) {
		size_t len = strcspn(s, ":");

		if (n == 3)
			return bad_spec(c, spec, e);
		part[n++] = arena_strndup(a, s, len);
		s += len;
		if (!*s)
			break;
	}
	if (!*part[0] || (n == 2 && read_mode(a, part[1], NULL)))
		return bad_spec(c, spec, e);
	m->mode = n == 3 ? part[2] : (char *)"";
	if (!read_mode(a, m->mode, m))
		return dk_daemon_error(c, e, EINVAL, "invalid mode: %s", m->mode);
	m->source = n > 1 ? part[0] : NULL;
	m->target = n > 1 ? part[1] : part[0];
	m->type = m->source && m->source[0] == '/' ? DK_MOUNT_BIND : DK_MOUNT_VOLUME;
	m->type_name = (char *)(m->type == DK_MOUNT_BIND ? "bind" : "volume");
	m->origin = DK_FROM_VOLUME_FLAG;
	m->create_source = m->type == DK_MOUNT_BIND;
	why = bad_mount(a, m);
	if (why)
		return dk_daemon_error(c, e, EINVAL, "invalid volume specification: '%s': invalid mount config for type \"%s\": %s",
				       spec, m->type_name, why);
	return 0;
}

static int add_mount(struct dk_context *c, struct dk_run_options *o, struct dk_mount m, struct err *e)
{
	m.target = dk_clean_path(c->arena, m.target);
	if (m.type == DK_MOUNT_BIND)
		m.source = dk_clean_path(c->arena, m.source);
	if (m.type == DK_MOUNT_VOLUME && m.source && *m.source && check_volume_name(c, m.source, e) < 0)
		return -e->code;
	if (m.type == DK_MOUNT_VOLUME && m.source && !*m.source)
		m.source = NULL;
	for (size_t i = 0; i < o->mounts.n; i++)
		if (str_eq(o->mounts.v[i].target, m.target))
			return dk_daemon_error(c, e, EINVAL, "Duplicate mount point: %s", m.target);
	*dk_list_add(c->arena, &o->mounts) = m;
	return 0;
}

static int add_specs(struct dk_context *c, struct dk_run_options *o, const struct strv *specs, struct err *e)
{
	for (size_t i = 0; i < specs->n; i++) {
		struct dk_mount m = {0};

		if (read_bind(c, specs->v[i], &m, e) < 0)
			return -e->code;
		if (m.type == DK_MOUNT_VOLUME && o->volume_driver)
			m.driver = o->volume_driver;
		/* An anonymous volume gives way to what else is mounted there. */
		if (specs == &o->anonymous) {
			bool there = false;

			for (size_t j = 0; j < o->mounts.n; j++)
				there |= str_eq(o->mounts.v[j].target, dk_clean_path(c->arena, m.target));
			if (there)
				continue;
		}
		if (add_mount(c, o, m, e) < 0)
			return -e->code;
	}
	return 0;
}

static int add_tmpfs(struct dk_context *c, struct dk_run_options *o, const struct str_pair *p, struct err *e)
{
	struct dk_mount m = {.type = DK_MOUNT_TMPFS, .origin = DK_FROM_TMPFS_FLAG, .type_name = (char *)"tmpfs",
			     .target = p->key, .mode = (char *)"", .tmpfs_options = p->value};
	char *why = bad_target(c->arena, p->key);

	if (why)
		return dk_daemon_error(c, e, EINVAL, "%s", why);
	why = dk_bad_tmpfs_option(c->arena, p->value);
	if (why)
		return dk_daemon_error(c, e, EINVAL, "%s", why);
	return add_mount(c, o, m, e);
}

int dk_resolve_mounts(struct dk_context *c, struct dk_run_options *o, struct err *e)
{
	o->mounts.n = 0;
	o->mounts.v = NULL;
	for (size_t i = 0; i < o->tmpfs.n; i++)
		if (add_tmpfs(c, o, &o->tmpfs.v[i], e) < 0)
			return -e->code;
	if (add_specs(c, o, &o->binds, e) < 0)
		return -e->code;
	for (size_t i = 0; i < o->mount_specs.n; i++) {
		struct dk_mount m = o->mount_specs.v[i];
		char *why = bad_mount(c->arena, &m);

		if (why)
			return dk_daemon_error(c, e, EINVAL, "invalid mount config for type %s: %s",
					       dk_quoted(c->arena, m.type_name), why);
		if (add_mount(c, o, m, e) < 0)
			return -e->code;
	}
	return add_specs(c, o, &o->anonymous, e);
}

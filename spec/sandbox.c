/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a sandbox spec with the field tables of config.json, except that next to nothing is
 * required, and a walk over the document that refuses what the tables do not know.
 */
#include "spec/sandbox.h"

#include <errno.h>
#include <string.h>

#include "base/sha256.h"
#include "base/str.h"
#include "spec/sandbox-internal.h"
#include "spec/spec.h"

enum { DEFAULT_UID = 1000, DEFAULT_GID = 1000 };

/* ---- unknown keys ---- */

struct path {
	const struct path *up;
	const char *key;
};

static void put_path(struct strbuf *b, const struct path *p)
{
	if (!p)
		return;
	put_path(b, p->up);
	strbuf_printf(b, "%s%s", b->len ? "." : "", p->key);
}

static int unknown(const struct path *p, struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	char clean[200];

	put_path(&b, p);
	str_escape(clean, sizeof(clean), b.p);
	if (str_eq(clean, "hooks"))
		return err_set(e, EINVAL, "hooks: a sandbox has none, they would run on the host");
	return err_set(e, EINVAL, "%s: a sandbox spec has no such member", clean);
}

static const struct json_field *find_field(const struct json_table *t, const char *key)
{
	for (size_t i = 0; i < t->n; i++)
		if (str_eq(t->fields[i].key, key))
			return &t->fields[i];
	return NULL;
}

static int check_object(const struct json *v, const struct json_table *t, const struct path *up,
			struct err *e);

/* Elements of arrays have no place of their own in the message, members of keyed objects have. */
static int check_member(const struct json *v, const struct json_field *f, const struct path *p,
			struct err *e)
{
	int r = 0;

	if (!f->sub)
		return 0;
	if (f->kind == JSON_KIND_OBJECT || f->kind == JSON_KIND_INLINE)
		return check_object(v, f->sub, p, e);
	if (v->type != JSON_ARRAY && v->type != JSON_OBJECT)
		return 0;
	for (size_t i = 0; r == 0 && i < v->n; i++) {
		struct path item = {p, v->items[i].key};

		r = check_object(&v->items[i], f->sub, item.key ? &item : p, e);
	}
	return r;
}

/* Depth is bounded by the tables. What is no object is left to the reader, which names the type. */
static int check_object(const struct json *v, const struct json_table *t, const struct path *up,
			struct err *e)
{
	if (v->type != JSON_OBJECT)
		return 0;
	for (size_t i = 0; i < v->n; i++) {
		const struct json_field *f = find_field(t, v->items[i].key);
		struct path p = {up, v->items[i].key};
		int r;

		if (!up && (str_eq(p.key, "$schema") || str_eq(p.key, "$comment")))
			continue; /* for editors */
		if (!f || (!up && str_eq(p.key, "hooks")))
			return unknown(&p, e);
		r = check_member(&v->items[i], f, &p, e);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- reading ---- */

/* The members that are read as they are; process and root go over what sandbox_empty put there. */
static const struct json_field top_fields[] = {
	JSON_FIELD(struct oci_spec, oci_version, "ociVersion"),
	JSON_FIELD(struct oci_spec, hostname, "hostname"),
	JSON_FIELD(struct oci_spec, domainname, "domainname"),
	JSON_FIELD(struct oci_spec, mounts, "mounts", .sub = &oci_mount_table),
	JSON_FIELD(struct oci_spec, annotations, "annotations"),
	JSON_FIELD(struct oci_spec, linux_, "linux", .sub = &oci_linux_table),
};
static const struct json_table top_table = JSON_TABLE(struct oci_spec, top_fields);

void sandbox_empty(struct arena *a, struct sandbox *ret)
{
	struct oci_spec *s = arena_new_of(a, struct oci_spec);

	s->process = arena_new_of(a, struct oci_process);
	s->process->user = (struct oci_user){.uid = DEFAULT_UID, .gid = DEFAULT_GID};
	s->root = arena_new_of(a, struct oci_root);
	s->linux_ = arena_new_of(a, struct oci_linux);
	*ret = (struct sandbox){.spec = s};
}

/* Reads a member, which may be NULL, by a copy of t in which nothing is required. */
static int read_relaxed(const struct json *member, const struct json_table *t, void *out,
			struct arena *a, struct err *e)
{
	struct json_field *f;
	struct json_table copy = *t;

	if (!member || member->type == JSON_NULL)
		return 0;
	f = arena_array(a, t->n, sizeof(*f));
	memcpy(f, t->fields, t->n * sizeof(*f));
	for (size_t i = 0; i < t->n; i++)
		f[i].required = false;
	copy.fields = f;
	return json_read_struct(&(struct json_reader){a, member->key, e}, member, &copy, out);
}

static int read_document(const struct json *v, struct arena *a, struct oci_spec *s, struct err *e)
{
	int r = json_read_struct(&(struct json_reader){a, "", e}, v, &top_table, s);

	if (r == 0)
		r = read_relaxed(json_get(v, "process"), &oci_process_table, s->process, a, e);
	if (r == 0)
		r = read_relaxed(json_get(v, "root"), &oci_root_table, s->root, a, e);
	return r;
}

static int read_settings(const struct oci_spec *s, struct arena *a, struct sandbox_options *o,
			 struct err *e)
{
	for (size_t i = 0; i < s->annotations.n; i++) {
		int r;

		if (!str_starts(s->annotations.v[i].key, SANDBOX_ANNOTATION))
			continue;
		r = sandbox_set_annotation(o, a, &s->annotations.v[i], e);
		if (r < 0)
			return r;
	}
	return 0;
}

/* One value, one place: which of two would win is nothing a reader should have to know. */
static int check_given_once(const struct oci_spec *s, const struct sandbox_options *o, struct err *e)
{
	const struct oci_resources *res = s->linux_->resources;
	const struct { bool setting, member; const char *name, *path; } pairs[] = {
		{o->memory.set, res && res->memory && (res->memory->limit.set || res->memory->swap.set),
		 "memory", "linux.resources.memory"},
		{o->cpu_quota.set, res && res->cpu && (res->cpu->quota.set || res->cpu->period.set),
		 "cpus", "linux.resources.cpu"},
		{o->pids.set, res && res->pids && res->pids->limit.set, "pids", "linux.resources.pids"},
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (pairs[i].setting && pairs[i].member)
			return err_set(e, EINVAL, "annotations.%s%s: %s has the limit, too; give one of "
						  "them", SANDBOX_ANNOTATION, pairs[i].name, pairs[i].path);
	return 0;
}

int sandbox_parse(const char *text, size_t len, struct arena *a, struct sandbox *ret,
		  struct err *e)
{
	const struct json *v = NULL, *l;
	struct sandbox sb;
	int r = json_parse(text, len, a, &v, e);

	if (r < 0)
		return r;
	if (v->type != JSON_OBJECT)
		return err_set(e, EINVAL, "the document is %s, not an object", json_type_name(v));
	sandbox_empty(a, &sb);
	r = check_object(v, &oci_spec_table, NULL, e);
	if (r == 0)
		r = read_document(v, a, sb.spec, e);
	if (r == 0)
		r = read_settings(sb.spec, a, &sb.options, e);
	if (r == 0)
		r = check_given_once(sb.spec, &sb.options, e);
	if (r < 0)
		return r;
	l = json_get(v, "linux");
	sb.options.given_masked = json_get(l, "maskedPaths") != NULL;
	sb.options.given_readonly = json_get(l, "readonlyPaths") != NULL;
	*ret = sb;
	return 0;
}

/* ---- the key ---- */

static void put_option(struct strbuf *b, const struct sandbox_setting *s, const void *member)
{
	strbuf_printf(b, "\n%s=", s->name);
	switch (s->kind) {
	case SANDBOX_BOOL:
		strbuf_printf(b, "%d", ((const struct opt_bool *)member)->v);
		break;
	case SANDBOX_CHOICE:
		strbuf_printf(b, "%u", ((const struct opt_u32 *)member)->v);
		break;
	case SANDBOX_PORTS:
		strbuf_adds(b, *(char *const *)member ? *(char *const *)member : "none");
		break;
	default:
		strbuf_printf(b, "%llu",
			      (unsigned long long)((const struct opt_u64 *)member)->v);
	}
}

char *sandbox_cache_key(struct arena *a, const struct sandbox *sb)
{
	const struct sandbox_options *o = &sb->options;
	struct oci_process process = *sb->spec->process;
	struct oci_spec copy = *sb->spec;
	auto_strbuf struct strbuf b = {0};
	char hex[SHA256_HEX + 1];
	struct json_writer w;

	copy.process = &process;
	process.args = (struct strv){0};
	copy.annotations = (struct str_map){0}; /* what counts of them is in the options */
	strbuf_adds(&b, "sandbox-env 1\n");
	json_writer_init(&w, &b, false);
	spec_write(&w, &copy);
	for (size_t i = 0; i < sandbox_n_settings; i++)
		if (!sandbox_settings[i].in_spec && sandbox_settings[i].kind != SANDBOX_TEXT)
			put_option(&b, &sandbox_settings[i],
				   (const char *)o + sandbox_settings[i].offset);
	for (size_t i = 0; i < o->secrets.n; i++)
		strbuf_printf(&b, "\nsecret=%s", o->secrets.v[i]);
	sha256_hex(b.p, b.len, hex);
	return arena_printf(a, "sandbox-env:%s", hex);
}

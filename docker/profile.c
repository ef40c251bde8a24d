/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A seccomp profile in Docker's form: the OCI one, plus rules for certain capabilities, architectures
 * and kernels. What it comes to for this container is the OCI form, which is checked like a config.json's.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/str.h"
#include "docker/container-spec.h"
#include "json/json.h"
#include "json/writer.h"
#include "spec/spec.h"

#if defined(__x86_64__)
#define NATIVE "SCMP_ARCH_X86_64"
#define GO_ARCH "amd64"
#elif defined(__aarch64__)
#define NATIVE "SCMP_ARCH_AARCH64"
#define GO_ARCH "arm64"
#endif

struct profile {
	const struct strv *caps;
	struct json_writer *w;
};

static bool names_one(const struct json *list, const char *word)
{
	for (uint32_t i = 0; list && list->type == JSON_ARRAY && i < list->n; i++)
		if (list->items[i].type == JSON_STRING && str_eq(list->items[i].text, word))
			return true;
	return false;
}

static bool has_cap(const struct strv *caps, const char *name)
{
	for (size_t i = 0; i < caps->n; i++)
		if (str_eq(caps->v[i], name))
			return true;
	return false;
}

static bool kernel_is_at_least(const char *version)
{
	unsigned want_major = 0, want_minor = 0, major = 0, minor = 0;
	struct utsname u;

	if (sscanf(version, "%u.%u", &want_major, &want_minor) < 1 || uname(&u) < 0 ||
	    sscanf(u.release, "%u.%u", &major, &minor) < 2)
		return false;
	return major > want_major || (major == want_major && minor >= want_minor);
}

/* All that "includes" names must be so. */
static bool is_included(const struct profile *p, const struct json *in)
{
	const struct json *arches = json_get(in, "arches"), *caps = json_get(in, "caps");
	const char *kernel = json_get_str(in, "minKernel");

	if (arches && arches->n && !names_one(arches, GO_ARCH))
		return false;
	if (kernel && *kernel && !kernel_is_at_least(kernel))
		return false;
	for (uint32_t i = 0; caps && caps->type == JSON_ARRAY && i < caps->n; i++)
		if (caps->items[i].type != JSON_STRING || !has_cap(p->caps, caps->items[i].text))
			return false;
	return true;
}

/* One of what "excludes" names is enough. */
static bool is_excluded(const struct profile *p, const struct json *ex)
{
	const struct json *caps = json_get(ex, "caps");
	const char *kernel = json_get_str(ex, "minKernel");

	if (names_one(json_get(ex, "arches"), GO_ARCH))
		return true;
	if (kernel && *kernel && kernel_is_at_least(kernel))
		return true;
	for (uint32_t i = 0; caps && caps->type == JSON_ARRAY && i < caps->n; i++)
		if (caps->items[i].type == JSON_STRING && has_cap(p->caps, caps->items[i].text))
			return true;
	return false;
}

static void copy_member(struct json_writer *w, const struct json *from, const char *key)
{
	const struct json *v = json_get(from, key);

	if (!v || v->type == JSON_NULL)
		return;
	json_key(w, key);
	json_value(w, v);
}

static void write_rule(struct profile *p, const struct json *rule)
{
	const char *single = json_get_str(rule, "name");
	const struct json *args = json_get(rule, "args");

	if (!is_included(p, json_get(rule, "includes")) || is_excluded(p, json_get(rule, "excludes")))
		return;
	json_begin_object(p->w);
	if (single && *single) {
		json_key(p->w, "names");
		json_begin_array(p->w);
		json_str(p->w, single);
		json_end_array(p->w);
	} else {
		copy_member(p->w, rule, "names");
	}
	copy_member(p->w, rule, "action");
	copy_member(p->w, rule, "errnoRet");
	if (args && args->n)
		copy_member(p->w, rule, "args");
	json_end_object(p->w);
}

static void write_arches(struct json_writer *w, const struct json *doc)
{
	const struct json *map = json_get(doc, "archMap");

	copy_member(w, doc, "architectures");
	for (uint32_t i = 0; map && map->type == JSON_ARRAY && i < map->n; i++) {
		const struct json *sub = json_get(&map->items[i], "subArchitectures");

		if (!str_eq(json_get_str(&map->items[i], "architecture"), NATIVE) ||
		    json_get(doc, "architectures"))
			continue;
		json_key(w, "architectures");
		json_begin_array(w);
		json_str(w, NATIVE);
		for (uint32_t k = 0; sub && sub->type == JSON_ARRAY && k < sub->n; k++)
			json_value(w, &sub->items[k]);
		json_end_array(w);
	}
}

static void write_profile(struct profile *p, const struct json *doc)
{
	const struct json *rules = json_get(doc, "syscalls");

	json_begin_object(p->w);
	copy_member(p->w, doc, "defaultAction");
	copy_member(p->w, doc, "defaultErrnoRet");
	copy_member(p->w, doc, "flags");
	write_arches(p->w, doc);
	json_key(p->w, "syscalls");
	json_begin_array(p->w);
	for (uint32_t i = 0; rules && rules->type == JSON_ARRAY && i < rules->n; i++)
		write_rule(p, &rules->items[i]);
	json_end_array(p->w);
	json_end_object(p->w);
}

int dk_spec_seccomp(struct arena *a, const char *json, const struct strv *caps, struct oci_seccomp **ret,
		    struct err *e)
{
	auto_strbuf struct strbuf text = {0};
	const struct json *doc, *oci;
	struct json_writer w;
	struct profile p = {caps, &w};
	struct oci_seccomp *s = arena_new_of(a, struct oci_seccomp);
	int r = json_parse(json, strlen(json), a, &doc, e);

	if (r < 0)
		return r;
	json_writer_init(&w, &text, false);
	write_profile(&p, doc);
	r = json_parse(text.p, text.len, a, &oci, e);
	if (r == 0)
		r = json_read_struct(&(struct json_reader){a, "", e}, oci, &oci_seccomp_table, s);
	if (r == 0)
		*ret = s;
	return r;
}

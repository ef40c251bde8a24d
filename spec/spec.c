/* SPDX-License-Identifier: Apache-2.0 */
/* Text -> checked tree -> struct by the field tables -> validated. */
#include "spec/spec.h"

#include "base/str.h"
#include "spec/check.h"

/* Go writes an absent string as "" in hand-made structures; a namespace to make has no path. */
static void normalize(struct oci_spec *s)
{
	for (size_t i = 0; s->linux_ && i < s->linux_->namespaces.n; i++) {
		struct oci_namespace *n = &s->linux_->namespaces.v[i];

		if (n->path && !*n->path)
			n->path = NULL;
	}
}

int spec_parse(const char *text, size_t len, struct arena *a, struct oci_spec **ret, struct err *e)
{
	struct oci_spec *s = arena_new_of(a, struct oci_spec);
	const struct json *v = NULL;
	int r = json_parse(text, len, a, &v, e);

	if (r == 0)
		r = json_read_struct(&(struct json_reader){a, "", e}, v, &oci_spec_table, s);
	if (r < 0)
		return r;
	normalize(s);
	/* the schema leaves it open because of Hyper-V; the text says REQUIRED for Linux */
	if (!s->root)
		return check_fail(e, "root: is missing");
	r = spec_use_annotations(a, s, e);
	if (r < 0)
		return r;
	r = spec_validate(s, e);
	if (r < 0)
		return r;
	*ret = s;
	return 0;
}

int spec_parse_resources(const char *text, size_t len, struct arena *a, struct oci_resources **ret,
			 struct err *e)
{
	struct oci_resources *res = arena_new_of(a, struct oci_resources);
	const struct json *v = NULL;
	int r = json_parse(text, len, a, &v, e);

	if (r == 0)
		r = json_read_struct(&(struct json_reader){a, "linux.resources", e}, v,
				     &oci_resources_table, res);
	if (r == 0)
		r = spec_validate_resources(res, e);
	if (r < 0)
		return r;
	*ret = res;
	return 0;
}

int spec_parse_process(const char *text, size_t len, struct arena *a, struct oci_process **ret,
		       struct err *e)
{
	struct oci_process *p = arena_new_of(a, struct oci_process);
	const struct json *v = NULL;
	int r = json_parse(text, len, a, &v, e);

	if (r == 0)
		r = json_read_struct(&(struct json_reader){a, "process", e}, v, &oci_process_table,
				     p);
	if (r == 0)
		r = spec_validate_process(p, e);
	if (r < 0)
		return r;
	*ret = p;
	return 0;
}

void spec_write(struct json_writer *w, const struct oci_spec *s)
{
	json_write_struct(w, &oci_spec_table, s);
}

void spec_write_process(struct json_writer *w, const struct oci_process *p)
{
	json_write_struct(w, &oci_process_table, p);
}

void spec_write_resources(struct json_writer *w, const struct oci_resources *r)
{
	json_write_struct(w, &oci_resources_table, r);
}

const char *spec_annotation(const struct oci_spec *s, const char *key)
{
	for (size_t i = 0; i < s->annotations.n; i++)
		if (str_eq(s->annotations.v[i].key, key))
			return s->annotations.v[i].value;
	return NULL;
}

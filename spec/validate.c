/* SPDX-License-Identifier: Apache-2.0 */
/* What config.md says about the document that a type cannot express: versions, mounts, hooks. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "spec/check.h"
#include "spec/spec.h"

enum { MAX_HOSTNAME = 64 }; /* __NEW_UTS_LEN */

/* A number without leading zeros at *s, which moves behind it. */
static bool take_version_number(const char **s)
{
	size_t n = strspn(*s, "0123456789");

	if (n == 0 || (n > 1 && **s == '0'))
		return false;
	*s += n;
	return true;
}

/* "-rc.1" or "+build.5": the mark and at least one character of the allowed ones. */
static bool take_version_suffix(const char **s, char mark)
{
	static const char allowed[] = "0123456789abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ.-";
	size_t n;

	if (**s != mark)
		return true;
	n = strspn(*s + 1, allowed);
	*s += 1 + n;
	return n > 0;
}

static bool is_semver(const char *s)
{
	for (int i = 0; i < 3; i++) {
		if (i && *s++ != '.')
			return false;
		if (!take_version_number(&s))
			return false;
	}
	return take_version_suffix(&s, '-') && take_version_suffix(&s, '+') && !*s;
}

static int check_version(const char *v, struct err *e)
{
	if (!v)
		return check_fail(e, "ociVersion: is missing");
	if (!is_semver(v))
		return check_fail(e, "ociVersion: \"%.64s\" is not a version like " OCI_VERSION, v);
	if (!str_starts(v, "1."))
		return check_fail(e, "ociVersion: %.64s is not supported, only 1.x is", v);
	return 0;
}

static int check_names(const struct oci_spec *s, struct err *e)
{
	const struct {
		const char *key, *value;
	} names[] = {
		{"hostname", s->hostname},
		{"domainname", s->domainname},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!names[i].value || !*names[i].value)
			continue;
		if (strlen(names[i].value) > MAX_HOSTNAME)
			return check_fail(e, "%s: is longer than %d bytes", names[i].key,
					  MAX_HOSTNAME);
		if (!check_find_namespace(s->linux_, "uts"))
			return check_fail(
				e,
				"%s: would change the host's: linux.namespaces has no uts "
				"namespace",
				names[i].key);
	}
	return 0;
}

static bool is_bind(const struct oci_mount *m)
{
	for (size_t i = 0; i < m->options.n; i++)
		if (str_eq(m->options.v[i], "bind") || str_eq(m->options.v[i], "rbind"))
			return true;
	return str_eq(m->type, "bind");
}

static int check_mount(const struct oci_mount *m, size_t i, struct err *e)
{
	char path[64];
	int r;

	if (!m->destination || !*m->destination)
		return check_fail(e, "mounts[%zu].destination: is empty", i);
	if (is_bind(m) && (!m->source || !*m->source))
		return check_fail(e, "mounts[%zu].source: is missing, and a bind mount needs it",
				  i);
	if ((m->uid_mappings.n == 0) != (m->gid_mappings.n == 0))
		return check_fail(e,
				  "mounts[%zu]: uidMappings and gidMappings must be given together",
				  i);
	snprintf(path, sizeof(path), "mounts[%zu].uidMappings", i);
	r = check_id_mappings(path, &m->uid_mappings, e);
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "mounts[%zu].gidMappings", i);
	return check_id_mappings(path, &m->gid_mappings, e);
}

static int check_hook_list(const char *name, const struct oci_hook_list *list, struct err *e)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct oci_hook *h = &list->v[i];

		if (!check_is_absolute(h->path))
			return check_fail(e,
					  "hooks.%s[%zu].path: \"%.64s\" is not an absolute path",
					  name, i, h->path ? h->path : "");
		if (h->timeout.set && h->timeout.v <= 0)
			return check_fail(e, "hooks.%s[%zu].timeout: must be larger than 0", name,
					  i);
	}
	return 0;
}

static int check_hooks(const struct oci_hooks *h, struct err *e)
{
	const struct {
		const char *name;
		const struct oci_hook_list *list;
	} lists[] = {
		{"prestart", &h->prestart},
		{"createRuntime", &h->create_runtime},
		{"createContainer", &h->create_container},
		{"startContainer", &h->start_container},
		{"poststart", &h->poststart},
		{"poststop", &h->poststop},
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(lists) / sizeof(lists[0]); i++)
		r = check_hook_list(lists[i].name, lists[i].list, e);
	return r;
}

static int check_annotations(const struct str_map *m, struct err *e)
{
	for (size_t i = 0; i < m->n; i++)
		if (!*m->v[i].key)
			return check_fail(e, "annotations: a key is empty");
	return 0;
}

int spec_validate(const struct oci_spec *s, struct err *e)
{
	int r = check_version(s->oci_version, e);

	if (r == 0 && s->process)
		r = spec_validate_process(s->process, e);
	if (r == 0 && s->root && (!s->root->path || !*s->root->path))
		r = check_fail(e, "root.path: is empty");
	if (r == 0)
		r = check_names(s, e);
	for (size_t i = 0; r == 0 && i < s->mounts.n; i++)
		r = check_mount(&s->mounts.v[i], i, e);
	if (r == 0 && s->hooks)
		r = check_hooks(s->hooks, e);
	if (r == 0)
		r = check_annotations(&s->annotations, e);
	if (r == 0 && s->linux_)
		r = check_linux(s->linux_, e);
	return r;
}

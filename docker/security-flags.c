/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --security-opt: the client reads a seccomp profile and passes its text on, the engine knows the
 * names. Capabilities are the engine's business alone.
 */
#include <errno.h>
#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "docker/lists.h"
#include "docker/parts.h"
#include "json/json.h"
#include "security/security.h"

#define PROFILE_MAX JSON_MAX_BYTES

/* "KEY=VALUE", or with a colon as older clients wrote. The separator, NULL when there is none. */
static const char *separator(const char *opt)
{
	const char *eq = strchr(opt, '=');

	return eq || str_eq(opt, "no-new-privileges") ? eq : strchr(opt, ':');
}

/* Without white space between the tokens. */
static char *compact(struct arena *a, const char *text, size_t n)
{
	char *out = arena_alloc(a, n + 1), *p = out;
	bool string = false;

	for (size_t i = 0; i < n; i++) {
		if (string && text[i] == '\\' && i + 1 < n)
			*p++ = text[i++];
		else if (text[i] == '"')
			string = !string;
		else if (!string && strchr(" \t\r\n", text[i]))
			continue;
		*p++ = text[i];
	}
	return out;
}

/* Go's words for the two mistakes that a person makes: another kind of file, or half of one. */
static char *json_mistake(struct arena *a, const char *text, size_t n, const struct err *why)
{
	size_t blank = 0;

	while (blank < n && strchr(" \t\r\n", text[blank]))
		blank++;
	if (blank == n)
		return arena_strdup(a, "unexpected end of JSON input");
	if (!strchr("{[\"-0123456789tfn", text[blank]))
		return arena_printf(a, "invalid character '%c' looking for beginning of value", text[blank]);
	return arena_strdup(a, why->msg);
}

static char *read_profile(struct dk_context *c, const char *path, struct err *e)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	auto_arena struct arena *tree = arena_new();
	auto_strbuf struct strbuf text = {0};
	const struct json *j = NULL;
	struct err why = {0};
	struct stat st;

	if (fd < 0) {
		dk_error(c, e, errno, "opening seccomp profile (%s) failed: open %s: %s", path, path,
			 dk_errno_text(c->arena, errno));
		return NULL;
	}
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		dk_error(c, e, EISDIR, "opening seccomp profile (%s) failed: read %s: is a directory", path, path);
		return NULL;
	}
	if (io_read_fd(fd, PROFILE_MAX, &text, path, &why) < 0) {
		dk_error(c, e, why.code, "opening seccomp profile (%s) failed: %s", path, why.msg);
		return NULL;
	}
	if (json_parse(strbuf_str(&text), text.len, tree, &j, &why) < 0) {
		dk_error(c, e, EINVAL, "compacting json for seccomp profile (%s) failed: %s", path,
			 json_mistake(c->arena, strbuf_str(&text), text.len, &why));
		return NULL;
	}
	return compact(c->arena, text.p, text.len);
}

/* "net_admin", "CAP_NET_ADMIN", "ALL": the name with its prefix in capitals. */
static char *capability_name(struct arena *a, const char *text)
{
	char *name = arena_strdup(a, text);

	for (char *p = name; *p; p++)
		*p = (char)toupper((unsigned char)*p);
	if (str_eq(name, "ALL") || str_eq(name, "CAP_ALL"))
		return arena_strdup(a, "ALL");
	return str_starts(name, "CAP_") ? name : arena_printf(a, "CAP_%s", name);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Full names, sorted, each once. */
static struct strv capability_names(struct arena *a, const struct strv *given)
{
	struct strv names = {0};

	for (size_t i = 0; i < given->n; i++) {
		char *name = capability_name(a, given->v[i]);

		if (!dk_strv_has(&names, name))
			dk_strv_add(a, &names, name);
	}
	if (names.n)
		qsort(names.v, names.n, sizeof(char *), by_text);
	return names;
}

int dk_check_security(struct dk_context *c, struct dk_run_options *o, struct err *e)
{
	o->cap_add = capability_names(c->arena, &o->cap_add);
	o->cap_drop = capability_names(c->arena, &o->cap_drop);
	for (size_t i = 0; i < o->security_opt_flags.n; i++) {
		char *opt = o->security_opt_flags.v[i], *profile;
		const char *sep = separator(opt), *value = sep ? sep + 1 : "";
		size_t n = sep ? (size_t)(sep - opt) : strlen(opt);

		if (!*value && strncmp(opt, "no-new-privileges", n > 17 ? n : 17) != 0)
			return dk_error(c, e, EINVAL, "Invalid --security-opt: %s", dk_quoted(c->arena, opt));
		if (str_eq(opt, "systempaths=unconfined")) {
			o->systempaths_unconfined = true;
			continue;
		}
		if (n == 7 && memcmp(opt, "seccomp", 7) == 0 && !str_eq(value, "unconfined") &&
		    !str_eq(value, "builtin")) {
			profile = read_profile(c, value, e);
			if (!profile)
				return -e->code;
			opt = arena_printf(c->arena, "seccomp=%s", profile);
		}
		dk_strv_add(c->arena, &o->security_opt, opt);
	}
	return 0;
}

static int check_capabilities(struct dk_context *c, const struct strv *list, const char *flag, struct err *e)
{
	for (size_t i = 0; i < list->n; i++) {
		const char *name = list->v[i];

		if (!str_eq(name, "ALL") && sec_cap_number(name) < 0)
			return dk_daemon_error(c, e, EINVAL, "invalid %s: unknown capability: %s", flag,
					       dk_quoted(c->arena, name));
	}
	return 0;
}

int dk_resolve_security(struct dk_context *c, const struct dk_run_options *o, struct err *e)
{
	static const char *const keys[] = {"label", "apparmor", "seccomp", "no-new-privileges", NULL};
	static const char *const bools[] = {"true", "false", "1", "0", "t", "f", "T", "F", "TRUE", "FALSE",
					    "True", "False", NULL};

	if (check_capabilities(c, &o->cap_add, "CapAdd", e) < 0 ||
	    check_capabilities(c, &o->cap_drop, "CapDrop", e) < 0)
		return -e->code;
	for (size_t i = 0; i < o->security_opt.n; i++) {
		const char *opt = o->security_opt.v[i], *sep = separator(opt);
		char *key = arena_strndup(c->arena, opt, sep ? (size_t)(sep - opt) : strlen(opt));

		if (str_index(keys, key) < 0 ||
		    (str_eq(key, "no-new-privileges") && sep && str_index(bools, sep + 1) < 0))
			return dk_daemon_error(c, e, EINVAL, "invalid --security-opt 2: %s", dk_quoted(c->arena, opt));
	}
	return 0;
}

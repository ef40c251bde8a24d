/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grammar of references:
 *
 *   domain     component ("." component)* [":" digits]; component: alphanumeric, "-" inside
 *   path       component ("/" component)*; component: [a-z0-9]+ (("." | "_" | "__" | "-"+) [a-z0-9]+)*
 *   tag        [A-Za-z0-9_][A-Za-z0-9_.-]{0,127}
 *   digest     sha256:<64 hex>
 *
 * The first part of a name is a domain only when it cannot be a part of a path: it has a dot, a
 * colon or a capital letter, or is "localhost". Everything here is ASCII and no regular expression.
 */
#include "image/reference.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"

#define DEFAULT_DOMAIN "docker.io"
#define OFFICIAL "library/"
enum { NAME_MAX_LENGTH = 255, TAG_MAX_LENGTH = 128, HEX_DIGITS = 64 };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
	return (c >= 'a' && c <= 'z') || is_digit(c);
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool has_upper(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_upper(s[i]))
			return true;
	return false;
}

bool img_is_hex(const char *s, size_t n)
{
	if (strlen(s) != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!is_digit(s[i]) && !(s[i] >= 'a' && s[i] <= 'f'))
			return false;
	return true;
}

bool img_digest_valid(const char *s)
{
	return str_starts(s, "sha256:") && img_is_hex(s + 7, HEX_DIGITS);
}

/* The length of the separator of a path component at s, 0 when there is none. */
static size_t separator(const char *s)
{
	if (s[0] == '_')
		return s[1] == '_' ? 2 : 1;
	if (s[0] == '-')
		return strspn(s, "-");
	return s[0] == '.';
}

static bool valid_path(const char *s)
{
	for (;;) {
		size_t n = 0;

		while (is_lower(s[n]))
			n++;
		if (n == 0)
			return false;
		s += n;
		if (*s == '\0')
			return true;
		n = *s == '/' ? 1 : separator(s);
		if (n == 0)
			return false;
		s += n;
	}
}

static bool valid_domain(const char *s)
{
	for (;;) {
		size_t n = 0;

		while (is_lower(s[n]) || is_upper(s[n]) || (s[n] == '-' && n > 0))
			n++;
		if (n == 0 || s[n - 1] == '-')
			return false;
		s += n;
		if (*s != '.')
			break;
		s++;
	}
	if (*s == '\0')
		return true;
	return *s == ':' && s[1] && strspn(s + 1, "0123456789") == strlen(s + 1);
}

static bool valid_tag(const char *s)
{
	size_t n = 0;

	while (is_lower(s[n]) || is_upper(s[n]) || s[n] == '_' || (n > 0 && (s[n] == '.' || s[n] == '-')))
		n++;
	return n > 0 && n <= TAG_MAX_LENGTH && s[n] == '\0';
}

/* Cuts tag and digest off `name`. */
static void cut_suffixes(char *name, struct img_ref *ret)
{
	char *at = strchr(name, '@');
	char *colon;

	if (at) {
		*at = '\0';
		ret->digest = at + 1;
	}
	colon = strrchr(name, ':');
	if (colon && !strchr(colon, '/')) {
		*colon = '\0';
		ret->tag = colon + 1;
	}
}

static void split_domain(struct arena *a, char *name, struct img_ref *ret)
{
	char *slash = strchr(name, '/');
	size_t n = slash ? (size_t)(slash - name) : 0;

	ret->domain = DEFAULT_DOMAIN;
	ret->path = name;
	if (slash && (memchr(name, '.', n) || memchr(name, ':', n) || has_upper(name, n) ||
		      strncmp(name, "localhost/", n + 1) == 0)) {
		ret->domain = arena_strndup(a, name, n);
		ret->path = slash + 1;
	}
	if (str_eq(ret->domain, "index.docker.io"))
		ret->domain = DEFAULT_DOMAIN;
	if (str_eq(ret->domain, DEFAULT_DOMAIN) && !strchr(ret->path, '/'))
		ret->path = arena_printf(a, OFFICIAL "%s", ret->path);
}

int img_ref_parse(struct arena *a, const char *text, struct img_ref *ret, struct err *e)
{
	struct img_ref r = {0};
	size_t len = strlen(text);
	char shown[300];
	char *name;

	if (img_is_hex(text, HEX_DIGITS))
		return err_set(e, EINVAL,
			       "invalid repository name (%s), cannot specify 64-byte hexadecimal strings",
			       text);
	if (len > NAME_MAX_LENGTH + TAG_MAX_LENGTH + HEX_DIGITS + 16)
		return err_set(e, EINVAL, "invalid reference format");
	name = arena_strdup(a, text);
	if (has_upper(name, strcspn(name, "/:@")) && strchr(name, '/') == NULL)
		return err_set(e, EINVAL,
			       "invalid reference format: repository name (" OFFICIAL
			       "%.*s) must be lowercase",
			       (int)strcspn(name, ":@"), name);
	cut_suffixes(name, &r);
	split_domain(a, name, &r);
	if (has_upper(r.path, strlen(r.path)))
		return err_set(e, EINVAL,
			       "invalid reference format: repository name (%s) must be lowercase",
			       str_escape(shown, sizeof(shown), r.path));
	if (!valid_domain(r.domain) || !valid_path(r.path) || (r.tag && !valid_tag(r.tag)) ||
	    (r.digest && !img_digest_valid(r.digest)))
		return err_set(e, EINVAL, "invalid reference format");
	if (strlen(r.domain) + 1 + strlen(r.path) > NAME_MAX_LENGTH)
		return err_set(e, EINVAL, "repository name must not be more than %d characters",
			       NAME_MAX_LENGTH);
	*ret = r;
	return 0;
}

static char *with_suffix(struct arena *a, const char *name, const struct img_ref *r)
{
	if (r->digest)
		return arena_printf(a, "%s@%s", name, r->digest);
	return arena_printf(a, "%s:%s", name, r->tag ? r->tag : "latest");
}

char *img_ref_full(struct arena *a, const struct img_ref *r)
{
	return with_suffix(a, arena_printf(a, "%s/%s", r->domain, r->path), r);
}

char *img_ref_familiar_name(struct arena *a, const struct img_ref *r)
{
	if (!str_eq(r->domain, DEFAULT_DOMAIN))
		return arena_printf(a, "%s/%s", r->domain, r->path);
	if (str_starts(r->path, OFFICIAL) && !strchr(r->path + strlen(OFFICIAL), '/'))
		return arena_strdup(a, r->path + strlen(OFFICIAL));
	return arena_strdup(a, r->path);
}

char *img_ref_familiar(struct arena *a, const struct img_ref *r)
{
	return with_suffix(a, img_ref_familiar_name(a, r), r);
}

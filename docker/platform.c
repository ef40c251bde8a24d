/* SPDX-License-Identifier: Apache-2.0 */
/* The words are those of Go's GOOS and GOARCH, with a few aliases as containerd knows them. */
#include "docker/platform.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/str.h"

enum { PARTS = 3 };

static const char *architecture(const char *word)
{
	static const char *const aliases[][2] = {
		{"x86_64", "amd64"}, {"x86-64", "amd64"}, {"aarch64", "arm64"}, {"i386", "386"},
		{"i486", "386"}, {"i586", "386"}, {"i686", "386"}, {"armhf", "arm"}, {"armel", "arm"},
	};

	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (strcasecmp(word, aliases[i][0]) == 0)
			return aliases[i][1];
	return word;
}

static bool is_architecture(const char *word)
{
	static const char *const known[] = {"386", "amd64", "arm", "arm64", "loong64", "mips64le", "ppc64le",
					    "riscv64", "s390x", NULL};

	return str_index(known, architecture(word)) >= 0;
}

const char *dk_machine(void)
{
	static struct utsname u;

	return uname(&u) == 0 ? architecture(u.machine) : "amd64";
}

static bool is_word(const char *s, size_t n)
{
	return n && strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") >= n;
}

int dk_platform_parse(struct arena *a, const char *text, struct dk_platform *ret, struct err *e)
{
	const char *parts[PARTS] = {0}, *s = text;
	size_t n = 0, len;
	char shown[200];

	for (;; s += len + 1) {
		len = strcspn(s, "/");
		if (n == PARTS)
			return err_set(e, EINVAL, "error parsing specified platform: \"%s\": cannot parse platform "
				       "specifier: invalid argument", str_escape(shown, sizeof(shown), text));
		if (!is_word(s, len))
			return err_set(e, EINVAL, "error parsing specified platform: \"%s\" is an invalid component of "
				       "\"%s\": platform specifier component must match \"^[A-Za-z0-9_-]+$\": invalid "
				       "argument", len ? arena_strndup(a, s, len) : "",
				       str_escape(shown, sizeof(shown), text));
		parts[n++] = arena_strndup(a, s, len);
		if (!s[len])
			break;
	}
	*ret = (struct dk_platform){.os = parts[0], .variant = parts[2],
				    .architecture = parts[1] ? architecture(parts[1]) : NULL};
	if (n == 1 && is_architecture(parts[0]))
		*ret = (struct dk_platform){.os = "linux", .architecture = architecture(parts[0])};
	return 0;
}

bool dk_platform_is(const struct dk_platform *p, const char *os, const char *arch)
{
	return strcasecmp(p->os, os ? os : "linux") == 0 &&
	       (!p->architecture || strcasecmp(p->architecture, architecture(arch ? arch : dk_machine())) == 0);
}

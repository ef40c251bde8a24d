/* SPDX-License-Identifier: Apache-2.0 */
/* Values of flags that have a grammar of their own: hosts, DNS, environment, labels, limits. */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "docker/commands.h"
#include "docker/flag-tables.h"
#include "docker/lists.h"
#include "docker/parts.h"

bool dk_is_ip(const char *text)
{
	struct in6_addr addr;

	return inet_pton(AF_INET, text, &addr) == 1 || inet_pton(AF_INET6, text, &addr) == 1;
}

int dk_flag_add_host(const struct dk_value_slot *slot, const char *text, struct err *e)
{
	struct arena *a = slot->c->arena;
	struct { struct dk_extra_host *v; size_t n; } *list = slot->out;
	const char *sep = strchr(text, '=');
	char *name, *ip;
	size_t n;

	if (!sep)
		sep = strchr(text, ':');
	if (!sep || sep == text)
		return err_set(e, EINVAL, "bad format for add-host: %s", dk_quoted(a, text));
	name = arena_strndup(a, text, (size_t)(sep - text));
	ip = arena_strdup(a, sep + 1);
	n = strlen(ip);
	if (n > 2 && ip[0] == '[' && ip[n - 1] == ']')
		ip = arena_strndup(a, ip + 1, n - 2);
	if (!str_eq(ip, "host-gateway") && !dk_is_ip(ip))
		return err_set(e, EINVAL, "invalid IP address in add-host: %s", dk_quoted(a, ip));
	*dk_list_add(a, list) = (struct dk_extra_host){name, ip};
	return 0;
}

int dk_flag_attach(const struct dk_value_slot *slot, const char *text, struct err *e)
{
	static const char *const streams[] = {"stdin", "stdout", "stderr", NULL};
	char *lower = dk_lower(slot->c->arena, text);

	if (str_index(streams, lower) < 0)
		return err_set(e, EINVAL, "valid streams are STDIN, STDOUT and STDERR");
	dk_strv_add(slot->c->arena, slot->out, lower);
	return 0;
}

int dk_flag_dns(const struct dk_value_slot *slot, const char *text, struct err *e)
{
	char *ip = dk_trim(slot->c->arena, text);

	if (!dk_is_ip(ip))
		return err_set(e, EINVAL, "IP address is not correctly formatted: %s", text);
	dk_strv_add(slot->c->arena, slot->out, ip);
	return 0;
}

/* Labels of letters, digits and inner hyphens, with a letter somewhere; a dot may end it. */
static bool is_domain(const char *s)
{
	size_t n = strlen(s);
	bool letter = false;

	if (n && s[n - 1] == '.')
		n--;
	if (!n || n >= 255)
		return false;
	for (size_t i = 0; i < n; i++) {
		bool edge = i == 0 || i == n - 1 || s[i - 1] == '.' || s[i + 1] == '.';

		letter |= isalpha((unsigned char)s[i]) != 0;
		if (!isalnum((unsigned char)s[i]) && (edge || (s[i] != '-' && s[i] != '.')))
			return false;
	}
	return letter;
}

int dk_flag_dns_search(const struct dk_value_slot *slot, const char *text, struct err *e)
{
	char *domain = dk_trim(slot->c->arena, text);

	if (!str_eq(domain, ".") && !is_domain(domain))
		return err_set(e, EINVAL, "%s is not a valid domain", domain);
	dk_strv_add(slot->c->arena, slot->out, domain);
	return 0;
}

const char *dk_client_env(const struct dk_context *c, const char *name)
{
	size_t n = strlen(name);

	for (char **v = c->env; v && *v; v++)
		if (strncmp(*v, name, n) == 0 && (*v)[n] == '=')
			return *v + n + 1;
	return NULL;
}

int dk_flag_env(const struct dk_value_slot *slot, const char *text, struct err *e)
{
	struct arena *a = slot->c->arena;
	const char *value;

	if (!*text || *text == '=')
		return dk_error(slot->c, e, EINVAL, "invalid environment variable: %s", text);
	if (!strchr(text, '=') && (value = dk_client_env(slot->c, text)))
		dk_strv_add(a, slot->out, arena_printf(a, "%s=%s", text, value));
	else
		dk_strv_add(a, slot->out, arena_strdup(a, text));
	return 0;
}

int dk_flag_label(const struct dk_value_slot *slot, const char *text, struct err *e)
{
	size_t blank = strspn(text, " \t"), n = strcspn(text, "=");

	if (n <= blank)
		return dk_error(slot->c, e, EINVAL, "invalid label '%s': empty name", text);
	if (blank + strcspn(text + blank, " \t") < n)
		return dk_error(slot->c, e, EINVAL, "label '%.*s' contains whitespaces", (int)(n - blank), text + blank);
	dk_strv_add(slot->c->arena, slot->out, arena_strdup(slot->c->arena, text));
	return 0;
}

int dk_flag_link(const struct dk_value_slot *slot, const char *text, struct err *e)
{
	const char *colon = strchr(text, ':');

	if (!*text)
		return err_set(e, EINVAL, "empty string specified for links");
	if (colon && strchr(colon + 1, ':'))
		return err_set(e, EINVAL, "bad format for links: %s", text);
	dk_strv_add(slot->c->arena, slot->out, arena_strdup(slot->c->arena, text));
	return 0;
}

/* Those of the container's own namespaces. */
static bool sysctl_allowed(const char *name)
{
	static const char *const names[] = {"kernel.msgmax", "kernel.msgmnb", "kernel.msgmni", "kernel.sem",
					    "kernel.shmall", "kernel.shmmax", "kernel.shmmni",
					    "kernel.shm_rmid_forced", NULL};

	return str_index(names, name) >= 0 || str_starts(name, "net.") || str_starts(name, "fs.mqueue.");
}

int dk_flag_sysctl(const struct dk_value_slot *slot, const char *text, struct err *e)
{
	struct arena *a = slot->c->arena;
	const char *eq = strchr(text, '=');
	char *name = eq ? arena_strndup(a, text, (size_t)(eq - text)) : NULL;

	if (!name || !sysctl_allowed(name))
		return err_set(e, EINVAL, "sysctl '%s' is not allowed", text);
	dk_map_add(a, slot->out, name, arena_strdup(a, eq + 1), true);
	return 0;
}

int dk_flag_tmpfs(const struct dk_value_slot *slot, const char *text, struct err *e)
{
	struct arena *a = slot->c->arena;
	const char *colon = strchr(text, ':');

	(void)e;
	dk_map_add(a, slot->out, colon ? arena_strndup(a, text, (size_t)(colon - text)) : arena_strdup(a, text),
		   arena_strdup(a, colon ? colon + 1 : ""), true);
	return 0;
}

static int ulimit_number(const char *text, int64_t *ret, struct err *e)
{
	int r = str_i64(text + (text[0] == '+' && text[1] != '-'), ret);

	if (r < 0)
		return err_set(e, EINVAL, "strconv.ParseInt: parsing \"%s\": %s", text,
			       r == -ERANGE ? "value out of range" : "invalid syntax");
	return 0;
}

static int ulimit_values(struct arena *a, const char *text, struct dk_ulimit *u, struct err *e)
{
	const char *colon = strchr(text, ':');

	if (colon && strchr(colon + 1, ':'))
		return err_set(e, EINVAL, "too many limit value arguments - %s, can only have up to two, `soft[:hard]`", text);
	if (colon && ulimit_number(colon + 1, &u->hard, e) < 0)
		return -e->code;
	if (ulimit_number(colon ? arena_strndup(a, text, (size_t)(colon - text)) : text, &u->soft, e) < 0)
		return -e->code;
	if (!colon)
		u->hard = u->soft;
	if (u->hard == -1)
		return 0;
	if (u->soft == -1)
		return err_set(e, EINVAL, "ulimit soft limit must be less than or equal to hard limit: soft: -1 (unlimited), hard: %lld",
			       (long long)u->hard);
	if (u->soft > u->hard)
		return err_set(e, EINVAL, "ulimit soft limit must be less than or equal to hard limit: %lld > %lld",
			       (long long)u->soft, (long long)u->hard);
	return 0;
}

int dk_flag_ulimit(const struct dk_value_slot *slot, const char *text, struct err *e)
{
	static const char *const names[] = {"core", "cpu", "data", "fsize", "locks", "memlock", "msgqueue",
					    "nice", "nofile", "nproc", "rss", "rtprio", "rttime", "sigpending",
					    "stack", NULL};
	struct { struct dk_ulimit *v; size_t n; } *list = slot->out;
	struct arena *a = slot->c->arena;
	const char *eq = strchr(text, '=');
	struct dk_ulimit u = {0};
	size_t i = 0;

	if (!eq)
		return err_set(e, EINVAL, "invalid ulimit argument: %s", text);
	u.name = arena_strndup(a, text, (size_t)(eq - text));
	if (str_index(names, u.name) < 0)
		return err_set(e, EINVAL, "invalid ulimit type: %s", u.name);
	if (ulimit_values(a, eq + 1, &u, e) < 0)
		return -e->code;
	/* Kept sorted, the last of a name wins. */
	while (i < list->n && strcmp(list->v[i].name, u.name) < 0)
		i++;
	if (i == list->n || strcmp(list->v[i].name, u.name) != 0) {
		dk_list_add(a, list);
		memmove(&list->v[i + 1], &list->v[i], (list->n - 1 - i) * sizeof(u));
	}
	list->v[i] = u;
	return 0;
}

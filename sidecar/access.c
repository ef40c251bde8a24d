/* SPDX-License-Identifier: Apache-2.0 */
#include "sidecar/access.h"

#include <string.h>
#include <strings.h>
#include <time.h>

#include "sidecar/config.h"
#include "sidecar/secret.h"

/* The name without its port. */
static size_t host_name(const char *host)
{
	const char *bracket = host[0] == '[' ? strchr(host, ']') : NULL;

	return bracket ? (size_t)(bracket + 1 - host) : strcspn(host, ":");
}

static bool is_ours(const char *host)
{
	static const char *const local[] = {"localhost", "127.0.0.1", "[::1]"};
	size_t n = host_name(host);

	for (size_t i = 0; i < sizeof(local) / sizeof(local[0]); i++)
		if (strlen(local[i]) == n && strncasecmp(local[i], host, n) == 0)
			return true;
	for (size_t i = 0; i < config.hosts.n; i++)
		if (strlen(config.hosts.v[i]) == n && strncasecmp(config.hosts.v[i], host, n) == 0)
			return true;
	return false;
}

/* A page of ours is one from the same host and port. */
static bool origin_is_fine(const struct conn *c)
{
	const char *o = c->origin;

	if (!o)
		return true;
	for (size_t i = 0; i < config.origins.n; i++)
		if (str_eq(config.origins.v[i], o))
			return true;
	if (!c->host)
		return false;
	if (str_starts(o, "http://"))
		return strcasecmp(o + 7, c->host) == 0;
	return str_starts(o, "https://") && strcasecmp(o + 8, c->host) == 0;
}

const char *access_check(struct conn *c, int *ret_status)
{
	char subject[JWT_SUBJECT_MAX];
	const char *why;

	*ret_status = 403;
	if (!origin_is_fine(c))
		return "pages of that origin may not";
	if (!config.token_secret) {
		if (!c->local)
			return "without a token secret only this machine is served";
		return c->host && !is_ours(c->host) ? "Host is not a name of this service" : NULL;
	}
	*ret_status = 401;
	if (!c->token)
		return "a token is needed";
	why = jwt_check(c->token, config.token_secret, time(NULL), subject);
	if (!why)
		c->subject = arena_strdup(c->a, subject);
	return why;
}

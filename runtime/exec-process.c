/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ids are digits only and never names (CVE-2026-30892 class). --cap gives bounding, permitted and
 * effective, but never inheritable, and so not ambient either (CVE-2022-29162).
 */
#include "runtime/exec-process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/io.h"
#include "base/str.h"
#include "json/json.h"
#include "security/security.h"
#include "spec/spec.h"

#define INHERIT(member)                              \
	do {                                         \
		if (!p->member)                      \
			p->member = base->member;    \
	} while (0)

static void inherit(struct oci_process *p, const struct oci_process *base)
{
	INHERIT(capabilities);
	INHERIT(apparmor_profile);
	INHERIT(selinux_label);
	INHERIT(io_priority);
	INHERIT(scheduler);
	INHERIT(exec_cpu_affinity);
	if (!p->rlimits.n)
		p->rlimits = base->rlimits;
	if (!p->no_new_privileges.set)
		p->no_new_privileges = base->no_new_privileges;
	if (!p->oom_score_adj.set)
		p->oom_score_adj = base->oom_score_adj;
}

static int read_process(struct arena *a, const char *path, struct oci_process **ret, struct err *e)
{
	auto_strbuf struct strbuf text = {0};
	int r = io_read_file(AT_FDCWD, path, JSON_MAX_BYTES, &text, e);

	if (r == 0)
		r = spec_parse_process(strbuf_str(&text), text.len, a, ret, e);
	return r < 0 ? err_wrap(e, "--process %s", path) : 0;
}

static struct strv joined(struct arena *a, const struct strv *have, char *const *more, size_t n)
{
	struct strv s = {.v = arena_array(a, have->n + n + 1, sizeof(char *)), .n = have->n + n};

	if (have->n)
		memcpy(s.v, have->v, have->n * sizeof(char *));
	if (n)
		memcpy(s.v + have->n, more, n * sizeof(char *));
	return s;
}

static int parse_id(const char *option, const char *text, uint32_t *ret, struct err *e)
{
	uint64_t v;

	if (str_u64(text, INT_MAX, &v) < 0)
		return err_set(e, EINVAL, "%s: \"%s\" is not a numeric id", option, text);
	*ret = (uint32_t)v;
	return 0;
}

/* "UID" or "UID:GID". */
static int set_user(struct arena *a, struct oci_user *u, const char *text, struct err *e)
{
	const char *colon = strchr(text, ':');
	char *uid = arena_strndup(a, text, colon ? (size_t)(colon - text) : strlen(text));
	uint32_t new_uid = 0, new_gid = u->gid;
	int r = parse_id("--user", uid, &new_uid, e);

	if (r == 0 && colon)
		r = parse_id("--user", colon + 1, &new_gid, e);
	if (r < 0)
		return r;
	u->uid = new_uid;
	u->gid = new_gid;
	return 0;
}

static int add_gids(struct arena *a, struct oci_user *u, const struct cli_list *l, struct err *e)
{
	size_t have = u->additional_gids.n;
	struct u32v all = {.v = arena_array(a, have + l->n + 1, sizeof(uint32_t)), .n = have + l->n};

	if (have)
		memcpy(all.v, u->additional_gids.v, have * sizeof(uint32_t));
	for (size_t i = 0; i < l->n; i++)
		if (parse_id("--additional-gids", l->v[i], &all.v[have + i], e) < 0)
			return -e->code;
	u->additional_gids = all;
	return 0;
}

static int add_caps(struct arena *a, struct oci_process *p, const struct cli_list *l, struct err *e)
{
	struct oci_capabilities *c = arena_new_of(a, struct oci_capabilities);
	char **names = arena_array(a, l->n + 1, sizeof(char *));

	if (!l->n)
		return 0;
	for (size_t i = 0; i < l->n; i++) {
		names[i] = arena_printf(a, "%s%s", str_starts(l->v[i], "CAP_") ? "" : "CAP_", l->v[i]);
		if (sec_cap_number(names[i]) < 0)
			return err_set(e, EINVAL, "--cap: unknown capability %s", l->v[i]);
	}
	if (p->capabilities)
		*c = *p->capabilities;
	c->bounding = joined(a, &c->bounding, names, l->n);
	c->permitted = joined(a, &c->permitted, names, l->n);
	c->effective = joined(a, &c->effective, names, l->n);
	p->capabilities = c;
	return 0;
}

static int from_options(struct arena *a, const struct exec_request *q, struct oci_process *p,
			struct err *e)
{
	size_t n = 0;
	int r;

	while (q->args && q->args[n])
		n++;
	if (n == 0)
		return err_set(e, EINVAL, "process args cannot be empty: which command?");
	p->args = (struct strv){q->args, n};
	p->env = joined(a, &p->env, (char *const *)q->env.v, q->env.n);
	p->terminal = (struct opt_bool){true, q->tty};
	if (q->cwd)
		p->cwd = (char *)q->cwd;
	if (q->apparmor)
		p->apparmor_profile = (char *)q->apparmor;
	if (q->label)
		p->selinux_label = (char *)q->label;
	if (q->no_new_privs)
		p->no_new_privileges = (struct opt_bool){true, true};
	r = q->user ? set_user(a, &p->user, q->user, e) : 0;
	if (r == 0)
		r = add_gids(a, &p->user, &q->gids, e);
	return r < 0 ? r : add_caps(a, p, &q->caps, e);
}

int exec_make_process(struct arena *a, const struct exec_request *q, const struct oci_process *base,
		      struct oci_process **ret, struct err *e)
{
	struct oci_process *p = arena_new_of(a, struct oci_process);
	int r;

	if (q->process_file) {
		r = read_process(a, q->process_file, &p, e);
		if (r < 0)
			return r;
		inherit(p, base);
	} else {
		*p = *base;
		p->console_size = NULL;
		r = from_options(a, q, p, e);
		if (r == 0)
			r = spec_validate_process(p, e);
		if (r < 0)
			return r;
	}
	if (!p->args.n)
		return err_set(e, EINVAL, "process.args: is missing");
	if (!p->cwd)
		return err_set(e, EINVAL, "process.cwd: is missing");
	*ret = p;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a sandbox spec: refused with a message, or completed; what is completed holds the
 * hardened values that nothing in the text can have taken away by accident.
 */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "spec/sandbox.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool has_namespace(const struct oci_spec *s, const char *type)
{
	for (size_t i = 0; i < s->linux_->namespaces.n; i++)
		if (str_eq(s->linux_->namespaces.v[i].type, type))
			return true;
	return false;
}

static void check_completed(struct arena *a, const struct sandbox *sb)
{
	const struct oci_spec *s = sb->spec;

	if (!s->process->args.n || !s->process->cwd || !s->root->readonly.set ||
	    !s->process->no_new_privileges.set || !s->linux_->resources->memory->limit.set ||
	    !s->linux_->resources->pids->limit.set || !sb->options.timeout_ns.set ||
	    sb->options.default_seccomp != !s->linux_->seccomp)
		abort();
	if (!has_namespace(s, "user") || !has_namespace(s, "pid") || !has_namespace(s, "mount") ||
	    !has_namespace(s, "ipc"))
		abort();
	for (size_t i = 0; i < s->process->env.n; i++)
		if (!strchr(s->process->env.v[i], '='))
			abort();
	if (!str_starts(sandbox_cache_key(a, sb), "sandbox-env:"))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const environ_[] = {"A=1", "LANG=x", NULL};
	const struct sandbox_host host = {.environ = environ_, .cgroup_v2 = size & 1};
	auto_arena struct arena *a = arena_new();
	struct sandbox sb;
	struct err e = {0};
	int r = sandbox_parse((const char *)data, size, a, &sb, &e);

	if (r == 0)
		r = sandbox_defaults(a, &sb, &host, &e);
	if (r < 0 && (r != -e.code || !*e.msg))
		abort();
	if (r == 0)
		check_completed(a, &sb);
	return 0;
}

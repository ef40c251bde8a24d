/* SPDX-License-Identifier: Apache-2.0 */
/* `brig features`: the features structure of the runtime-spec. Prints nothing on stderr: CRI-O
 * reads both streams as one JSON document. */
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/str.h"
#include "runtime/cli.h"
#include "rootfs/rootfs.h"
#include "runtime/commands.h"
#include "spec/features.h"

static struct strv mount_options(struct arena *a)
{
	struct strv l = {arena_array(a, 129, sizeof(char *)), 0};
	const char *name;

	while (l.n < 128 && (name = rootfs_option_name(l.n)))
		l.v[l.n++] = arena_strdup(a, name);
	return l;
}

static struct strv capabilities(struct arena *a)
{
	struct strv l = {arena_array(a, 65, sizeof(char *)), 0};
	const char *name;

	for (int cap = 0; cap < 64 && (name = sec_cap_name(cap)); cap++)
		l.v[l.n++] = arena_strdup(a, name);
	return l;
}

static struct strv supported_flags(struct arena *a)
{
	struct strv l = {arena_array(a, 16, sizeof(char *)), 0};

	for (size_t i = 0; sec_seccomp_flags[i] && l.n < 15; i++)
		if (sec_seccomp_flag_supported(sec_seccomp_flags[i]))
			l.v[l.n++] = arena_strdup(a, sec_seccomp_flags[i]);
	return l;
}

static const struct opt_bool yes = {true, true};

static void add_handler_dir(struct arena *a, struct oci_features *f, const char *dir)
{
	struct str_map *m = &f->annotations;
	struct str_pair *v = arena_array(a, m->n + 1, sizeof(*v));

	memcpy(v, m->v, m->n * sizeof(*v));
	v[m->n] = (struct str_pair){(char *)"org.brig.handler-dir", (char *)dir};
	*m = (struct str_map){v, m->n + 1};
}

static struct oci_features *describe(struct arena *a, const struct rt_globals *g)
{
	struct oci_features *f = spec_features_new(a);
	struct oci_features_linux *l = f->linux_;

	f->mount_options = mount_options(a);
	add_handler_dir(a, f, g->handler_dir);
	l->capabilities = capabilities(a);
	*l->cgroup = (struct oci_features_cgroup){.v1 = yes, .v2 = yes, .systemd = yes,
						  .systemd_user = yes, .rdma = yes};
	l->seccomp->enabled = yes;
	l->seccomp->supported_flags = supported_flags(a);
	l->apparmor->enabled = yes;
	l->selinux->enabled = yes;
	l->intel_rdt->enabled = yes;
	l->intel_rdt->schemata = yes;
	l->intel_rdt->monitoring = yes;
	l->mount_extensions->idmap->enabled = yes;
	l->net_devices->enabled = yes;
	return f;
}

int cmd_features(int argc, char **argv, const struct rt_globals *g)
{
	auto_arena struct arena *a = arena_new();
	auto_strbuf struct strbuf out = {0};
	const struct cli c = {
		.usage = "brig features",
		.summary = "Prints what this runtime supports (runtime-spec features.md).",
	};
	struct json_writer w;
	struct err e = {0};
	int r = cli_parse(&c, argc, argv, &e);

	if (r == CLI_HELP)
		return 0;
	if (r >= 0) {
		json_writer_init(&w, &out, true);
		spec_features_write(&w, describe(a, g));
		strbuf_addc(&out, '\n');
		r = io_write_all(STDOUT_FILENO, out.p, out.len);
		if (r < 0)
			err_set(&e, -r, "write the features: %s", err_name(-r));
	}
	return r < 0 ? command_failed(&e, 1) : 0;
}

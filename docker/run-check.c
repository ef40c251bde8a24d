/* SPDX-License-Identifier: Apache-2.0 */
/* What the client of Docker does with the flags of run and create before it talks to the engine. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "docker/flag-tables.h"
#include "docker/lists.h"
#include "docker/parts.h"

static int check_pull(struct dk_context *c, const struct dk_run_options *o, struct err *e)
{
	static const char *const words[] = {"always", "missing", "never", "", NULL};

	if (str_index(words, o->pull) >= 0)
		return 0;
	return dk_error(c, e, EINVAL, "invalid pull option: '%s': must be one of \"always\", \"missing\" or \"never\"",
			o->pull);
}

static void check_attach(struct dk_run_options *o)
{
	o->attach_stdin = dk_strv_has(&o->attach, "stdin") || o->interactive;
	o->attach_stdout = !o->attach.n || dk_strv_has(&o->attach, "stdout");
	o->attach_stderr = !o->attach.n || dk_strv_has(&o->attach, "stderr");
}

/* The ways to share a namespace: the table's words, and container:NAME where it is possible. */
struct mode_rule {
	const char *flag, *kind;
	const char *const *words;
	bool container;
	size_t offset;
};

static int check_modes(const struct dk_run_options *o, struct err *e)
{
	static const char *const host[] = {"", "host", NULL}, *const both[] = {"", "host", "private", NULL};
	static const struct mode_rule rules[] = {
		{"pid", "PID", host, true, offsetof(struct dk_run_options, pid)},
		{"uts", "UTS", host, false, offsetof(struct dk_run_options, uts)},
		/* "private" is ours: a range of ids that nothing else has. */
		{"userns", "USER", both, false, offsetof(struct dk_run_options, userns)},
		{"cgroupns", "CGROUP", both, false, offsetof(struct dk_run_options, cgroupns)},
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		const struct mode_rule *r = &rules[i];
		const char *mode = *(char *const *)((const char *)o + r->offset);

		if (!mode || str_index(r->words, mode) >= 0)
			continue;
		if (r->container && str_starts(mode, "container:") && mode[strlen("container:")])
			continue;
		return err_set(e, EINVAL, "--%s: invalid %s mode", r->flag, r->kind);
	}
	return 0;
}

int dk_parse_restart(struct dk_context *c, const char *text, char **policy, int64_t *max, struct err *e)
{
	static const char bad[] = "invalid restart policy format: ";
	size_t n = strcspn(text, ":");

	*max = 0;
	if (!n && text[n])
		return err_set(e, EINVAL, "%sno policy provided before colon", bad);
	if (text[n] && text[n + 1] && str_i64(text + n + 1, max) < 0)
		return err_set(e, EINVAL, "%smaximum retry count must be an integer", bad);
	*policy = arena_strndup(c->arena, text, n);
	return 0;
}

static int check_health(const struct dk_args *args, struct dk_health_options *h, struct err *e)
{
	static const char *const names[] = {"health-interval", "health-timeout", "health-retries",
					    "health-start-period", "health-start-interval"};
	const int64_t values[] = {h->interval, h->timeout, h->retries, h->start_period, h->start_interval};
	bool number = false;

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		number |= values[i] != 0;
	h->set = number || (h->command && *h->command);
	(void)args;
	if (h->none)
		return h->set ? err_set(e, EINVAL, "--no-healthcheck conflicts with --health-* options") : 0;
	for (size_t i = 0; h->set && i < sizeof(values) / sizeof(values[0]); i++)
		if (values[i] < 0)
			return err_set(e, EINVAL, "--%s cannot be negative", names[i]);
	return 0;
}

/* Flags that are Windows', swarm's, or of a daemon that is not there: never ignored silently. */
static int refuse_foreign(const struct dk_args *args, const struct dk_run_options *o, struct err *e)
{
	static const char *const windows[] = {"cpu-count", "cpu-percent", "io-maxbandwidth", "io-maxiops"};

	for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++)
		if (dk_given(args, windows[i]))
			return err_set(e, ENOTSUP, "--%s: only for containers of Windows", windows[i]);
	if (o->use_api_socket)
		return err_set(e, ENOTSUP, "--use-api-socket: there is no API socket, containers are run without a daemon");
	if (o->kernel_memory)
		return err_set(e, ENOTSUP, "--kernel-memory: kernels have no such limit any more, use --memory");
	return 0;
}

static int check_storage(const struct dk_run_options *o, struct err *e)
{
	for (size_t i = 0; i < o->storage_opt.n; i++)
		if (!strchr(o->storage_opt.v[i], '='))
			return err_set(e, EINVAL, "invalid storage option");
	return 0;
}

static int check_process(struct dk_context *c, const struct dk_args *args, struct dk_run_options *o,
			 struct err *e)
{
	o->image = args->argv[0];
	o->command = (struct strv){.v = args->argv + 1, .n = (size_t)args->argc - 1};
	o->entrypoint_set = dk_given(args, "entrypoint");
	check_attach(o);
	if (o->memory_swappiness != -1 && (o->memory_swappiness < 0 || o->memory_swappiness > 100))
		return err_set(e, EINVAL, "invalid value: %lld. Valid memory swappiness range is 0-100",
			       (long long)o->memory_swappiness);
	if (dk_check_volumes(c, o, e) < 0 || dk_check_ports(c, o, e) < 0 || dk_check_devices(c, o, e) < 0)
		return -e->code;
	if (dk_collect_env(c, &o->env_files, &o->env_flags, &o->env, e) < 0 ||
	    dk_collect_labels(c, &o->label_files, &o->labels_flags, &o->labels, e) < 0)
		return -e->code;
	return check_modes(o, e);
}

int dk_run_check(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	struct dk_run_options *o = args->options;

	if (check_pull(c, o, e) < 0 || refuse_foreign(args, o, e) < 0 || check_process(c, args, o, e) < 0)
		return -e->code;
	if (dk_parse_restart(c, o->restart_flag, &o->restart, &o->restart_max, e) < 0)
		return -e->code;
	if (str_eq(o->log_driver, "none") && o->log_opts.n)
		return err_set(e, EINVAL, "invalid logging opts for driver none");
	if (dk_check_security(c, o, e) < 0 || check_storage(o, e) < 0 || check_health(args, &o->health, e) < 0)
		return -e->code;
	if (dk_check_networks(c, o, e) < 0)
		return -e->code;
	if (o->remove && *o->restart && !str_eq(o->restart, "no"))
		return err_set(e, EINVAL, "conflicting options: cannot specify both --restart and --rm");
	if (!*o->restart)
		o->restart = (char *)"no";
	return 0;
}

/* ---- the other commands ---- */

int dk_exec_check(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	struct dk_exec_options *o = args->options;
	struct strv all = {0};

	if (dk_collect_env(c, &o->env_files, &o->env_flags, &all, e) < 0)
		return -e->code;
	/* A name without a value takes nothing away here. */
	for (size_t i = 0; i < all.n; i++)
		if (strchr(all.v[i], '='))
			dk_strv_add(c->arena, &o->env, all.v[i]);
	return 0;
}

int dk_update_check(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	struct dk_update_options *o = args->options;

	return o->restart_flag ? dk_parse_restart(c, o->restart_flag, &o->restart, &o->restart_max, e) : 0;
}

int dk_network_create_check(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	struct dk_network_create_options *o = args->options;

	return dk_collect_labels(c, &(struct strv){0}, &o->labels_flags, &o->labels, e);
}

int dk_volume_create_check(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	struct dk_volume_create_options *o = args->options;

	return dk_collect_labels(c, &(struct strv){0}, &o->labels_flags, &o->labels, e);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What the engine of Docker checks of a new container, as far as no store and no cgroup is needed. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/sys.h"
#include "docker/lists.h"
#include "docker/log.h"
#include "docker/parts.h"
#include "nsenter/signals.h"

#define MEMORY_MIN (6 << 20)

int dk_signal_number(const char *text)
{
	char name[24];
	uint64_t n;

	if (str_u64(text, 64, &n) == 0)
		return n ? (int)n : -1;
	for (int sig = 1; sig <= 64; sig++) {
		const char *have = ns_signal_name(sig);

		if (have && (strcasecmp(have, text) == 0 || strcasecmp(have + 3, text) == 0))
			return sig;
		snprintf(name, sizeof(name), "SIGRTMIN+%d", sig - SYS_SIGRTMIN);
		if (sig >= SYS_SIGRTMIN && (strcasecmp(name, text) == 0 || strcasecmp(name + 3, text) == 0))
			return sig;
	}
	return -1;
}

static int check_memory(struct dk_context *c, const struct dk_limits *l, struct err *e)
{
	if (l->memory && l->memory < MEMORY_MIN)
		return dk_daemon_error(c, e, EINVAL, "Minimum memory limit allowed is 6MB");
	if (l->memory > 0 && l->memory_swap > 0 && l->memory_swap < l->memory)
		return dk_daemon_error(c, e, EINVAL, "Minimum memoryswap limit should be larger than memory limit, see usage");
	if (!l->memory && l->memory_swap > 0 && !l->update)
		return dk_daemon_error(c, e, EINVAL, "You should always set the Memory limit when using Memoryswap limit, see usage");
	if (l->memory_reservation && l->memory_reservation < MEMORY_MIN)
		return dk_daemon_error(c, e, EINVAL, "Minimum memory reservation allowed is 6MB");
	if (l->memory > 0 && l->memory_reservation > 0 && l->memory < l->memory_reservation)
		return dk_daemon_error(c, e, EINVAL, "Minimum memory limit can not be less than memory reservation limit, see usage");
	return 0;
}

static int check_cpu(struct dk_context *c, const struct dk_limits *l, unsigned ncpu, struct err *e)
{
	if (l->nano_cpus && l->cpu_period)
		return dk_daemon_error(c, e, EINVAL, "Conflicting options: Nano CPUs and CPU Period cannot both be set");
	if (l->nano_cpus && l->cpu_quota)
		return dk_daemon_error(c, e, EINVAL, "Conflicting options: Nano CPUs and CPU Quota cannot both be set");
	if (l->nano_cpus < 0 || l->nano_cpus > (int64_t)ncpu * 1000000000)
		return dk_daemon_error(c, e, EINVAL, "Range of CPUs is from 0.01 to %u.00, as there are only %u CPUs available",
				       ncpu, ncpu);
	if (l->cpu_period && (l->cpu_period < 1000 || l->cpu_period > 1000000))
		return dk_daemon_error(c, e, EINVAL, "CPU cfs period can not be less than 1ms (i.e. 1000) or larger than 1s (i.e. 1000000)");
	if (l->cpu_quota > 0 && l->cpu_quota < 1000)
		return dk_daemon_error(c, e, EINVAL, "CPU cfs quota can not be less than 1ms (i.e. 1000)");
	return 0;
}

int dk_resolve_limits(struct dk_context *c, const struct dk_limits *l, unsigned ncpu, struct err *e)
{
	if (check_memory(c, l, e) < 0 || check_cpu(c, l, ncpu, e) < 0)
		return -e->code;
	if (l->blkio_weight && (l->blkio_weight < 10 || l->blkio_weight > 1000))
		return dk_daemon_error(c, e, EINVAL, "Range of blkio weight is from 10 to 1000");
	return 0;
}

int dk_resolve_restart(struct dk_context *c, const char *policy, int64_t max, struct err *e)
{
	static const char *const words[] = {"no", "always", "unless-stopped", "on-failure", NULL};
	int i = str_index(words, policy);

	if (i < 0)
		return dk_daemon_error(c, e, EINVAL, "invalid restart policy '%s'", policy);
	if (max && i != 3)
		return dk_daemon_error(c, e, EINVAL, "maximum retry count cannot be used with restart policy '%s'", policy);
	if (max < 0)
		return dk_daemon_error(c, e, EINVAL, "maximum retry count cannot be negative");
	return 0;
}

static int check_process(struct dk_context *c, const struct dk_run_options *o, struct err *e)
{
	if (o->workdir && *o->workdir && o->workdir[0] != '/')
		return dk_daemon_error(c, e, EINVAL, "the working directory '%s' is invalid, it needs to be an absolute path",
				       o->workdir);
	if (o->stop_signal && *o->stop_signal && dk_signal_number(o->stop_signal) < 0)
		return dk_daemon_error(c, e, EINVAL, "Invalid signal: %s", o->stop_signal);
	if (o->oom_score_adj < -1000 || o->oom_score_adj > 1000)
		return dk_daemon_error(c, e, EINVAL, "Invalid value %lld, range for oom score adj is [-1000, 1000]",
				       (long long)o->oom_score_adj);
	if (o->shm_size.set && o->shm_size.v < 0)
		return dk_daemon_error(c, e, EINVAL, "SHM size can not be less than 0");
	return 0;
}

static int check_health(struct dk_context *c, const struct dk_health_options *h, struct err *e)
{
	static const char *const names[] = {"Interval", "Timeout", "StartPeriod", "StartInterval"};
	const int64_t values[] = {h->interval, h->timeout, h->start_period, h->start_interval};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (values[i] && values[i] < 1000000)
			return dk_daemon_error(c, e, EINVAL, "%s in Healthcheck cannot be less than 1ms", names[i]);
	return 0;
}

static int check_modes(struct dk_context *c, const struct dk_run_options *o, struct err *e)
{
	static const char *const ipc[] = {"", "none", "host", "private", "shareable", NULL};
	static const char *const runtimes[] = {"", "brig", "runc", "crun", "io.containerd.runc.v2", NULL};
	static const char *const isolations[] = {"", "default", NULL};

	if (o->ipc && str_index(ipc, o->ipc) < 0 &&
	    !(str_starts(o->ipc, "container:") && o->ipc[strlen("container:")]))
		return dk_daemon_error(c, e, EINVAL, "Invalid IPC mode: %s", o->ipc);
	if (str_eq(o->uts, "host") && o->hostname && *o->hostname)
		return dk_daemon_error(c, e, EINVAL, "conflicting options: hostname and the UTS mode");
	if (o->runtime && str_index(runtimes, o->runtime) < 0)
		return dk_daemon_error(c, e, EINVAL, "Unknown runtime specified %s", o->runtime);
	if (o->isolation && str_index(isolations, o->isolation) < 0)
		return dk_daemon_error(c, e, EINVAL, "invalid isolation '%s' on linux", o->isolation);
	return 0;
}

/* Those without effect here are in the manual page. */
static int check_log(struct dk_context *c, const struct dk_run_options *o, struct err *e)
{
	static const char *const drivers[] = {"", "json-file", "local", "none", NULL};
	static const char *const keys[] = {"max-size", "max-file", "compress", "labels", "labels-regex", "env", "env-regex",
					   "tag", "mode", "max-buffer-size", NULL};
	const char *driver = o->log_driver ? o->log_driver : "", *values[2] = {0};
	struct dk_log limits;
	struct err why = {0};

	if (str_index(drivers, driver) < 0)
		return dk_daemon_error(c, e, EINVAL, "logger: no log driver named '%s' is registered", driver);
	for (size_t i = 0; i < o->log_opts.n; i++) {
		int key = str_index(keys, o->log_opts.v[i].key);

		if (key < 0)
			return dk_daemon_error(c, e, EINVAL, "unknown log opt '%s' for %s log driver",
					       o->log_opts.v[i].key, *driver ? driver : "json-file");
		if (key < 2)
			values[key] = o->log_opts.v[i].value;
	}
	if (dk_log_limits(values[0], values[1], &limits, &why) < 0)
		return dk_daemon_error(c, e, EINVAL, "failed to initialize logging driver: %s", why.msg);
	return 0;
}

int dk_run_resolve(struct dk_context *c, struct dk_run_options *o, unsigned ncpu, struct err *e)
{
	const struct dk_limits l = {
		.memory = o->memory, .memory_reservation = o->memory_reservation, .memory_swap = o->memory_swap,
		.nano_cpus = o->nano_cpus, .cpu_period = o->cpu_period, .cpu_quota = o->cpu_quota,
		.memory_swappiness = o->memory_swappiness, .blkio_weight = o->blkio_weight,
	};

	if (check_process(c, o, e) < 0 || check_health(c, &o->health, e) < 0 || dk_resolve_mounts(c, o, e) < 0)
		return -e->code;
	if (dk_resolve_restart(c, o->restart, o->restart_max, e) < 0 || dk_resolve_security(c, o, e) < 0)
		return -e->code;
	if (dk_resolve_limits(c, &l, ncpu, e) < 0 || check_modes(c, o, e) < 0 ||
	    check_log(c, o, e) < 0)
		return -e->code;
	return dk_resolve_networks(c, o, e);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `docker inspect` says of a container: every key that Docker's engine has, in its order, with
 * what is true here.
 */
#include <string.h>

#include "base/str.h"
#include "docker/container-spec.h"
#include "docker/health.h"
#include "docker/inspect.h"
#include "docker/log.h"
#include "spec/default.h"

#define NO_TIME "0001-01-01T00:00:00Z"

struct doc {
	struct arena *a;
	const struct dk_store *s;
	const struct dk_record *r;
	struct dk_look look;
};

static void put_text(struct doc *d, struct dk_value *v, const char *key, const char *text)
{
	dk_put(d->a, v, key, dk_string(text));
}

static void put_int(struct doc *d, struct dk_value *v, const char *key, int64_t i)
{
	dk_put(d->a, v, key, dk_int(i));
}

static void put_bool(struct doc *d, struct dk_value *v, const char *key, bool b)
{
	dk_put(d->a, v, key, dk_bool(b));
}

/* Where Go has another name for it: templates with the JSON's are executed on the plain JSON, as in Docker. */
static void put_int_named(struct doc *d, struct dk_value *v, const char *key, const char *go_name, int64_t i)
{
	dk_put_named(d->a, v, key, go_name, dk_int(i));
}

/* null when it is empty. */
static void put_list(struct doc *d, struct dk_value *v, const char *key, const struct strv *l)
{
	dk_put(d->a, v, key, dk_strings(d->a, l, true));
}

/* [] when it is empty. */
static void put_array(struct doc *d, struct dk_value *v, const char *key, const struct strv *l)
{
	dk_put(d->a, v, key, dk_strings(d->a, l, false));
}

static struct dk_value optional_int(bool set, int64_t i)
{
	return set ? dk_int(i) : dk_null_pointer("int64");
}

/* ---- State ---- */

/* As Go prints it: without zeros at the end. */
static const char *go_time(struct doc *d, const char *t)
{
	size_t n = t ? strlen(t) : 0;

	if (!n)
		return NO_TIME;
	if (t[n - 1] != 'Z' || !strchr(t, '.'))
		return t;
	for (n--; n > 0 && t[n - 1] == '0'; n--)
		;
	n -= t[n - 1] == '.';
	return arena_printf(d->a, "%.*sZ", (int)n, t);
}

static struct dk_value state(struct doc *d)
{
	const struct dk_state *st = &d->r->state;
	struct dk_value v = dk_struct("container.State");
	bool alive = d->look.running;

	put_text(d, &v, "Status", d->look.status);
	put_bool(d, &v, "Running", alive);
	put_bool(d, &v, "Paused", d->look.paused);
	put_bool(d, &v, "Restarting", str_eq(d->look.status, DK_RESTARTING));
	put_bool(d, &v, "OOMKilled", !alive && st->oom_killed);
	put_bool(d, &v, "Dead", str_eq(d->look.status, DK_DEAD));
	put_int(d, &v, "Pid", d->look.pid);
	put_int(d, &v, "ExitCode", alive ? 0 : st->exit_code);
	put_text(d, &v, "Error", st->error);
	put_text(d, &v, "StartedAt", go_time(d, d->look.started ? d->look.started : st->started));
	put_text(d, &v, "FinishedAt", go_time(d, st->finished));
	if (dk_health_wanted(d->r))
		dk_health_document(d->a, d->s, d->r, &v);
	else
		dk_put_omit(d->a, &v, "Health", dk_null_pointer("container.Health"));
	return v;
}

/* ---- HostConfig ---- */

static struct dk_value port_bindings(struct doc *d)
{
	const struct dk_network_settings *n = &d->r->network;
	struct dk_value v = dk_dict();

	for (size_t i = 0; i < n->ports.n; i++) {
		const struct dk_port_rule *p = &n->ports.v[i];
		char *key = arena_printf(d->a, "%u/%s", p->container_port, p->proto);
		const struct dk_value *have = dk_get(&v, key);
		struct dk_value list = have ? *have : dk_array(), b = dk_struct("nat.PortBinding");

		if (!p->published)
			continue;
		put_text(d, &b, "HostIp", p->host_ip);
		put_text(d, &b, "HostPort", p->host_port);
		dk_push(d->a, &list, b);
		dk_put(d->a, &v, key, list);
	}
	return v;
}

struct rates { const struct dk_device_rate *v; size_t n; };

static struct dk_value rate_list(struct doc *d, struct rates l, const char *number)
{
	struct dk_value v = dk_array();

	for (size_t i = 0; i < l.n; i++) {
		struct dk_value x = dk_struct("blkiodev.ThrottleDevice");

		put_text(d, &x, "Path", l.v[i].path);
		put_int(d, &x, number, (int64_t)l.v[i].rate);
		dk_push(d->a, &v, x);
	}
	return v;
}

static struct dk_value devices(struct doc *d)
{
	const struct dk_run_options *o = &d->r->options;
	struct dk_value v = dk_array();

	for (size_t i = 0; i < o->devices.n; i++) {
		struct dk_value x = dk_struct("container.DeviceMapping");

		put_text(d, &x, "PathOnHost", o->devices.v[i].host);
		put_text(d, &x, "PathInContainer", o->devices.v[i].container);
		put_text(d, &x, "CgroupPermissions", o->devices.v[i].permissions);
		dk_push(d->a, &v, x);
	}
	return v;
}

static struct dk_value device_requests(struct doc *d)
{
	const struct dk_run_options *o = &d->r->options;
	struct dk_value v = dk_null_array();

	if (o->cdi_devices.n) {
		struct dk_value x = dk_struct("container.DeviceRequest");

		put_text(d, &x, "Driver", "cdi");
		put_int(d, &x, "Count", 0);
		put_list(d, &x, "DeviceIDs", &o->cdi_devices);
		dk_put(d->a, &x, "Capabilities", dk_null_array());
		dk_put(d->a, &x, "Options", dk_null_dict());
		dk_push(d->a, &v, x);
	}
	for (size_t i = 0; i < o->gpus.n; i++) {
		const struct dk_gpu_request *g = &o->gpus.v[i];
		struct dk_value x = dk_struct("container.DeviceRequest"), all = dk_array();

		put_text(d, &x, "Driver", g->driver);
		put_int(d, &x, "Count", g->count);
		put_list(d, &x, "DeviceIDs", &g->ids);
		dk_push(d->a, &all, dk_strings(d->a, &g->capabilities, false));
		dk_put(d->a, &x, "Capabilities", all);
		dk_put(d->a, &x, "Options", dk_string_map(d->a, &g->options, false));
		dk_push(d->a, &v, x);
	}
	v.null = v.n == 0;
	return v;
}

static struct dk_value ulimits(struct doc *d)
{
	const struct dk_run_options *o = &d->r->options;
	struct dk_value v = dk_array();

	for (size_t i = 0; i < o->ulimits.n; i++) {
		struct dk_value x = dk_struct("units.Ulimit");

		put_text(d, &x, "Name", o->ulimits.v[i].name);
		put_int(d, &x, "Hard", o->ulimits.v[i].hard);
		put_int(d, &x, "Soft", o->ulimits.v[i].soft);
		dk_push(d->a, &v, x);
	}
	return v;
}

static struct dk_value paths(struct doc *d, const char *const *list)
{
	const struct dk_run_options *o = &d->r->options;
	struct dk_value v = dk_array();

	for (; !o->privileged && !o->systempaths_unconfined && *list; list++)
		dk_push(d->a, &v, dk_string(*list));
	return v;
}

static const char *log_driver(struct doc *d)
{
	const char *own = d->r->options.log_driver;

	return own && *own ? own : d->s->config.log_driver;
}

static struct dk_value console_size(struct doc *d)
{
	struct dk_value v = dk_array();

	dk_push(d->a, &v, dk_int(0));
	dk_push(d->a, &v, dk_int(0));
	return v;
}

static void put_first(struct doc *d, struct dk_value *v)
{
	const struct dk_run_options *o = &d->r->options;
	struct dk_value log = dk_struct("container.LogConfig"), policy = dk_struct("container.RestartPolicy");

	put_list(d, v, "Binds", &o->binds);
	put_text(d, v, "ContainerIDFile", o->cidfile);
	put_text(d, &log, "Type", log_driver(d));
	dk_put(d->a, &log, "Config", dk_string_map(d->a, &o->log_opts, false));
	dk_put(d->a, v, "LogConfig", log);
	put_text(d, v, "NetworkMode", d->r->network.mode);
	dk_put(d->a, v, "PortBindings", port_bindings(d));
	put_text(d, &policy, "Name", o->restart ? o->restart : "no");
	put_int(d, &policy, "MaximumRetryCount", o->restart_max);
	dk_put(d->a, v, "RestartPolicy", policy);
	put_bool(d, v, "AutoRemove", o->remove);
	put_text(d, v, "VolumeDriver", o->volume_driver);
	put_list(d, v, "VolumesFrom", &o->volumes_from);
	dk_put(d->a, v, "ConsoleSize", console_size(d));
}

static struct dk_value extra_hosts(struct doc *d)
{
	const struct dk_run_options *o = &d->r->options;
	struct dk_value v = dk_null_array();

	for (size_t i = 0; i < o->extra_hosts.n; i++)
		dk_push(d->a, &v, dk_stringf(d->a, "%s:%s", o->extra_hosts.v[i].name, o->extra_hosts.v[i].ip));
	v.null = v.n == 0;
	return v;
}

/* Those of the network "bridge": "/OTHER:/NAME/ALIAS". */
static struct dk_value links(struct doc *d)
{
	const struct strv *l = &d->r->options.links;
	struct dk_value v = dk_null_array();

	for (size_t i = 0; i < l->n && str_eq(d->r->network.mode, "bridge"); i++) {
		int n = (int)strcspn(l->v[i], ":");
		const char *alias = l->v[i][n] && l->v[i][n + 1] ? l->v[i] + n + 1 : l->v[i];

		dk_push(d->a, &v, dk_stringf(d->a, "/%.*s:/%s/%s", n, l->v[i], d->r->name, alias));
	}
	return v;
}

static void put_isolation(struct doc *d, struct dk_value *v)
{
	const struct dk_run_options *o = &d->r->options;

	put_list(d, v, "CapAdd", &o->cap_add);
	put_list(d, v, "CapDrop", &o->cap_drop);
	put_text(d, v, "CgroupnsMode", o->cgroupns && *o->cgroupns ? o->cgroupns : "private");
	dk_put_named(d->a, v, "Dns", "DNS", dk_strings(d->a, &o->dns, false));
	dk_put_named(d->a, v, "DnsOptions", "DNSOptions", dk_strings(d->a, &o->dns_option, false));
	dk_put_named(d->a, v, "DnsSearch", "DNSSearch", dk_strings(d->a, &o->dns_search, false));
	dk_put(d->a, v, "ExtraHosts", extra_hosts(d));
	put_list(d, v, "GroupAdd", &o->group_add);
	put_text(d, v, "IpcMode", o->ipc && *o->ipc ? o->ipc : "private");
	put_text(d, v, "Cgroup", "");
	dk_put(d->a, v, "Links", links(d));
	put_int(d, v, "OomScoreAdj", o->oom_score_adj);
	put_text(d, v, "PidMode", o->pid);
	put_bool(d, v, "Privileged", o->privileged);
	put_bool(d, v, "PublishAllPorts", o->publish_all);
	put_bool(d, v, "ReadonlyRootfs", o->read_only);
	put_list(d, v, "SecurityOpt", &o->security_opt);
	if (o->annotations.n)
		dk_put(d->a, v, "Annotations", dk_string_map(d->a, &o->annotations, false));
	if (o->storage_opt.n)
		put_list(d, v, "StorageOpt", &o->storage_opt);
	if (o->tmpfs.n)
		dk_put(d->a, v, "Tmpfs", dk_string_map(d->a, &o->tmpfs, false));
	put_text(d, v, "UTSMode", o->uts);
	put_text(d, v, "UsernsMode", o->userns);
	put_int(d, v, "ShmSize", o->shm_size.set && o->shm_size.v > 0 ? o->shm_size.v : 64 << 20);
	if (o->sysctls.n)
		dk_put(d->a, v, "Sysctls", dk_string_map(d->a, &o->sysctls, false));
	put_text(d, v, "Runtime", o->runtime && *o->runtime ? o->runtime : "brig");
	put_text(d, v, "Isolation", o->isolation);
}

#define RATES(list) (struct rates){(list).v, (list).n}

static void put_limits(struct doc *d, struct dk_value *v)
{
	const struct dk_run_options *o = &d->r->options;

	put_int_named(d, v, "CpuShares", "CPUShares", o->cpu_shares);
	put_int(d, v, "Memory", o->memory);
	put_int_named(d, v, "NanoCpus", "NanoCPUs", o->nano_cpus);
	put_text(d, v, "CgroupParent", o->cgroup_parent);
	put_int(d, v, "BlkioWeight", o->blkio_weight);
	dk_put(d->a, v, "BlkioWeightDevice", rate_list(d, RATES(o->blkio_weight_device), "Weight"));
	dk_put(d->a, v, "BlkioDeviceReadBps", rate_list(d, RATES(o->read_bps), "Rate"));
	dk_put(d->a, v, "BlkioDeviceWriteBps", rate_list(d, RATES(o->write_bps), "Rate"));
	dk_put(d->a, v, "BlkioDeviceReadIOps", rate_list(d, RATES(o->read_iops), "Rate"));
	dk_put(d->a, v, "BlkioDeviceWriteIOps", rate_list(d, RATES(o->write_iops), "Rate"));
	put_int_named(d, v, "CpuPeriod", "CPUPeriod", o->cpu_period);
	put_int_named(d, v, "CpuQuota", "CPUQuota", o->cpu_quota);
	put_int_named(d, v, "CpuRealtimePeriod", "CPURealtimePeriod", o->cpu_rt_period);
	put_int_named(d, v, "CpuRealtimeRuntime", "CPURealtimeRuntime", o->cpu_rt_runtime);
	put_text(d, v, "CpusetCpus", o->cpuset_cpus);
	put_text(d, v, "CpusetMems", o->cpuset_mems);
	dk_put(d->a, v, "Devices", devices(d));
	put_list(d, v, "DeviceCgroupRules", &o->device_cgroup_rules);
	dk_put(d->a, v, "DeviceRequests", device_requests(d));
	dk_put_omit(d->a, v, "KernelMemory", dk_int(o->kernel_memory));
	put_int(d, v, "MemoryReservation", o->memory_reservation);
	put_int(d, v, "MemorySwap", o->memory_swap ? o->memory_swap : o->memory > 0 ? 2 * o->memory : 0);
	dk_put(d->a, v, "MemorySwappiness", optional_int(o->memory_swappiness >= 0, o->memory_swappiness));
	dk_put(d->a, v, "OomKillDisable", o->oom_kill_disable ? dk_bool(true) : dk_nil());
	dk_put(d->a, v, "PidsLimit", optional_int(o->pids_limit.set && o->pids_limit.v > 0, o->pids_limit.v));
	dk_put(d->a, v, "Ulimits", ulimits(d));
	put_int_named(d, v, "CpuCount", "CPUCount", 0);
	put_int_named(d, v, "CpuPercent", "CPUPercent", 0);
	put_int(d, v, "IOMaximumIOps", 0);
	put_int(d, v, "IOMaximumBandwidth", 0);
}

/* Go's pointer to a struct: what is not set is not there. */
static struct dk_value when(bool set, struct dk_value v)
{
	return set ? v : dk_null_pointer(v.go_type);
}

static struct dk_value bind_options(struct doc *d, const struct dk_mount *m)
{
	struct dk_value v = dk_struct("mount.BindOptions");

	dk_put_omit(d->a, &v, "Propagation", dk_string(m->propagation));
	dk_put_omit(d->a, &v, "NonRecursive", dk_bool(m->non_recursive));
	dk_put_omit(d->a, &v, "ReadOnlyNonRecursive", dk_bool(m->readonly_non_recursive));
	dk_put_omit(d->a, &v, "ReadOnlyForceRecursive", dk_bool(m->readonly_force_recursive));
	return when((m->propagation && *m->propagation) || m->non_recursive || m->readonly_non_recursive ||
		    m->readonly_force_recursive, v);
}

static struct dk_value volume_options(struct doc *d, const struct dk_mount *m)
{
	struct dk_value v = dk_struct("mount.VolumeOptions"), driver = dk_struct("mount.Driver");
	bool driven = (m->driver && *m->driver) || m->driver_options.n;

	dk_put_omit(d->a, &driver, "Name", dk_string(m->driver));
	dk_put_omit(d->a, &driver, "Options", dk_string_map(d->a, &m->driver_options, true));
	dk_put_omit(d->a, &v, "NoCopy", dk_bool(m->no_copy));
	dk_put_omit(d->a, &v, "Labels", dk_string_map(d->a, &m->labels, true));
	dk_put_omit(d->a, &v, "Subpath", dk_string(m->subpath));
	dk_put_omit(d->a, &v, "DriverConfig", when(driven, driver));
	return when(driven || m->no_copy || m->labels.n || (m->subpath && *m->subpath), v);
}

static struct dk_value tmpfs_options(struct doc *d, const struct dk_mount *m)
{
	struct dk_value v = dk_struct("mount.TmpfsOptions");

	dk_put_omit(d->a, &v, "SizeBytes", dk_int(m->tmpfs_size));
	dk_put_omit(d->a, &v, "Mode", dk_int(m->tmpfs_mode));
	return when(m->tmpfs_size || m->tmpfs_mode, v);
}

static struct dk_value mount_specs(struct doc *d)
{
	static const char *const types[] = {"bind", "volume", "tmpfs"};
	const struct dk_run_options *o = &d->r->options;
	struct dk_value v = dk_array();

	for (size_t i = 0; i < o->mount_specs.n; i++) {
		const struct dk_mount *m = &o->mount_specs.v[i];
		struct dk_value x = dk_struct("mount.Mount");

		put_text(d, &x, "Type", types[m->type]);
		dk_put_omit(d->a, &x, "Source", dk_string(m->source));
		put_text(d, &x, "Target", m->target);
		dk_put_omit(d->a, &x, "ReadOnly", dk_bool(m->readonly));
		dk_put_omit(d->a, &x, "Consistency", dk_string(m->consistency));
		dk_put_omit(d->a, &x, "BindOptions", bind_options(d, m));
		dk_put_omit(d->a, &x, "VolumeOptions", volume_options(d, m));
		dk_put_omit(d->a, &x, "TmpfsOptions", tmpfs_options(d, m));
		dk_push(d->a, &v, x);
	}
	return v;
}

static struct dk_value host_config(struct doc *d)
{
	struct dk_value v = dk_struct("container.HostConfig");
	const struct dk_run_options *o = &d->r->options;

	put_first(d, &v);
	put_isolation(d, &v);
	put_limits(d, &v);
	if (o->mount_specs.n)
		dk_put(d->a, &v, "Mounts", mount_specs(d));
	dk_put(d->a, &v, "MaskedPaths", paths(d, spec_masked_paths));
	dk_put(d->a, &v, "ReadonlyPaths", paths(d, spec_readonly_paths));
	if (o->init.set)
		put_bool(d, &v, "Init", o->init.v);
	return v;
}

/* ---- the rest ---- */

/* Nothing is merged anywhere but in the container. */
static struct dk_value graph_driver(struct doc *d)
{
	struct dk_value v = dk_struct("types.GraphDriverData"), data = dk_dict();
	bool upper = !d->r->options.read_only || d->r->needs_upper;
	auto_strbuf struct strbuf lower = {0};

	if (!d->r->host_rootfs) {
		strbuf_printf(&lower, "%s/mount-points", d->s->roots.data);
		for (size_t i = 0; i < d->r->layers.n; i++)
			strbuf_printf(&lower, ":%s", d->r->layers.v[i]);
		put_text(d, &data, "LowerDir", arena_strdup(d->a, strbuf_str(&lower)));
		put_text(d, &data, "MergedDir", "");
		put_text(d, &data, "UpperDir", upper ? dk_container_path(d->s, d->r->id, "rw/diff") : "");
		put_text(d, &data, "WorkDir", upper ? dk_container_path(d->s, d->r->id, "rw/work") : "");
	}
	dk_put(d->a, &v, "Data", data);
	put_text(d, &v, "Name", d->r->host_rootfs ? "host" : "overlay2");
	return v;
}

static struct dk_value mounts(struct doc *d)
{
	static const char *const types[] = {"bind", "volume", "tmpfs"};
	const struct dk_run_options *o = &d->r->options;
	struct dk_value v = dk_array();

	for (size_t i = 0; i < o->mounts.n; i++) {
		const struct dk_mount *m = &o->mounts.v[i];
		struct dk_value x = dk_struct("types.MountPoint");

		if (m->origin == DK_FROM_TMPFS_FLAG) /* these are in HostConfig.Tmpfs only */
			continue;
		put_text(d, &x, "Type", types[m->type]);
		if (m->type == DK_MOUNT_VOLUME)
			put_text(d, &x, "Name", m->source);
		put_text(d, &x, "Source", d->r->mount_paths.v[i]);
		put_text(d, &x, "Destination", m->target);
		if (m->type == DK_MOUNT_VOLUME)
			put_text(d, &x, "Driver", "local");
		put_text(d, &x, "Mode", m->mode);
		put_bool(d, &x, "RW", !m->readonly);
		put_text(d, &x, "Propagation", m->type == DK_MOUNT_BIND
			 ? m->propagation && *m->propagation ? m->propagation : "rprivate" : "");
		dk_push(d->a, &v, x);
	}
	return v;
}

/* A map with empty values, or null. */
static struct dk_value set_of(struct doc *d, const struct strv *l)
{
	struct dk_value v = l->n ? dk_dict() : dk_null_dict();

	for (size_t i = 0; i < l->n; i++)
		dk_put(d->a, &v, l->v[i], dk_struct("struct {}"));
	return v;
}

static struct dk_value healthcheck(struct doc *d, const struct img_healthcheck *h)
{
	struct dk_value v = dk_struct("container.HealthConfig");

	put_list(d, &v, "Test", &h->test);
	dk_put_omit(d->a, &v, "Interval", dk_int(h->interval));
	dk_put_omit(d->a, &v, "Timeout", dk_int(h->timeout));
	dk_put_omit(d->a, &v, "StartPeriod", dk_int(h->start_period));
	dk_put_omit(d->a, &v, "StartInterval", dk_int(h->start_interval));
	dk_put_omit(d->a, &v, "Retries", dk_int(h->retries));
	return v;
}

static struct dk_value config(struct doc *d)
{
	const struct dk_container_config *f = &d->r->config;
	struct dk_value v = dk_struct("container.Config");

	put_text(d, &v, "Hostname", f->hostname);
	put_text(d, &v, "Domainname", f->domainname);
	put_text(d, &v, "User", f->user);
	put_bool(d, &v, "AttachStdin", f->attach_stdin);
	put_bool(d, &v, "AttachStdout", f->attach_stdout);
	put_bool(d, &v, "AttachStderr", f->attach_stderr);
	if (f->exposed_ports.n)
		dk_put(d->a, &v, "ExposedPorts", set_of(d, &f->exposed_ports));
	put_bool(d, &v, "Tty", f->tty);
	put_bool(d, &v, "OpenStdin", f->open_stdin);
	put_bool(d, &v, "StdinOnce", f->stdin_once);
	put_array(d, &v, "Env", &f->env);
	put_list(d, &v, "Cmd", &f->cmd);
	dk_put_omit(d->a, &v, "Healthcheck", f->healthcheck ? healthcheck(d, f->healthcheck)
						     : dk_null_pointer("container.HealthConfig"));
	put_text(d, &v, "Image", f->image);
	dk_put(d->a, &v, "Volumes", set_of(d, &f->volumes));
	put_text(d, &v, "WorkingDir", f->workdir);
	put_list(d, &v, "Entrypoint", &f->entrypoint);
	put_list(d, &v, "OnBuild", &f->on_build);
	dk_put(d->a, &v, "Labels", dk_string_map(d->a, &f->labels, false));
	if (f->stop_signal)
		put_text(d, &v, "StopSignal", f->stop_signal);
	if (f->stop_timeout.set)
		put_int(d, &v, "StopTimeout", f->stop_timeout.v);
	if (f->shell.n)
		put_list(d, &v, "Shell", &f->shell);
	return v;
}

struct dk_value dk_container_document(struct dk_context *c, const struct dk_store *s,
				      const struct dk_record *r)
{
	struct doc d = {.a = c->arena, .s = s, .r = r};
	struct dk_value v = dk_struct("types.ContainerJSON");
	char log[DK_ID_SIZE + 16];

	dk_container_look(s, r, &d.look);
	dk_log_name(log, sizeof(log), r->id, 0);
	dk_put_named(d.a, &v, "Id", "ID", dk_string(r->id));
	put_text(&d, &v, "Created", go_time(&d, r->created));
	put_text(&d, &v, "Path", r->path);
	put_array(&d, &v, "Args", &r->args);
	dk_put(d.a, &v, "State", state(&d));
	put_text(&d, &v, "Image", r->image_id);
	put_text(&d, &v, "ResolvConfPath", dk_container_path(s, r->id, "resolv.conf"));
	put_text(&d, &v, "HostnamePath", dk_container_path(s, r->id, "hostname"));
	put_text(&d, &v, "HostsPath", dk_container_path(s, r->id, "hosts"));
	put_text(&d, &v, "LogPath", str_eq(log_driver(&d), "none") ? ""
		 : dk_container_path(s, r->id, arena_strdup(d.a, log)));
	put_text(&d, &v, "Name", arena_printf(d.a, "/%s", r->name));
	put_int(&d, &v, "RestartCount", r->state.restart_count);
	put_text(&d, &v, "Driver", r->host_rootfs ? "host" : "overlay2");
	put_text(&d, &v, "Platform", "linux");
	put_text(&d, &v, "MountLabel", "");
	put_text(&d, &v, "ProcessLabel", "");
	put_text(&d, &v, "AppArmorProfile", dk_security_opt(&r->options, "apparmor"));
	dk_put(d.a, &v, "ExecIDs", dk_null_array());
	dk_put(d.a, &v, "HostConfig", host_config(&d));
	dk_put(d.a, &v, "GraphDriver", graph_driver(&d));
	dk_put(d.a, &v, "Mounts", mounts(&d));
	dk_put(d.a, &v, "Config", config(&d));
	dk_put(d.a, &v, "NetworkSettings", dk_network_document(d.a, s, r, &d.look));
	return v;
}

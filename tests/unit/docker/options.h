/* SPDX-License-Identifier: Apache-2.0 */
/* The options of run as the body that Docker's client sends to its engine, for comparing. */
#pragma once

#include "docker/commands.h"
#include "docker/value.h"

static struct dk_value set_of(struct arena *a, const struct strv *v)
{
	struct dk_value r = dk_dict();

	for (size_t i = 0; i < v->n; i++)
		dk_put(a, &r, v->v[i], dk_dict());
	return r;
}

static struct dk_value port_bindings(struct arena *a, const struct dk_run_options *o, bool exposed)
{
	struct dk_value r = dk_dict();

	for (size_t i = 0; i < o->ports.n; i++) {
		const struct dk_port *p = &o->ports.v[i];
		const char *key = arena_printf(a, "%u/%s", p->container_port, p->proto);
		struct dk_value binding = dk_dict(), list;

		if (exposed) {
			dk_put(a, &r, key, dk_dict());
			continue;
		}
		if (!p->published)
			continue;
		dk_put(a, &binding, "HostIp", dk_string(p->host_ip));
		dk_put(a, &binding, "HostPort", dk_string(p->host_port));
		list = dk_get(&r, key) ? *dk_get(&r, key) : dk_array();
		dk_push(a, &list, binding);
		dk_put(a, &r, key, list);
	}
	return r;
}

static struct dk_value network_endpoints(struct arena *a, const struct dk_run_options *o)
{
	struct dk_value r = dk_dict();

	for (size_t i = 0; i < o->networks.n; i++) {
		const struct dk_network_attach *n = &o->networks.v[i];
		struct dk_value v = dk_dict();

		if (n->aliases.n)
			dk_put(a, &v, "Aliases", dk_strings(a, &n->aliases, false));
		if (n->links.n)
			dk_put(a, &v, "Links", dk_strings(a, &n->links, false));
		if (n->link_local_ips.n)
			dk_put(a, &v, "LinkLocalIPs", dk_strings(a, &n->link_local_ips, false));
		if (n->ip)
			dk_put(a, &v, "IPv4Address", dk_string(n->ip));
		if (n->ip6)
			dk_put(a, &v, "IPv6Address", dk_string(n->ip6));
		if (n->mac)
			dk_put(a, &v, "MacAddress", dk_string(n->mac));
		if (n->driver_options.n)
			dk_put(a, &v, "DriverOpts", dk_string_map(a, &n->driver_options, false));
		if (n->gw_priority)
			dk_put(a, &v, "GwPriority", dk_int(n->gw_priority));
		dk_put(a, &r, n->name, v);
	}
	return r;
}

/* Members with a zero value are left out. */
static void put(struct arena *a, struct dk_value *r, const char *key, struct dk_value v)
{
	if (!dk_is_empty(&v))
		dk_put(a, r, key, v);
}

static struct dk_value mount_of(struct arena *a, const struct dk_mount *m)
{
	struct dk_value r = dk_dict();

	put(a, &r, "Type", dk_string(m->type_name));
	put(a, &r, "Source", dk_string(m->source));
	put(a, &r, "Target", dk_string(m->target));
	put(a, &r, "ReadOnly", dk_bool(m->readonly));
	put(a, &r, "Consistency", dk_string(m->consistency));
	put(a, &r, "Propagation", dk_string(m->propagation));
	put(a, &r, "NonRecursive", dk_bool(m->non_recursive));
	put(a, &r, "ReadOnlyNonRecursive", dk_bool(m->readonly_non_recursive));
	put(a, &r, "ReadOnlyForceRecursive", dk_bool(m->readonly_force_recursive));
	put(a, &r, "NoCopy", dk_bool(m->no_copy));
	put(a, &r, "Subpath", dk_string(m->subpath));
	put(a, &r, "Labels", dk_string_map(a, &m->labels, false));
	put(a, &r, "Driver", dk_string(m->driver));
	put(a, &r, "Options", dk_string_map(a, &m->driver_options, false));
	put(a, &r, "SizeBytes", dk_int(m->tmpfs_size));
	put(a, &r, "Mode", dk_int(m->tmpfs_mode));
	return r;
}

static void put_lists(struct arena *a, struct dk_value *r, const struct dk_run_options *o)
{
	struct dk_value mounts = dk_array(), ulimits = dk_array(), devices = dk_array(), hosts = dk_array(),
			gpus = dk_array();

	for (size_t i = 0; i < o->mount_specs.n; i++)
		dk_push(a, &mounts, mount_of(a, &o->mount_specs.v[i]));
	put(a, r, "Mounts", mounts);
	for (size_t i = 0; i < o->ulimits.n; i++)
		dk_push(a, &ulimits, dk_stringf(a, "%s=%lld:%lld", o->ulimits.v[i].name,
						(long long)o->ulimits.v[i].soft, (long long)o->ulimits.v[i].hard));
	put(a, r, "Ulimits", ulimits);
	for (size_t i = 0; i < o->devices.n; i++)
		dk_push(a, &devices, dk_stringf(a, "%s:%s:%s", o->devices.v[i].host, o->devices.v[i].container,
						o->devices.v[i].permissions));
	put(a, r, "Devices", devices);
	for (size_t i = 0; i < o->extra_hosts.n; i++)
		dk_push(a, &hosts, dk_stringf(a, "%s:%s", o->extra_hosts.v[i].name, o->extra_hosts.v[i].ip));
	put(a, r, "ExtraHosts", hosts);
	for (size_t i = 0; i < o->gpus.n; i++) {
		struct dk_value g = dk_dict();

		put(a, &g, "Driver", dk_string(o->gpus.v[i].driver));
		put(a, &g, "Count", dk_int(o->gpus.v[i].count));
		put(a, &g, "DeviceIDs", dk_strings(a, &o->gpus.v[i].ids, true));
		put(a, &g, "Capabilities", dk_strings(a, &o->gpus.v[i].capabilities, true));
		put(a, &g, "Options", dk_string_map(a, &o->gpus.v[i].options, true));
		dk_push(a, &gpus, g);
	}
	put(a, r, "Gpus", gpus);
	put(a, r, "Cdi", dk_strings(a, &o->cdi_devices, true));
}

static void put_health(struct arena *a, struct dk_value *r, const struct dk_health_options *h)
{
	struct dk_value v = dk_dict();

	put(a, &v, "None", dk_bool(h->none));
	put(a, &v, "Command", dk_string(h->command));
	put(a, &v, "Interval", dk_int(h->interval));
	put(a, &v, "Timeout", dk_int(h->timeout));
	put(a, &v, "StartPeriod", dk_int(h->start_period));
	put(a, &v, "StartInterval", dk_int(h->start_interval));
	put(a, &v, "Retries", dk_int(h->retries));
	put(a, r, "Healthcheck", v);
}

static struct dk_value options_value(struct arena *a, const struct dk_run_options *o)
{
	struct dk_value r = dk_dict();

	put(a, &r, "Env", dk_strings(a, &o->env, true));
	put(a, &r, "Cmd", dk_strings(a, &o->command, true));
	put(a, &r, "Image", dk_string(o->image));
	put(a, &r, "Labels", dk_string_map(a, &o->labels, true));
	put(a, &r, "Binds", dk_strings(a, &o->binds, true));
	put(a, &r, "Volumes", set_of(a, &o->anonymous));
	put(a, &r, "Tmpfs", dk_string_map(a, &o->tmpfs, true));
	put(a, &r, "ExposedPorts", port_bindings(a, o, true));
	put(a, &r, "PortBindings", port_bindings(a, o, false));
	put(a, &r, "Networks", network_endpoints(a, o));
	put(a, &r, "AttachStdin", dk_bool(o->attach_stdin));
	put(a, &r, "AttachStdout", dk_bool(o->attach_stdout));
	put(a, &r, "AttachStderr", dk_bool(o->attach_stderr));
	put(a, &r, "OpenStdin", dk_bool(o->interactive));
	put(a, &r, "Tty", dk_bool(o->tty));
	put(a, &r, "Memory", dk_int(o->memory));
	put(a, &r, "MemorySwap", dk_int(o->memory_swap));
	put(a, &r, "NanoCpus", dk_int(o->nano_cpus));
	put(a, &r, "PidsLimit", dk_int(o->pids_limit.v));
	put(a, &r, "ShmSize", dk_int(o->shm_size.v));
	put(a, &r, "BlkioWeight", dk_int(o->blkio_weight));
	put(a, &r, "Restart", str_eq(o->restart, "no") ? dk_string("")
						     : dk_stringf(a, "%s:%lld", o->restart, (long long)o->restart_max));
	put(a, &r, "SecurityOpt", dk_strings(a, &o->security_opt, true));
	put(a, &r, "LogOpts", dk_string_map(a, &o->log_opts, true));
	put(a, &r, "Sysctls", dk_string_map(a, &o->sysctls, true));
	put(a, &r, "CapAdd", dk_strings(a, &o->cap_add, true));
	put(a, &r, "CapDrop", dk_strings(a, &o->cap_drop, true));
	put(a, &r, "Dns", dk_strings(a, &o->dns, true));
	put(a, &r, "Init", o->init.set ? dk_stringf(a, "%d", o->init.v) : dk_nil());
	put(a, &r, "Entrypoint", o->entrypoint_set ? dk_stringf(a, "[%s]", o->entrypoint) : dk_nil());
	put_lists(a, &r, o);
	put_health(a, &r, &o->health);
	return r;
}

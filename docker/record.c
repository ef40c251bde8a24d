/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record's field tables, and the document on the disk. A power cut in the middle of a write
 * leaves the old record or the new one, never half of it.
 */
#include "docker/record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/log.h"
#include "base/str.h"
#include "docker/events.h"
#include "docker/remove.h"
#include "docker/volume.h"
#include "json/fields.h"

enum { RECORD_MAX = 4 << 20 };


/* ---- options ---- */

#define M(member, key, ...) JSON_FIELD(struct dk_mount, member, key, ##__VA_ARGS__)
static const struct json_field mount_fields[] = {
	M(type, "type"), M(origin, "origin"), M(source, "source"), M(target, "target"), M(mode, "mode"),
	M(readonly, "readonly"), M(propagation, "propagation"), M(consistency, "consistency"),
	M(no_copy, "noCopy"), M(create_source, "createSource"), M(non_recursive, "nonRecursive"),
	M(readonly_non_recursive, "readonlyNonRecursive"),
	M(readonly_force_recursive, "readonlyForceRecursive"), M(subpath, "subpath"), M(driver, "driver"),
	M(labels, "labels"), M(driver_options, "driverOptions"), M(tmpfs_options, "tmpfsOptions"),
	M(tmpfs_size, "tmpfsSize"), M(tmpfs_mode, "tmpfsMode"),
};
static const struct json_table mount_table = JSON_TABLE(struct dk_mount, mount_fields);

static const struct json_field ulimit_fields[] = {
	JSON_FIELD(struct dk_ulimit, name, "name"),
	JSON_FIELD(struct dk_ulimit, soft, "soft"),
	JSON_FIELD(struct dk_ulimit, hard, "hard"),
};
static const struct json_table ulimit_table = JSON_TABLE(struct dk_ulimit, ulimit_fields);

static const struct json_field device_fields[] = {
	JSON_FIELD(struct dk_device, host, "host"),
	JSON_FIELD(struct dk_device, container, "container"),
	JSON_FIELD(struct dk_device, permissions, "permissions"),
};
static const struct json_table device_table = JSON_TABLE(struct dk_device, device_fields);

static const struct json_field rate_fields[] = {
	JSON_FIELD(struct dk_device_rate, path, "path"),
	JSON_FIELD(struct dk_device_rate, rate, "rate"),
};
static const struct json_table rate_table = JSON_TABLE(struct dk_device_rate, rate_fields);

static const struct json_field host_fields[] = {
	JSON_FIELD(struct dk_extra_host, name, "name"),
	JSON_FIELD(struct dk_extra_host, ip, "ip"),
};
static const struct json_table host_table = JSON_TABLE(struct dk_extra_host, host_fields);

static const struct json_field gpu_fields[] = {
	JSON_FIELD(struct dk_gpu_request, driver, "driver"),
	JSON_FIELD(struct dk_gpu_request, count, "count"),
	JSON_FIELD(struct dk_gpu_request, ids, "ids"),
	JSON_FIELD(struct dk_gpu_request, capabilities, "capabilities"),
	JSON_FIELD(struct dk_gpu_request, options, "options"),
};
static const struct json_table gpu_table = JSON_TABLE(struct dk_gpu_request, gpu_fields);

static const struct json_field health_fields[] = {
	JSON_FIELD(struct dk_health_options, set, "set"),
	JSON_FIELD(struct dk_health_options, none, "none"),
	JSON_FIELD(struct dk_health_options, command, "command"),
	JSON_FIELD(struct dk_health_options, interval, "interval"),
	JSON_FIELD(struct dk_health_options, timeout, "timeout"),
	JSON_FIELD(struct dk_health_options, start_period, "startPeriod"),
	JSON_FIELD(struct dk_health_options, start_interval, "startInterval"),
	JSON_FIELD(struct dk_health_options, retries, "retries"),
};
static const struct json_table health_table = JSON_TABLE(struct dk_health_options, health_fields);

#define O(member, key, ...) JSON_FIELD(struct dk_run_options, member, key, ##__VA_ARGS__)
static const struct json_field options_fields[] = {
	O(detach, "detach"), O(interactive, "interactive"), O(tty, "tty"), O(remove, "remove"),
	O(cidfile, "cidfile"), O(detach_keys, "detachKeys"),
	O(init, "init"), O(group_add, "groupAdd"), O(annotations, "annotations"),
	O(read_only, "readOnly"), O(binds, "binds"), O(tmpfs, "tmpfs"),
	O(mount_specs, "mountSpecs", .sub = &mount_table), O(mounts, "mounts", .sub = &mount_table),
	O(volumes_from, "volumesFrom"), O(volume_driver, "volumeDriver"), O(shm_size, "shmSize"),
	O(storage_opt, "storageOpt"),
	O(memory, "memory"), O(memory_reservation, "memoryReservation"), O(memory_swap, "memorySwap"),
	O(kernel_memory, "kernelMemory"), O(memory_swappiness, "memorySwappiness"),
	O(nano_cpus, "nanoCpus"), O(cpu_shares, "cpuShares"), O(cpu_period, "cpuPeriod"),
	O(cpu_quota, "cpuQuota"), O(cpu_rt_period, "cpuRtPeriod"), O(cpu_rt_runtime, "cpuRtRuntime"),
	O(cpuset_cpus, "cpusetCpus"), O(cpuset_mems, "cpusetMems"), O(pids_limit, "pidsLimit"),
	O(blkio_weight, "blkioWeight"),
	O(blkio_weight_device, "blkioWeightDevice", .sub = &rate_table),
	O(read_bps, "readBps", .sub = &rate_table), O(write_bps, "writeBps", .sub = &rate_table),
	O(read_iops, "readIops", .sub = &rate_table), O(write_iops, "writeIops", .sub = &rate_table),
	O(ulimits, "ulimits", .sub = &ulimit_table), O(oom_kill_disable, "oomKillDisable"),
	O(oom_score_adj, "oomScoreAdj"), O(cgroup_parent, "cgroupParent"),
	O(privileged, "privileged"), O(cap_add, "capAdd"), O(cap_drop, "capDrop"),
	O(security_opt, "securityOpt"), O(systempaths_unconfined, "systempathsUnconfined"),
	O(userns, "userns"), O(pid, "pid"), O(ipc, "ipc"), O(uts, "uts"), O(cgroupns, "cgroupns"),
	O(sysctls, "sysctls"), O(devices, "devices", .sub = &device_table),
	O(device_cgroup_rules, "deviceCgroupRules"), O(cdi_devices, "cdiDevices"),
	O(gpus, "gpus", .sub = &gpu_table), O(runtime, "runtime"), O(isolation, "isolation"),
	O(links, "links"), O(publish_all, "publishAll"), O(mac_address, "macAddress"),
	O(dns, "dns"), O(dns_option, "dnsOption"), O(dns_search, "dnsSearch"),
	O(extra_hosts, "extraHosts", .sub = &host_table),
	O(restart, "restart"), O(restart_max, "restartMax"),
	O(log_driver, "logDriver"), O(log_opts, "logOpts"),
	JSON_INLINE(struct dk_run_options, health, "health", .sub = &health_table),
};
static const struct json_table options_table = JSON_TABLE(struct dk_run_options, options_fields);

/* ---- the rest ---- */

static const struct json_field check_fields[] = {
	JSON_FIELD(struct img_healthcheck, test, "test"),
	JSON_FIELD(struct img_healthcheck, interval, "interval"),
	JSON_FIELD(struct img_healthcheck, timeout, "timeout"),
	JSON_FIELD(struct img_healthcheck, start_period, "startPeriod"),
	JSON_FIELD(struct img_healthcheck, start_interval, "startInterval"),
	JSON_FIELD(struct img_healthcheck, retries, "retries"),
};
static const struct json_table check_table = JSON_TABLE(struct img_healthcheck, check_fields);

#define C(member, key, ...) JSON_FIELD(struct dk_container_config, member, key, ##__VA_ARGS__)
static const struct json_field config_fields[] = {
	C(hostname, "hostname"), C(domainname, "domainname"), C(user, "user"), C(workdir, "workdir"),
	C(stop_signal, "stopSignal"), C(image, "image"), C(attach_stdin, "attachStdin"),
	C(attach_stdout, "attachStdout"), C(attach_stderr, "attachStderr"), C(tty, "tty"),
	C(open_stdin, "openStdin"), C(stdin_once, "stdinOnce"), C(stop_timeout, "stopTimeout"),
	C(env, "env"), C(cmd, "cmd"), C(entrypoint, "entrypoint"), C(on_build, "onBuild"),
	C(shell, "shell"), C(entrypoint_null, "entrypointNull"), C(labels, "labels"),
	C(volumes, "volumes"), C(exposed_ports, "exposedPorts"),
	C(healthcheck, "healthcheck", .sub = &check_table),
};
static const struct json_table config_table = JSON_TABLE(struct dk_container_config, config_fields);

#define S(member, key) JSON_FIELD(struct dk_state, member, key)
static const struct json_field state_fields[] = {
	S(status, "status"), S(exit_code, "exitCode"), S(error, "error"), S(started, "started"),
	S(finished, "finished"), S(oom_killed, "oomKilled"), S(restart_count, "restartCount"),
	S(stopped_by_user, "stoppedByUser"), S(paused, "paused"),
};
static const struct json_table state_table = JSON_TABLE(struct dk_state, state_fields);

#define R(member, key, ...) JSON_FIELD(struct dk_record, member, key, ##__VA_ARGS__)
static const struct json_field record_fields[] = {
	R(version, "version", .required = true), R(id, "id", .required = true),
	R(name, "name", .required = true), R(created, "created", .required = true),
	R(image_id, "imageId", .required = true), R(host_rootfs, "hostRootfs"), R(layers, "layers"),
	R(path, "path", .required = true), R(args, "args"),
	JSON_INLINE(struct dk_record, config, "config", .required = true, .sub = &config_table),
	JSON_INLINE(struct dk_record, options, "options", .required = true, .sub = &options_table),
	R(mount_paths, "mountPaths"),
	JSON_INLINE(struct dk_record, network, "network", .sub = &dk_network_settings_table),
	R(needs_upper, "needsUpper"),
	JSON_INLINE(struct dk_record, state, "state", .required = true, .sub = &state_table),
};
const struct json_table dk_record_table = JSON_TABLE(struct dk_record, record_fields);

/* ---- reading ---- */

static int check(const struct dk_record *r, const char *id, struct err *e)
{
	if (r->version != DK_RECORD_VERSION)
		return err_set(e, EINVAL, "the record of container %.12s has version %u, which is not ours", id,
			       r->version);
	if (!str_eq(r->id, id) || !dk_valid_name(r->name) || !r->state.status)
		return err_set(e, EINVAL, "the record of container %.12s is not of it", id);
	if (r->mount_paths.n != r->options.mounts.n)
		return err_set(e, EINVAL, "the record of container %.12s: mounts without paths", id);
	return 0;
}

static int load_at(int dir, const char *id, struct arena *a, struct dk_record **ret, struct err *e)
{
	auto_strbuf struct strbuf text = {0};
	struct dk_record *r = arena_new_of(a, struct dk_record);
	const struct json *doc;
	int code = io_read_file(dir, "record.json", RECORD_MAX, &text, e);

	if (code == 0)
		code = json_parse(strbuf_str(&text), text.len, a, &doc, e);
	if (code == 0)
		code = json_read_struct(&(struct json_reader){a, "", e}, doc, &dk_record_table, r);
	if (code == 0)
		code = check(r, id, e);
	if (code < 0)
		return code == -ENOENT ? code : err_wrap(e, "read the record of container %.12s", id);
	*ret = r;
	return 0;
}

static int open_container(const struct dk_store *s, const char *id)
{
	int fd = openat(s->containers, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int dk_record_load(const struct dk_store *s, const char *id, struct arena *a,
		   struct dk_record **ret, struct err *e)
{
	auto_close int dir = open_container(s, id);

	if (dir == -ENOENT) {
		e->code = ENOENT;
		return -ENOENT;
	}
	return dir < 0 ? err_set(e, -dir, "open container %.12s: %s", id, err_name(-dir))
		       : load_at(dir, id, a, ret, e);
}

/* ---- writing ---- */

/* The name is new before the rename, so the disk must have the content first. */
static int write_synced(int dir, const struct strbuf *text, struct err *e)
{
	auto_close int fd = openat(dir, "record.new", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r;

	if (fd < 0)
		return err_sys(e, "write the record: make the file");
	r = io_write_all(fd, text->p, text->len);
	if (r == 0 && fdatasync(fd) < 0)
		r = -errno;
	if (r == 0 && renameat(dir, "record.new", dir, "record.json") < 0)
		r = -errno;
	if (r == 0)
		return 0;
	unlinkat(dir, "record.new", 0);
	return err_set(e, -r, "write the record: %s", err_name(-r));
}

static int save_at(int dir, const struct dk_record *r, struct err *e)
{
	auto_strbuf struct strbuf text = {0};
	struct json_writer w;

	json_writer_init(&w, &text, false);
	json_write_struct(&w, &dk_record_table, r);
	strbuf_addc(&text, '\n');
	if (r->options.remove)
		return io_replace_file(dir, "record.json", &text, 0600, e);
	return write_synced(dir, &text, e);
}

int dk_record_save(const struct dk_store *s, const struct dk_record *r, struct err *e)
{
	auto_close int dir = open_container(s, r->id);

	return dir < 0 ? err_set(e, -dir, "open container %.12s: %s", r->id, err_name(-dir))
		       : save_at(dir, r, e);
}

int dk_record_update(const struct dk_store *s, const char *id, dk_change_fn *fn, void *arg,
		     struct err *e)
{
	auto_arena struct arena *a = arena_new();
	auto_close int dir = open_container(s, id);
	struct dk_record *r;
	int code;

	if (dir < 0)
		return err_set(e, -dir, "open container %.12s: %s", id, err_name(-dir));
	if (flock(dir, LOCK_EX) < 0)
		return err_sys(e, "lock container %.12s", id);
	code = load_at(dir, id, a, &r, e);
	if (code == 0)
		code = fn(r, arg, e);
	if (code == 0)
		code = save_at(dir, r, e);
	return code < 0 ? code : 0;
}

/* ---- removing ---- */

static bool is_other(struct dk_record *r, const struct dk_record *mine, const char *volume)
{
	for (size_t i = 0; !str_eq(r->id, mine->id) && i < r->options.mounts.n; i++)
		if (r->options.mounts.v[i].type == DK_MOUNT_VOLUME &&
		    str_eq(r->options.mounts.v[i].source, volume))
			return true;
	return false;
}

struct volume_use { const struct dk_record *mine; const char *volume; bool used; };

static int note_use(struct dk_record *r, void *arg)
{
	struct volume_use *u = arg;

	u->used |= is_other(r, u->mine, u->volume);
	return 0;
}

/* Anonymous ones that nobody else has. */
static void remove_volumes(const struct dk_store *s, const struct dk_record *r)
{
	auto_arena struct arena *a = arena_new();
	struct err e = {0};

	for (size_t i = 0; i < r->options.mounts.n; i++) {
		const struct dk_mount *m = &r->options.mounts.v[i];
		struct volume_use u = {r, m->source, false};
		struct dk_volume v;

		if (m->type != DK_MOUNT_VOLUME || !m->source || dk_volume_find(a, &s->roots, m->source, &v, &e) < 0 ||
		    !v.anonymous)
			continue;
		if (dk_record_each(s, a, note_use, &u, &e) == 0 && !u.used &&
		    dk_volume_remove(&s->roots, m->source, &e) < 0)
			log_warning("%s", e.msg);
	}
}

/* What a container wrote goes first: where that fails, its record and name are still there. */
static int remove_written(const struct dk_store *s, const char *id, struct err *e)
{
	auto_close int dir = open_container(s, id);

	if (dir < 0)
		return 0;
	return dk_remove_tree(dir, "rw", e);
}

void dk_record_refresh_name(const struct dk_store *s, struct arena *a, struct dk_record *r)
{
	char holder[DK_ID_SIZE];
	struct dk_record *now;

	if (dk_name_lookup(s, r->name, holder) && str_eq(holder, r->id))
		return;
	if (dk_record_load(s, r->id, a, &now, &(struct err){0}) == 0)
		r->name = now->name;
}

int dk_record_remove(const struct dk_store *s, const char *id, const struct dk_record *r, bool volumes,
		     struct err *e)
{
	int code = remove_written(s, id, e);

	if (code < 0)
		return err_wrap(e, "remove container %.12s", id);
	if (r && volumes)
		remove_volumes(s, r);
	if (r)
		dk_name_release(s, r->name, id);
	else
		dk_name_release_all(s, id);
	code = dk_remove_tree(s->containers, id, e);
	if (code < 0)
		return err_wrap(e, "remove container %.12s", id);
	if (r && r->state.status) /* else it never got as far as to be one */
		dk_container_event(s, r, "destroy", (struct dk_event_fact){0});
	return 0;
}

int dk_record_each(const struct dk_store *s, struct arena *a,
		   int (*fn)(struct dk_record *r, void *arg), void *arg, struct err *e)
{
	int fd = openat(s->containers, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), code = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d)
		return err_sys(e, "list the containers");
	for (struct dirent *de; code >= 0 && (de = readdir(d));) {
		struct dk_record *r;
		struct err bad = {0};

		if (!img_is_hex(de->d_name, DK_ID_SIZE - 1))
			continue;
		if (dk_record_load(s, de->d_name, a, &r, &bad) == 0)
			code = fn(r, arg);
		else if (bad.code != ENOENT)
			log_warning("%s", bad.msg);
	}
	closedir(d);
	return code < 0 ? code : 0;
}

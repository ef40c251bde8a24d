/* SPDX-License-Identifier: Apache-2.0 */
/* A container's record by its field table, and the OCI objects made from it. */
#include "spec/state.h"

#include <stdio.h>
#include <time.h>

#include "base/str.h"
#include "spec/check.h"
#include "spec/names.h"
#include "spec/spec.h"

static const struct json_field namespace_fields[] = {
	JSON_FIELD(struct spec_state_namespace, type, "type", .required = true,
		   .names = oci_namespace_names),
	JSON_FIELD(struct spec_state_namespace, path, "path"),
};
static const struct json_table namespace_table =
	JSON_TABLE(struct spec_state_namespace, namespace_fields);

static const struct json_field cgroup_fields[] = {
	JSON_FIELD(struct spec_state_cgroup, manager, "manager"),
	JSON_FIELD(struct spec_state_cgroup, paths, "paths"),
	JSON_FIELD(struct spec_state_cgroup, made, "made"),
	JSON_FIELD(struct spec_state_cgroup, scope, "scope"),
	JSON_FIELD(struct spec_state_cgroup, slice, "slice"),
	JSON_FIELD(struct spec_state_cgroup, user, "user"),
};
static const struct json_table cgroup_table = JSON_TABLE(struct spec_state_cgroup, cgroup_fields);

static const char *const phases[] = {"creating", "created", "running", NULL};

static const struct json_field state_fields[] = {
	JSON_FIELD(struct spec_state, version, "version", .required = true),
	JSON_FIELD(struct spec_state, oci_version, "ociVersion"),
	JSON_FIELD(struct spec_state, id, "id", .required = true),
	JSON_FIELD(struct spec_state, bundle, "bundle"),
	JSON_FIELD(struct spec_state, rootfs, "rootfs"),
	JSON_FIELD(struct spec_state, created, "created"),
	JSON_FIELD(struct spec_state, phase, "phase", .names = phases),
	JSON_FIELD(struct spec_state, init_pid, "initPid"),
	JSON_FIELD(struct spec_state, init_start_time, "initStartTime"),
	JSON_FIELD(struct spec_state, boot_id, "bootId"),
	JSON_FIELD(struct spec_state, owner_pid, "ownerPid"),
	JSON_FIELD(struct spec_state, owner_start_time, "ownerStartTime"),
	JSON_FIELD(struct spec_state, ephemeral, "ephemeral"),
	JSON_FIELD(struct spec_state, systemd, "systemd"),
	JSON_FIELD(struct spec_state, rootless, "rootless"),
	JSON_FIELD(struct spec_state, cgroup, "cgroup", .sub = &cgroup_table),
	JSON_FIELD(struct spec_state, namespaces, "namespaces", .sub = &namespace_table),
	JSON_FIELD(struct spec_state, console_socket, "consoleSocket"),
	JSON_FIELD(struct spec_state, intel_rdt_dir, "intelRdtDir"),
	JSON_FIELD(struct spec_state, annotations, "annotations"),
	JSON_FIELD(struct spec_state, config, "config", .sub = &oci_spec_table),
};
const struct json_table spec_state_table = JSON_TABLE(struct spec_state, state_fields);

/* Directories below these paths get removed: a damaged state must not lead elsewhere. */
static int check_cgroup(const struct spec_state_cgroup *c, struct err *e)
{
	const struct strv *lists[] = {&c->paths, &c->made};

	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < lists[k]->n; i++)
			if (check_has_dotdot(lists[k]->v[i]) || check_has_control(lists[k]->v[i]))
				return check_fail(e, "cgroup: \"%.64s\" is not a clean path",
						  lists[k]->v[i]);
	return 0;
}

static int check_state(const struct spec_state *s, struct err *e)
{
	if (s->version != SPEC_STATE_VERSION)
		return check_fail(e, "version: %u was written by another brig, this one knows %d",
				  s->version, SPEC_STATE_VERSION);
	if (!str_valid_id(s->id))
		return check_fail(e, "id: \"%.64s\" is not a container id", s->id);
	if (s->init_pid < 0 || s->init_pid > INT32_MAX)
		return check_fail(e, "initPid: %lld is not a process id", (long long)s->init_pid);
	if (s->owner_pid.v < 0 || s->owner_pid.v > INT32_MAX)
		return check_fail(e, "ownerPid: %lld is not a process id",
				  (long long)s->owner_pid.v);
	return s->cgroup ? check_cgroup(s->cgroup, e) : 0;
}

int spec_state_parse(const char *text, size_t len, struct arena *a, struct spec_state **ret,
		     struct err *e)
{
	struct spec_state *s = arena_new_of(a, struct spec_state);
	const struct json *v = NULL;
	int r = json_parse(text, len, a, &v, e);

	if (r == 0)
		r = json_read_struct(&(struct json_reader){a, "", e}, v, &spec_state_table, s);
	if (r == 0)
		r = check_state(s, e);
	if (r < 0)
		return err_wrap(e, "record");
	*ret = s;
	return 0;
}

void spec_state_write(struct json_writer *w, const struct spec_state *s)
{
	json_write_struct(w, &spec_state_table, s);
}

static void write_members(struct json_writer *w, const struct spec_state *s, const char *status,
			  pid_t pid)
{
	json_member_str(w, "ociVersion", s->oci_version ? s->oci_version : OCI_VERSION);
	json_member_str(w, "id", s->id);
	json_member_str(w, "status", status);
	json_member_i64(w, "pid", pid);
	json_member_str(w, "bundle", s->bundle ? s->bundle : "");
	if (s->rootfs)
		json_member_str(w, "rootfs", s->rootfs);
	if (s->created)
		json_member_str(w, "created", s->created);
	if (s->annotations.n) {
		json_key(w, "annotations");
		json_begin_object(w);
		for (size_t i = 0; i < s->annotations.n; i++)
			json_member_str(w, s->annotations.v[i].key, s->annotations.v[i].value);
		json_end_object(w);
	}
}

void spec_state_write_oci(struct json_writer *w, const struct spec_state *s, const char *status,
			  pid_t pid)
{
	json_begin_object(w);
	write_members(w, s, status, pid);
	json_end_object(w);
}

void spec_state_write_listed(struct json_writer *w, const struct spec_state *s, const char *status,
			     pid_t pid, const char *owner)
{
	json_begin_object(w);
	write_members(w, s, status, pid);
	json_member_str(w, "owner", owner);
	json_end_object(w);
}

void spec_state_write_seccomp(struct json_writer *w, const struct spec_state *s, const char *status,
			      pid_t pid, const char *metadata)
{
	json_begin_object(w);
	json_member_str(w, "ociVersion", s->oci_version ? s->oci_version : OCI_VERSION);
	json_key(w, "fds");
	json_begin_array(w);
	json_str(w, "seccompFd");
	json_end_array(w);
	json_member_i64(w, "pid", pid);
	if (metadata)
		json_member_str(w, "metadata", metadata);
	json_key(w, "state");
	spec_state_write_oci(w, s, status, s->init_pid ? (pid_t)s->init_pid : pid);
	json_end_object(w);
}

/* Days since 1970-01-01 to a date of the Gregorian calendar; years are counted from March, so that
 * the leap day is the last one. gmtime_r would open /etc/localtime. */
static void date_of_days(int64_t days, int *ret_year, int *ret_month, int *ret_day)
{
	int64_t n = days + 719468;                  /* since 0000-03-01 */
	int64_t era = n / 146097, day = n % 146097; /* 400 years */
	int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	int64_t month;

	day -= 365 * year + year / 4 - year / 100;
	month = (5 * day + 2) / 153; /* 0 is March */
	*ret_day = (int)(day - (153 * month + 2) / 5 + 1);
	*ret_month = (int)(month < 10 ? month + 3 : month - 9);
	*ret_year = (int)(year + era * 400 + (month >= 10));
}

char *spec_time_format(char *buf, int64_t secs, long nanosecs)
{
	int year, month, day, in_day = (int)(secs % 86400);

	date_of_days(secs / 86400, &year, &month, &day);
	snprintf(buf, SPEC_TIME_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d.%09ldZ", year, month, day,
		 in_day / 3600, in_day / 60 % 60, in_day % 60, nanosecs);
	return buf;
}

char *spec_time_now(char *buf)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return spec_time_format(buf, now.tv_sec, now.tv_nsec);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Annotations by which callers of crun say what has a place in config.json today: they are put there
 * before the document is checked, and so kept with it. What config.json says itself wins.
 */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "spec/annotations.h"
#include "spec/check.h"
#include "spec/spec.h"

const struct spec_annotation_info spec_annotations[] = {
	{"module.wasm.image/variant", "`compat`: as `run.oci.handler` with `wasm`, where that is not given; `compat-smart`: the "
				      "same where the program's name ends in `.wasm` or `.wat`", false},
	{"org.brig.proc", "`bind`: show the existing /proc instead of a new one, which a masked /proc does not allow; `new`: "
			  "the default", false},
	{"org.criu.config", "file with further options for criu (`checkpoint`, `restore`)", false},
	{"org.systemd.property.", "property of the scope, with the systemd driver; the value as `busctl` and `gdbus` have it",
	 false},
	{"run.oci.delegate-cgroup", "name of a cgroup below the container's: the program is in it, owns it, and has no limits "
				    "there but those above. A cgroup namespace shows the container's. cgroup v2 only", false},
	{"run.oci.handler", "name of a program of the host that runs what the container has as its program, a WebAssembly "
			    "module for example; see `--handler-dir`", false},
	{"run.oci.hooks.stderr", "file to which the hooks' standard error is appended", false},
	{"run.oci.hooks.stdout", "file to which the hooks' standard output is appended", false},
	{"run.oci.keep_original_groups", "the caller's supplementary groups stay; any value", false},
	{"run.oci.mount_context_type", "`context`, `fscontext`, `defcontext` or `rootcontext`: the mount option by which "
				       "`linux.mountLabel` is set", true},
	{"run.oci.pidfd_receiver", "unix socket that gets a pidfd of the container's process, as `--pidfd-socket`", false},
	{"run.oci.seccomp.receiver", "as `linux.seccomp.listenerPath`, where that is not given; so is the variable "
				     "`RUN_OCI_SECCOMP_RECEIVER` of the caller", false},
	{"run.oci.seccomp_bpf_data", "base64 of a BPF program that stands in for `linux.seccomp`", false},
	{"run.oci.seccomp_fail_unknown_syscall", "unknown names of system calls in `linux.seccomp` are an error; any value "
						 "but `0`", true},
	{"run.oci.systemd.subgroup", "name of the cgroup below the scope, with the systemd driver; empty: the scope itself. "
				     "Default: `container`", true},
	{"run.oci.timens_offset", "`CLOCK SECONDS NANOSECONDS`, one a line: as `linux.timeOffsets`, where that is not given",
	 true},
	{0}};

#define OFFSETS "run.oci.timens_offset"
#define RECEIVER "run.oci.seccomp.receiver"

/* The next word of a line, cut off; NULL: there is none. */
static char *next_word(char **line)
{
	char *word = *line + strspn(*line, " \t");

	*line = word + strcspn(word, " \t");
	if (**line)
		*(*line)++ = '\0';
	return *word ? word : NULL;
}

/* "monotonic 3600 0", as for /proc/PID/timens_offsets: CLOCK_BOOTTIME is 7, CLOCK_MONOTONIC 1. */
static int read_offset(struct arena *a, char *line, struct oci_time_offsets *t)
{
	static const char *const clocks[] = {"boottime", "7", "monotonic", "1", NULL};
	char *word[4];
	struct oci_time_offset *o = arena_new_of(a, struct oci_time_offset);
	uint64_t nanosecs;
	int clock;

	for (int i = 0; i < 4; i++)
		word[i] = next_word(&line);
	clock = word[0] ? str_index(clocks, word[0]) : -1;
	if (clock < 0 || !word[1] || !word[2] || word[3] ||
	    str_i64(word[1], &o->secs.v) < 0 || str_u64(word[2], 999999999, &nanosecs) < 0)
		return -1;
	o->secs.set = o->nanosecs.set = true;
	o->nanosecs.v = (uint32_t)nanosecs;
	*(clock < 2 ? &t->boottime : &t->monotonic) = o;
	return 0;
}

static int use_offsets(struct arena *a, struct oci_linux *l, const char *value, struct err *e)
{
	const struct oci_namespace *ns = check_find_namespace(l, "time");
	struct oci_time_offsets *t = arena_new_of(a, struct oci_time_offsets);
	char *save = NULL, *text = arena_strdup(a, value);

	if (!ns || ns->path || l->time_offsets)
		return 0;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (read_offset(a, line, t) < 0)
			return check_fail(e, "annotations." OFFSETS ": \"%.64s\" is not CLOCK SECONDS NANOSECONDS, with "
					     "monotonic or boottime as the clock", value);
	l->time_offsets = t;
	return 0;
}

int spec_use_annotations(struct arena *a, struct oci_spec *s, struct err *e)
{
	const char *offsets = spec_annotation(s, OFFSETS), *receiver = spec_annotation(s, RECEIVER);
	struct oci_seccomp *sc = s->linux_ ? s->linux_->seccomp : NULL;

	if (!receiver)
		receiver = getenv("RUN_OCI_SECCOMP_RECEIVER");
	if (receiver && !check_is_absolute(receiver))
		return check_fail(e, RECEIVER ": \"%.64s\" is not an absolute path", receiver);
	if (receiver && sc && (!sc->listener_path || !*sc->listener_path))
		sc->listener_path = arena_strdup(a, receiver);
	return offsets && s->linux_ ? use_offsets(a, s->linux_, offsets, e) : 0;
}

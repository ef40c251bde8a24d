/* SPDX-License-Identifier: Apache-2.0 */
/* The flags of the commands that work on containers that exist. */
#include "docker/commands.h"
#include "docker/flag-tables.h"

#define FORMAT_HELP                                                                          \
	"Format of the output:\n'json':             JSON\n'TEMPLATE':         by this Go template"
#define TABLE_HELP                                                                           \
	"Format of the output:\n'table':            a table with headers (default)\n"         \
	"'table TEMPLATE':   a table by this Go template\n'json':             JSON\n"          \
	"'TEMPLATE':         by this Go template"

static const struct dk_flag exec_rows[] = {
#define F(...) DK_FLAG(struct dk_exec_options, __VA_ARGS__)
	F(detach, "detach", 'd', DK_BOOL, "Run the command in the background"),
	F(detach_keys, "detach-keys", 0, DK_STRING, "Keys that detach from the container"),
	F(env_flags, "env", 'e', DK_LIST, "Set an environment variable, or take it over", .parse = dk_flag_env),
	F(env_files, "env-file", 0, DK_LIST, "Read environment variables from a file"),
	F(interactive, "interactive", 'i', DK_BOOL, "Keep STDIN open even if not attached"),
	F(privileged, "privileged", 0, DK_BOOL, "Give the command all privileges of the container's"),
	F(tty, "tty", 't', DK_BOOL, "Allocate a pseudo terminal"),
	F(user, "user", 'u', DK_STRING, "User to run as (format: <name|uid>[:<group|gid>])"),
	F(workdir, "workdir", 'w', DK_STRING, "Working directory in the container"),
#undef F
};
const struct dk_flag_table dk_exec_flags = DK_FLAGS(struct dk_exec_options, exec_rows);

static const struct dk_flag update_rows[] = {
#define F(...) DK_FLAG(struct dk_update_options, __VA_ARGS__)
	F(blkio_weight, "blkio-weight", 0, DK_UINT16, "Weight for block IO, 10 to 1000, or 0 for none (default 0)"),
	F(cpu_period, "cpu-period", 0, DK_INT, "Period of the CPU limit, in microseconds"),
	F(cpu_quota, "cpu-quota", 0, DK_INT, "CPU time per period, in microseconds"),
	F(cpu_rt_period, "cpu-rt-period", 0, DK_INT, "Period of the real-time limit, in microseconds"),
	F(cpu_rt_runtime, "cpu-rt-runtime", 0, DK_INT, "Real-time CPU time per period, in microseconds"),
	F(cpu_shares, "cpu-shares", 'c', DK_INT, "CPU shares (relative weight)"),
	F(nano_cpus, "cpus", 0, DK_CPUS, "Number of CPUs"),
	F(cpuset_cpus, "cpuset-cpus", 0, DK_STRING, "CPUs to run on (0-3, 0,1)"),
	F(cpuset_mems, "cpuset-mems", 0, DK_STRING, "Memory nodes to use (0-3, 0,1)"),
	F(kernel_memory, "kernel-memory", 0, DK_BYTES, "Limit of kernel memory", .hidden = true),
	F(memory, "memory", 'm', DK_BYTES, "Limit of memory"),
	F(memory_reservation, "memory-reservation", 0, DK_BYTES, "Memory that the container may keep when it is short"),
	F(memory_swap, "memory-swap", 0, DK_SWAP, "Limit of memory and swap together: '-1' for unlimited swap"),
	F(pids_limit, "pids-limit", 0, DK_OPT_INT, "Limit of processes and threads (-1 for unlimited)"),
	F(restart_flag, "restart", 0, DK_STRING, "What to do when the container exits"),
#undef F
};
const struct dk_flag_table dk_update_flags = DK_FLAGS(struct dk_update_options, update_rows);

static const struct dk_flag ps_rows[] = {
#define F(...) DK_FLAG(struct dk_ps_options, __VA_ARGS__)
	F(all, "all", 'a', DK_BOOL, "Show all containers, not only running ones"),
	F(filter, "filter", 'f', DK_FILTER, "Show only what matches a condition"),
	F(format, "format", 0, DK_STRING, TABLE_HELP),
	F(last, "last", 'n', DK_INT, "Show the newest n containers, whatever their state", .def = "-1"),
	F(latest, "latest", 'l', DK_BOOL, "Show the newest container, whatever its state"),
	F(no_trunc, "no-trunc", 0, DK_BOOL, "Do not cut anything off"),
	F(quiet, "quiet", 'q', DK_BOOL, "Show IDs only"),
	F(size, "size", 's', DK_BOOL, "Show sizes"),
#undef F
};
const struct dk_flag_table dk_ps_flags = DK_FLAGS(struct dk_ps_options, ps_rows);

/* ---- inspect, for each kind of object ---- */

#define F(...) DK_FLAG(struct dk_inspect_options, __VA_ARGS__)
static const struct dk_flag inspect_rows[] = {
	F(format, "format", 'f', DK_STRING, FORMAT_HELP),
	F(size, "size", 's', DK_BOOL, "Show sizes, if the object is a container"),
	F(type, "type", 0, DK_STRING, "Look only for objects of this type"),
};
const struct dk_flag_table dk_inspect_flags = DK_FLAGS(struct dk_inspect_options, inspect_rows);

static const struct dk_flag container_inspect_rows[] = {
	F(format, "format", 'f', DK_STRING, FORMAT_HELP),
	F(size, "size", 's', DK_BOOL, "Show sizes"),
};
const struct dk_flag_table dk_container_inspect_flags =
	DK_FLAGS(struct dk_inspect_options, container_inspect_rows);

static const struct dk_flag image_inspect_rows[] = {
	F(format, "format", 'f', DK_STRING, FORMAT_HELP),
	F(platform, "platform", 0, DK_STRING, "Platform of the image: os[/arch[/variant]]"),
};
const struct dk_flag_table dk_image_inspect_flags = DK_FLAGS(struct dk_inspect_options, image_inspect_rows);

static const struct dk_flag network_inspect_rows[] = {
	F(format, "format", 'f', DK_STRING, FORMAT_HELP),
	F(verbose, "verbose", 'v', DK_BOOL, "Show more", .no_effect = true),
};
const struct dk_flag_table dk_network_inspect_flags =
	DK_FLAGS(struct dk_inspect_options, network_inspect_rows);

static const struct dk_flag plain_inspect_rows[] = {
	F(format, "format", 'f', DK_STRING, FORMAT_HELP),
};
const struct dk_flag_table dk_plain_inspect_flags = DK_FLAGS(struct dk_inspect_options, plain_inspect_rows);
#undef F

/* ---- life cycle ---- */

static const struct dk_flag rm_rows[] = {
#define F(...) DK_FLAG(struct dk_rm_options, __VA_ARGS__)
	F(force, "force", 'f', DK_BOOL, "Remove also a running container (kills it)"),
	F(link, "link", 'l', DK_BOOL, "Remove a link"),
	F(volumes, "volumes", 'v', DK_BOOL, "Remove the container's anonymous volumes"),
#undef F
};
const struct dk_flag_table dk_rm_flags = DK_FLAGS(struct dk_rm_options, rm_rows);

static const struct dk_flag stop_rows[] = {
#define F(...) DK_FLAG(struct dk_stop_options, __VA_ARGS__)
	F(signal, "signal", 's', DK_STRING, "Signal to send to the container"),
	/* --time before --timeout: given bits are by row, both fill the same member. */
	F(timeout, "time", 0, DK_OPT_INT, "Seconds to wait before killing the container", .hidden = true, .deprecated = "use --timeout instead"),
	F(timeout, "timeout", 't', DK_OPT_INT, "Seconds to wait before killing the container"),
#undef F
};
const struct dk_flag_table dk_stop_flags = DK_FLAGS(struct dk_stop_options, stop_rows);

static const struct dk_flag kill_rows[] = {
	DK_FLAG(struct dk_kill_options, signal, "signal", 's', DK_STRING, "Signal to send to the container"),
};
const struct dk_flag_table dk_kill_flags = DK_FLAGS(struct dk_kill_options, kill_rows);

static const struct dk_flag start_rows[] = {
#define F(...) DK_FLAG(struct dk_start_options, __VA_ARGS__)
	F(attach, "attach", 'a', DK_BOOL, "Attach STDOUT and STDERR, and pass signals on"),
	F(checkpoint, "checkpoint", 0, DK_STRING, "Restore from a checkpoint", .hidden = true),
	F(checkpoint_dir, "checkpoint-dir", 0, DK_STRING, "Directory of checkpoints", .hidden = true),
	F(detach_keys, "detach-keys", 0, DK_STRING, "Keys that detach from the container"),
	F(interactive, "interactive", 'i', DK_BOOL, "Attach the container's STDIN"),
#undef F
};
const struct dk_flag_table dk_start_flags = DK_FLAGS(struct dk_start_options, start_rows);

static const struct dk_flag logs_rows[] = {
#define F(...) DK_FLAG(struct dk_logs_options, __VA_ARGS__)
	F(details, "details", 0, DK_BOOL, "Show attributes of the log"),
	F(follow, "follow", 'f', DK_BOOL, "Go on with what comes"),
	F(since, "since", 0, DK_STRING, "Show what is newer than a time (\"2013-01-02T13:23:37Z\") or an age (\"42m\")"),
	F(tail, "tail", 'n', DK_STRING, "Number of lines from the end", .def = "all"),
	F(timestamps, "timestamps", 't', DK_BOOL, "Show times"),
	F(until, "until", 0, DK_STRING, "Show what is older than a time (\"2013-01-02T13:23:37Z\") or an age (\"42m\")"),
#undef F
};
const struct dk_flag_table dk_logs_flags = DK_FLAGS(struct dk_logs_options, logs_rows);

static const struct dk_flag attach_rows[] = {
#define F(...) DK_FLAG(struct dk_attach_options, __VA_ARGS__)
	F(detach_keys, "detach-keys", 0, DK_STRING, "Keys that detach from the container"),
	F(no_stdin, "no-stdin", 0, DK_BOOL, "Do not attach STDIN"),
	F(sig_proxy, "sig-proxy", 0, DK_BOOL, "Pass received signals on to the process", .def = "true"),
#undef F
};
const struct dk_flag_table dk_attach_flags = DK_FLAGS(struct dk_attach_options, attach_rows);

static const struct dk_flag stats_rows[] = {
#define F(...) DK_FLAG(struct dk_stats_options, __VA_ARGS__)
	F(all, "all", 'a', DK_BOOL, "Show all containers, not only running ones"),
	F(format, "format", 0, DK_STRING, TABLE_HELP),
	F(no_stream, "no-stream", 0, DK_BOOL, "Show the first result only"),
	F(no_trunc, "no-trunc", 0, DK_BOOL, "Do not cut anything off"),
#undef F
};
const struct dk_flag_table dk_stats_flags = DK_FLAGS(struct dk_stats_options, stats_rows);

static const struct dk_flag cp_rows[] = {
#define F(...) DK_FLAG(struct dk_cp_options, __VA_ARGS__)
	F(archive, "archive", 'a', DK_BOOL, "Keep owner and group"),
	F(follow_link, "follow-link", 'L', DK_BOOL, "Follow a symbolic link in SRC_PATH"),
	F(quiet, "quiet", 'q', DK_BOOL, "Do not show how copying goes on"),
#undef F
};
const struct dk_flag_table dk_cp_flags = DK_FLAGS(struct dk_cp_options, cp_rows);

static const struct dk_flag export_rows[] = {
	DK_FLAG(struct dk_export_options, output, "output", 'o', DK_STRING, "Write to a file instead of STDOUT"),
};
const struct dk_flag_table dk_export_flags = DK_FLAGS(struct dk_export_options, export_rows);

static const struct dk_flag commit_rows[] = {
#define F(...) DK_FLAG(struct dk_commit_options, __VA_ARGS__)
	F(author, "author", 'a', DK_STRING, "Author of the image"),
	F(change, "change", 'c', DK_LIST, "Apply a Dockerfile instruction to the image"),
	F(message, "message", 'm', DK_STRING, "Message of the commit"),
	F(pause, "pause", 'p', DK_BOOL, "Pause the container meanwhile", .def = "true"),
#undef F
};
const struct dk_flag_table dk_commit_flags = DK_FLAGS(struct dk_commit_options, commit_rows);

static const struct dk_flag container_prune_rows[] = {
#define F(...) DK_FLAG(struct dk_prune_options, __VA_ARGS__)
	F(filter, "filter", 0, DK_FILTER, "Remove only what matches a condition (\"until=<timestamp>\")"),
	F(force, "force", 'f', DK_BOOL, "Do not ask"),
#undef F
};
const struct dk_flag_table dk_container_prune_flags = DK_FLAGS(struct dk_prune_options, container_prune_rows);

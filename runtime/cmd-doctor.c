/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `brig doctor`: tries every primitive that a sandbox is made of, for the calling user on this
 * machine, and names the fix for what does not work. Each check is one row; what could change the
 * caller runs in a child process of its own, inside of a new user namespace when the caller has no
 * privileges. Exit status 1 when something required is missing.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "base/sys.h"
#include "json/writer.h"
#include "nsenter/ns.h"
#include "runtime/cli.h"
#include "runtime/commands.h"
#include "runtime/state.h"

struct doctor {
	struct rt_host host;
	const struct rt_globals *globals;
	char detail[512]; /* of the check that runs */
};

enum verdict { OK, MISSING };
enum weight { REQUIRED, WANTED };

struct check {
	const char *name;
	enum weight weight;
	enum verdict (*run)(struct doctor *d);
	const char *fix; /* when the check itself names none */
};

#define SAY(d, ...) snprintf((d)->detail, sizeof((d)->detail), __VA_ARGS__)

/* Runs fn in a child, in a new user namespace when unprivileged; its return value is an errno. */
static int in_child(struct doctor *d, int (*fn)(void))
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return errno;
	if (pid == 0) {
		if (!d->host.privileged && unshare(CLONE_NEWUSER) < 0)
			_exit(errno & 0xff);
		_exit(fn() & 0xff);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EFAULT;
}

static enum verdict report(struct doctor *d, int code)
{
	if (code == 0)
		return OK;
	SAY(d, "%s", err_name(code));
	return MISSING;
}

static enum verdict check_kernel(struct doctor *d)
{
	struct utsname u;
	unsigned major = 0, minor = 0;

	uname(&u);
	SAY(d, "Linux %s", u.release);
	if (sscanf(u.release, "%u.%u", &major, &minor) != 2)
		return MISSING;
	return major > 5 || (major == 5 && minor >= 14) ? OK : MISSING;
}

/* in_child makes the namespace itself for a caller without privileges; a second one inside of it
 * would need mapped ids. */
static int try_userns(void)
{
	return geteuid() == 0 && unshare(CLONE_NEWUSER) < 0 ? errno : 0;
}

static enum verdict check_userns(struct doctor *d)
{
	int code = in_child(d, try_userns);

	if (code && ns_userns_hint(code, d->detail, sizeof(d->detail)))
		return MISSING;
	return report(d, code);
}

static enum verdict check_ids(struct doctor *d)
{
	if (d->host.privileged && !d->host.initial_userns) {
		SAY(d, "root of a user namespace: sandboxes work, with a single user inside");
		return OK;
	}
	if (d->host.privileged) {
		SAY(d, "a private range for each sandbox (running as root)");
		return OK;
	}
	if (d->host.have_subids) {
		SAY(d, "uids %u+%u by newuidmap", d->host.subuid.host_id, d->host.subuid.size);
		return OK;
	}
	SAY(d, "only your own id is mapped: sandboxes work, with a single user inside");
	return MISSING;
}

#define TRY_NS(name, flag)                                            \
	static int try_##name(void)                                   \
	{                                                             \
		return unshare(flag) < 0 ? errno : 0;                 \
	}                                                             \
	static enum verdict check_##name(struct doctor *d)            \
	{                                                             \
		return report(d, in_child(d, try_##name));            \
	}
TRY_NS(pid, CLONE_NEWPID)
TRY_NS(mount, CLONE_NEWNS)
TRY_NS(net, CLONE_NEWNET)
TRY_NS(ipc, CLONE_NEWIPC)
TRY_NS(uts, CLONE_NEWUTS)
TRY_NS(cgroupns, CLONE_NEWCGROUP)
TRY_NS(time, CLONE_NEWTIME)

static int try_hostname(void)
{
	return unshare(CLONE_NEWUTS) < 0 || sethostname("doctor", 6) < 0 ? errno : 0;
}

static enum verdict check_hostname(struct doctor *d)
{
	return report(d, in_child(d, try_hostname));
}

static int try_new_mount_api(void)
{
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
	int fd;

	if (unshare(CLONE_NEWNS) < 0)
		return errno;
	fd = open_tree(AT_FDCWD, "/usr", OPEN_TREE_CLONE | AT_RECURSIVE | OPEN_TREE_CLOEXEC);
	if (fd < 0 || mount_setattr(fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr)) < 0)
		return errno;
	return 0;
}

static enum verdict check_mount_api(struct doctor *d)
{
	return report(d, in_child(d, try_new_mount_api));
}

static int mount_new(const char *type)
{
	int fs = fsopen(type, FSOPEN_CLOEXEC);

	if (fs < 0 || fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return errno;
	return fsmount(fs, FSMOUNT_CLOEXEC, 0) < 0 ? errno : 0;
}

static int try_tmpfs(void)
{
	return unshare(CLONE_NEWNS) < 0 ? errno : mount_new("tmpfs");
}

static enum verdict check_tmpfs(struct doctor *d)
{
	return report(d, in_child(d, try_tmpfs));
}

/* proc belongs to the pid namespace of its mounter's children: one more fork. */
static int try_proc(void)
{
	pid_t pid;
	int status;

	if (unshare(CLONE_NEWNS | CLONE_NEWPID) < 0)
		return errno;
	pid = fork();
	if (pid == 0)
		_exit(mount_new("proc") & 0xff);
	return pid < 0 || waitpid(pid, &status, 0) < 0 ? errno : WEXITSTATUS(status);
}

static enum verdict check_proc(struct doctor *d)
{
	return report(d, in_child(d, try_proc));
}

static int try_loopback(void)
{
	struct err e = {0};

	if (unshare(CLONE_NEWNET) < 0)
		return errno;
	return -ns_loopback_up(&e);
}

static enum verdict check_loopback(struct doctor *d)
{
	return report(d, in_child(d, try_loopback));
}

static int try_seccomp(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog prog = {1, &allow};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) < 0 ? errno : 0;
}

static enum verdict check_seccomp(struct doctor *d)
{
	return report(d, in_child(d, try_seccomp));
}

static int try_keyring(void)
{
	return syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 ? errno : 0;
}

static enum verdict check_keyring(struct doctor *d)
{
	return report(d, in_child(d, try_keyring));
}

static enum verdict check_landlock(struct doctor *d)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	if (abi < 0)
		return report(d, errno);
	SAY(d, "ABI %ld", abi);
	return OK;
}

static enum verdict check_cgroup(struct doctor *d)
{
	static const char *const kinds[] = {"none", "v2", "v1 (or hybrid)"};
	const struct cg_host *h = &d->host.cgroups;

	if (h->kind == CG_NONE || !h->writable) {
		SAY(d, "%s%s%s", kinds[h->kind], h->why_none ? ": " : "", h->why_none ? h->why_none : "");
		return MISSING;
	}
	SAY(d, "%s, new cgroups go below %s", kinds[h->kind], h->base ? h->base : "/");
	return OK;
}

static enum verdict controller(struct doctor *d, enum cg_controller c, const char *limits)
{
	const struct cg_host *h = &d->host.cgroups;
	uint32_t all = h->controllers;

	for (size_t i = 0; i < h->v1_n; i++)
		all |= h->v1[i].controllers;
	if (h->kind != CG_NONE && h->writable && all & CG_BIT(c))
		return OK;
	SAY(d, "%s cannot be enforced", limits);
	return MISSING;
}

static enum verdict check_memory(struct doctor *d)
{
	return controller(d, CG_MEMORY, "memory limits");
}

static enum verdict check_cpu(struct doctor *d)
{
	return controller(d, CG_CPU, "CPU limits");
}

static enum verdict check_pids(struct doctor *d)
{
	return controller(d, CG_PIDS, "limits on the number of processes");
}

static enum verdict check_state(struct doctor *d)
{
	struct err e = {0};
	struct rt_state s;
	char id[48];

	snprintf(id, sizeof(id), "doctor-%ld", (long)getpid());
	if (rt_state_create(d->globals->root, id, &s, &e) < 0) {
		SAY(d, "%s", e.msg);
		return MISSING;
	}
	rt_state_remove(&s);
	SAY(d, "%s", d->globals->root);
	return OK;
}

static const char delegate_fix[] =
	"cgroup v2 (on v1: boot with systemd.unified_cgroup_hierarchy=1) with a subtree that is delegated to "
	"you: systemd-run --user --scope -p Delegate=yes; or go without the limit (--best-effort)";
static const char controller_fix[] = "as for the cgroup";

static const char apparmor_fix[] =
	"allow user namespaces their capabilities: where kernel.apparmor_restrict_unprivileged_userns is "
	"1, install the profile contrib/apparmor/brig as /etc/apparmor.d/brig";

static const struct check checks[] = {
	{"kernel", REQUIRED, check_kernel, "Linux 5.14 or newer"},
	{"user namespace", REQUIRED, check_userns, "CONFIG_USER_NS, sysctl user.max_user_namespaces > 0"},
	{"id ranges", WANTED, check_ids,
	 "install the package uidmap and add a range to /etc/subuid and /etc/subgid (usermod --add-subuids)"},
	{"pid namespace", REQUIRED, check_pid, "CONFIG_PID_NS"},
	{"mount namespace", REQUIRED, check_mount, apparmor_fix},
	{"network namespace", REQUIRED, check_net, "CONFIG_NET_NS, sysctl user.max_net_namespaces > 0"},
	{"ipc namespace", REQUIRED, check_ipc, "CONFIG_IPC_NS"},
	{"uts namespace", REQUIRED, check_uts, "CONFIG_UTS_NS"},
	{"host name", WANTED, check_hostname, "in a container: its seccomp profile must allow sethostname (docker and podman: "
	 "--security-opt seccomp=unconfined); or no hostname in config.json, and --best-effort for sandboxes"},
	{"cgroup namespace", REQUIRED, check_cgroupns, "CONFIG_CGROUPS"},
	{"time namespace", WANTED, check_time, "CONFIG_TIME_NS (Linux 5.6)"},
	{"mount API", REQUIRED, check_mount_api, "Linux 5.12: open_tree, mount_setattr"},
	{"tmpfs mount", REQUIRED, check_tmpfs, "CONFIG_TMPFS"},
	{"proc mount", REQUIRED, check_proc,
	 "in a container whose /proc is masked: start it with an unmasked /proc (--security-opt systempaths=unconfined), or use "
	 "--proc bind, which shows its processes"},
	{"loopback", REQUIRED, check_loopback, apparmor_fix},
	{"seccomp", REQUIRED, check_seccomp, "CONFIG_SECCOMP_FILTER"},
	{"session keyring", WANTED, check_keyring, "CONFIG_KEYS"},
	{"Landlock", WANTED, check_landlock, "CONFIG_SECURITY_LANDLOCK and lsm=...,landlock"},
	{"cgroup", REQUIRED, check_cgroup, delegate_fix},
	{"memory controller", REQUIRED, check_memory, controller_fix},
	{"cpu controller", REQUIRED, check_cpu, controller_fix},
	{"pids controller", REQUIRED, check_pids, controller_fix},
	{"state directory", REQUIRED, check_state, "set --root or XDG_RUNTIME_DIR to a directory of yours"},
};
enum { CHECKS = sizeof(checks) / sizeof(checks[0]) };

static void print_text(const struct check *c, enum verdict v, const char *detail)
{
	static const char *const marks[] = {"ok      ", "missing ", "optional"};

	printf("%s  %-18s %s\n", marks[v == OK ? 0 : c->weight == REQUIRED ? 1 : 2], c->name, detail);
	if (v != OK)
		printf("          %-18s -> %s\n", "", c->fix);
}

static void add_json(struct json_writer *w, const struct check *c, enum verdict v, const char *detail)
{
	json_begin_object(w);
	json_member_str(w, "name", c->name);
	json_member_bool(w, "ok", v == OK);
	json_member_bool(w, "required", c->weight == REQUIRED);
	json_member_str(w, "detail", detail);
	json_member_str(w, "fix", v == OK ? NULL : c->fix);
	json_end_object(w);
}

static bool run_checks(struct doctor *d, bool json, struct strbuf *out)
{
	struct json_writer w;
	bool good = true;

	json_writer_init(&w, out, true);
	json_begin_array(&w);
	for (int i = 0; i < CHECKS; i++) {
		enum verdict v;

		d->detail[0] = '\0';
		fflush(stdout);
		v = checks[i].run(d);
		good &= v == OK || checks[i].weight != REQUIRED;
		if (json)
			add_json(&w, &checks[i], v, d->detail);
		else
			print_text(&checks[i], v, d->detail);
	}
	json_end_array(&w);
	return good;
}

int cmd_doctor(int argc, char **argv, const struct rt_globals *g)
{
	auto_arena struct arena *a = arena_new();
	auto_strbuf struct strbuf out = {0};
	struct doctor d = {.host = {.procfs = -1, .cgroups = {.root = -1}}, .globals = g};
	struct err e = {0};
	bool json = false, good;
	const struct cli_option options[] = {
		{"json", 0, CLI_FLAG, &json, NULL, "print the checks as a JSON array"},
	};
	const struct cli c = {
		.usage = "brig doctor [--json]",
		.summary = "Checks what sandboxes need on this machine, as the calling user.",
		.options = options,
		.n = 1,
	};
	int r = cli_parse(&c, argc, argv, &e);

	if (r == CLI_HELP)
		return 0;
	if (r >= 0)
		r = rt_host_probe(a, &d.host, &e);
	if (r < 0)
		return command_failed(&e, 1);
	good = run_checks(&d, json, &out);
	if (json)
		printf("%s\n", out.p);
	rt_host_close(&d.host);
	return good ? 0 : 1;
}

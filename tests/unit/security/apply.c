/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans applied for real: a child runs the actions in the order of security.h, executes a program
 * and that reports what the kernel thinks of it. Needs root; without it the tests pass as skipped.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/procfs.h"
#include "security/landlock.h"
#include "security/security.h"
#include "tests/unit/test.h"

static struct arena *arena;
static struct sec_host host;

#define NAMES(...) {(char *[]){__VA_ARGS__, NULL}, \
	sizeof((char *[]){__VA_ARGS__}) / sizeof(char *)}
#define CAPS(...) NAMES(__VA_ARGS__)

#define NOT_ROOT (geteuid() != 0 && printf("# skipped: not root\n"))

static int apply(const struct sec_plan *p, struct err *e)
{
	int procfs = procfs_open(e), listener = -1, r;

	if (procfs < 0)
		return procfs;
	if ((r = sec_new_keyring(p, procfs, e)) < 0 ||
	    (r = sec_set_oom_score_adj(p, procfs, e)) < 0 ||
	    (r = sec_set_rlimits(p, 0, e)) < 0 || (r = sec_set_scheduling(p, e)) < 0 ||
	    (r = sec_set_affinity(&p->affinity_final, e)) < 0 ||
	    (r = sec_set_labels(p, procfs, e)) < 0 || (r = sec_set_personality(p, e)) < 0 ||
	    (r = sec_set_umask(p, e)) < 0)
		return r;
	if (sec_filter_first(p) && (r = sec_install_filter(p, &listener, e)) < 0)
		return r;
	if ((r = sec_set_ids(p, e)) < 0 || (r = sec_set_caps(p, e)) < 0 ||
	    (r = sec_set_pdeathsig(p, e)) < 0 || (r = sec_set_no_new_privs(p, e)) < 0)
		return r;
	return sec_filter_first(p) ? 0 : sec_install_filter(p, &listener, e);
}

/* What the program says; or "error: " and the message of the action that failed. */
static const char *run_in(const struct sec_plan *p, int (*before)(void), char *const *argv)
{
	static struct strbuf out;
	struct err e = {0};
	int fds[2], status;
	pid_t pid;

	strbuf_free(&out);
	if (pipe(fds) < 0)
		return "pipe";
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		dup2(fds[1], 1);
		close(fds[0]);
		close(fds[1]);
		if ((before && before() < 0) || apply(p, &e) < 0) {
			dprintf(1, "error: %s", e.msg);
			_exit(99);
		}
		execv(argv[0], argv);
		_exit(127);
	}
	close(fds[1]);
	if (io_read_fd(fds[0], 1 << 20, &out, "pipe", &e) < 0)
		printf("# %s\n", e.msg);
	close(fds[0]);
	waitpid(pid, &status, 0);
	if (!WIFEXITED(status))
		strbuf_printf(&out, "killed by signal %d", WTERMSIG(status));
	return strbuf_str(&out);
}

static const char *run(const struct sec_plan *p, char *const *argv)
{
	return run_in(p, NULL, argv);
}

static char *const show_status[] = {"/bin/cat", "/proc/self/status", NULL};

/* A line of /proc/self/status, without the name. */
static const char *field(const char *status, const char *name)
{
	static char value[256];
	const char *s = strstr(status, name);

	*value = '\0';
	if (s)
		snprintf(value, sizeof(value), "%.*s", (int)strcspn(s + strlen(name), "\n"),
			 s + strlen(name));
	else
		printf("# %s\n", status);
	return value;
}

static struct sec_plan *plan_with(const struct oci_process *proc, struct sec_options opt)
{
	struct oci_spec *spec = arena_new_of(arena, struct oci_spec);
	struct oci_process *copy = arena_new_of(arena, struct oci_process);
	struct sec_plan *p = NULL;
	struct err e = {0};

	*copy = *proc;
	spec->process = copy;
	opt.spec = spec;
	opt.host = &host;
	if (sec_plan_build(arena, &opt, &p, &e) < 0)
		printf("# plan: %s\n", e.msg);
	CHECK(p);
	return p;
}

static struct sec_plan *plan(const struct oci_process *proc)
{
	return plan_with(proc, (struct sec_options){0});
}

static uint64_t bits(const char *status, const char *name)
{
	return strtoull(field(status, name), NULL, 16);
}

static void check_caps(const char *s, struct sec_caps want)
{
	CHECK_INT(bits(s, "CapInh:\t"), want.inheritable);
	CHECK_INT(bits(s, "CapPrm:\t"), want.permitted);
	CHECK_INT(bits(s, "CapEff:\t"), want.effective);
	CHECK_INT(bits(s, "CapBnd:\t"), want.bounding);
	CHECK_INT(bits(s, "CapAmb:\t"), want.ambient);
}

static void set_up(void)
{
	struct err e;

	arena = arena_new();
	CHECK(sec_host_probe(&host, &e) == 0);
	CHECK(host.cap_last >= 40);
}

enum { CHOWN = 0, KILL = 5, BIND = 10 };
#define BIT(n) (UINT64_C(1) << (n))

static void no_capabilities(void)
{
	struct oci_capabilities empty = {0};
	struct oci_process none = {.no_new_privileges = {true, true}};
	struct oci_process five = {.capabilities = &empty, .user = {.uid = 1000, .gid = 1000}};
	const char *s;

	if (NOT_ROOT)
		return;
	s = run(plan(&none), show_status);
	check_caps(s, (struct sec_caps){0});
	CHECK_STR(field(s, "NoNewPrivs:\t"), "1");
	CHECK_STR(field(s, "Uid:\t"), "0\t0\t0\t0");
	s = run(plan(&five), show_status);
	check_caps(s, (struct sec_caps){0});
	CHECK_STR(field(s, "NoNewPrivs:\t"), "0");
	CHECK_STR(field(s, "Uid:\t"), "1000\t1000\t1000\t1000");
	CHECK_STR(field(s, "Gid:\t"), "1000\t1000\t1000\t1000");
	CHECK_STR(field(s, "Groups:\t"), " ");
}

/* As podman and containerd ask: the same list in three sets, inheritable empty. */
static void root_with_capabilities(void)
{
	struct oci_capabilities c = {.bounding = CAPS("CAP_CHOWN", "CAP_KILL"),
				     .permitted = CAPS("CAP_CHOWN", "CAP_KILL"),
				     .effective = CAPS("CAP_CHOWN", "CAP_KILL")};
	struct oci_process proc = {.capabilities = &c};
	uint64_t both = BIT(CHOWN) | BIT(KILL);

	if (NOT_ROOT)
		return;
	check_caps(run(plan(&proc), show_status),
		   (struct sec_caps){.bounding = both, .permitted = both, .effective = both});
	/* For another uid the kernel leaves nothing but the bounding set (CVE-2022-24769 class). */
	proc.user.uid = 1000;
	check_caps(run(plan(&proc), show_status), (struct sec_caps){.bounding = both});
	/* Ambient is what survives. */
	c.inheritable = c.ambient = (struct strv)CAPS("CAP_KILL");
	check_caps(run(plan(&proc), show_status),
		   (struct sec_caps){both, BIT(KILL), BIT(KILL), BIT(KILL), BIT(KILL)});
}

/* What cannot be granted is left out, and the sets stay within each other. */
static void impossible_capabilities(void)
{
	struct oci_capabilities c = {
		.bounding = CAPS("CAP_CHOWN", "CAP_TELEPORT"), .permitted = CAPS("CAP_CHOWN"),
		.effective = CAPS("CAP_CHOWN", "CAP_KILL", "cap_setuid"),
		.inheritable = CAPS("CAP_KILL"), .ambient = CAPS("CAP_CHOWN", "CAP_KILL")};
	struct oci_process proc = {.capabilities = &c};
	struct sec_plan *p = plan_with(&proc, (struct sec_options){.new_userns = true});

	CHECK_INT(p->caps.bounding, BIT(CHOWN));
	CHECK_INT(p->caps.permitted, BIT(CHOWN));
	CHECK_INT(p->caps.effective, BIT(CHOWN));
	CHECK_INT(p->caps.inheritable, 0);
	CHECK_INT(p->caps.ambient, 0);
	if (NOT_ROOT)
		return;
	check_caps(run(p, show_status),
		   (struct sec_caps){.bounding = BIT(CHOWN), .permitted = BIT(CHOWN),
				     .effective = BIT(CHOWN)});
}

/* Every capability that we hold can be asked for, and an older kernel's limit is respected. */
static void all_capabilities(void)
{
	char *all[64] = {NULL};
	struct oci_capabilities c = {0};
	struct oci_process proc = {.capabilities = &c};
	struct sec_host real = host;
	struct sec_plan *p;

	for (int i = 0; i <= 40; i++) {
		all[i] = (char *)sec_cap_name(i);
		CHECK_INT(sec_cap_number(all[i]), i);
	}
	c.bounding = c.permitted = c.effective = (struct strv){all, 41};
	p = plan_with(&proc, (struct sec_options){.new_userns = true});
	CHECK_INT(p->caps.permitted, BIT(41) - 1);
	host.cap_last = 37; /* Linux 5.7 */
	p = plan_with(&proc, (struct sec_options){.new_userns = true});
	CHECK_INT(p->caps.permitted, BIT(38) - 1);
	host = real;
	p = plan(&proc);
	CHECK_INT(p->caps.permitted, host.cap_permitted & (BIT(41) - 1));
	if (NOT_ROOT)
		return;
	CHECK_INT(bits(run(p, show_status), "CapEff:\t"), p->caps.permitted);
}

static void groups(void)
{
	uint32_t gids[] = {7, 5000, 3};
	struct oci_process proc = {.user = {.uid = 65534, .gid = 65533,
					    .additional_gids = {gids, 3}}};
	const char *s;

	if (NOT_ROOT)
		return;
	s = run(plan(&proc), show_status);
	CHECK_STR(field(s, "Groups:\t"), "3 7 5000 ");
	CHECK_STR(field(s, "Gid:\t"), "65533\t65533\t65533\t65533");
}

/* In a user namespace made without privilege setgroups is denied. */
static int unprivileged_userns(void)
{
	if (setresgid(4321, 4321, 4321) < 0 || setresuid(4321, 4321, 4321) < 0 ||
	    prctl(PR_SET_DUMPABLE, 1) < 0 || unshare(CLONE_NEWUSER) < 0 ||
	    io_write_value(AT_FDCWD, "/proc/self/setgroups", "deny") < 0 ||
	    io_write_value(AT_FDCWD, "/proc/self/uid_map", "0 4321 1") < 0 ||
	    io_write_value(AT_FDCWD, "/proc/self/gid_map", "0 4321 1") < 0)
		return -1;
	return 0;
}

static void setgroups_denied(void)
{
	uint32_t gids[] = {0};
	struct oci_process proc = {.no_new_privileges = {true, true}};
	struct sec_options opt = {.new_userns = true, .setgroups_denied = true,
				  .host = &host, .new_keyring = true,
				  .securebits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED};
	struct sec_plan *p = plan_with(&proc, opt), *none = NULL;
	struct oci_spec spec = {.process = &proc};
	struct err e = {0};

	proc.user.additional_gids = (struct u32v){gids, 1};
	opt.spec = &spec;
	CHECK_INT(sec_plan_build(arena, &opt, &none, &e), -EPERM);
	CHECK(strstr(e.msg, "setgroups is denied") && !none);
	if (NOT_ROOT)
		return;
	p->filter = sec_filter_default(arena);
	const char *s = run_in(p, unprivileged_userns, show_status);
	check_caps(s, (struct sec_caps){0});
	CHECK_STR(field(s, "Seccomp:\t"), "2");
	CHECK_STR(field(s, "Uid:\t"), "0\t0\t0\t0");
}

static void unmapped_id(void)
{
	struct oci_process proc = {.user = {.uid = 7}};
	struct sec_options opt = {.new_userns = true, .setgroups_denied = true};

	if (NOT_ROOT)
		return;
	CHECK_STR(run_in(plan_with(&proc, opt), unprivileged_userns, show_status),
		  "error: set process.user.uid 7 (it is not mapped in the user namespace: see "
		  "linux.uidMappings): Invalid argument");
}

static void bad_values(void)
{
	struct oci_rlimit twice[] = {{"RLIMIT_CORE", 0, 0}, {"RLIMIT_CORE", 0, 0}};
	struct oci_rlimit unknown[] = {{"RLIMIT_LUCK", 0, 0}}, odd[] = {{"RLIMIT_AS", 2, 1}};
	struct oci_cpu_affinity cpus = {.final = "0-"};
	struct oci_scheduler sched = {.policy = "SCHED_LATER"};
	struct oci_io_priority io = {.class_ = "IOPRIO_CLASS_BE", .priority = {true, 8}};
	struct oci_process cases[] = {
		{.user = {.uid = UINT32_MAX}},
		{.user = {.gid = UINT32_MAX}},
		{.user = {.umask = {true, 01000}}},
		{.rlimits = {twice, 2}},
		{.rlimits = {unknown, 1}},
		{.rlimits = {odd, 1}},
		{.oom_score_adj = {true, 1001}},
		{.exec_cpu_affinity = &cpus},
		{.scheduler = &sched},
		{.io_priority = &io},
	};
	static const char *const want[] = {
		"process.user: 4294967295 is not an id",
		"process.user: 4294967295 is not an id",
		"process.user.umask: 512 is more than 0777",
		"process.rlimits[1].type: RLIMIT_CORE is there twice",
		"process.rlimits[0].type: RLIMIT_LUCK is not a resource limit of Linux",
		"process.rlimits[0]: RLIMIT_AS has a soft limit above the hard one",
		"process.oomScoreAdj: 1001 is not within -1000 and 1000",
		"process.execCPUAffinity.final: \"0-\" is not a list like 0-3,7 of numbers below 8192",
		"process.scheduler.policy: unknown policy SCHED_LATER",
		"process.ioPriority.priority: 8 is not within 0 and 7",
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct oci_spec spec = {.process = &cases[i]};
		struct sec_options opt = {.spec = &spec, .host = &host};
		struct sec_plan *p = NULL;
		struct err e = {0};

		CHECK(sec_plan_build(arena, &opt, &p, &e) < 0 && !p);
		CHECK_STR(e.msg, want[i]);
	}
}

static void limits(void)
{
	struct oci_rlimit list[] = {{"RLIMIT_NOFILE", 100, 200}, {"RLIMIT_CORE", 0, 0},
				    {"RLIMIT_FSIZE", 4096, 8192}};
	struct oci_process proc = {.rlimits = {list, 3}, .oom_score_adj = {true, 555},
				   .user = {.umask = {true, 027}}};
	struct oci_rlimit high[] = {{"RLIMIT_NPROC", 0, 0}, {"RLIMIT_RTTIME", 5, UINT64_MAX}};
	char *const show[] = {"/bin/sh", "-c", "ulimit -Sn; ulimit -Hn; ulimit -c; ulimit -f; umask; "
			      "cat /proc/self/oom_score_adj", NULL};

	if (NOT_ROOT)
		return;
	CHECK_STR(run(plan(&proc), show), "100\n200\n0\n8\n0027\n555\n");
	proc = (struct oci_process){.rlimits = {high, 2}};
	CHECK(strstr(run(plan(&proc), show_status), "Uid:"));
}

/* 0: the caller's key is found, ENOKEY: it is not. */
static int look_for_key(const struct sec_plan *p)
{
	int status;
	struct err e;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (apply(p, &e) < 0)
			_exit(99);
		_exit(syscall(SYS_request_key, "user", "brig-test-secret", NULL, 0) < 0 ? errno : 0);
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

/* The caller's session keyring is inherited, and must not be. */
static void keyring(void)
{
	struct oci_process proc = {0};
	long key;

	if (NOT_ROOT)
		return;
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0) {
		printf("# skipped: no keys in this kernel\n");
		return;
	}
	key = syscall(SYS_add_key, "user", "brig-test-secret", "x", 1, KEY_SPEC_SESSION_KEYRING);
	CHECK(key > 0);
	CHECK_INT(look_for_key(plan(&proc)), 0);
	CHECK_INT(look_for_key(plan_with(&proc, (struct sec_options){.new_keyring = true})),
		  ENOKEY);
	syscall(SYS_keyctl, KEYCTL_REVOKE, key);
}

/* A filter around us that denies all key calls hides the keys well enough; one call, not. */
static void keyring_denied(void)
{
	struct oci_process proc = {0};
	struct sec_plan *p = plan_with(&proc, (struct sec_options){.new_keyring = true});
	char *names[] = {"keyctl", "add_key", "request_key", NULL};
	struct oci_syscall deny = {.action = "SCMP_ACT_ERRNO"};
	struct oci_seccomp s = {.default_action = "SCMP_ACT_ALLOW", .syscalls = {&deny, 1}};
	struct sec_plan outer = {.no_new_privs = true};
	struct sec_filter *f = NULL;
	struct err e;

	for (size_t n = 1; n <= 3; n += 2) {
		int status, fd;
		pid_t pid;

		deny.names = (struct strv){names, n};
		CHECK(sec_filter_build(arena, &s, &f, &e) == 0);
		outer.filter = f;
		fflush(stdout);
		pid = fork();
		if (pid == 0) {
			if (sec_set_no_new_privs(&outer, &e) < 0 ||
			    sec_install_filter(&outer, &fd, &e) < 0)
				_exit(99);
			_exit(sec_new_keyring(p, -1, &e) == 0 ? 0 : 1);
		}
		waitpid(pid, &status, 0);
		CHECK_INT(WEXITSTATUS(status), n == 3 ? 0 : 1);
	}
}

static void scheduling(void)
{
	struct oci_scheduler batch = {.policy = "SCHED_BATCH", .nice = {true, 5}};
	struct oci_io_priority io = {.class_ = "IOPRIO_CLASS_IDLE", .priority = {true, 0}};
	struct oci_cpu_affinity cpus = {.final = "0"};
	struct oci_process proc = {.scheduler = &batch, .io_priority = &io,
				   .exec_cpu_affinity = &cpus};
	struct oci_memory_policy mem = {.mode = "MPOL_BIND", .nodes = "0"};
	struct oci_personality pers = {.domain = "LINUX32"};
	struct oci_linux linux_part = {.memory_policy = &mem, .personality = &pers};
	struct oci_spec spec = {.process = &proc, .linux_ = &linux_part};
	struct sec_options opt = {.spec = &spec, .host = &host};
	char *const show[] = {"/bin/sh", "-c", "chrt -p $$; ionice -p $$; cat /proc/self/personality; "
			      "grep Cpus_allowed_list /proc/self/status; "
			      "grep -c bind:0 /proc/self/numa_maps | grep -q 0 || echo bind", NULL};
	struct sec_plan *p = NULL;
	struct err e = {0};
	const char *s;

	if (NOT_ROOT)
		return;
	if (syscall(SYS_get_mempolicy, NULL, NULL, 0, NULL, 0) < 0 && errno == ENOSYS)
		linux_part.memory_policy = NULL; /* a kernel without NUMA */
	CHECK(sec_plan_build(arena, &opt, &p, &e) == 0);
	s = run(p, show);
	CHECK(strstr(s, "scheduling policy: SCHED_BATCH"));
	CHECK(strstr(s, "idle\n"));
	CHECK(strstr(s, "Cpus_allowed_list:\t0\n"));
	CHECK(strstr(s, "00000008\n"));
	if (test_failed)
		printf("# %s\n", s);
}

static void labels(void)
{
	struct oci_process apparmor = {.apparmor_profile = "brig-test"};
	struct oci_process unconfined = {.apparmor_profile = "unconfined"};
	struct oci_process selinux = {.selinux_label = "system_u:system_r:container_t:s0"};

	if (NOT_ROOT || access("/sys/kernel/security/apparmor", F_OK) == 0 ||
	    access("/sys/fs/selinux", F_OK) == 0)
		return;
	/* Neither is enabled here: asking for one must be an error, not silence. */
	CHECK(strstr(run(plan(&apparmor), show_status), "error: set process.apparmorProfile"));
	CHECK(strstr(run(plan(&selinux), show_status), "error: set process.selinuxLabel"));
	CHECK(strstr(run(plan(&unconfined), show_status), "Uid:"));
}

/* Without no-new-privileges the filter goes in first and must let the rest through. */
static void filters(void)
{
	struct oci_syscall deny = {.names = NAMES("mkdir", "mkdirat"), .action = "SCMP_ACT_ERRNO",
				   .errno_ret = {true, EXDEV}};
	struct oci_seccomp s = {.default_action = "SCMP_ACT_ALLOW", .syscalls = {&deny, 1}};
	struct oci_process proc = {.user = {.uid = 1000, .gid = 1000}};
	char *const show[] = {"/bin/sh", "-c", "LC_ALL=C mkdir /tmp/brig-no 2>&1; "
			      "grep Seccomp: /proc/self/status", NULL};
	struct sec_filter *f = NULL;
	struct sec_plan *p;
	struct err e;

	if (NOT_ROOT)
		return;
	CHECK(sec_filter_build(arena, &s, &f, &e) == 0);
	for (int nnp = 0; nnp < 2; nnp++) {
		proc.no_new_privileges = (struct opt_bool){true, nnp};
		p = plan(&proc);
		p->filter = f;
		CHECK_INT(sec_filter_first(p), !nnp);
		CHECK_STR(run(p, show), "mkdir: cannot create directory '/tmp/brig-no': Invalid "
			  "cross-device link\nSeccomp:\t2\n");
	}
}

static void listener(void)
{
	struct oci_syscall ask = {.names = NAMES("getppid"), .action = "SCMP_ACT_NOTIFY"};
	struct oci_seccomp s = {.default_action = "SCMP_ACT_ALLOW", .syscalls = {&ask, 1},
				.listener_path = "/run/x",
				.flags = NAMES("SECCOMP_FILTER_FLAG_TSYNC",
					       "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV")};
	struct sec_filter *f = NULL;
	struct sec_plan p = {.no_new_privs = true};
	struct err e = {0};
	int status, fd = -1;
	pid_t pid;

	CHECK(sec_filter_build(arena, &s, &f, &e) == 0);
	p.filter = f;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (sec_set_no_new_privs(&p, &e) < 0 || sec_install_filter(&p, &fd, &e) < 0 ||
		    fd < 3)
			_exit(1);
		close(fd);
		_exit(syscall(SYS_getppid) == -1 && errno == ENOSYS ? 0 : 2);
	}
	waitpid(pid, &status, 0);
	CHECK_INT(status, 0);
}

static void parent_death(void)
{
	struct oci_process proc = {.user = {.uid = 1000, .gid = 1000}};
	struct sec_plan *p = plan_with(&proc, (struct sec_options){.pdeathsig = SIGKILL});
	int status, sig = 0;
	struct err e;
	pid_t pid;

	if (NOT_ROOT)
		return;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (apply(p, &e) < 0 || prctl(PR_GET_PDEATHSIG, &sig) < 0)
			_exit(1);
		_exit(sig);
	}
	waitpid(pid, &status, 0);
	CHECK_INT(WEXITSTATUS(status), SIGKILL);
}

static struct sec_wall wall_for_run;

static int set_wall(void)
{
	struct err e;

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -1 :
	       sec_set_landlock(&wall_for_run, &e);
}

static char *const try_files[] = {"/bin/sh", "-c",
	"cd \"$1\" && mkdir -p a b && echo x >a/f && mv a/f b/f && cat b/f && cp /etc/passwd a/p && "
	": >a/p && rm -r a b && echo x >/dev/null && echo sh >/proc/self/comm && echo inside;"
	"for p in /tmp/brig-no /etc/brig-no /var/tmp/brig-no; do "
	"(echo x >$p) 2>/dev/null && echo made $p; done; (: >>/etc/passwd) 2>/dev/null && echo open;"
	"kill -0 $PPID 2>/dev/null && echo signal; echo end", "sh", NULL, NULL};

/* Root may do everything, but for the wall. */
static void landlock(void)
{
	char dir[] = "/tmp/brig-test-XXXXXX";
	const char *writable[] = {dir};
	struct sec_wall wall = {writable, 1};
	char *argv[sizeof(try_files) / sizeof(try_files[0])];
	struct sec_plan p = {.no_new_privs = true};
	struct err e = {0};
	int status, r;
	pid_t pid;

	if (NOT_ROOT)
		return;
	CHECK(mkdtemp(dir));
	memcpy(argv, try_files, sizeof(argv));
	argv[4] = dir;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		r = sec_set_no_new_privs(&p, &e) < 0 ? -1 : sec_set_landlock(&wall, &e);
		_exit(r < 0 ? 99 : r);
	}
	waitpid(pid, &status, 0);
	if (WEXITSTATUS(status) == 0) {
		printf("# skipped: no Landlock in this kernel\n");
		CHECK(rmdir(dir) == 0);
		return;
	}
	wall_for_run = wall;
	CHECK_STR(run_in(&p, set_wall, argv), "x\ninside\nend\n");
	wall.writable = (const char *[]){"/no/such/place"};
	CHECK_INT(sec_set_landlock(&wall, &e), -ENOENT);
	CHECK_STR(e.msg, "set up Landlock: open /no/such/place: No such file or directory");
	CHECK(rmdir(dir) == 0);
}

static void tear_down(void)
{
	arena_free(arena);
}

TEST_MAIN(TEST(set_up), TEST(no_capabilities), TEST(root_with_capabilities),
	  TEST(impossible_capabilities), TEST(all_capabilities), TEST(groups),
	  TEST(setgroups_denied), TEST(unmapped_id), TEST(bad_values), TEST(limits),
	  TEST(keyring), TEST(keyring_denied), TEST(scheduling), TEST(labels), TEST(filters),
	  TEST(listener), TEST(parent_death), TEST(landlock), TEST(tear_down))

/*
 * floor: the hand-written lower bound of `brig run`.
 *
 *	floor [-dpt] BUNDLE ID COMMAND ARG...
 *
 * Does what the bundle of `runc spec` asks for (terminal off), and nothing
 * else: pid, network, ipc, uts, mount and cgroup namespaces; a cgroup (with -d
 * also its device program); the seven default mounts; default devices and links; masked
 * and read-only paths; read-only root by pivot_root; hostname; lo up; session
 * keyring; three capabilities; RLIMIT_NOFILE; no_new_privs; exec; wait; remove
 * the cgroup.  There is no parser, no state, no choice: one system call after
 * the other, so a runtime's distance from this is what the runtime costs.
 *
 * With -p the parent makes the network namespace (a third of the whole time)
 * and loads the device program while init, which shares its memory, builds the
 * mounts and joins the network by pidfd: faster with an idle second processor,
 * slower when many start at once.  -t prints when each step ended and
 * what it took, in microseconds.
 *
 * Only for a rootfs that is trusted: paths are used as strings.
 */
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/fcntl.h>
#include <linux/futex.h>
#include <linux/keyctl.h>
#include <linux/mount.h>
#include <linux/prctl.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "bench/sys.h"

#define SIGCHLD 17
#define P_PIDFD 3
#define WEXITED 4
#define MNT_DETACH 2
#define AT_REMOVEDIR 0x200
#define O_DIR_FLAGS (O_PATH | O_DIRECTORY | O_CLOEXEC)
#define CHR(major, minor) (((major) << 8) | (minor))
#define NOSUIDNOEXEC (MS_NOSUID | MS_NOEXEC)
#define NOALL (MS_NOSUID | MS_NOEXEC | MS_NODEV)

BENCH_START;

_Noreturn void bench_start(long *sp);

static struct {
	const char *bundle;
	const char *id;
	char **argv;
	int parallel;
	int devices;
	int trace;
	int self;	/* pidfd of the parent, to join its network namespace */
	int net_ready;
	int cgroup_ready;
} job;

static struct {
	const char *name;
	unsigned long at;
} marks[2][48];
static int nmarks[2];
static char stack[65536] __attribute__((aligned(16)));

static void mark(int who, const char *name)
{
	if (job.trace)
		marks[who][nmarks[who]].at = now_ns();
	marks[who][nmarks[who]++].name = name;
}

static void print_marks(int who, unsigned long start)
{
	unsigned long last = start;

	for (int i = 0; i < nmarks[who]; i++) {
		put_str(2, who ? "init    " : "parent  ");
		put_num(2, (marks[who][i].at - start) / 1000);
		put_str(2, "\t+");
		put_num(2, (marks[who][i].at - last) / 1000);
		put_str(2, "\t");
		put_str(2, marks[who][i].name);
		put_str(2, "\n");
		last = marks[who][i].at;
	}
}

static void post(int *flag)
{
	__atomic_store_n(flag, 1, __ATOMIC_RELEASE);
	sys(__NR_futex, flag, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

static void await(int *flag)
{
	while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
		sys(__NR_futex, flag, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
}

static void do_mount(const char *type, const char *target, unsigned long flags, const char *data)
{
	check(target, sys(__NR_mount, type, target, type, flags, data));
}

/* What this kernel has not got needs no protection. */
static void protect(const char *path, unsigned long flags)
{
	long r = sys(__NR_mount, path, path, 0, MS_BIND | MS_REC, 0);

	if (r == -2)
		return;
	check(path, r);
	check(path, sys(__NR_mount, 0, path, 0, MS_BIND | MS_REMOUNT | flags, 0));
}

static void enter_root(void)
{
	static const char rootfs[] = "rootfs";

	check("slave", sys(__NR_mount, 0, "/", 0, MS_REC | MS_PRIVATE, 0));
	check("bundle", sys(__NR_chdir, job.bundle));
	protect(rootfs, MS_RDONLY);
	check("chdir rootfs", sys(__NR_chdir, rootfs));
	mark(1, "root bound read-only");
}

static void make_dev(void)
{
	static const struct {
		const char *path;
		int dev;
	} nodes[] = {
		{ "dev/null", CHR(1, 3) },    { "dev/zero", CHR(1, 5) },
		{ "dev/full", CHR(1, 7) },    { "dev/random", CHR(1, 8) },
		{ "dev/urandom", CHR(1, 9) }, { "dev/tty", CHR(5, 0) },
	};
	static const char *const links[][2] = {
		{ "/proc/self/fd", "dev/fd" },	     { "/proc/self/fd/0", "dev/stdin" },
		{ "/proc/self/fd/1", "dev/stdout" }, { "/proc/self/fd/2", "dev/stderr" },
		{ "/proc/kcore", "dev/core" },	     { "pts/ptmx", "dev/ptmx" },
	};
	static const char *const dirs[] = { "dev/pts", "dev/shm", "dev/mqueue" };

	do_mount("tmpfs", "dev", MS_NOSUID | MS_STRICTATIME, "mode=755,size=65536k");
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++)
		check(dirs[i], sys(__NR_mkdirat, AT_FDCWD, dirs[i], 0755));
	do_mount("devpts", "dev/pts", NOSUIDNOEXEC, "newinstance,ptmxmode=0666,mode=0620,gid=5");
	do_mount("tmpfs", "dev/shm", NOALL, "mode=1777,size=65536k");
	do_mount("mqueue", "dev/mqueue", NOALL, 0);
	mark(1, "/dev, pts, shm, mqueue");
	sys(__NR_umask, 0);
	for (size_t i = 0; i < sizeof(nodes) / sizeof(*nodes); i++)
		check(nodes[i].path,
		      sys(__NR_mknodat, AT_FDCWD, nodes[i].path, S_IFCHR | 0666, nodes[i].dev));
	sys(__NR_umask, 022);
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++)
		check(links[i][1], sys(__NR_symlinkat, links[i][0], AT_FDCWD, links[i][1]));
	mark(1, "device nodes and links");
}

/*
 * The first masked directory is an empty read-only tmpfs; the others share it.
 * Look before binding: a bind that fails has a copied mount to throw away, and
 * that waits for an expedited RCU grace period (90 us, 400 us when the other
 * processor is busy).
 */
static void mask(const char *path, const char **empty)
{
	struct stat st;
	long r = sys(__NR_newfstatat, AT_FDCWD, path, &st, 0);

	if (r == -2)
		return;
	check(path, r);
	if (!S_ISDIR(st.st_mode)) {
		r = sys(__NR_mount, "dev/null", path, 0, MS_BIND, 0);
	} else if (*empty) {
		r = sys(__NR_mount, *empty, path, 0, MS_BIND, 0);
	} else {
		r = sys(__NR_mount, "tmpfs", path, "tmpfs", MS_RDONLY, 0);
		*empty = path;
	}
	check(path, r);
}

static void protect_proc(const char **empty)
{
	static const char *const masked[] = {
		"proc/acpi",	     "proc/asound",	"proc/kcore",
		"proc/keys",	     "proc/latency_stats", "proc/timer_list",
		"proc/timer_stats", "proc/sched_debug", "proc/scsi",
	};
	static const char *const readonly[] = {
		"proc/bus", "proc/fs", "proc/irq", "proc/sys", "proc/sysrq-trigger",
	};

	for (size_t i = 0; i < sizeof(readonly) / sizeof(*readonly); i++)
		protect(readonly[i], MS_RDONLY | NOALL);
	mark(1, "read-only paths");
	for (size_t i = 0; i < sizeof(masked) / sizeof(*masked); i++)
		mask(masked[i], empty);
	mark(1, "masked paths");
}

static void new_network(void)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	long fd;

	check("new network", sys(__NR_unshare, CLONE_NEWNET));
	fd = check("socket", sys(__NR_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	check("lo up", sys(__NR_ioctl, fd, SIOCSIFFLAGS, &lo));
	sys(__NR_close, fd);
}

static void mount_sys(const char **empty)
{
	do_mount("sysfs", "sys", MS_RDONLY | NOALL, 0);
	do_mount("cgroup2", "sys/fs/cgroup", MS_RDONLY | MS_RELATIME | NOALL, 0);
	mask("sys/firmware", empty);
	mark(1, "/sys, cgroup");
}

static void change_root(void)
{
	check("pivot_root", sys(__NR_pivot_root, ".", "."));
	mark(1, "pivot_root");
	check("old root", sys(__NR_umount2, ".", MNT_DETACH));
	check("chdir /", sys(__NR_chdir, "/"));
	mark(1, "old root detached");
}

static const unsigned kept =
	1U << CAP_AUDIT_WRITE | 1U << CAP_KILL | 1U << CAP_NET_BIND_SERVICE;

static void drop_bounding_set(void)
{
	for (int c = 0; c <= CAP_LAST_CAP; c++)
		if (c > 31 || !(kept & 1U << c))
			sys(__NR_prctl, PR_CAPBSET_DROP, c, 0, 0, 0);
	mark(1, "bounding set");
}

static void drop_privileges(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[2] = { { kept, kept, kept }, { 0, 0, 0 } };

	sys(__NR_prctl, PR_SET_KEEPCAPS, 1, 0, 0, 0);
	check("setgroups", sys(__NR_setgroups, 0, 0));
	check("setresgid", sys(__NR_setresgid, 0, 0, 0));
	check("setresuid", sys(__NR_setresuid, 0, 0, 0));
	check("capset", sys(__NR_capset, &head, caps));
	for (int c = 0; c < 32; c++)
		if (kept & 1U << c)
			check("ambient",
			      sys(__NR_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, c, 0, 0));
	check("no_new_privs", sys(__NR_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	check("close_range", sys(__NR_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC));
}

/* Whatever does not need the network namespace comes before it. */
static int init(void *unused)
{
	static char *const env[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "TERM=xterm", 0 };
	struct rlimit nofile = { 1024, 1024 };
	const char *empty = 0;

	(void)unused;
	mark(1, "init runs");
	check("unshare",
	      sys(__NR_unshare, CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP));
	mark(1, "mount, ipc, uts, cgroup namespaces");
	enter_root();
	do_mount("proc", "proc", 0, 0);
	mark(1, "/proc");
	make_dev();
	protect_proc(&empty);
	change_root();
	check("hostname", sys(__NR_sethostname, "runc", 4));
	sys(__NR_setsid);
	check("keyring", sys(__NR_keyctl, KEYCTL_JOIN_SESSION_KEYRING, job.id));
	check("rlimit", sys(__NR_prlimit64, 0, RLIMIT_NOFILE, &nofile, 0));
	mark(1, "hostname, keyring, rlimit");
	drop_bounding_set();
	if (!job.parallel) {
		new_network();
	} else {
		await(&job.net_ready);
		mark(1, "waited for the network");
		check("join network", sys(__NR_setns, job.self, CLONE_NEWNET));
	}
	mark(1, "network namespace, lo up");
	mount_sys(&empty);
	drop_privileges();
	if (job.parallel)
		await(&job.cgroup_ready);
	mark(1, "ready to exec");
	check("execve", sys(__NR_execve, job.argv[0], job.argv, env));
	return 127;
}

#define INSN(op, dst, src, o, i) \
	((struct bpf_insn){ .code = (op), .dst_reg = (dst), .src_reg = (src), .off = (o), \
			    .imm = (i) })

/* Any mknod; read and write of the default devices; nothing else. */
static int device_program(struct bpf_insn *p)
{
	static const int devs[][2] = {
		{ 1, 3 }, { 1, 8 }, { 1, 7 }, { 5, 0 },	{ 1, 5 },
		{ 1, 9 }, { 5, 1 }, { 5, 2 }, { 136, -1 },
	};
	int n = 0;

	p[n++] = INSN(BPF_LDX | BPF_MEM | BPF_W, 2, 1, 0, 0);
	p[n++] = INSN(BPF_LDX | BPF_MEM | BPF_W, 4, 1, 4, 0);
	p[n++] = INSN(BPF_LDX | BPF_MEM | BPF_W, 5, 1, 8, 0);
	p[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 1);
	p[n++] = INSN(BPF_ALU | BPF_MOV | BPF_X, 3, 2, 0, 0);
	p[n++] = INSN(BPF_ALU | BPF_RSH | BPF_K, 3, 0, 0, 16);
	p[n++] = INSN(BPF_JMP | BPF_JNE | BPF_K, 3, 0, 1, BPF_DEVCG_ACC_MKNOD);
	p[n++] = INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	p[n++] = INSN(BPF_ALU | BPF_AND | BPF_K, 2, 0, 0, 0xffff);
	p[n++] = INSN(BPF_JMP | BPF_JNE | BPF_K, 2, 0, 2 + 3 * 9 - 1 - 1, BPF_DEVCG_DEV_CHAR);
	for (size_t i = 0; i < sizeof(devs) / sizeof(*devs); i++) {
		p[n++] = INSN(BPF_JMP | BPF_JNE | BPF_K, 4, 0, devs[i][1] < 0 ? 1 : 2, devs[i][0]);
		if (devs[i][1] >= 0)
			p[n++] = INSN(BPF_JMP | BPF_JNE | BPF_K, 5, 0, 1, devs[i][1]);
		p[n++] = INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	}
	p[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0);
	p[n++] = INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	return n;
}

static void limit_devices(int cgroup)
{
	struct bpf_insn prog[48];
	union bpf_attr load = {
		.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE,
		.insns = (uintptr_t)prog,
		.insn_cnt = (unsigned)device_program(prog),
		.license = (uintptr_t) "GPL",
	};
	union bpf_attr attach = {
		.target_fd = (unsigned)cgroup,
		.attach_type = BPF_CGROUP_DEVICE,
		.attach_flags = BPF_F_ALLOW_MULTI,
	};

	attach.attach_bpf_fd =
		(unsigned)check("bpf load", sys(__NR_bpf, BPF_PROG_LOAD, &load, sizeof(load)));
	check("bpf attach", sys(__NR_bpf, BPF_PROG_ATTACH, &attach, sizeof(attach)));
	sys(__NR_close, attach.attach_bpf_fd);
	mark(0, "device program");
}

static int run(void)
{
	struct clone_args args = {
		.flags = CLONE_VM | CLONE_PIDFD | CLONE_INTO_CGROUP | CLONE_NEWPID,
		.exit_signal = SIGCHLD,
		.stack = (uintptr_t)stack,
		.stack_size = sizeof(stack),
	};
	long base = check("cgroup root",
			  sys(__NR_openat, AT_FDCWD, "/sys/fs/cgroup", O_DIR_FLAGS));
	int info[32] = { 0 };
	int pidfd = -1;

	check("cgroup", sys(__NR_mkdirat, base, job.id, 0755));
	args.cgroup = (uint64_t)check("cgroup", sys(__NR_openat, base, job.id,
						    O_DIRECTORY | O_CLOEXEC));
	args.pidfd = (uintptr_t)&pidfd;
	mark(0, "cgroup made");
	if (!job.parallel && job.devices)
		limit_devices((int)args.cgroup);
	job.self = (int)check("pidfd", sys(__NR_pidfd_open, sys(__NR_getpid), 0));
	check("clone3", sys_clone3(&args, init, 0));
	mark(0, "init cloned");
	if (job.parallel) {
		new_network();
		post(&job.net_ready);
		mark(0, "network namespace");
		if (job.devices)
			limit_devices((int)args.cgroup);
		post(&job.cgroup_ready);
	}
	check("wait", sys(__NR_waitid, P_PIDFD, pidfd, info, WEXITED, 0));
	mark(0, "init reaped");
	check("rmdir cgroup", sys(__NR_unlinkat, base, job.id, AT_REMOVEDIR));
	mark(0, "cgroup removed");
	return info[6];
}

_Noreturn void bench_start(long *sp)
{
	char **argv = (char **)(sp + 1);
	unsigned long start = now_ns();
	int status;

	if (argv[1] && argv[1][0] == '-') {
		for (const char *p = argv[1] + 1; *p; p++) {
			job.devices |= *p == 'd';
			job.parallel |= *p == 'p';
			job.trace |= *p == 't';
		}
		argv++;
	}
	if (!argv[1] || !argv[2] || !argv[3])
		die("usage: floor [-dpt] BUNDLE ID COMMAND ARG...", -22);
	job.bundle = argv[1];
	job.id = argv[2];
	job.argv = argv + 3;
	status = run();
	if (job.trace) {
		print_marks(1, start);
		print_marks(0, start);
	}
	for (;;)
		sys(__NR_exit_group, status);
}

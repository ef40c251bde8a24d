/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs made from config.json's seccomp object, asked by an interpreter for every kind of
 * call, against a model: the rules, read as the spec says them.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "security/security.h"
#include "tests/unit/security/bpf.h"
#include "tests/unit/test.h"

#define ERRNO(n) (SECCOMP_RET_ERRNO | (n))
#define LIST(array) {(array), sizeof(array) / sizeof((array)[0])}

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#else
#define OUR_ARCH AUDIT_ARCH_AARCH64
#endif

static struct arena *arena;

static struct strv names(char **v)
{
	size_t n = 0;

	while (v[n])
		n++;
	return (struct strv){v, n};
}
#define NAMES(...) names((char *[]){__VA_ARGS__, NULL})

static const struct sec_filter *build(const struct oci_seccomp *s)
{
	struct sec_filter *f = NULL;
	struct err e = {0};

	if (sec_filter_build(arena, s, &f, &e) < 0)
		printf("# build: %s\n", e.msg);
	return f;
}

static uint32_t ask_arch(const struct sec_filter *f, uint32_t arch, int nr, const uint64_t *args)
{
	struct seccomp_data d = {.nr = nr, .arch = arch};

	if (args)
		memcpy(d.args, args, sizeof(d.args));
	return f ? bpf_run(f->insns, f->n, &d) : BPF_BROKEN;
}

static uint32_t ask(const struct sec_filter *f, int nr, const uint64_t *args)
{
	return ask_arch(f, OUR_ARCH, nr, args);
}

/* The message of a profile that must be refused. */
static const char *refused(const struct oci_seccomp *s)
{
	static struct err e;
	struct sec_filter *f = NULL;

	e = (struct err){0};
	CHECK(sec_filter_build(arena, s, &f, &e) < 0);
	CHECK(!f && e.code > 0);
	return e.msg;
}

static void actions(void)
{
	struct { char *name; bool with_errno; uint32_t errno_ret, want; } cases[] = {
		{"SCMP_ACT_ALLOW", false, 0, SECCOMP_RET_ALLOW},
		{"SCMP_ACT_ERRNO", false, 0, ERRNO(EPERM)},
		{"SCMP_ACT_ERRNO", true, 99, ERRNO(99)},
		{"SCMP_ACT_ERRNO", true, 0, ERRNO(0)},
		{"SCMP_ACT_KILL", false, 0, SECCOMP_RET_KILL_THREAD},
		{"SCMP_ACT_KILL_THREAD", false, 0, SECCOMP_RET_KILL_THREAD},
		{"SCMP_ACT_KILL_PROCESS", false, 0, SECCOMP_RET_KILL_PROCESS},
		{"SCMP_ACT_TRAP", false, 0, SECCOMP_RET_TRAP},
		{"SCMP_ACT_TRACE", false, 0, SECCOMP_RET_TRACE | EPERM},
		{"SCMP_ACT_TRACE", true, 7, SECCOMP_RET_TRACE | 7},
		{"SCMP_ACT_LOG", false, 0, SECCOMP_RET_LOG},
		{"SCMP_ACT_NOTIFY", false, 0, SECCOMP_RET_USER_NOTIF},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct oci_syscall rule = {
			.names = NAMES("getpid"), .action = cases[i].name,
			.errno_ret = {cases[i].with_errno, cases[i].errno_ret}};
		/* Once as a rule, once as the default. */
		struct oci_seccomp s = {
			.default_action = "SCMP_ACT_ERRNO", .default_errno_ret = {true, 38},
			.listener_path = "/run/agent", .syscalls = {&rule, 1}};
		struct oci_seccomp d = {.default_action = cases[i].name,
					.default_errno_ret = rule.errno_ret};
		const struct sec_filter *f = build(&s);

		CHECK_INT(ask(f, SYS_getpid, NULL), cases[i].want);
		CHECK_INT(ask(f, SYS_getuid, NULL), ERRNO(38));
		CHECK_INT(f->notify, cases[i].want == SECCOMP_RET_USER_NOTIF);
		if (cases[i].want != SECCOMP_RET_USER_NOTIF)
			CHECK_INT(ask(build(&d), SYS_getpid, NULL), cases[i].want);
	}
}

/* The spec's operators on 64-bit values. */
static bool holds(const struct oci_seccomp_arg *c, const uint64_t *args)
{
	uint64_t v = args[c->index];

	if (strcmp(c->op, "SCMP_CMP_NE") == 0) return v != c->value;
	if (strcmp(c->op, "SCMP_CMP_LT") == 0) return v < c->value;
	if (strcmp(c->op, "SCMP_CMP_LE") == 0) return v <= c->value;
	if (strcmp(c->op, "SCMP_CMP_EQ") == 0) return v == c->value;
	if (strcmp(c->op, "SCMP_CMP_GE") == 0) return v >= c->value;
	if (strcmp(c->op, "SCMP_CMP_GT") == 0) return v > c->value;
	return (v & c->value) == c->value_two.v;
}

static const uint64_t interesting[] = {
	0, 1, 2, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, 0x100000000, 0x100000001,
	0x7fffffffffffffff, 0x8000000000000000, 0xffffffff00000000, UINT64_MAX - 1, UINT64_MAX};
enum { N_INTERESTING = sizeof(interesting) / sizeof(interesting[0]) };

static void operators(void)
{
	for (const char *const *op = sec_seccomp_operators; *op; op++)
		for (int i = 0; i < N_INTERESTING * 6; i++) {
			struct oci_seccomp_arg arg = {
				.index = (uint32_t)i % 6, .value = interesting[i / 6],
				.value_two = {true, interesting[i / 6] & 0x1ffffffff},
				.op = (char *)*op};
			struct oci_syscall rule = {.names = NAMES("close"),
						   .action = "SCMP_ACT_ALLOW", .args = {&arg, 1}};
			struct oci_seccomp s = {.default_action = "SCMP_ACT_ERRNO",
						.syscalls = {&rule, 1}};
			const struct sec_filter *f = build(&s);
			uint64_t args[6] = {0};

			for (int v = 0; v < N_INTERESTING; v++) {
				args[arg.index] = interesting[v];
				CHECK_INT(ask(f, SYS_close, args),
					  holds(&arg, args) ? SECCOMP_RET_ALLOW : ERRNO(EPERM));
			}
		}
}

/* Different arguments: all must hold. The same one: one must, as runc has it. */
static void several_conditions(void)
{
	struct oci_seccomp_arg both[] = {
		{.index = 0, .value = 1, .op = "SCMP_CMP_EQ"},
		{.index = 2, .value = 5, .op = "SCMP_CMP_GT"}};
	struct oci_seccomp_arg either[] = {
		{.index = 1, .value = 3, .op = "SCMP_CMP_EQ"},
		{.index = 1, .value = 9, .op = "SCMP_CMP_EQ"},
		{.index = 0, .value = 100, .op = "SCMP_CMP_EQ"}};
	struct oci_syscall rules[] = {
		{.names = NAMES("read"), .action = "SCMP_ACT_ALLOW", .args = LIST(both)},
		{.names = NAMES("write"), .action = "SCMP_ACT_ALLOW", .args = LIST(either)}};
	struct oci_seccomp s = {.default_action = "SCMP_ACT_ERRNO", .syscalls = LIST(rules)};
	const struct sec_filter *f = build(&s);

	CHECK_INT(ask(f, SYS_read, (uint64_t[6]){1, 0, 6}), SECCOMP_RET_ALLOW);
	CHECK_INT(ask(f, SYS_read, (uint64_t[6]){1, 0, 5}), ERRNO(EPERM));
	CHECK_INT(ask(f, SYS_read, (uint64_t[6]){2, 0, 6}), ERRNO(EPERM));
	CHECK_INT(ask(f, SYS_write, (uint64_t[6]){0, 3}), SECCOMP_RET_ALLOW);
	CHECK_INT(ask(f, SYS_write, (uint64_t[6]){0, 9}), SECCOMP_RET_ALLOW);
	CHECK_INT(ask(f, SYS_write, (uint64_t[6]){100, 0}), SECCOMP_RET_ALLOW);
	CHECK_INT(ask(f, SYS_write, (uint64_t[6]){0, 4}), ERRNO(EPERM));
}

static void architectures(void)
{
	struct oci_syscall rule = {.names = NAMES("read", "getpid", "waitpid"),
				   .action = "SCMP_ACT_ALLOW"};
	struct oci_seccomp s = {.default_action = "SCMP_ACT_ERRNO", .syscalls = {&rule, 1}};
	const struct sec_filter *f = build(&s);
	unsigned n;

	CHECK_INT(ask_arch(f, AUDIT_ARCH_ARM, 3, NULL), SECCOMP_RET_KILL_PROCESS);
#if defined(__x86_64__)
	CHECK_INT(ask_arch(f, AUDIT_ARCH_I386, 3, NULL), SECCOMP_RET_KILL_PROCESS);
	CHECK_INT(ask(f, SYS_read | 0x40000000, NULL), SECCOMP_RET_KILL_PROCESS);
	s.architectures = NAMES("SCMP_ARCH_X86_64", "SCMP_ARCH_X86");
	f = build(&s);
	CHECK_INT(ask(f, SYS_read, NULL), SECCOMP_RET_ALLOW);
	CHECK_INT(ask_arch(f, AUDIT_ARCH_I386, 3 /* read */, NULL), SECCOMP_RET_ALLOW);
	CHECK_INT(ask_arch(f, AUDIT_ARCH_I386, 7 /* waitpid */, NULL), SECCOMP_RET_ALLOW);
	CHECK_INT(ask_arch(f, AUDIT_ARCH_I386, 0, NULL), ERRNO(EPERM));
	CHECK_INT(ask(f, SYS_read | 0x40000000, NULL), SECCOMP_RET_KILL_PROCESS);
	s.architectures = NAMES("SCMP_ARCH_X32");
	f = build(&s);
	CHECK_INT(ask(f, SYS_read, NULL), SECCOMP_RET_ALLOW);
	CHECK_INT(ask(f, SYS_read | 0x40000000, NULL), SECCOMP_RET_ALLOW);
	CHECK_INT(ask(f, SYS_write | 0x40000000, NULL), ERRNO(EPERM));
#endif
	/* What this machine cannot run needs no code. */
	n = f->n;
#if defined(__x86_64__)
	s.architectures = NAMES("SCMP_ARCH_X32", "SCMP_ARCH_S390X", "SCMP_ARCH_LOONGARCH64");
#else
	s.architectures = NAMES("SCMP_ARCH_S390X", "SCMP_ARCH_LOONGARCH64");
#endif
	CHECK_INT(build(&s)->n, n);
}

static void odd_rules(void)
{
	/* A call that nobody knows, a rule that says the default, and an empty list of rules. */
	struct oci_syscall rules[] = {
		{.names = NAMES("no_such_call", "getppid"), .action = "SCMP_ACT_ALLOW"},
		{.names = NAMES("getuid"), .action = "SCMP_ACT_ERRNO"},
		{.names = NAMES("getgid"), .action = "SCMP_ACT_ERRNO", .errno_ret = {true, EPERM}},
		{.names = NAMES("getppid"), .action = "SCMP_ACT_ALLOW"}};
	struct oci_seccomp s = {.default_action = "SCMP_ACT_ERRNO", .syscalls = LIST(rules)};
	struct oci_seccomp none = {.default_action = "SCMP_ACT_ALLOW"};

	CHECK_INT(ask(build(&s), SYS_getppid, NULL), SECCOMP_RET_ALLOW);
	CHECK_INT(ask(build(&s), SYS_getuid, NULL), ERRNO(EPERM));
	CHECK_INT(ask(build(&none), SYS_getuid, NULL), SECCOMP_RET_ALLOW);
}

static void flags(void)
{
	struct oci_seccomp s = {.default_action = "SCMP_ACT_ALLOW",
				.flags = NAMES("SECCOMP_FILTER_FLAG_LOG",
					       "SECCOMP_FILTER_FLAG_SPEC_ALLOW",
					       "SECCOMP_FILTER_FLAG_TSYNC",
					       "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV")};

	CHECK_INT(build(&s)->flags, 1 | 2 | 4 | 32);
	for (const char *const *f = sec_seccomp_flags; *f; f++)
		CHECK(sec_seccomp_flag_supported(*f)); /* all are older than the test machine's */
	CHECK(!sec_seccomp_flag_supported("SECCOMP_FILTER_FLAG_NEW_LISTENER"));
}

static void errors(void)
{
	struct oci_seccomp_arg arg = {.index = 0, .op = "SCMP_CMP_EQ"};
	struct oci_syscall rule = {.names = NAMES("read"), .action = "SCMP_ACT_ALLOW",
				   .args = {&arg, 1}};
	struct oci_seccomp s = {.default_action = "SCMP_ACT_ERRNO", .syscalls = {&rule, 1}};

	rule.errno_ret = (struct opt_u32){true, 1};
	CHECK_STR(refused(&s), "linux.seccomp.syscalls[0]: SCMP_ACT_ALLOW takes no errno");
	rule.errno_ret.set = false;
	rule.action = "SCMP_ACT_HOPE";
	CHECK_STR(refused(&s), "linux.seccomp.syscalls[0]: unknown action SCMP_ACT_HOPE");
	rule.action = "SCMP_ACT_NOTIFY";
	CHECK_STR(refused(&s), "linux.seccomp.listenerPath: needed for SCMP_ACT_NOTIFY");
	rule.action = "SCMP_ACT_ALLOW";
	arg.op = "SCMP_CMP_ALMOST";
	CHECK_STR(refused(&s),
		  "linux.seccomp.syscalls[0]: args[0]: op: unknown operator SCMP_CMP_ALMOST");
	arg.op = "SCMP_CMP_EQ";
	arg.index = 6;
	CHECK_STR(refused(&s),
		  "linux.seccomp.syscalls[0]: args[0]: index: a call has arguments 0 to 5");
	arg.index = 0;
	s.architectures = NAMES("SCMP_ARCH_Z80");
	CHECK_STR(refused(&s), "linux.seccomp.architectures[0]: unknown architecture SCMP_ARCH_Z80");
	s.architectures = (struct strv){0};
	s.flags = NAMES("SECCOMP_FILTER_FLAG_FAST");
	CHECK_STR(refused(&s),
		  "linux.seccomp.flags[0]: unknown flag SECCOMP_FILTER_FLAG_FAST");
	s.flags = (struct strv){0};
	s.default_errno_ret = (struct opt_u32){true, 4096};
	CHECK_STR(refused(&s), "linux.seccomp.defaultAction: errno 4096 is more than 4095");
	s.default_errno_ret.set = false;
	s.default_action = "SCMP_ACT_NOTIFY";
	CHECK_STR(refused(&s),
		  "linux.seccomp.defaultAction: SCMP_ACT_NOTIFY cannot be the default");
}

/* More conditions than the kernel takes instructions: an error, not a cut program. */
static void too_big(void)
{
	static struct oci_seccomp_arg args[1000];
	struct oci_syscall rules[] = {
		{.names = NAMES("read"), .action = "SCMP_ACT_ALLOW", .args = {args, 1000}},
		{.names = NAMES("write"), .action = "SCMP_ACT_ALLOW"}};
	struct oci_seccomp s = {.default_action = "SCMP_ACT_ERRNO", .syscalls = LIST(rules)};

	for (uint64_t i = 0; i < 1000; i++)
		args[i] = (struct oci_seccomp_arg){.index = 1, .value = i, .op = "SCMP_CMP_EQ"};
	CHECK(strstr(refused(&s), "instructions, the kernel takes at most 4096"));
	rules[0].args.n = 500;
	CHECK_INT(ask(build(&s), SYS_read, (uint64_t[6]){0, 499}), SECCOMP_RET_ALLOW);
	CHECK_INT(ask(build(&s), SYS_read, (uint64_t[6]){0, 500}), ERRNO(EPERM));
	CHECK_INT(ask(build(&s), SYS_write, (uint64_t[6]){0, 500}), SECCOMP_RET_ALLOW);
}

/* Random profiles of many rules against the model. */
enum { FUZZ_CALLS = 60, FUZZ_ROUNDS = 60, FUZZ_ASKS = 400 };

static const struct call { char *name; int nr; } calls[FUZZ_CALLS] = {
#define C(name) {#name, SYS_##name}
	C(read), C(write), C(close), C(fstat), C(lseek), C(mmap), C(mprotect), C(munmap), C(brk),
	C(ioctl), C(readv), C(writev), C(mremap), C(msync), C(mincore), C(madvise), C(shmget),
	C(shmat), C(dup), C(nanosleep), C(getpid), C(sendfile), C(socket), C(connect), C(accept),
	C(sendto), C(recvfrom), C(sendmsg), C(recvmsg), C(shutdown), C(bind), C(listen),
	C(clone), C(execve), C(exit), C(wait4), C(kill), C(uname), C(semget), C(fcntl), C(flock),
	C(fsync), C(truncate), C(getcwd), C(chdir), C(fchmod), C(umask), C(getuid), C(syslog),
	C(setuid), C(ptrace), C(mount), C(futex), C(openat), C(prctl), C(unshare), C(setns),
	C(personality), C(statx), C(clone3),
};

static uint64_t random_value(void)
{
	return random() % 3 ? interesting[random() % N_INTERESTING] :
	       (uint64_t)random() << 33 ^ (uint64_t)random();
}

/* Up to three rules with the same action for one call, so that their order does not matter. */
struct fuzz { struct oci_syscall rules[3]; size_t n; uint32_t action; };

static void random_rules(struct fuzz *z, char *name)
{
	static char *const acts[] = {"SCMP_ACT_ALLOW", "SCMP_ACT_TRAP", "SCMP_ACT_LOG"};
	static const uint32_t wants[] = {SECCOMP_RET_ALLOW, SECCOMP_RET_TRAP, SECCOMP_RET_LOG};
	long act = random() % 3;

	z->n = (size_t)random() % 4;
	z->action = wants[act];
	for (size_t i = 0; i < z->n; i++) {
		size_t n = (size_t)random() % 3;
		struct oci_seccomp_arg *a = arena_array(arena, n, sizeof(*a));
		char **v = arena_array(arena, 2, sizeof(*v));

		v[0] = name;
		for (size_t j = 0; j < n; j++) {
			uint64_t value = random_value();

			a[j] = (struct oci_seccomp_arg){
				.index = (uint32_t)(2 * j + (size_t)random() % 2), .value = value,
				.value_two = {true, value & random_value()},
				.op = (char *)sec_seccomp_operators[random() % 7]};
		}
		z->rules[i] = (struct oci_syscall){.names = {v, 1}, .action = acts[act],
						   .args = {a, n}};
	}
}

static uint32_t model(const struct fuzz *z, const uint64_t *args)
{
	for (size_t i = 0; i < z->n; i++) {
		bool all = true;

		for (size_t j = 0; j < z->rules[i].args.n; j++)
			all &= holds(&z->rules[i].args.v[j], args);
		if (all)
			return z->action;
	}
	return ERRNO(38);
}

static void random_profiles(void)
{
	static struct fuzz z[FUZZ_CALLS];
	static struct oci_syscall rules[FUZZ_CALLS * 3];

	srandom(1);
	for (int round = 0; round < FUZZ_ROUNDS; round++) {
		struct oci_seccomp s = {.default_action = "SCMP_ACT_ERRNO",
					.default_errno_ret = {true, 38}, .syscalls = {rules, 0}};
		const struct sec_filter *f;

		for (int i = 0; i < FUZZ_CALLS; i++) {
			random_rules(&z[i], calls[i].name);
			memcpy(rules + s.syscalls.n, z[i].rules, z[i].n * sizeof(rules[0]));
			s.syscalls.n += z[i].n;
		}
		f = build(&s);
		for (int k = 0; k < FUZZ_ASKS; k++) {
			int i = (int)(random() % FUZZ_CALLS);
			uint64_t args[6];

			for (int j = 0; j < 6; j++)
				args[j] = random_value();
			if (ask(f, calls[i].nr, args) != model(&z[i], args)) {
				CHECK_INT(ask(f, calls[i].nr, args), model(&z[i], args));
				return;
			}
		}
	}
}

/* ---- the cache ---- */
static char cache_dir[] = "/tmp/brig-test-XXXXXX";

static bool same(const struct sec_filter *a, const struct sec_filter *b)
{
	return a && b && a->n == b->n && a->flags == b->flags && a->notify == b->notify &&
	       memcmp(a->insns, b->insns, a->n * sizeof(*a->insns)) == 0;
}

static const struct sec_filter *cached(int dirfd, const struct oci_seccomp *s)
{
	struct sec_filter *f = NULL;
	struct err e = {0};

	if (sec_filter_cached(arena, dirfd, s, &f, &e) < 0)
		printf("# cached: %s\n", e.msg);
	return f;
}

/* Far more profiles than places: every answer must still be the right one. */
static void cache_collisions(void)
{
	int dirfd = open(mkdtemp(cache_dir), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct oci_seccomp s = {.default_action = "SCMP_ACT_ERRNO"};

	CHECK(dirfd >= 0);
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 300; i++) {
			s.default_errno_ret = (struct opt_u32){true, i};
			CHECK(same(cached(dirfd, &s), build(&s)));
			CHECK(same(cached(dirfd, &s), build(&s)));
		}
	close(dirfd);
}

/* A file that is not ours to trust must be ignored; here one that would allow everything. */
static void cache_distrust(void)
{
	int dirfd = open(cache_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct oci_seccomp s = {.default_action = "SCMP_ACT_ERRNO", .default_errno_ret = {true, 7}};
	const struct sec_filter *want = build(&s);
	char path[64] = "";
	struct stat st;

	for (int i = 0; i < 64; i++) { /* of our own directory only: others run at the same time */
		char name[16];

		snprintf(name, sizeof(name), "seccomp-%02d", i);
		unlinkat(dirfd, name, 0);
	}
	CHECK(same(cached(dirfd, &s), want));
	for (int i = 0; i < 64 && !*path; i++) {
		snprintf(path, sizeof(path), "seccomp-%02d", i);
		if (fstatat(dirfd, path, &st, 0) < 0)
			*path = '\0';
	}
	CHECK(*path && (st.st_mode & 07777) == 0600);
	for (off_t at = 0; at < st.st_size; at += 5) { /* flip bytes all over the file */
		int fd = openat(dirfd, path, O_RDWR | O_CLOEXEC);
		char c;

		CHECK(pread(fd, &c, 1, at) == 1);
		c ^= 0x15;
		CHECK(pwrite(fd, &c, 1, at) == 1);
		close(fd);
		CHECK(same(cached(dirfd, &s), want));
	}
	CHECK(fchmodat(dirfd, path, 0644, 0) == 0);
	CHECK(same(cached(dirfd, &s), want));
	CHECK(fstatat(dirfd, path, &st, 0) == 0 && (st.st_mode & 07777) == 0600);
	CHECK(unlinkat(dirfd, path, 0) == 0 && symlinkat("/dev/zero", dirfd, path) == 0);
	CHECK(same(cached(dirfd, &s), want));
	CHECK(fstatat(dirfd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode));
	CHECK(unlinkat(dirfd, path, 0) == 0 && mkfifoat(dirfd, path, 0600) == 0);
	CHECK(same(cached(dirfd, &s), want));
	CHECK(same(cached(-1, &s), want));
	CHECK(unlinkat(dirfd, path, 0) == 0);
	close(dirfd);
	CHECK(rmdir(cache_dir) == 0);
}

static void set_up(void)
{
	arena = arena_new();
	CHECK(arena);
}

static void tear_down(void)
{
	arena_free(arena);
}

TEST_MAIN(TEST(set_up), TEST(actions), TEST(operators), TEST(several_conditions),
	  TEST(architectures), TEST(odd_rules), TEST(flags), TEST(errors), TEST(too_big),
	  TEST(random_profiles), TEST(cache_collisions), TEST(cache_distrust), TEST(tear_down))

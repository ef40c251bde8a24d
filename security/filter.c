/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A seccomp profile of config.json -> a BPF program, by libseccomp. Only here.
 *
 * Where the spec is silent we do what callers know from runc: calls that libseccomp has no name
 * for are skipped, a rule with the default action is dropped, and conditions on the same argument
 * become alternatives (one rule each), because libseccomp takes one condition per argument.
 */
#include "security/internal.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/log.h"
#include "base/str.h"

/* From here on a binary tree beats libseccomp's list, which is tested from top to bottom. */
enum { TREE_MIN_RULES = 32, OPTIMIZE_TREE = 2, ARGS_MAX = 6 };

uint64_t sec_filter_compiler(void)
{
	const struct scmp_version *v = seccomp_version();

	return ((uint64_t)(v->major & 0xff) << 24 | (v->minor & 0xff) << 16 | (v->micro & 0xffff))
	       << 32 | seccomp_arch_native();
}

static void cleanup_context(scmp_filter_ctx *c)
{
	if (*c)
		seccomp_release(*c);
}
#define auto_context __attribute__((cleanup(cleanup_context)))

static const struct sec_name operators[] = {
	{"SCMP_CMP_NE", SCMP_CMP_NE}, {"SCMP_CMP_LT", SCMP_CMP_LT}, {"SCMP_CMP_LE", SCMP_CMP_LE},
	{"SCMP_CMP_EQ", SCMP_CMP_EQ}, {"SCMP_CMP_GE", SCMP_CMP_GE}, {"SCMP_CMP_GT", SCMP_CMP_GT},
	{"SCMP_CMP_MASKED_EQ", SCMP_CMP_MASKED_EQ}, {NULL, 0}};

/* So an action of ours is one of libseccomp's. */
_Static_assert(SCMP_ACT_ALLOW == SECCOMP_RET_ALLOW && SCMP_ACT_KILL_THREAD == SECCOMP_RET_KILL &&
	       SCMP_ACT_KILL_PROCESS == SECCOMP_RET_KILL_PROCESS &&
	       SCMP_ACT_NOTIFY == SECCOMP_RET_USER_NOTIF && SCMP_ACT_LOG == SECCOMP_RET_LOG &&
	       SCMP_ACT_ERRNO(1) == (SECCOMP_RET_ERRNO | 1) && SCMP_ACT_TRAP == SECCOMP_RET_TRAP &&
	       SCMP_ACT_TRACE(1) == (SECCOMP_RET_TRACE | 1), "libseccomp has the kernel's numbers");

/* "SCMP_ARCH_X86_64" -> the token; libseccomp's own names are in lower case without the prefix. */
static uint32_t arch_token(const char *arch)
{
	char name[32];
	size_t n = 0;

	for (const char *s = arch + strlen("SCMP_ARCH_"); *s && n < sizeof(name) - 1; s++)
		name[n++] = (char)(*s >= 'A' && *s <= 'Z' ? *s - 'A' + 'a' : *s);
	name[n] = '\0';
	return seccomp_arch_resolve_name(name);
}

static int add_archs(scmp_filter_ctx ctx, const struct strv *archs, struct err *e)
{
	for (size_t i = 0; i < archs->n; i++) {
		uint32_t token;
		int r;

		if (str_index(sec_seccomp_archs, archs->v[i]) < 0)
			return err_set(e, EINVAL, "linux.seccomp.architectures[%zu]: unknown "
				       "architecture %s", i, archs->v[i]);
		token = arch_token(archs->v[i]);
		if (!token) {
			/* Its calls are killed, as those of any architecture that is not listed. */
			log_warning("linux.seccomp.architectures[%zu]: this libseccomp does not "
				    "know %s", i, archs->v[i]);
			continue;
		}
		r = seccomp_arch_add(ctx, token);
		if (r < 0 && r != -EEXIST)
			return err_set(e, -r, "linux.seccomp.architectures[%zu]: cannot filter %s "
				       "calls on this machine", i, archs->v[i]);
	}
	return 0;
}

/* One entry of `syscalls`, converted. */
struct rule {
	uint32_t action;
	struct scmp_arg_cmp *cmp;
	unsigned n_cmp;
	bool alternatives; /* the conditions are "or", not "and" */
};

static int convert_args(struct arena *a, const struct oci_seccomp_arg_list *args,
			struct rule *rule, struct err *e)
{
	bool seen[ARGS_MAX] = {false};

	rule->cmp = arena_array(a, args->n, sizeof(*rule->cmp));
	for (size_t i = 0; i < args->n; i++) {
		const struct oci_seccomp_arg *arg = &args->v[i];
		const struct sec_name *op = sec_find_name(operators, arg->op);

		if (!op)
			return err_set(e, EINVAL, "args[%zu].op: unknown operator %s", i,
				       arg->op ? arg->op : "(none)");
		if (arg->index >= ARGS_MAX)
			return err_set(e, EINVAL, "args[%zu].index: a call has arguments 0 to %d",
				       i, ARGS_MAX - 1);
		rule->cmp[i] = (struct scmp_arg_cmp){
			.arg = arg->index, .op = (enum scmp_compare)op->value,
			.datum_a = arg->value, .datum_b = arg->value_two.v};
		rule->alternatives |= seen[arg->index];
		seen[arg->index] = true;
	}
	rule->n_cmp = (unsigned)args->n;
	return 0;
}

static int add_rule(scmp_filter_ctx ctx, const struct rule *rule, const char *name, struct err *e)
{
	unsigned step = rule->alternatives ? 1 : rule->n_cmp;
	int nr = seccomp_syscall_resolve_name(name);
	unsigned i = 0;
	int r;

	if (nr == __NR_SCMP_ERROR) {
		log_debug("linux.seccomp: libseccomp does not know the call %s: skipped", name);
		return 0;
	}
	do {
		r = seccomp_rule_add_array(ctx, rule->action, nr, step, rule->cmp + i);
		if (r < 0 && r != -EEXIST)
			return err_set(e, -r, "%s: libseccomp refuses the rule: %s", name,
				       err_name(-r));
		i += step;
	} while (i < rule->n_cmp);
	return 0;
}

static int add_entry(scmp_filter_ctx ctx, struct arena *a, const struct oci_syscall *s,
		     uint32_t default_action, struct err *e)
{
	struct rule rule = {0};
	int r = sec_action(s->action, &s->errno_ret, &rule.action, e);

	if (r < 0)
		return r;
	if (rule.action == default_action)
		return 0;
	r = convert_args(a, &s->args, &rule, e);
	for (size_t i = 0; r >= 0 && i < s->names.n; i++)
		r = add_rule(ctx, &rule, s->names.v[i], e);
	return r;
}

/* Appends the program to *b as bytes. */
static int export_program(scmp_filter_ctx ctx, struct strbuf *b, struct err *e)
{
#if SCMP_VER_MAJOR > 2 || (SCMP_VER_MAJOR == 2 && SCMP_VER_MINOR >= 6)
	char *room = NULL;
	size_t n = 0;
	int r = seccomp_export_bpf_mem(ctx, NULL, &n);

	if (r < 0)
		return err_set(e, -r, "compile linux.seccomp: %s", err_name(-r));
	room = xrealloc(NULL, n);
	r = seccomp_export_bpf_mem(ctx, room, &n);
	if (r >= 0)
		strbuf_add(b, room, n);
	free(room);
	return r < 0 ? err_set(e, -r, "compile linux.seccomp: %s", err_name(-r)) : 0;
#else
	auto_close int fd = memfd_create("seccomp", MFD_CLOEXEC);
	int r;

	if (fd < 0)
		return err_sys(e, "compile linux.seccomp: memfd_create");
	r = seccomp_export_bpf(ctx, fd);
	if (r < 0)
		return err_set(e, -r, "compile linux.seccomp: %s", err_name(-r));
	if (lseek(fd, 0, SEEK_SET) < 0)
		return err_sys(e, "compile linux.seccomp: seek");
	return io_read_fd(fd, BPF_MAXINSNS * sizeof(struct sock_filter), b, "seccomp program", e);
#endif
}

/* Takes the program over into the arena, aligned. */
static int keep_program(struct arena *a, const struct strbuf *b, struct sec_filter *f,
			struct err *e)
{
	size_t n = b->len / sizeof(struct sock_filter);
	struct sock_filter *insns;

	if (n == 0 || n > BPF_MAXINSNS || b->len % sizeof(*insns))
		return err_set(e, E2BIG, "linux.seccomp: the program has %zu instructions, the "
			       "kernel takes at most %d", n, BPF_MAXINSNS);
	insns = arena_array(a, n, sizeof(*insns));
	memcpy(insns, b->p, b->len);
	f->insns = insns;
	f->n = (unsigned short)n;
	return 0;
}

static int add_entries(scmp_filter_ctx ctx, struct arena *a, const struct oci_seccomp *s,
		       uint32_t default_action, struct err *e)
{
	size_t names = 0;
	int r = add_archs(ctx, &s->architectures, e);

	if (r < 0)
		return r;
	for (size_t i = 0; i < s->syscalls.n; i++) {
		r = add_entry(ctx, a, &s->syscalls.v[i], default_action, e);
		if (r < 0)
			return err_wrap(e, "linux.seccomp.syscalls[%zu]", i);
		names += s->syscalls.v[i].names.n;
	}
	if (names >= TREE_MIN_RULES)
		seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, OPTIMIZE_TREE);
	return 0;
}

int sec_filter_build(struct arena *a, const struct oci_seccomp *s, struct sec_filter **ret_filter,
		     struct err *e)
{
	struct sec_filter *f = arena_new_of(a, struct sec_filter);
	auto_context scmp_filter_ctx ctx = NULL;
	auto_strbuf struct strbuf b = {0};
	uint32_t default_action;
	int r = sec_filter_options(s, f, e);

	if (r < 0)
		return r;
	r = sec_action(s->default_action, &s->default_errno_ret, &default_action, e);
	if (r < 0)
		return err_wrap(e, "linux.seccomp.defaultAction");
	ctx = seccomp_init(default_action);
	if (!ctx)
		return err_set(e, EINVAL, "linux.seccomp.defaultAction: libseccomp or this kernel "
			       "does not know %s", s->default_action);
	if ((r = add_entries(ctx, a, s, default_action, e)) < 0 ||
	    (r = export_program(ctx, &b, e)) < 0 || (r = keep_program(a, &b, f, e)) < 0)
		return r;
	*ret_filter = f;
	return 0;
}

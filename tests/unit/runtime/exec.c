/* SPDX-License-Identifier: Apache-2.0 */
/* What exec runs, and what update writes: merging of what is given with what the container has. */
#include <errno.h>

#include "base/arena.h"
#include "runtime/exec-process.h"
#include "runtime/update.h"
#include "tests/unit/test.h"

static struct oci_process *container(struct arena *a)
{
	static char *env[] = {"PATH=/bin", "A=1", NULL}, *args[] = {"sleep", NULL}, *caps[] = {"CAP_KILL", NULL};
	struct oci_process *p = arena_new_of(a, struct oci_process);

	p->capabilities = arena_new_of(a, struct oci_capabilities);
	p->capabilities->bounding = p->capabilities->permitted = (struct strv){caps, 1};
	p->env = (struct strv){env, 2};
	p->args = (struct strv){args, 1};
	p->cwd = "/";
	p->user = (struct oci_user){.uid = 5, .gid = 6};
	p->no_new_privileges = (struct opt_bool){true, true};
	p->oom_score_adj = (struct opt_i32){true, 7};
	return p;
}

static char *command[] = {"id", "-u", NULL};

static void takes_over_what_the_container_has(void)
{
	auto_arena struct arena *a = arena_new();
	const struct exec_request q = {.args = command};
	struct oci_process *p = NULL;
	struct err e = {0};

	CHECK_INT(exec_make_process(a, &q, container(a), &p, &e), 0);
	CHECK_INT(p->args.n, 2);
	CHECK_STR(p->args.v[1], "-u");
	CHECK_INT(p->user.uid, 5);
	CHECK_INT(p->oom_score_adj.v, 7);
	CHECK(p->no_new_privileges.v);
	CHECK(!p->terminal.v);
	CHECK_INT(p->capabilities->permitted.n, 1);
}

static void caps_are_never_inheritable(void)
{
	auto_arena struct arena *a = arena_new();
	const char *caps[] = {"CAP_CHOWN", "FOWNER"};
	struct exec_request q = {.args = command, .caps = {caps, 2}};
	struct oci_process *base = container(a), *p = NULL;
	struct err e = {0};

	CHECK_INT(exec_make_process(a, &q, base, &p, &e), 0);
	CHECK_INT(p->capabilities->bounding.n, 3);
	CHECK_INT(p->capabilities->effective.n, 2);
	CHECK_INT(p->capabilities->inheritable.n, 0);
	CHECK_INT(p->capabilities->ambient.n, 0);
	CHECK_STR(p->capabilities->permitted.v[2], "CAP_FOWNER");
	CHECK_INT(base->capabilities->bounding.n, 1);
	caps[0] = "CAP_X";
	CHECK_INT(exec_make_process(a, &q, base, &p, &e), -EINVAL);
}

static void users_are_numbers(void)
{
	static const char *const wrong[] = {"root", "-1", "1:", ":1", "1:2:3", "0x1", " 1", "1 ",
					    "4294967295", "2147483648", "99999999999999999999", ""};
	auto_arena struct arena *a = arena_new();
	struct exec_request q = {.args = command, .user = "2147483647"};
	struct oci_process *p = NULL;
	struct err e = {0};

	CHECK_INT(exec_make_process(a, &q, container(a), &p, &e), 0);
	CHECK_INT(p->user.uid, 2147483647);
	CHECK_INT(p->user.gid, 6);
	q.user = "0:8";
	CHECK_INT(exec_make_process(a, &q, container(a), &p, &e), 0);
	CHECK_INT(p->user.uid, 0);
	CHECK_INT(p->user.gid, 8);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		q.user = wrong[i];
		CHECK_INT(exec_make_process(a, &q, container(a), &p, &e), -EINVAL);
	}
}

static void a_command_is_needed(void)
{
	auto_arena struct arena *a = arena_new();
	static char *none[] = {NULL};
	const struct exec_request q = {.args = none};
	struct oci_process *p;
	struct err e = {0};

	CHECK_INT(exec_make_process(a, &q, container(a), &p, &e), -EINVAL);
}

static void update_fills_up_memory_and_cpu(void)
{
	auto_arena struct arena *a = arena_new();
	struct oci_memory memory = {.limit = {true, 100}, .swap = {true, 200}}, more = {.limit = {true, 150}};
	struct oci_cpu cpu = {.quota = {true, 5}, .period = {true, 9}}, zero = {.quota = {true, 0}};
	struct oci_resources saved = {.memory = &memory, .cpu = &cpu}, with = {.memory = &more, .cpu = &zero};
	struct oci_resources *r = update_merge(a, &saved, &with);

	CHECK_INT(r->memory->limit.v, 150);
	CHECK_INT(r->memory->swap.v, 200);
	CHECK_INT(r->cpu->quota.v, 5);
	CHECK_INT(r->cpu->period.v, 9);
	CHECK_INT(saved.memory->limit.v, 150);
	CHECK_INT(memory.limit.v, 100);
}

static void update_writes_only_what_is_given(void)
{
	auto_arena struct arena *a = arena_new();
	struct oci_memory memory = {.limit = {true, 100}};
	struct oci_device_rule rule = {.allow = true};
	struct oci_pids pids = {.limit = {true, 0}};
	struct str_pair had[] = {{"a", "1"}, {"b", "2"}}, gets[] = {{"b", "3"}, {"c", "4"}};
	struct oci_resources saved = {.memory = &memory, .unified = {had, 2}};
	struct oci_resources with = {.pids = &pids, .devices = {&rule, 1}, .unified = {gets, 2}};
	struct oci_resources *r = update_merge(a, &saved, &with);

	CHECK(!r->memory && !r->cpu);
	CHECK_INT(r->devices.n, 0);
	CHECK_INT(r->unified.n, 2);
	CHECK_INT(saved.unified.n, 3);
	CHECK_STR(saved.unified.v[1].value, "3");
	CHECK(saved.pids == &pids && saved.memory == &memory);
}

TEST_MAIN(TEST(takes_over_what_the_container_has), TEST(caps_are_never_inheritable),
	  TEST(users_are_numbers), TEST(a_command_is_needed), TEST(update_fills_up_memory_and_cpu),
	  TEST(update_writes_only_what_is_given))

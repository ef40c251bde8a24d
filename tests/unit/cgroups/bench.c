/* SPDX-License-Identifier: Apache-2.0 */
/* Microseconds of each step that a start takes, medians. Not a test: run it by hand. */
#include <time.h>

#include "tests/unit/cgroups/fixture.h"

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), compare);
	return v[n / 2];
}

enum { ROUNDS = 300, COLUMNS = 6 };

static int bench(bool limited)
{
	static const char *const names[COLUMNS] = {"probe",   "plan",    "create",
						   "devices", "destroy", "close"};
	static double v[COLUMNS][ROUNDS];
	struct limits l;

	fill(&l);
	if (!limited)
		memset(&l.resources, 0, sizeof(l.resources));
	for (int i = 0; i < ROUNDS; i++) {
		struct arena *a = arena_new();
		struct cg_request rq = {.spec = &l.spec, .id = "bench", .rootless = geteuid() != 0};
		struct cg_host h;
		struct cg_plan *p = NULL;
		struct cg *cg = NULL;
		struct err e = {0};
		double t[COLUMNS + 1];
		int r;

		t[0] = now_us();
		r = cg_probe(a, &h, &e);
		t[1] = now_us();
		rq.host = &h;
		r = r < 0 ? r : cg_plan_build(a, &rq, &p, &e);
		t[2] = now_us();
		r = r < 0 ? r : cg_create_without_devices(&h, p, &cg, &e);
		t[3] = now_us();
		r = r < 0 ? r : cg_set_devices(cg, p, &e);
		t[4] = now_us();
		r = r < 0 ? r : cg_destroy(cg, &e);
		t[5] = now_us();
		cg_close(cg);
		cg_host_close(&h);
		t[6] = now_us();
		if (r < 0) {
			printf("%s\n", e.msg);
			return 1;
		}
		for (int c = 0; c < COLUMNS; c++)
			v[c][i] = t[c + 1] - t[c];
		arena_free(a);
	}
	printf("%s:", limited ? "limits" : "no limits");
	for (int c = 0; c < COLUMNS; c++)
		printf("  %s %.1f", names[c], median(v[c], ROUNDS));
	printf(" us\n");
	return 0;
}

int main(void)
{
	struct err e = {0};

	arena = arena_new();
	if (cg_probe(arena, &host, &e) < 0)
		return 1;
	return bench(true) || bench(false);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "sidecar/metrics.h"

#include <stddef.h>

#include "sidecar/pool.h"
#include "sidecar/run.h"

static const double bounds[] = {0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
enum { N_BOUNDS = sizeof(bounds) / sizeof(bounds[0]), N_KINDS = 2, N_CLASSES = 6 };

static struct histogram {
	uint64_t buckets[N_BOUNDS], count;
	double sum;
} starts[N_KINDS];
static uint64_t ended[RUN_FAILED + 2], oom_kills, cut_bytes, requests[N_CLASSES];

void metrics_started(double wait_seconds, bool warm)
{
	struct histogram *h = &starts[warm];

	for (size_t i = 0; i < N_BOUNDS; i++)
		h->buckets[i] += wait_seconds <= bounds[i];
	h->count++;
	h->sum += wait_seconds;
}

void metrics_ended(const struct run_result *result)
{
	/* Completed with another exit code than 0 counts apart, at the end. */
	bool nonzero = result->status == RUN_COMPLETED && result->returncode != 0;

	ended[nonzero ? RUN_FAILED + 1 : result->status]++;
	oom_kills += result->oom_killed;
}

void metrics_cut(uint64_t bytes)
{
	cut_bytes += bytes;
}

void metrics_request(int status)
{
	requests[status >= 100 && status < 600 ? status / 100 : 0]++;
}

static void put(struct strbuf *b, const char *name, const char *type, const char *help)
{
	strbuf_printf(b, "# HELP brigd_%s %s\n# TYPE brigd_%s %s\n", name, help, name, type);
}

static void write_histogram(struct strbuf *b)
{
	static const char *const kinds[] = {"cold", "warm"};

	put(b, "start_seconds", "histogram", "Time from a request to the start of its sandbox.");
	for (size_t k = 0; k < N_KINDS; k++) {
		for (size_t i = 0; i < N_BOUNDS; i++)
			strbuf_printf(b, "brigd_start_seconds_bucket{kind=\"%s\",le=\"%g\"} %llu\n", kinds[k],
				      bounds[i], (unsigned long long)starts[k].buckets[i]);
		strbuf_printf(b,
			      "brigd_start_seconds_bucket{kind=\"%s\",le=\"+Inf\"} %llu\n"
			      "brigd_start_seconds_sum{kind=\"%s\"} %g\n"
			      "brigd_start_seconds_count{kind=\"%s\"} %llu\n",
			      kinds[k], (unsigned long long)starts[k].count, kinds[k], starts[k].sum, kinds[k],
			      (unsigned long long)starts[k].count);
	}
}

void metrics_write(struct strbuf *b)
{
	static const char *const statuses[] = {
		[RUN_COMPLETED] = "completed", [RUN_TIMED_OUT] = "timed_out", [RUN_STOPPED] = "cancelled",
		[RUN_FAILED] = "not_started", [RUN_FAILED + 1] = "failed"};

	put(b, "executions_total", "counter", "Executions that have ended, by how.");
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
		strbuf_printf(b, "brigd_executions_total{status=\"%s\"} %llu\n", statuses[i],
			      (unsigned long long)ended[i]);
	put(b, "running", "gauge", "Executions and sessions that run.");
	strbuf_printf(b, "brigd_running %zu\n", run_running());
	put(b, "queue_length", "gauge", "Executions that wait for their turn.");
	strbuf_printf(b, "brigd_queue_length %zu\n", run_waiting());
	put(b, "prepared", "gauge", "Sandboxes that are prepared.");
	strbuf_printf(b, "brigd_prepared %zu\n", pool_ready());
	write_histogram(b);
	put(b, "oom_kills_total", "counter", "Executions in which the kernel killed for memory.");
	strbuf_printf(b, "brigd_oom_kills_total %llu\n", (unsigned long long)oom_kills);
	put(b, "cut_bytes_total", "counter", "Bytes of output beyond the limit, thrown away.");
	strbuf_printf(b, "brigd_cut_bytes_total %llu\n", (unsigned long long)cut_bytes);
	put(b, "requests_total", "counter", "HTTP requests answered, by class of status.");
	for (size_t i = 1; i < N_CLASSES; i++)
		strbuf_printf(b, "brigd_requests_total{class=\"%zuxx\"} %llu\n", i,
			      (unsigned long long)requests[i]);
}

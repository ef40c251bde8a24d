/* SPDX-License-Identifier: Apache-2.0 */
#include "sidecar/access-log.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "json/writer.h"
#include "sidecar/config.h"
#include "sidecar/server.h"

static int fd = STDERR_FILENO;

int access_log_open(struct err *e)
{
	if (!config.access_log)
		return 0;
	fd = open(config.access_log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
	return fd < 0 ? err_sys(e, "open the access log %.200s", config.access_log) : 0;
}

static void member_time(struct json_writer *w)
{
	char date[32], text[64];
	struct timeval now;
	struct tm tm;

	gettimeofday(&now, NULL);
	gmtime_r(&now.tv_sec, &tm);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text, sizeof(text), "%s.%03dZ", date, (int)(now.tv_usec / 1000));
	json_member_str(w, "time", text);
}

/* A log that cannot be written does not stop the service. */
void access_log_write(const struct conn *c, const char *method, int status, uint64_t bytes,
		      double seconds)
{
	auto_strbuf struct strbuf b = {0};
	struct json_writer w;

	json_writer_init(&w, &b, false);
	json_begin_object(&w);
	member_time(&w);
	json_member_str(&w, "request_id", c->request_id);
	json_member_str(&w, "peer", c->peer);
	json_member_str(&w, "method", method);
	json_member_str(&w, "path", c->path);
	json_member_u64(&w, "status", (uint64_t)status);
	json_member_u64(&w, "bytes", bytes);
	json_member_f64(&w, "seconds", (double)(int64_t)(seconds * 1e6) / 1e6);
	if (c->subject)
		json_member_str(&w, "subject", c->subject);
	json_end_object(&w);
	strbuf_addc(&b, '\n');
	if (write(fd, b.p, b.len) < 0)
		return;
}

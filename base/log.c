/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/str.h"

enum target { TO_FILE, TO_SYSLOG, TO_JOURNALD };

static struct {
	int fd;
	enum target target;
	const char *name; /* of ourselves, for the daemons */
	enum log_format format;
	enum log_level level;
} state = {.fd = -1, .level = LOG_LEVEL_INFO};

static const char *const level_names[] = {"error", "warning", "info", "debug"};

/* crun's word for what is meant without one, too. */
#define FILE_PREFIX "file:"

/* Of the daemons that take datagrams; the prefix of --log. */
static const struct { const char *prefix, *socket; } daemons[] = {
	[TO_SYSLOG] = {"syslog:", "/dev/log"},
	[TO_JOURNALD] = {"journald:", "/run/systemd/journal/socket"},
};

static int open_daemon(enum target target, const char *path, struct err *e)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};

	strncpy(sa.sun_path, daemons[target].socket, sizeof(sa.sun_path) - 1);
	state.target = target;
	state.name = path + strlen(daemons[target].prefix);
	if (!*state.name)
		state.name = "brig";
	state.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (state.fd < 0 || connect(state.fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		return err_sys(e, "--log %s: reach the daemon at %s", path, sa.sun_path);
	return 0;
}

int log_open(const char *path, enum log_format format, enum log_level level, struct err *e)
{
	state.format = format;
	state.level = level;
	if (!path)
		return 0;
	for (enum target t = TO_SYSLOG; t <= TO_JOURNALD; t++)
		if (str_starts(path, daemons[t].prefix))
			return open_daemon(t, path, e);
	if (str_starts(path, FILE_PREFIX))
		path += strlen(FILE_PREFIX);
	state.fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
	return state.fd < 0 ? err_sys(e, "open the log file %s", path) : 0;
}

bool log_enabled(enum log_level level)
{
	return level <= state.level;
}

static void timestamp(char *buf, size_t size)
{
	struct timespec ts;
	struct tm tm;
	size_t n;

	clock_gettime(CLOCK_REALTIME, &ts);
	gmtime_r(&ts.tv_sec, &tm);
	n = strftime(buf, size, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(buf + n, size - n, ".%09ldZ", ts.tv_nsec);
}

static void json_string(struct strbuf *b, const char *s)
{
	strbuf_addc(b, '"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			strbuf_addc(b, '\\');
		strbuf_addc(b, *s);
	}
	strbuf_addc(b, '"');
}

static void format_line(struct strbuf *b, enum log_level level, const char *msg)
{
	/* Of RFC 5424: error, warning, info, debug of the facility "daemon" (3). */
	static const int priorities[] = {3, 4, 6, 7};
	char now[64];

	timestamp(now, sizeof(now));
	if (state.target == TO_SYSLOG) {
		strbuf_printf(b, "<%d>%s[%d]: %s", 3 << 3 | priorities[level], state.name,
			      (int)getpid(), msg);
	} else if (state.target == TO_JOURNALD) {
		strbuf_printf(b, "MESSAGE=%s\nPRIORITY=%d\nSYSLOG_IDENTIFIER=%s\n", msg,
			      priorities[level], state.name);
	} else if (state.format == LOG_FORMAT_JSON) {
		strbuf_adds(b, "{\"msg\":");
		json_string(b, msg);
		strbuf_printf(b, ",\"level\":\"%s\",\"time\":\"%s\"}\n", level_names[level], now);
	} else {
		strbuf_printf(b, "time=\"%s\" level=%s msg=", now, level_names[level]);
		json_string(b, msg);
		strbuf_addc(b, '\n');
	}
}

void log_msg(enum log_level level, const char *fmt, ...)
{
	auto_strbuf struct strbuf line = {0};
	char raw[1024], msg[2048];
	va_list ap;

	if (!log_enabled(level))
		return;
	va_start(ap, fmt);
	vsnprintf(raw, sizeof(raw), fmt, ap);
	va_end(ap);
	str_escape(msg, sizeof(msg), raw);
	if (state.fd >= 0 && (state.target != TO_FILE || state.format != LOG_FORMAT_JSON ||
			      level == LOG_LEVEL_ERROR || log_enabled(LOG_LEVEL_DEBUG))) {
		format_line(&line, level, msg);
		io_write_all(state.fd, line.p, line.len);
	}
	if (state.fd < 0 || level <= LOG_LEVEL_WARNING) {
		char out[2200];
		int n = snprintf(out, sizeof(out), "brig: %s%s\n",
				 level == LOG_LEVEL_WARNING ? "warning: " : "", msg);

		io_write_all(STDERR_FILENO, out, (size_t)n);
	}
}

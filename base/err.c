/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 2, 0))) static void put(struct err *e, const char *fmt, va_list ap)
{
	vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
}

static void append(struct err *e, const char *s)
{
	size_t n = strlen(e->msg);

	snprintf(e->msg + n, sizeof(e->msg) - n, ": %s", s);
}

int err_set(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put(e, fmt, ap);
	va_end(ap);
	e->code = code > 0 ? code : EINVAL;
	return -e->code;
}

int err_sys(struct err *e, const char *fmt, ...)
{
	int code = errno > 0 ? errno : EIO;
	va_list ap;

	va_start(ap, fmt);
	put(e, fmt, ap);
	va_end(ap);
	append(e, err_name(code));
	e->code = code;
	return -code;
}

int err_wrap(struct err *e, const char *fmt, ...)
{
	char old[sizeof(e->msg)];
	va_list ap;

	memcpy(old, e->msg, sizeof(old));
	va_start(ap, fmt);
	put(e, fmt, ap);
	va_end(ap);
	append(e, old);
	return e->code > 0 ? -e->code : -EIO;
}

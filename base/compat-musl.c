/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Only in a build with musl. clock_gettime: musl's looks for the kernel's page of code first and then
 * touches that page, its data and the clock's: three page faults for the one or two times that a
 * start asks, where a system call takes 0.3 us.
 *
 * The static archives of yajl and libseccomp come from a distribution
 * that builds them with glibc. They call plain C functions, which are the same in both, and these
 * checked forms (-D_FORTIFY_SOURCE), which only glibc has. A buffer that is too small ends the
 * process, as there.
 */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void *__memcpy_chk(void *to, const void *from, size_t n, size_t size);
int __sprintf_chk(char *to, int flag, size_t size, const char *fmt, ...);
int __snprintf_chk(char *to, size_t n, int flag, size_t size, ...);
int __fprintf_chk(FILE *file, int flag, const char *fmt, ...);

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	return (int)syscall(SYS_clock_gettime, clock, ret);
}

void *__memcpy_chk(void *to, const void *from, size_t n, size_t size)
{
	if (n > size)
		abort();
	return memcpy(to, from, n);
}

__attribute__((format(printf, 4, 5)))
int __sprintf_chk(char *to, int flag, size_t size, const char *fmt, ...)
{
	va_list ap;
	int r;

	(void)flag;
	va_start(ap, fmt);
	/* size is SIZE_MAX where the compiler did not know it; vsnprintf takes no more than INT_MAX. */
	r = vsnprintf(to, size < INT_MAX ? size : INT_MAX, fmt, ap);
	va_end(ap);
	if (r >= 0 && (size_t)r >= size)
		abort();
	return r;
}

/* The format is the first of the others: both ABIs pass it there as they would by name. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
int __snprintf_chk(char *to, size_t n, int flag, size_t size, ...)
{
	const char *fmt;
	va_list ap;
	int r;

	(void)flag;
	if (n > size)
		abort();
	va_start(ap, size);
	fmt = va_arg(ap, const char *);
	r = vsnprintf(to, n, fmt, ap);
	va_end(ap);
	return r;
}

__attribute__((format(printf, 3, 4)))
int __fprintf_chk(FILE *file, int flag, const char *fmt, ...)
{
	va_list ap;
	int r;

	(void)flag;
	va_start(ap, fmt);
	r = vfprintf(file, fmt, ap);
	va_end(ap);
	return r;
}

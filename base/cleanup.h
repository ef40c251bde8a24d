/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Automatic clean-up at the end of a scope. `auto_close int fd = -1;` closes, `auto_free char *p`
 * frees; take_fd/take_ptr hand the value on to somebody else and disarm the clean-up.
 * A close that runs in a clean-up never changes errno.
 */
#pragma once

#include <errno.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static inline void cleanup_close(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	errno = saved;
}

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

/* Kills and reaps a child process: for an early return between fork and the regular wait. */
void cleanup_reap(pid_t *pid);

#define auto_close __attribute__((cleanup(cleanup_close)))
#define auto_free __attribute__((cleanup(cleanup_free)))
#define auto_reap __attribute__((cleanup(cleanup_reap)))

static inline int take_fd(int *fd)
{
	int v = *fd;

	*fd = -1;
	return v;
}

#define take_ptr(p)                     \
	({                              \
		__auto_type tp_ = (p);  \
		(p) = NULL;             \
		tp_;                    \
	})

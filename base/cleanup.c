/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"

#include <signal.h>
#include <sys/wait.h>

void cleanup_reap(pid_t *pid)
{
	int saved = errno;

	if (*pid > 0) {
		kill(*pid, SIGKILL);
		while (waitpid(*pid, NULL, __WALL) < 0 && errno == EINTR)
			;
	}
	*pid = -1;
	errno = saved;
}

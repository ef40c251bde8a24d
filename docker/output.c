/* SPDX-License-Identifier: Apache-2.0 */
/* Standard output without stdio: a closed pipe is an error with Docker's words. */
#include <errno.h>
#include <unistd.h>

#include "base/io.h"
#include "docker/format.h"
#include "docker/lists.h"

int dk_write_stdout(const void *data, size_t n, struct err *e)
{
	int r = io_write_all(STDOUT_FILENO, data, n);
	auto_arena struct arena *a = NULL;

	if (r >= 0)
		return 0;
	a = arena_new();
	return err_set(e, -r, "write /dev/stdout: %s", dk_errno_text(a, -r));
}

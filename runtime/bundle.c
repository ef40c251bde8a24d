/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "spec/spec.h"

int rt_bundle_load(struct arena *a, const char *dir, struct rt_bundle *ret, struct err *e)
{
	auto_close int fd = -1;
	struct rt_bundle b = {0};
	char path[PATH_MAX];
	int r;

	if (!dir)
		dir = ".";
	if (!realpath(dir, path))
		return err_sys(e, "the bundle %s", dir);
	b.path = arena_strdup(a, path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, "open the bundle %s", dir);
	r = spec_load_bundle(fd, a, &b.spec, e);
	if (r < 0)
		return r;
	*ret = b;
	return 0;
}

int rt_check_preserved(unsigned n, struct err *e)
{
	if (n > 1024)
		return err_set(e, EINVAL, "--preserve-fds: %u is more than 1024", n);
	for (unsigned fd = 3; fd < 3 + n; fd++)
		if (fcntl((int)fd, F_GETFD) < 0)
			return err_set(e, EBADF, "--preserve-fds %u: descriptor %u is not open", n, fd);
	return 0;
}

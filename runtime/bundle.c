/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "runtime/annotations.h"
#include "spec/spec.h"

static const char own_config[] = "config.json";

static int read_config(const char *dir, const char *config, char path[PATH_MAX], struct strbuf *text,
		       struct err *e)
{
	auto_close int fd = -1;
	int r;

	if (!realpath(dir, path))
		return err_sys(e, "the bundle %s", dir);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, "open the bundle %s", dir);
	r = io_read_file(config ? AT_FDCWD : fd, config ? config : own_config, JSON_MAX_BYTES, text, e);
	if (r == -ENOENT && !config)
		return err_wrap(e, "the bundle %s (--bundle; brig spec makes a config.json)", dir);
	return r;
}

int rt_bundle_load(struct arena *a, const char *dir, const char *config, struct rt_bundle *ret,
		   struct err *e)
{
	auto_strbuf struct strbuf text = {0};
	struct rt_bundle b = {0};
	char path[PATH_MAX];
	int r = read_config(dir ? dir : ".", config, path, &text, e);

	if (r < 0)
		return r;
	b.path = arena_strdup(a, path);
	if (spec_parse(strbuf_str(&text), text.len, a, &b.spec, e) < 0)
		return err_wrap(e, "%s", config ? config : own_config);
	r = annotations_check(b.spec, e);
	if (r == 0)
		*ret = b;
	return r;
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

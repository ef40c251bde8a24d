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

int rt_bundle_read(struct arena *a, const char *dir, const char *config, struct rt_bundle *ret,
		   struct err *e)
{
	auto_close int fd = -1;
	auto_strbuf struct strbuf text = {0};
	const char *file = config ? config : "config.json";
	char path[PATH_MAX];
	int r;

	if (!dir)
		dir = ".";
	if (!realpath(dir, path))
		return err_sys(e, "the bundle %s", dir);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, "open the bundle %s", dir);
	r = io_read_file(config ? AT_FDCWD : fd, file, JSON_MAX_BYTES, &text, e);
	if (r == -ENOENT && !config)
		return err_wrap(e, "the bundle %s (--bundle; brig spec makes a config.json)", dir);
	if (r < 0)
		return r;
	*ret = (struct rt_bundle){.path = arena_strdup(a, path), .config = file, .text = text};
	text = (struct strbuf){0};
	return 0;
}

int rt_bundle_parse(struct arena *a, struct rt_bundle *b, struct err *e)
{
	auto_strbuf struct strbuf text = b->text;

	b->text = (struct strbuf){0};
	if (spec_parse(strbuf_str(&text), text.len, a, &b->spec, e) < 0)
		return err_wrap(e, "%s", b->config);
	return annotations_check(b->spec, e);
}

int rt_bundle_load(struct arena *a, const char *dir, const char *config, struct rt_bundle *ret,
		   struct err *e)
{
	int r = rt_bundle_read(a, dir, config, ret, e);

	return r < 0 ? r : rt_bundle_parse(a, ret, e);
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

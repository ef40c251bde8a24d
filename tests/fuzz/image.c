/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A layer's archive, unpacked into a directory of its own. Beside crashes it looks for a way out: the
 * directory lies in another one that must not change. Seeds: tests/lib/hostile-archives DIR --seeds.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/layers.h"
#include "image/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int outside = -1;
static struct stat before;

static void prepare(void)
{
	static char path[] = "/tmp/fuzz-image-XXXXXX";

	if (!mkdtemp(path))
		abort();
	outside = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (outside < 0 || mkdirat(outside, "layer", 0755) < 0 || fstat(outside, &before) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct img_budget budget = {.max_bytes = 1 << 20, .max_entries = 200};
	struct img_unpack u = {.mode = data && size && data[size - 1] & 1 ? IMG_UNPACK_OVER : IMG_UNPACK_LAYER,
			       .budget = &budget};
	struct img_stream s;
	struct err e = {0};
	struct stat after;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (outside < 0)
		prepare();
	if (fd < 0 || write(fd, data, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) != 0)
		abort();
	if (mkdirat(outside, "layer/diff", 0755) < 0)
		abort();
	u.root = openat(outside, "layer/diff", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (img_stream_open(&s, fd, true, &e) == 0) {
		if (img_unpack(&s, &u, &e) == 0)
			img_stream_finish(&s, &e);
		img_stream_close(&s);
	}
	close(fd);
	close(u.root);
	/* the directory above has only "layer" in it, as before */
	if (fstat(outside, &after) < 0 || after.st_nlink != before.st_nlink ||
	    after.st_mtim.tv_nsec != before.st_mtim.tv_nsec || after.st_mode != before.st_mode)
		abort();
	e.code = 0;
	if (img_remove_tree(outside, "layer/diff", &e) < 0)
		abort();
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reading side, which `run` is made of: a name is a file name, and the file is the record. Ids
 * are looked up in `ids`, the first digits of one by reading that directory.
 */
#include "image/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/sha256.h"
#include "image/store-internal.h"

enum { SHORT_ID_MIN = 1, HEX_DIGITS = 64, CONFIG_CAP = 4 << 20 };

int img_store_open(struct img_store *s, const char *data_root, struct err *e)
{
	char path[PATH_MAX];

	*s = (struct img_store){.dir = -1, .path = data_root};
	if (snprintf(path, sizeof(path), "%s/images", data_root) >= (int)sizeof(path))
		return err_set(e, ENAMETOOLONG, "the path of the data root is too long");
	s->dir = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (s->dir < 0 && errno != ENOENT)
		return err_sys(e, "open the image store %s", path);
	return 0;
}

void img_store_close(struct img_store *s)
{
	if (s->dir >= 0)
		close(s->dir);
	s->dir = -1;
}

int img_ref_file(const char *full, char *buf, size_t size, struct err *e)
{
	size_t n = strlen(full);

	if (n >= size || n > NAME_MAX)
		return err_set(e, ENAMETOOLONG, "%s: the name of an image has at most %d bytes here",
			       full, NAME_MAX);
	for (size_t i = 0; i <= n; i++)
		buf[i] = full[i] == '/' ? '%' : full[i];
	return 0;
}

int img_read_record_at(const struct img_store *s, const char *file, struct arena *a,
		       struct img_image *ret, struct err *e)
{
	auto_close int fd = -1;
	auto_strbuf struct strbuf b = {0};

	if (s->dir < 0)
		return 0;
	fd = openat(s->dir, file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : err_sys(e, "open %s in the image store", file);
	if (io_read_fd(fd, IMG_RECORD_CAP, &b, file, e) < 0)
		return -e->code;
	if (img_read_record(a, strbuf_str(&b), b.len, ret, e) < 0)
		return err_wrap(e, "%s in the image store", file);
	return 1;
}

/* Go's name of the machine. */
static const char *host_architecture(void)
{
	static const char *const names[][2] = {
		{"x86_64", "amd64"}, {"aarch64", "arm64"}, {"riscv64", "riscv64"}, {"s390x", "s390x"},
		{"ppc64le", "ppc64le"},
	};
	struct utsname u;

	if (uname(&u) == 0)
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
			if (strcmp(u.machine, names[i][0]) == 0)
				return names[i][1];
	return "unknown";
}

static void host_image(struct arena *a, struct img_image *ret)
{
	char hex[SHA256_HEX + 1];

	sha256_hex("host", 4, hex);
	*ret = (struct img_image){.host = true};
	ret->id = arena_printf(a, "sha256:%s", hex);
	ret->os = arena_strdup(a, "linux");
	ret->architecture = arena_strdup(a, host_architecture());
	ret->config.cmd.v = arena_array(a, 2, sizeof(char *));
	ret->config.cmd.v[0] = arena_strdup(a, "/bin/sh");
	ret->config.cmd.n = 1;
}

int img_by_id(const struct img_store *s, const char *id, struct arena *a, struct img_image *ret,
	      struct err *e)
{
	struct img_image host;
	int r;

	if (!img_digest_valid(id))
		return err_set(e, EINVAL, "an image's id is no sha256 digest");
	host_image(a, &host);
	if (str_eq(host.id, id)) {
		*ret = host;
		return 1;
	}
	r = img_read_record_at(s, arena_printf(a, "ids/%s", id + strlen("sha256:")), a, ret, e);
	if (r == 0)
		r = img_read_record_at(s, arena_printf(a, "kept/%s", id + strlen("sha256:")), a, ret, e);
	return r;
}

/* The one id that begins with the digits, into hex. 1, 0 or -ENOTUNIQ. */
static int find_prefix(const struct img_store *s, const char *digits, char hex[HEX_DIGITS + 1],
		       struct err *e)
{
	int fd = s->dir < 0 ? -1 : openat(s->dir, "ids", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int found = 0;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while ((entry = readdir(d)))
		if (str_starts(entry->d_name, digits) && img_is_hex(entry->d_name, HEX_DIGITS)) {
			memcpy(hex, entry->d_name, HEX_DIGITS + 1);
			found++;
		}
	closedir(d);
	if (found > 1)
		return err_set(e, ENOTUNIQ, "multiple IDs found with provided prefix: %s", digits);
	return found;
}

static int resolve_id(const struct img_store *s, const char *text, struct arena *a,
		      struct img_image *ret, struct err *e)
{
	const char *digits = str_starts(text, "sha256:") ? text + strlen("sha256:") : text;
	size_t n = strlen(digits);
	char hex[HEX_DIGITS + 1];
	int found;

	if (n < SHORT_ID_MIN || n > HEX_DIGITS || !img_is_hex(digits, n))
		return 0;
	host_image(a, ret);
	if (n == HEX_DIGITS && strcmp(ret->id + strlen("sha256:"), digits) == 0)
		return 1;
	memcpy(hex, digits, n + 1);
	found = n == HEX_DIGITS ? 1 : find_prefix(s, digits, hex, e);
	return found <= 0 ? found : img_read_record_at(s, arena_printf(a, "ids/%s", hex), a, ret, e);
}

static int resolve_name(const struct img_store *s, const struct img_ref *ref, struct arena *a,
			struct img_image *ret, struct err *e)
{
	char file[sizeof("refs/") + NAME_MAX] = "refs/";
	struct err ignored = {0};
	size_t n = strlen(file);
	const char *full = img_ref_full(a, ref);

	if (str_eq(full, IMG_HOST_NAME)) {
		host_image(a, ret);
		return 1;
	}
	if (img_ref_file(full, file + n, sizeof(file) - n, &ignored) < 0)
		return 0; /* longer than any name in the store */
	return img_read_record_at(s, file, a, ret, e);
}

int img_resolve(const struct img_store *s, const char *text, struct arena *a, struct img_image *ret,
		struct err *e)
{
	struct img_ref ref;
	struct err bad = {0};
	int found = 0;

	if (img_ref_parse(a, text, &ref, &bad) == 0)
		found = resolve_name(s, &ref, a, ret, e);
	if (found == 0)
		found = resolve_id(s, text, a, ret, e);
	if (found != 0 || !bad.code || img_is_hex(text, HEX_DIGITS) || img_digest_valid(text))
		return found;
	*e = bad;
	return -bad.code;
}

bool img_still_there(const struct img_store *s, const struct img_image *image)
{
	char file[sizeof("ids/") + HEX_DIGITS];

	if (image->host)
		return true;
	snprintf(file, sizeof(file), "ids/%.64s", image->id + strlen("sha256:"));
	return s->dir >= 0 && faccessat(s->dir, file, F_OK, 0) == 0;
}

void img_layer_name(const char *chain, char ret[IMG_LAYER_NAME + 1])
{
	snprintf(ret, IMG_LAYER_NAME + 1, "%.*s", IMG_LAYER_NAME, chain + strlen("sha256:"));
}

struct strv img_layer_dirs(const struct img_store *s, struct arena *a, const struct img_image *image)
{
	struct strv dirs = {.n = image->link ? 1 : image->layers.n};

	dirs.v = arena_array(a, dirs.n + 1, sizeof(char *));
	if (image->link) {
		dirs.v[0] = image->link;
		return dirs;
	}
	for (size_t i = 0; i < dirs.n; i++) {
		char name[IMG_LAYER_NAME + 1];

		img_layer_name(image->layers.v[i].chain, name);
		dirs.v[i] = arena_printf(a, "%s/images/layers/%s/diff", s->path, name);
	}
	return dirs;
}

int img_config_text(const struct img_store *s, const struct img_image *image, struct arena *a,
		    const char **ret, struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	char file[sizeof("blobs/sha256/") + HEX_DIGITS];

	if (image->host) {
		*ret = arena_printf(a, "{\"architecture\":\"%s\",\"os\":\"linux\",\"config\":{\"Cmd\":"
				       "[\"/bin/sh\"]},\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[]}}",
				    image->architecture);
		return 0;
	}
	snprintf(file, sizeof(file), "blobs/sha256/%.64s", image->id + strlen("sha256:"));
	if (s->dir < 0)
		return err_set(e, ENOENT, "there is no image store in %s", s->path);
	if (io_read_file(s->dir, file, CONFIG_CAP, &b, e) < 0)
		return -e->code;
	*ret = arena_strndup(a, strbuf_str(&b), b.len);
	return 0;
}

int img_lock(const struct img_store *s, bool exclusive, bool wait, struct err *e)
{
	auto_close int fd = openat(s->dir, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r;

	if (fd < 0)
		return err_sys(e, "open the lock of the image store in %s", s->path);
	do
		r = flock(fd, (exclusive ? LOCK_EX : LOCK_SH) | (wait ? 0 : LOCK_NB));
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return err_sys(e, "lock the image store in %s", s->path);
	return take_fd(&fd);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two of libarchive's readers in a row: one knows only filters and gives the bytes that were
 * compressed ("raw" format), the other knows only tar and reads from the first. So both digests come
 * from one pass. Of the filters only those are switched on that the library has built in: some of
 * its others run programs.
 */
#include "image/stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

enum { BUFFER = 256 << 10 };

/* What may come out of a compressed archive: this much, and then only so many times what went in. */
#define BOMB_FREE ((uint64_t)1 << 30)
#define BOMB_RATIO 200

static la_ssize_t read_fd(struct archive *a, void *arg, const void **ret)
{
	struct img_stream *s = arg;
	ssize_t n;

	(void)a;
	do
		n = read(s->fd, s->buffer, BUFFER);
	while (n < 0 && errno == EINTR);
	if (n < 0) {
		s->read_error = errno;
		archive_set_error(a, errno, "%s", strerror(errno));
		return -1;
	}
	if (s->sum_raw)
		sha256_add(&s->raw_sum, s->buffer, (size_t)n);
	s->raw_bytes += (uint64_t)n;
	if (s->progress)
		s->progress(s->progress_arg, s->raw_bytes);
	*ret = s->buffer;
	return n;
}

static la_ssize_t read_raw(struct archive *a, void *arg, const void **ret)
{
	struct img_stream *s = arg;
	size_t n = 0;
	la_int64_t offset;
	int r;

	if (s->at_end)
		return 0;
	r = archive_read_data_block(s->raw, ret, &n, &offset);
	if (r == ARCHIVE_EOF) {
		s->at_end = true;
		return 0;
	}
	if (r != ARCHIVE_OK && r != ARCHIVE_WARN) {
		archive_set_error(a, EINVAL, "%s", archive_error_string(s->raw));
		return -1;
	}
	if (s->sum_tar)
		sha256_add(&s->tar_sum, *ret, n);
	s->tar_bytes += n;
	if (s->compressed && img_stream_is_bomb(s)) {
		archive_set_error(a, EFBIG, "it unpacks to more than %d times its size", BOMB_RATIO);
		return -1;
	}
	return (la_ssize_t)n;
}

bool img_stream_is_bomb(const struct img_stream *s)
{
	return s->tar_bytes > BOMB_FREE && s->tar_bytes / BOMB_RATIO > s->raw_bytes;
}

int img_stream_error(struct img_stream *s, struct err *e)
{
	const char *text = s->tar ? archive_error_string(s->tar) : NULL;
	char shown[300];

	if (!text && s->raw)
		text = archive_error_string(s->raw);
	if (s->read_error)
		return err_set(e, s->read_error, "read the archive: %s", err_name(s->read_error));
	/* what Docker says of something that is no archive, or not all of one */
	if (text && (strstr(text, "Unrecognized archive") || strstr(text, "runcated")))
		return err_set(e, EINVAL, "Error processing tar file(exit status 1): unexpected EOF");
	return err_set(e, EINVAL, "the archive is damaged: %s",
		       str_escape(shown, sizeof(shown), text ? text : "unknown error"));
}

static int open_raw(struct img_stream *s, struct err *e)
{
	struct archive_entry *entry;
	int r;

	s->raw = archive_read_new();
	s->buffer = malloc(BUFFER);
	if (!s->raw || !s->buffer)
		return err_set(e, ENOMEM, "out of memory");
	if (archive_read_support_filter_gzip(s->raw) != ARCHIVE_OK ||
	    archive_read_support_filter_zstd(s->raw) != ARCHIVE_OK ||
	    archive_read_support_filter_xz(s->raw) != ARCHIVE_OK ||
	    archive_read_support_filter_bzip2(s->raw) != ARCHIVE_OK)
		return err_set(e, ENOSYS, "this libarchive was built without gzip, zstd, xz or bzip2");
	archive_read_support_format_raw(s->raw);
	archive_read_support_format_empty(s->raw);
	if (archive_read_open(s->raw, s, NULL, read_fd, NULL) != ARCHIVE_OK)
		return img_stream_error(s, e);
	r = archive_read_next_header(s->raw, &entry);
	if (r != ARCHIVE_OK && r != ARCHIVE_WARN && r != ARCHIVE_EOF)
		return img_stream_error(s, e);
	s->at_end = r == ARCHIVE_EOF;
	s->compressed = archive_filter_count(s->raw) > 1;
	return 0;
}

static int open_tar(struct img_stream *s, struct err *e)
{
	s->tar = archive_read_new();
	if (!s->tar)
		return err_set(e, ENOMEM, "out of memory");
	archive_read_support_format_tar(s->tar);
	archive_read_support_format_empty(s->tar);
	/* Names are bytes, whatever their header says of them. */
	archive_read_set_format_option(s->tar, "tar", "hdrcharset", "BINARY");
	if (archive_read_open(s->tar, s, NULL, read_raw, NULL) != ARCHIVE_OK)
		return img_stream_error(s, e);
	return 0;
}

int img_stream_open_raw(struct img_stream *s, int fd, struct err *e)
{
	*s = (struct img_stream){.fd = fd};
	sha256_init(&s->tar_sum);
	if (open_raw(s, e) == 0)
		return 0;
	img_stream_close(s);
	return -e->code;
}

int img_stream_open(struct img_stream *s, int fd, bool sums, struct err *e)
{
	*s = (struct img_stream){.fd = fd, .sum_raw = sums};
	sha256_init(&s->raw_sum);
	sha256_init(&s->tar_sum);
	if (open_raw(s, e) < 0) {
		img_stream_close(s);
		return -e->code;
	}
	/* without compression both digests are the same */
	s->sum_tar = sums && s->compressed;
	if (open_tar(s, e) < 0) {
		img_stream_close(s);
		return -e->code;
	}
	return 0;
}

int img_stream_finish(struct img_stream *s, struct err *e)
{
	const void *data;
	la_ssize_t n;

	/* tar's end marker is followed by padding, often much of it */
	do
		n = read_raw(s->tar, s, &data);
	while (n > 0);
	if (n < 0)
		return img_stream_error(s, e);
	/* and a compressed stream by whatever somebody appended */
	do
		n = read_fd(s->raw, s, &data);
	while (n > 0);
	return n < 0 ? img_stream_error(s, e) : 0;
}

static void digest_text(struct sha256 *sum, char text[72])
{
	unsigned char digest[SHA256_SIZE];
	char *p = text + snprintf(text, 72, "sha256:");

	sha256_end(sum, digest);
	for (int i = 0; i < SHA256_SIZE; i++)
		p += snprintf(p, 3, "%02x", digest[i]);
}

void img_stream_digests(struct img_stream *s, char raw[72], char tar[72])
{
	struct sha256 raw_sum = s->raw_sum; /* ending a sum destroys it */

	if (tar)
		digest_text(s->sum_raw && !s->compressed ? &s->raw_sum : &s->tar_sum, tar);
	if (raw)
		digest_text(&raw_sum, raw);
}

void img_stream_close(struct img_stream *s)
{
	if (s->tar)
		archive_read_free(s->tar);
	if (s->raw)
		archive_read_free(s->raw);
	free(s->buffer);
	s->tar = s->raw = NULL;
	s->buffer = NULL;
}

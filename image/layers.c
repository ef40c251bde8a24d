/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A layer is complete before it has its name, and on the disk before an image names it: one syncfs
 * for all, then renames. Of two programs that unpack the same layer the second finds the name taken
 * and throws its own away. What a killed one leaves lies below tmp/ and goes when somebody next has
 * the exclusive lock.
 */
#include "image/layers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "image/gc.h"

enum { MAX_THREADS = 8, INFO_CAP = 64 << 10 };

static const struct json_field info_fields[] = {
	JSON_FIELD(struct img_layer_info, chain, "chain", .required = true),
	JSON_FIELD(struct img_layer_info, diff_id, "diff", .required = true),
	JSON_FIELD(struct img_layer_info, blob, "blob", .required = true),
	JSON_FIELD(struct img_layer_info, media_type, "mediaType", .required = true),
	JSON_FIELD(struct img_layer_info, blob_size, "blobSize"),
	JSON_FIELD(struct img_layer_info, tar_size, "tarSize"),
	JSON_FIELD(struct img_layer_info, size, "size"),
};
static const struct json_table info_table = JSON_TABLE(struct img_layer_info, info_fields);

int img_work_begin(struct img_work *w, const struct img_store *store, struct arena *a, struct err *e)
{
	uint64_t number;
	char path[64];

	*w = (struct img_work){.store = store, .arena = a, .dir = -1, .lock = -1};
	if (img_budget_init(&w->budget, e) < 0)
		return -e->code;
	w->lock = img_lock(store, false, true, e);
	if (w->lock < 0)
		return w->lock;
	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return err_sys(e, "get random numbers");
	snprintf(w->name, sizeof(w->name), "work-%016llx", (unsigned long long)number);
	snprintf(path, sizeof(path), "tmp/%s", w->name);
	if (mkdirat(store->dir, path, 0700) < 0)
		return err_sys(e, "make a directory in the image store in %s", store->path);
	w->dir = openat(store->dir, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return w->dir < 0 ? err_sys(e, "open a directory in the image store") : 0;
}

void img_work_end(struct img_work *w)
{
	struct err ignored = {0};
	char path[64];

	if (w->dir >= 0) {
		close(w->dir);
		snprintf(path, sizeof(path), "tmp/%s", w->name);
		img_remove_tree(w->store->dir, path, &ignored);
	}
	if (w->lock >= 0) {
		close(w->lock);
		img_gc_if_wanted(w->store);
	}
	w->dir = w->lock = -1;
}

int img_layer_info(const struct img_store *s, struct arena *a, const char *chain,
		   struct img_layer_info *ret, struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	char name[IMG_LAYER_NAME + 1], path[64];
	struct img_layer_info info = {0};
	struct json_reader r = {.arena = a, .path = "", .e = e};
	const struct json *v;

	img_layer_name(chain, name);
	snprintf(path, sizeof(path), "layers/%s/info", name);
	if (faccessat(s->dir, path, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	if (io_read_file(s->dir, path, INFO_CAP, &b, e) < 0 || json_parse(b.p, b.len, a, &v, e) < 0 ||
	    json_read_struct(&r, v, &info_table, &info) < 0)
		return err_wrap(e, "layer %s in the image store", name);
	if (!str_eq(info.chain, chain) || !img_digest_valid(info.blob))
		return err_set(e, EEXIST, "layer %s in the image store is not %s", name, chain);
	*ret = info;
	return 1;
}

static const char *media_type(const struct img_stream *s)
{
	switch (s->compressed ? archive_filter_code(s->raw, 0) : ARCHIVE_FILTER_NONE) {
	case ARCHIVE_FILTER_GZIP:
		return "application/vnd.oci.image.layer.v1.tar+gzip";
	case ARCHIVE_FILTER_ZSTD:
		return "application/vnd.oci.image.layer.v1.tar+zstd";
	case ARCHIVE_FILTER_XZ:
		return "application/vnd.oci.image.layer.v1.tar+xz";
	case ARCHIVE_FILTER_BZIP2:
		return "application/vnd.oci.image.layer.v1.tar+bzip2";
	default:
		return "application/vnd.oci.image.layer.v1.tar";
	}
}

static int check_digests(struct img_layer_job *j, const char *raw, const char *tar, struct err *e)
{
	if (j->blob && strcmp(j->blob, raw) != 0)
		return err_set(e, EBADMSG, "the digest of the layer is %s, but the manifest says %s", raw, j->blob);
	if (j->diff_id && strcmp(j->diff_id, tar) != 0)
		return err_set(e, EBADMSG, "the digest of the layer is %s, but the configuration says %s", tar,
			       j->diff_id);
	return 0;
}

struct shown { struct img_progress *progress; struct img_progress_line *line; };

static void show(void *arg, uint64_t raw_bytes)
{
	struct shown *s = arg;

	img_progress_set(s->progress, s->line, raw_bytes);
}

static struct shown begin_showing(const struct img_work *w, const struct img_layer_job *j)
{
	const char *id = j->diff_id ? strchr(j->diff_id, ':') : NULL;
	struct stat st;
	uint64_t total = w->progress && fstat(j->fd, &st) == 0 ? (uint64_t)st.st_size : 0;

	return (struct shown){w->progress, img_progress_begin(w->progress, id ? id + 1 : "layer", total)};
}

/* Everything of one layer but its name. The arena is the thread's own. */
static int unpack_into(struct img_work *w, struct img_layer_job *j, int dir, struct arena *a, struct err *e)
{
	struct img_stream s;
	struct img_unpack u = {.root = -1, .mode = IMG_UNPACK_LAYER, .budget = &w->budget};
	auto_close int root = openat(dir, "diff", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct shown shown;
	char raw[72], tar[72];
	int r;

	if (root < 0)
		return err_sys(e, "open a new layer");
	if (img_stream_open(&s, j->fd, true, e) < 0)
		return -e->code;
	u.root = root;
	shown = begin_showing(w, j);
	s.progress = show;
	s.progress_arg = &shown;
	r = img_unpack(&s, &u, e);
	if (r == 0)
		r = img_stream_finish(&s, e);
	if (r == 0) {
		img_stream_digests(&s, raw, tar);
		j->info.media_type = (char *)media_type(&s);
		j->info.blob_size = s.raw_bytes;
		j->info.tar_size = s.tar_bytes;
		r = check_digests(j, raw, tar, e);
	}
	img_stream_close(&s);
	img_progress_end(shown.progress, shown.line);
	if (r < 0)
		return r;
	j->info.diff_id = arena_strdup(a, tar);
	j->info.blob = arena_strdup(a, raw);
	j->info.chain = j->chain ? (char *)j->chain : j->info.diff_id;
	j->info.size = u.size;
	j->lost_xattrs = u.lost_xattrs;
	j->flattened = u.flattened;
	j->skipped_devices = u.skipped_devices;
	return 0;
}

static int write_info(int dir, const struct img_layer_info *info, struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	struct json_writer jw;

	json_writer_init(&jw, &b, false);
	json_write_struct(&jw, &info_table, info);
	strbuf_addc(&b, '\n');
	return io_replace_file(dir, "info", &b, 0600, e);
}

int img_layer_write_info(struct img_work *w, size_t number, const struct img_layer_info *info,
			 struct err *e)
{
	char name[32];
	auto_close int dir = -1;

	snprintf(name, sizeof(name), "l%zu", number);
	dir = openat(w->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return dir < 0 ? err_sys(e, "open a directory in the image store") : write_info(dir, info, e);
}

static int unpack_job(struct img_work *w, struct img_layer_job *j, size_t number, struct arena *a,
		      struct err *e)
{
	char name[32], diff[40];
	auto_close int dir = -1;

	snprintf(name, sizeof(name), "l%zu", number);
	snprintf(diff, sizeof(diff), "%s/diff", name);
	/* the directory itself is the root of a container that has no other layer: 0755 */
	if (mkdirat(w->dir, name, 0700) < 0 || mkdirat(w->dir, diff, 0755) < 0)
		return err_sys(e, "make a directory in the image store");
	dir = openat(w->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return err_sys(e, "open a directory in the image store");
	if (unpack_into(w, j, dir, a, e) < 0)
		return e->code == ENOSPC || e->code == EDQUOT ?
			       err_wrap(e, "the image store in %s is full", w->store->path) :
			       -e->code;
	return write_info(dir, &j->info, e);
}

struct pool {
	struct img_work *work;
	struct img_layer_job *jobs;
	size_t n;
	_Atomic size_t next;
};

struct worker { pthread_t thread; struct pool *pool; struct arena *arena; };

static void *run_jobs(void *arg)
{
	struct worker *me = arg;
	struct pool *p = me->pool;
	size_t i;

	while ((i = atomic_fetch_add(&p->next, 1)) < p->n && !atomic_load(&p->work->budget.stop)) {
		struct img_layer_job *j = &p->jobs[i];

		if (j->fd >= 0 && unpack_job(p->work, j, i, me->arena, &j->error) < 0)
			atomic_store(&p->work->budget.stop, true);
	}
	return NULL;
}

static size_t thread_count(size_t n_jobs)
{
	cpu_set_t set;
	size_t n = 1;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		n = (size_t)CPU_COUNT(&set);
	if (n > MAX_THREADS)
		n = MAX_THREADS;
	return n < n_jobs ? n : n_jobs ? n_jobs : 1;
}

/* The first real failure; the others only say that they gave up. */
static int first_error(const struct img_layer_job *jobs, size_t n, struct err *e)
{
	const struct err *first = NULL;

	for (size_t i = 0; i < n; i++)
		if (jobs[i].error.code && (!first || first->code == ECANCELED))
			first = &jobs[i].error;
	if (!first)
		return 0;
	*e = *first;
	return -e->code;
}

int img_layers_unpack(struct img_work *w, struct img_layer_job *jobs, size_t n, struct err *e)
{
	struct pool pool = {.work = w, .jobs = jobs, .n = n};
	struct worker workers[MAX_THREADS];
	size_t n_threads = thread_count(n);
	int r;

	for (size_t i = 0; i < n_threads; i++)
		workers[i] = (struct worker){.pool = &pool, .arena = arena_new()};
	/* this thread is the first worker; a thread that cannot be made is only slower */
	for (size_t i = 1; i < n_threads; i++)
		if (pthread_create(&workers[i].thread, NULL, run_jobs, &workers[i]) != 0)
			workers[i].pool = NULL;
	run_jobs(&workers[0]);
	for (size_t i = 1; i < n_threads; i++)
		if (workers[i].pool)
			pthread_join(workers[i].thread, NULL);
	r = first_error(jobs, n, e);
	for (size_t i = 0; r == 0 && i < n; i++)
		if (jobs[i].fd >= 0) {
			jobs[i].info.diff_id = arena_strdup(w->arena, jobs[i].info.diff_id);
			jobs[i].info.blob = arena_strdup(w->arena, jobs[i].info.blob);
			jobs[i].info.chain = arena_strdup(w->arena, jobs[i].info.chain);
		}
	for (size_t i = 0; i < n_threads; i++)
		arena_free(workers[i].arena);
	for (size_t i = 0; i < n; i++)
		if (jobs[i].fd >= 0)
			close(jobs[i].fd);
	return r;
}

static int publish_blob(struct img_work *w, const struct img_layer_job *j, struct err *e)
{
	char from[16], to[96];

	if (j->spool < 0)
		return 0;
	snprintf(from, sizeof(from), "m%d", j->spool);
	snprintf(to, sizeof(to), "blobs/sha256/%s", j->info.blob + strlen("sha256:"));
	if (renameat(w->dir, from, w->store->dir, to) == 0)
		return 0;
	/* The same archive may serve two layers, whose chain ids differ. */
	if (errno == ENOENT && faccessat(w->store->dir, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	return err_sys(e, "put a layer into the image store");
}

int img_layers_publish(struct img_work *w, const struct img_layer_job *jobs, size_t n, struct err *e)
{
	if (syncfs(w->dir) < 0)
		return err_sys(e, "write the image store in %s to the disk", w->store->path);
	for (size_t i = 0; i < n; i++) {
		const struct img_layer_job *j = &jobs[i];
		char from[32], to[64], name[IMG_LAYER_NAME + 1];
		struct img_layer_info there;

		if (j->fd < 0)
			continue;
		if (publish_blob(w, j, e) < 0)
			return -e->code;
		snprintf(from, sizeof(from), "l%zu", i);
		img_layer_name(j->info.chain, name);
		snprintf(to, sizeof(to), "layers/%s", name);
		if (renameat(w->dir, from, w->store->dir, to) == 0)
			continue;
		if (errno != EEXIST && errno != ENOTEMPTY)
			return err_sys(e, "put a layer into the image store");
		if (img_layer_info(w->store, w->arena, j->info.chain, &there, e) <= 0)
			return e->code ? -e->code : err_set(e, EEXIST, "layer %s is damaged", name);
	}
	return 0;
}

int img_put_blob(struct img_work *w, const char *text, size_t len, const char **ret_digest, struct err *e)
{
	char hex[SHA256_HEX + 1], to[96];
	struct strbuf content = {.p = (char *)text, .len = len};

	sha256_hex(text, len, hex);
	*ret_digest = arena_printf(w->arena, "sha256:%s", hex);
	snprintf(to, sizeof(to), "blobs/sha256/%s", hex);
	if (faccessat(w->store->dir, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	if (io_replace_file(w->dir, "document", &content, 0600, e) < 0)
		return -e->code;
	if (renameat(w->dir, "document", w->store->dir, to) < 0)
		return err_sys(e, "put a document into the image store");
	return 0;
}

int img_check_blob(struct img_work *w, const char *file, const char *digest, struct err *e)
{
	auto_close int fd = openat(w->dir, file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct sha256 sum;
	unsigned char have[SHA256_SIZE];
	char text[72] = "sha256:", buf[64 << 10];
	ssize_t n;

	if (fd < 0)
		return err_sys(e, "open a layer of the archive");
	sha256_init(&sum);
	while ((n = io_read_upto(fd, buf, sizeof(buf))) > 0)
		sha256_add(&sum, buf, (size_t)n);
	if (n < 0)
		return err_set(e, (int)-n, "read a layer of the archive: %s", err_name((int)-n));
	sha256_end(&sum, have);
	for (int i = 0; i < SHA256_SIZE; i++)
		snprintf(text + 7 + 2 * i, 3, "%02x", have[i]);
	if (strcmp(text, digest) != 0)
		return err_set(e, EBADMSG, "the digest of the layer is %s, but the manifest says %s", text, digest);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `docker build`: buildah builds, with a store of its own (DATA/build) that keeps what can be used
 * again. The images that the Dockerfile names are ours, or downloaded as `pull` does, and are put into
 * that store first; the result comes back as an archive that brig-image loads. RUN is run by brig.
 *
 * As root all of it happens in a mount namespace of its own, so that no mount of buildah is left.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "docker/build-cache.h"
#include "docker/build-file.h"
#include "docker/commands.h"
#include "docker/container.h"
#include "docker/flag-tables.h"
#include "docker/happenings.h"
#include "docker/lists.h"
#include "docker/registry.h"
#include "docker/store.h"

enum { FILE_CAP = 4 << 20, SHORT_ID = 12 };

struct build {
	struct dk_context *c;
	const struct dk_args *args;
	const struct dk_build_options *o;
	struct dk_store *store;
	char *scratch;       /* a directory */
	const char *context; /* directory, or what buildah is to make of it */
	const char *file;    /* the Dockerfile; NULL: buildah's to find */
	bool known;          /* it can be read here: not within an archive or at an address */
	int in;              /* the context as an archive; -1 */
	struct strv digests; /* "NAME@DIGEST=container-image://ID" */
	struct err *e;
};

/* ---- the context and the Dockerfile ---- */

static int spool_stdin(struct build *b, char **ret_path)
{
	char buf[64 << 10];
	auto_close int fd = -1;
	ssize_t n;

	*ret_path = arena_printf(b->c->arena, "%s/stdin", b->scratch);
	fd = open(*ret_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(b->e, "make %s", *ret_path);
	while ((n = io_read_upto(STDIN_FILENO, buf, sizeof(buf))) > 0) {
		int r = io_write_all(fd, buf, (size_t)n);

		if (r < 0)
			return err_set(b->e, -r, "write %s: %s", *ret_path, err_name(-r));
	}
	return n < 0 ? err_set(b->e, (int)-n, "read stdin: %s", err_name((int)-n)) : 0;
}

static bool is_archive(const char *path)
{
	static const struct { const char *magic; size_t at, n; } kinds[] = {
		{"\x1f\x8b", 0, 2}, {"BZh", 0, 3}, {"\xfd" "7zXZ", 0, 5}, {"\x28\xb5\x2f\xfd", 0, 4}, {"ustar", 257, 5},
	};
	char head[512] = "";
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || io_read_upto(fd, head, sizeof(head)) < 0)
		return false;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (memcmp(head + kinds[i].at, kinds[i].magic, kinds[i].n) == 0)
			return true;
	return false;
}

/* "-": a Dockerfile without a context, or an archive of the context, which buildah unpacks. */
static int stdin_context(struct build *b)
{
	struct stat st;
	char *path;
	int r = spool_stdin(b, &path);

	if (r < 0)
		return r;
	if (is_archive(path)) {
		b->in = open(path, O_RDONLY | O_CLOEXEC);
		b->context = "-";
		b->file = b->o->file;
		return b->in < 0 ? err_sys(b->e, "open %s", path) : 0;
	}
	if (stat(path, &st) < 0 || st.st_size == 0)
		return dk_daemon_error(b->c, b->e, EINVAL, "the Dockerfile (Dockerfile) cannot be empty");
	b->file = path;
	b->known = true;
	b->context = arena_printf(b->c->arena, "%s/empty", b->scratch);
	return mkdir(b->context, 0700) < 0 ? err_sys(b->e, "make %s", b->context) : 0;
}

static int directory_context(struct build *b, const char *path)
{
	struct dk_context *c = b->c;
	char full[PATH_MAX], *spooled;
	struct stat st;
	const char *file = b->o->file && *b->o->file ? b->o->file : NULL;

	if (stat(path, &st) < 0)
		return dk_error(c, b->e, ENOENT, "unable to prepare context: path \"%s\" not found", path);
	if (!S_ISDIR(st.st_mode))
		return dk_error(c, b->e, ENOTDIR, "unable to prepare context: context must be a directory: %s", path);
	b->context = path;
	b->known = true;
	if (str_eq(file, "-")) {
		b->file = arena_printf(c->arena, "%s/stdin", b->scratch);
		return spool_stdin(b, &spooled);
	}
	if (!file)
		file = arena_printf(c->arena, "%s/Dockerfile", path);
	if (!realpath(file, full))
		return dk_error(c, b->e, errno, "unable to prepare context: unable to evaluate symlinks in Dockerfile "
				"path: lstat %s: %s", file, errno == ENOENT ? "no such file or directory" : err_name(errno));
	b->file = arena_strdup(c->arena, full);
	return 0;
}

static int find_context(struct build *b)
{
	const char *path = b->args->argv[0];

	if (str_eq(path, "-") && str_eq(b->o->file, "-"))
		return dk_error(b->c, b->e, EINVAL, "invalid argument: can't use stdin for both build context and dockerfile");
	if (str_eq(path, "-"))
		return stdin_context(b);
	if (strstr(path, "://") || str_starts(path, "git@") || str_starts(path, "github.com/")) {
		b->context = path;
		b->file = b->o->file;
		return 0;
	}
	return directory_context(b, path);
}

/* ---- buildah ---- */

static struct strv buildah(struct build *b)
{
	struct arena *a = b->c->arena;
	struct strv argv = {0};

	dk_strv_add(a, &argv, (char *)"buildah");
	dk_strv_add(a, &argv, (char *)"--root");
	dk_strv_add(a, &argv, arena_printf(a, "%s/build", b->store->roots.data));
	dk_strv_add(a, &argv, (char *)"--runroot");
	dk_strv_add(a, &argv, arena_printf(a, "%s/build", b->store->roots.run));
	return argv;
}

static void add(struct build *b, struct strv *argv, const char *word)
{
	dk_strv_add(b->c->arena, argv, (char *)word);
}

static int run_buildah(struct build *b, const struct strv *argv, struct dk_program p)
{
	return dk_run_program(b->c, argv, "buildah", &p, b->e);
}

/* The text without its last newline. */
static char *line_of(struct build *b, const struct strbuf *text)
{
	char *line = arena_strdup(b->c->arena, strbuf_str(text));

	line[strcspn(line, "\n")] = '\0';
	return line;
}

static int private_mounts(struct err *e)
{
	if (geteuid() != 0)
		return 0; /* buildah makes a user namespace with one below it */
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return err_sys(e, "make a mount namespace for the build");
	return 0;
}

/* ---- images that it builds on ---- */

/* Whether buildah has the name, for this very image. */
static bool buildah_has(struct build *b, const char *name, const char *id)
{
	auto_close int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	auto_strbuf struct strbuf out = {0};
	struct strv argv = buildah(b);
	struct err ignored = {0}, *e = b->e;
	int r;

	add(b, &argv, "images");
	add(b, &argv, "-q");
	add(b, &argv, "--no-trunc");
	add(b, &argv, name);
	b->e = &ignored;
	r = run_buildah(b, &argv, (struct dk_program){.in = -1, .out = -1, .err = null, .captured = &out});
	b->e = e;
	return r == 0 && str_eq(line_of(b, &out), id);
}

static int save_image(struct build *b, const char *name, const char *path)
{
	struct dk_program p = {.prefix = "Error response from daemon: ", .in = -1};
	auto_close int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct strv argv = {0};

	if (fd < 0)
		return err_sys(b->e, "make %s", path);
	p.out = fd;
	add(b, &argv, "save");
	add(b, &argv, name);
	return dk_run_brig_image(b->c, &argv, &p, b->e);
}

static int give_to_buildah(struct build *b, const char *name)
{
	const char *archive = arena_printf(b->c->arena, "%s/base.tar", b->scratch);
	auto_strbuf struct strbuf out = {0};
	struct strv pull = buildah(b), tag = buildah(b);
	int r = save_image(b, name, archive);

	if (r != 0)
		return r;
	add(b, &pull, "pull");
	add(b, &pull, "-q");
	add(b, &pull, arena_printf(b->c->arena, "docker-archive:%s", archive));
	r = run_buildah(b, &pull, (struct dk_program){.in = -1, .out = -1, .captured = &out});
	unlink(archive);
	if (r != 0)
		return r;
	/* buildah gives no name with a digest: it is told which of its images is meant by it */
	if (strchr(name, '@')) {
		add(b, &b->digests, arena_printf(b->c->arena, "%s=container-image://%s", name, line_of(b, &out)));
		return 0;
	}
	add(b, &tag, "tag");
	add(b, &tag, line_of(b, &out));
	add(b, &tag, name);
	return run_buildah(b, &tag, (struct dk_program){.in = -1, .out = STDERR_FILENO});
}

static int provide_image(struct build *b, const char *name)
{
	struct img_image image;
	struct img_store s;
	int r = dk_image_store(b->c, &s, b->e);

	if (r < 0)
		return r;
	r = b->o->pull ? 0 : img_resolve(&s, name, b->c->arena, &image, b->e);
	img_store_close(&s);
	if (r == 0)
		r = dk_pull_image(b->c, name, b->o->quiet, b->e);
	if (r < 0)
		return r;
	r = dk_image_store(b->c, &s, b->e);
	if (r == 0)
		r = dk_image_find(b->c, &s, name, &image, b->e);
	img_store_close(&s);
	if (r < 0)
		return r;
	return buildah_has(b, name, image.id) ? 0 : give_to_buildah(b, name);
}

static int provide_images(struct build *b)
{
	auto_strbuf struct strbuf text = {0};
	struct strv names;
	int r = io_read_file(AT_FDCWD, b->file, FILE_CAP, &text, b->e);

	if (r < 0)
		return r;
	names = dk_build_images(b->c->arena, strbuf_str(&text), &b->o->build_arg, b->c->env);
	for (size_t i = 0; i < names.n && r == 0; i++)
		r = provide_image(b, names.v[i]);
	return r;
}

/* ---- the build ---- */

/* The flags that buildah has under the same name. */
static void hand_over(struct build *b, struct strv *argv)
{
	static const char *const own[] = {"file", "iidfile", "network", "output", "pull", "quiet", "tag", NULL};

	for (size_t i = 0; i < dk_build_flags.n; i++) {
		const struct dk_flag *f = &dk_build_flags.v[i];
		const char *at = (const char *)b->o + f->offset;
		const char *name = arena_printf(b->c->arena, "--%s", f->name);

		if (f->no_effect || !dk_given(b->args, f->name) || str_index(own, f->name) >= 0)
			continue;
		if (f->kind == DK_BOOL) {
			add(b, argv, arena_printf(b->c->arena, "%s=%s", name, *(const bool *)at ? "true" : "false"));
		} else if (f->kind == DK_STRING) {
			add(b, argv, name);
			add(b, argv, *(char *const *)at);
		} else {
			const struct strv *list = (const struct strv *)at;

			for (size_t k = 0; k < list->n; k++) {
				add(b, argv, name);
				add(b, argv, list->v[k]);
			}
		}
	}
}

/* RUN gets no more of a network than a container without --network. */
static void add_network(struct build *b, struct strv *argv)
{
	const char *n = b->o->network;

	if (!n || !*n || str_eq(n, "default"))
		n = b->store->config.default_network;
	if (str_eq(n, "bridge"))
		n = "private";
	add(b, argv, "--network");
	add(b, argv, n);
}

static int run_build(struct build *b, const char *iidfile)
{
	struct strv argv = buildah(b);
	char brig[PATH_MAX];

	add(b, &argv, "build");
	add(b, &argv, "--format=docker");
	add(b, &argv, "--layers");
	/* what could be looked at is there; an archive or an address names images that only buildah sees */
	if (b->known)
		add(b, &argv, "--pull=never");
	else if (b->o->pull)
		add(b, &argv, "--pull=always");
	if (dk_program_beside("brig", brig, sizeof(brig))) {
		add(b, &argv, "--runtime");
		add(b, &argv, brig);
	}
	if (b->o->quiet)
		add(b, &argv, "--quiet");
	if (b->file) {
		add(b, &argv, "--file");
		add(b, &argv, b->file);
	}
	for (size_t i = 0; i < b->o->output.n; i++)
		if (!str_starts(b->o->output.v[i], "type=docker") && !str_starts(b->o->output.v[i], "type=image"))
			add(b, &argv, arena_printf(b->c->arena, "--output=%s", b->o->output.v[i]));
	for (size_t i = 0; i < b->digests.n; i++) {
		add(b, &argv, "--build-context");
		add(b, &argv, b->digests.v[i]);
	}
	add(b, &argv, "--iidfile");
	add(b, &argv, iidfile);
	add_network(b, &argv);
	hand_over(b, &argv);
	add(b, &argv, b->context);
	return run_buildah(b, &argv, (struct dk_program){.in = b->in, .out = -1});
}

static int load_result(struct build *b, const char *id)
{
	const char *archive = arena_printf(b->c->arena, "%s/image.tar", b->scratch);
	struct dk_program p = {.prefix = "Error response from daemon: ", .in = -1, .out = -1};
	struct strv push = buildah(b), load = {0};
	int r;

	add(b, &push, "push");
	add(b, &push, "-q");
	add(b, &push, id);
	add(b, &push, arena_printf(b->c->arena, "docker-archive:%s", archive));
	r = run_buildah(b, &push, (struct dk_program){.in = -1, .out = STDERR_FILENO});
	if (r != 0)
		return r;
	add(b, &load, "load");
	add(b, &load, "--silent");
	for (size_t i = 0; i < b->o->tag.n; i++) {
		add(b, &load, "--name");
		add(b, &load, b->o->tag.v[i]);
	}
	add(b, &load, archive);
	return dk_run_brig_image(b->c, &load, &p, b->e);
}

/* As the builder of Docker without plugins ends, which callers read. */
static int say_result(struct build *b, const char *id)
{
	auto_strbuf struct strbuf text = {0};
	struct img_ref ref;

	if (b->o->quiet) {
		printf("%s\n", id);
	} else {
		printf("Successfully built %.*s\n", SHORT_ID, id + strlen("sha256:"));
		for (size_t i = 0; i < b->o->tag.n; i++)
			if (img_ref_parse(b->c->arena, b->o->tag.v[i], &ref, b->e) == 0)
				printf("Successfully tagged %s\n", img_ref_familiar(b->c->arena, &ref));
	}
	strbuf_adds(&text, id);
	return b->o->iidfile && *b->o->iidfile ? io_replace_file(AT_FDCWD, b->o->iidfile, &text, 0644, b->e) : 0;
}

static int build(struct build *b)
{
	const char *iidfile = arena_printf(b->c->arena, "%s/id", b->scratch);
	auto_strbuf struct strbuf id = {0};
	struct img_ref ref;
	int r = find_context(b);

	if (r == 0 && b->known)
		r = provide_images(b);
	if (r == 0)
		r = run_build(b, iidfile);
	if (r == 0)
		r = io_read_file(AT_FDCWD, iidfile, PATH_MAX, &id, b->e);
	if (r == 0 && !img_digest_valid(strbuf_str(&id)))
		r = err_set(b->e, EBADMSG, "buildah names no image");
	if (r == 0)
		r = load_result(b, id.p);
	for (size_t i = 0; r == 0 && i < b->o->tag.n; i++)
		if (img_ref_parse(b->c->arena, b->o->tag.v[i], &ref, b->e) == 0)
			dk_image_event(&b->store->roots, "tag", id.p, img_ref_familiar(b->c->arena, &ref), NULL);
	return r == 0 ? say_result(b, id.p) : r;
}

int dk_cmd_build(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	struct build b = {.c = c, .args = args, .o = args->options, .in = -1, .e = e};
	struct img_ref ref;
	auto_close int cache = -1;
	int r = 0;

	for (size_t i = 0; i < b.o->tag.n; i++)
		if (img_ref_parse(c->arena, b.o->tag.v[i], &ref, e) < 0)
			return dk_error(c, e, EINVAL, "invalid argument \"%s\" for \"-t, --tag\" flag: %s", b.o->tag.v[i],
					arena_strdup(c->arena, e->msg));
	r = dk_store_open(c, &b.store, e);
	if (r == 0)
		r = cache = dk_build_cache_use(b.store, e);
	if (r >= 0)
		r = private_mounts(e);
	if (r == 0)
		r = dk_scratch(c, &b.scratch, e);
	if (r < 0)
		return r;
	r = build(&b);
	cleanup_close(&b.in);
	dk_scratch_remove(b.scratch);
	return r > 0 ? 1 : r;
}

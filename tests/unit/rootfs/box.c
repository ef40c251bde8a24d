/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/rootfs/box.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/path.h"
#include "base/sys.h"

enum { TEST_UID = 54321, RANGE_BASE = 700000, MAX_ENTRIES = 64 };

static const struct oci_id_mapping range_map = {0, RANGE_BASE, 65536}, single_map = {0, TEST_UID, 1};

const char *box_mode_name(enum box_mode mode)
{
	static const char *const names[] = {"root", "root with user namespace", "user"};

	return names[mode];
}

bool box_can(enum box_mode mode)
{
	(void)mode;
	return geteuid() == 0;
}

void box_init(struct box *b, enum box_mode mode)
{
	memset(b, 0, sizeof(*b));
	b->mode = mode;
	b->a = arena_new();
	snprintf(b->dir, sizeof(b->dir), "/tmp/brig-box-XXXXXX");
	if (!mkdtemp(b->dir))
		abort();
	chmod(b->dir, 0755);
	snprintf(b->rootfs, sizeof(b->rootfs), "%s/rootfs", b->dir);
	snprintf(b->outside, sizeof(b->outside), "%s/outside", b->dir);
	mkdir(b->rootfs, 0755);
	mkdir(b->outside, 0755);
	b->spec.root = arena_new_of(b->a, struct oci_root);
	b->spec.root->path = b->rootfs;
	b->spec.linux_ = arena_new_of(b->a, struct oci_linux);
	b->spec.mounts.v = arena_array(b->a, MAX_ENTRIES, sizeof(*b->spec.mounts.v));
	b->spec.linux_->devices.v = arena_array(b->a, MAX_ENTRIES, sizeof(struct oci_device));
	b->spec.linux_->masked_paths.v = arena_array(b->a, MAX_ENTRIES, sizeof(char *));
	b->spec.linux_->readonly_paths.v = arena_array(b->a, MAX_ENTRIES, sizeof(char *));
	b->options = (struct rootfs_options){
		.bundle = b->dir, .user_ns = mode != BOX_ROOT, .pid_ns = true, .net_ns = true, .ipc_ns = true,
		.cgroup_ns = true, .parent_privileged = mode != BOX_USER,
	};
	if (mode != BOX_ROOT) {
		b->options.uid_maps = b->options.gid_maps =
			mode == BOX_USER ? &single_map : &range_map;
		b->options.n_uid_maps = b->options.n_gid_maps = 1;
	}
}

static void remove_tree(const char *dir)
{
	pid_t pid = fork();

	if (pid == 0) {
		execl("/bin/rm", "rm", "-rf", "--one-file-system", dir, NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}

void box_free(struct box *b)
{
	remove_tree(b->dir);
	arena_free(b->a);
}

void box_mount(struct box *b, const char *target, const char *type, const char *source,
	       const char *options)
{
	struct oci_mount *m = &b->spec.mounts.v[b->spec.mounts.n++];

	m->destination = arena_strdup(b->a, target);
	m->type = type ? arena_strdup(b->a, type) : NULL;
	m->source = source ? arena_strdup(b->a, source) : NULL;
	m->options.v = arena_array(b->a, 32, sizeof(char *));
	while (options && *options) {
		size_t n = strcspn(options, ",");

		m->options.v[m->options.n++] = arena_strndup(b->a, options, n);
		options += n;
		options += *options == ',';
	}
}

void box_default_mounts(struct box *b)
{
	box_mount(b, "/proc", "proc", "proc", NULL);
	box_mount(b, "/dev", "tmpfs", "tmpfs", "nosuid,strictatime,mode=755,size=65536k");
	box_mount(b, "/dev/pts", "devpts", "devpts",
		  "nosuid,noexec,newinstance,ptmxmode=0666,mode=0620,gid=5");
	box_mount(b, "/dev/shm", "tmpfs", "shm", "nosuid,noexec,nodev,mode=1777,size=65536k");
	box_mount(b, "/dev/mqueue", "mqueue", "mqueue", "nosuid,noexec,nodev");
	box_mount(b, "/sys", "sysfs", "sysfs", "nosuid,noexec,nodev,ro");
}

void box_masked(struct box *b, const char *path)
{
	struct strv *v = &b->spec.linux_->masked_paths;

	v->v[v->n++] = arena_strdup(b->a, path);
}

void box_readonly(struct box *b, const char *path)
{
	struct strv *v = &b->spec.linux_->readonly_paths;

	v->v[v->n++] = arena_strdup(b->a, path);
}

void box_device(struct box *b, const char *path, char type, int64_t major, int64_t minor)
{
	struct oci_device_list *l = &b->spec.linux_->devices;

	l->v[l->n++] = (struct oci_device){
		.type = arena_strndup(b->a, &type, 1), .path = arena_strdup(b->a, path),
		.major = {true, major}, .minor = {true, minor},
	};
}

/* What the child tells the parent, in memory that both see. */
struct report {
	struct err err;
	const char *step;
	int checks_failed;
};

static struct box *current; /* of the child */

static int bind_console(struct rootfs_plan *p, struct err *e)
{
	int ptmx, peer, unlock = 0;

	if (!current->console)
		return 0;
	ptmx = path_open_in_root(p->new_root, "/dev/pts/ptmx", O_RDWR | O_NOCTTY, e);
	if (ptmx < 0)
		return ptmx;
	if (ioctl(ptmx, TIOCSPTLCK, &unlock) < 0)
		return err_sys(e, "unlock the pty");
	peer = ioctl(ptmx, TIOCGPTPEER, O_RDWR | O_NOCTTY);
	return peer < 0 ? err_sys(e, "open the pty's peer") : rootfs_bind_console(p, peer, e);
}

static int go_to_cwd(struct rootfs_plan *p, struct err *e)
{
	return current->cwd ? rootfs_chdir(p, current->cwd, e) : 0;
}

static const struct {
	const char *name;
	int (*run)(struct rootfs_plan *, struct err *);
} steps[] = {
	{"prepare", rootfs_prepare}, {"mount", rootfs_mount}, {"devices", rootfs_devices},
	{"console", bind_console},   {"pivot", rootfs_pivot}, {"chdir", go_to_cwd},
	{"finish", rootfs_finish},
};

static int run_steps(struct box *b, struct report *r)
{
	current = b;
	r->step = "open";
	if (!rootfs_sources_by_parent(b->plan) && rootfs_open_sources(b->plan, &r->err) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		r->step = steps[i].name;
		if (steps[i].run(b->plan, &r->err) < 0)
			return -1;
	}
	r->step = NULL;
	return 0;
}

static void init_main(struct box *b, struct report *r, void (*before)(struct box *),
		      void (*inside)(struct box *))
{
	*box_test_failed() = 0;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (b->mode != BOX_ROOT && (setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0))
		_exit(9);
	if (before)
		before(b);
	if (run_steps(b, r) == 0 && inside) {
		inside(b);
		fflush(stdout);
	}
	r->checks_failed = *box_test_failed();
	_exit(0);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		printf("# write %s: %s\n", path, strerror(errno));
	if (fd >= 0)
		close(fd);
}

static void write_maps(pid_t pid, const struct oci_id_mapping *m, bool deny)
{
	char path[64], text[64];

	snprintf(text, sizeof(text), "%u %u %u\n", m->container_id, m->host_id, m->size);
	if (deny) {
		snprintf(path, sizeof(path), "/proc/%d/setgroups", pid);
		write_file(path, "deny");
	}
	snprintf(path, sizeof(path), "/proc/%d/uid_map", pid);
	write_file(path, text);
	snprintf(path, sizeof(path), "/proc/%d/gid_map", pid);
	write_file(path, text);
}

static pid_t start(struct box *b, int *go)
{
	struct clone_args args = {
		.flags = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWCGROUP |
			 (b->mode != BOX_ROOT ? CLONE_NEWUSER : 0),
		.exit_signal = SIGCHLD,
	};
	int pipefd[2];
	pid_t pid;
	char c;

	if (pipe2(pipefd, O_CLOEXEC) < 0)
		abort();
	fflush(stdout);
	pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0) {
		close(pipefd[1]);
		if (read(pipefd[0], &c, 1) != 1)
			_exit(8);
	} else {
		close(pipefd[0]);
		*go = pipefd[1];
	}
	return pid;
}

/* In a process of its own, so that the test keeps its rights and its fds. */
static void parent_main(struct box *b, struct report *r, void (*before)(struct box *),
			void (*inside)(struct box *))
{
	int go = -1, status;
	pid_t pid;

	if (b->mode == BOX_USER && (setgroups(0, NULL) < 0 || setresgid(TEST_UID, TEST_UID, TEST_UID) < 0 ||
				    setresuid(TEST_UID, TEST_UID, TEST_UID) < 0))
		_exit(7);
	prctl(PR_SET_DUMPABLE, 1);
	r->step = "open";
	if (rootfs_sources_by_parent(b->plan) && rootfs_open_sources(b->plan, &r->err) < 0)
		_exit(0);
	pid = start(b, &go);
	if (pid == 0)
		init_main(b, r, before, inside);
	if (pid < 0)
		_exit(6);
	if (b->mode != BOX_ROOT)
		write_maps(pid, b->options.uid_maps, b->mode == BOX_USER);
	if (write(go, "x", 1) != 1 || waitpid(pid, &status, 0) != pid)
		_exit(5);
	rootfs_close(b->plan);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 4);
}

void box_own(struct box *b)
{
	char cmd[200];
	unsigned id = b->mode == BOX_USER ? TEST_UID : RANGE_BASE;
	pid_t pid;

	if (b->mode == BOX_ROOT || b->owned || !exists(b->rootfs))
		return;
	b->owned = true;
	snprintf(cmd, sizeof(cmd), "%u:%u", id, id);
	pid = fork();
	if (pid == 0) {
		execl("/bin/chown", "chown", "-Rh", cmd, b->rootfs, b->outside, NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}

int box_run_with(struct box *b, void (*before)(struct box *b), void (*inside)(struct box *b))
{
	struct report *r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = 0, result;
	pid_t pid;

	memset(&b->err, 0, sizeof(b->err));
	b->failed_step = "plan";
	if (rootfs_plan(b->a, &b->spec, &b->options, &b->plan, &b->err) < 0)
		return 2;
	box_own(b);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		parent_main(b, r, before, inside);
	waitpid(pid, &status, 0);
	b->err = r->err;
	b->failed_step = r->step;
	result = r->step ? 2 : r->checks_failed ? 1 : 0;
	if (status != 0) {
		printf("# box: wait status %x\n", (unsigned)status);
		result = 3;
	}
	munmap(r, sizeof(*r));
	return result;
}

int box_run(struct box *b, void (*inside)(struct box *b))
{
	return box_run_with(b, NULL, inside);
}

bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

bool is_type(const char *path, unsigned mode_type)
{
	struct stat st;

	return lstat(path, &st) == 0 && (st.st_mode & S_IFMT) == mode_type;
}

int try_write(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

const char *mount_options_of(const char *path)
{
	static char found[256];
	char line[1024], target[512], options[256];
	FILE *f = fopen("/proc/self/mountinfo", "re");

	found[0] = '\0';
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %*s %*s %*s %511s %255s", target, options) == 2 &&
		    strcmp(target, path) == 0)
			snprintf(found, sizeof(found), "%s", options);
	if (f)
		fclose(f);
	return found;
}

void put_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	close(fd);
}

unsigned long long fingerprint(const char *dir)
{
	unsigned long long sum = 0;
	struct dirent *d;
	DIR *h = opendir(dir);

	while (h && (d = readdir(h))) {
		struct stat st;
		unsigned long long one = 5381;

		if (strcmp(d->d_name, "..") == 0 ||
		    fstatat(dirfd(h), d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		for (const char *s = d->d_name; *s; s++)
			one = one * 33 + (unsigned char)*s;
		one = one * 33 + st.st_mode;
		one = one * 33 + st.st_uid;
		one = one * 33 + (unsigned long long)st.st_size;
		one = one * 33 + (unsigned long long)st.st_ctim.tv_sec;
		one = one * 33 + (unsigned long long)st.st_ctim.tv_nsec;
		sum += one;
	}
	if (h)
		closedir(h);
	return sum;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/handler.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "runtime/self.h"

static int check_program(int fd, const char *dir, const char *name, struct err *e)
{
	struct stat st;
	char magic[2] = "";

	if (fstat(fd, &st) < 0)
		return err_sys(e, "annotations." HANDLER_ANNOTATION ": %s/%s", dir, name);
	if (!S_ISREG(st.st_mode) || !(st.st_mode & 0111))
		return err_set(e, EACCES, "annotations." HANDLER_ANNOTATION ": %s/%s is not an executable file", dir, name);
	if (st.st_mode & (S_ISUID | S_ISGID))
		return err_set(e, EPERM, "annotations." HANDLER_ANNOTATION ": %s/%s is set-user-ID or set-group-ID", dir, name);
	if (pread(fd, magic, sizeof(magic), 0) == 2 && magic[0] == '#' && magic[1] == '!')
		return err_set(e, ENOEXEC, "annotations." HANDLER_ANNOTATION ": %s/%s is a script, whose interpreter would not "
					   "find it inside: it has to be a program", dir, name);
	return 0;
}

int handler_open(const char *dir, const char *name, const struct oci_id_mapping_list *uids, struct err *e)
{
	auto_close int dirfd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC), fd = -1;
	int r;

	if (dirfd >= 0) /* links are the administrator's; a fifo must not stop us */
		fd = openat(dirfd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return err_set(e, ENOENT, "annotations." HANDLER_ANNOTATION ": there is no program %s/%s: install it there, or "
					  "name its directory by --handler-dir", dir, name);
	if (fd < 0)
		return err_sys(e, "annotations." HANDLER_ANNOTATION ": open %s/%s", dir, name);
	r = check_program(fd, dir, name, e);
	if (r < 0)
		return r;
	return self_is_program_safe(fd, uids) ? take_fd(&fd) : self_protect_program(fd, e);
}

int handler_exec(int fd, char **argv, char **envp, struct err *e)
{
	syscall(SYS_execveat, fd, "", argv, envp, AT_EMPTY_PATH);
	if (errno == ENOENT)
		return err_set(e, ENOENT, "exec: the handler \"%s\": the container does not have its loader: executable file "
					  "not found in the container", argv[0]);
	return err_set(e, errno, "exec: the handler \"%s\": %s", argv[0], err_name(errno));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/tinyinit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U /* Linux 6.3 */
#endif

enum { SEALS = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL };

static const unsigned char program[] = {
#include "runtime/tinyinit.inc"
};

int tinyinit_open(struct err *e)
{
	unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	auto_close int fd = memfd_create("brig-init", flags | MFD_EXEC);
	int r;

	if (fd < 0 && errno == EINVAL) /* before 6.3 every memfd is executable */
		fd = memfd_create("brig-init", flags);
	if (fd < 0 && errno == EACCES)
		return err_set(e, EACCES, "make the container's init: executable memfds are forbidden "
					  "(set the sysctl vm.memfd_noexec to 0 or 1)");
	if (fd < 0)
		return err_sys(e, "make the container's init: memfd_create");
	r = io_write_all(fd, program, sizeof(program));
	if (r < 0)
		return err_set(e, -r, "make the container's init: write: %s", err_name(-r));
	/* A program that its user cannot read is undumpable from its first instruction on, before it
	 * could say so itself. */
	if (fchmod(fd, 0111) < 0)
		return err_sys(e, "make the container's init: set the mode");
	if (fcntl(fd, F_ADD_SEALS, SEALS) < 0)
		return err_sys(e, "make the container's init: seal");
	return take_fd(&fd);
}

/* In decimal; digits from the end of buf. snprintf would do, but drags in libc's locale state. */
static char *decimal(char buf[16], uint32_t v)
{
	char *p = buf + 15;

	*p = '\0';
	do {
		*--p = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	return p;
}

int tinyinit_exec(const struct tinyinit *t, struct err *e)
{
	char numbers[4][16];
	char *const argv[] = {
		(char[]){"brig-init"},
		decimal(numbers[0], (uint32_t)t->payload),
		decimal(numbers[1], t->uid),
		decimal(numbers[2], t->gid),
		decimal(numbers[3], (uint32_t)t->pdeathsig),
		NULL,
	};
	char *const envp[] = {NULL};

	if (dup2(t->status_fd, STDIN_FILENO) < 0)
		return err_sys(e, "start the container's init: status pipe");
	syscall(SYS_execveat, t->fd, "", argv, envp, AT_EMPTY_PATH);
	return err_sys(e, "start the container's init: execveat");
}

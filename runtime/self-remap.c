/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same program, another executable file, without an exec: what is mapped from the old file is
 * mapped again from the new one, then PR_SET_MM_MAP names the new one as this process's executable.
 * The kernel refuses that (EBUSY) as long as anything of the old file is still mapped, so a success
 * proves that no /proc/PID/exe or map_files leads there any more. (Linux 3.18, CONFIG_CHECKPOINT_RESTORE;
 * CAP_SYS_ADMIN or, from 5.9 on, CAP_CHECKPOINT_RESTORE.) In a virtual machine
 * an exec took 1.1 ms of a run of 7.3; this takes 0.25 of 5.3.
 *
 * It needs a static executable that nothing relocates at its start: so only the musl build has it.
 * The file must be the same inode: what is replaced is the code that does it.
 */
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/raw.h"
#include "runtime/self.h"

extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

struct range { uintptr_t start, end; };

struct image {
	const ElfW(Phdr) *headers;
	size_t n;
	struct range relro; /* made read-only at the start, and as in the file */
	uintptr_t page_mask;
};

static struct range pages_of(const struct image *m, uintptr_t start, uintptr_t size)
{
	return (struct range){start & ~m->page_mask, (start + size + m->page_mask) & ~m->page_mask};
}

static const ElfW(Phdr) *find_header(const struct image *m, uint32_t type, uint32_t flags)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->headers[i].p_type == type && (m->headers[i].p_flags & flags) == flags)
			return &m->headers[i];
	return NULL;
}

/* -ENOSYS: not an executable with fixed addresses. */
static int find_image(struct image *ret)
{
	const ElfW(Phdr) *relro;

	if (__ehdr_start.e_type != ET_EXEC)
		return -ENOSYS;
	ret->headers = (const void *)((const char *)&__ehdr_start + __ehdr_start.e_phoff);
	ret->n = __ehdr_start.e_phnum;
	ret->page_mask = getauxval(AT_PAGESZ) - 1;
	relro = find_header(ret, PT_GNU_RELRO, 0);
	/* as the C library protects it: whole pages only */
	if (relro)
		ret->relro = (struct range){relro->p_vaddr & ~ret->page_mask,
					    (relro->p_vaddr + relro->p_memsz) & ~ret->page_mask};
	return 0;
}

static long map_from(int fd, struct range at, int protection, uintptr_t offset)
{
	if (at.start >= at.end)
		return 0;
	return raw_call(SYS_mmap, (long)at.start, (long)(at.end - at.start), protection,
			MAP_PRIVATE | MAP_FIXED | MAP_POPULATE, fd, (long)offset);
}

/* What may have been written: the same bytes in memory of no file, put there in one step. Nothing
 * else may write them meanwhile: no other thread, no errno. */
static long detach_data(struct range at)
{
	long size = (long)(at.end - at.start);
	long copy = raw_call(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (copy < 0 && copy > -4096)
		return copy;
	memcpy((void *)copy, (const void *)at.start, (size_t)size);
	return raw_call(SYS_mremap, copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, (long)at.start);
}

static long move_segment(const struct image *m, const ElfW(Phdr) *h, int fd)
{
	struct range all = pages_of(m, h->p_vaddr, h->p_filesz), fixed = all, data = all;
	uintptr_t offset = h->p_offset & ~m->page_mask;
	long r;

	if (!(h->p_flags & PF_W))
		return map_from(fd, all, PROT_READ | (h->p_flags & PF_X ? PROT_EXEC : 0), offset);
	fixed.end = data.start = m->relro.start == all.start ? m->relro.end : all.start;
	r = map_from(fd, fixed, PROT_READ, offset);
	return r < 0 && r > -4096 ? r : detach_data(data);
}

static int move_image(const struct image *m, int fd)
{
	for (size_t i = 0; i < m->n; i++) {
		const ElfW(Phdr) *h = &m->headers[i];
		long r = h->p_type == PT_LOAD && h->p_filesz ? move_segment(m, h, fd) : 0;

		if (r < 0 && r > -4096)
			return (int)r;
	}
	return 0;
}

static uint64_t end_of(char *const *strings, uint64_t none)
{
	if (!*strings)
		return none;
	while (strings[1])
		strings++;
	return (uint64_t)(uintptr_t)*strings + strlen(*strings) + 1;
}

/* All of it has to be said again with the file. The values are for /proc/PID/stat and cmdline. */
static long name_executable(const struct image *m, int fd, char *const *argv)
{
	const ElfW(Phdr) *code = find_header(m, PT_LOAD, PF_X), *data = find_header(m, PT_LOAD, PF_W);
	struct prctl_mm_map map = {.exe_fd = (uint32_t)fd};

	if (!code || !data || !argv[0])
		return -ENOSYS;
	map.start_code = code->p_vaddr;
	map.end_code = code->p_vaddr + code->p_memsz;
	map.start_data = data->p_vaddr;
	map.end_data = data->p_vaddr + data->p_filesz;
	map.start_brk = map.brk = (uint64_t)raw_call(SYS_brk, 0);
	map.start_stack = (uint64_t)(uintptr_t)argv;
	map.arg_start = (uint64_t)(uintptr_t)argv[0];
	map.arg_end = map.env_start = end_of(argv, map.arg_start);
	map.env_end = end_of(environ, map.env_start);
	return raw_call(SYS_prctl, PR_SET_MM, PR_SET_MM_MAP, (long)&map, sizeof(map), 0);
}

bool self_can_become(void)
{
	return true;
}

int self_become(int fd, char *const *argv)
{
	struct image image = {0};
	uint32_t size;
	int r = find_image(&image);

	if (r == 0)
		r = (int)raw_call(SYS_prctl, PR_SET_MM, PR_SET_MM_MAP_SIZE, (long)&size, 0, 0);
	if (r == 0 && size != sizeof(struct prctl_mm_map))
		r = -ENOSYS;
	if (r == 0)
		r = move_image(&image, fd);
	return r < 0 ? r : (int)name_executable(&image, fd, argv);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of containers are symbolic links with the id for text: made in one exclusive step, read in
 * one, on a disk of their own directory entry. A link whose container is not there was left by a
 * crash. It is taken away under the lock of the directory, which nobody else needs.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "docker/store.h"

enum { NAME_MAX_LENGTH = 250, ATTEMPTS = 100 };

bool dk_valid_name(const char *name)
{
	return str_valid_id(name) && name[1] && strlen(name) <= NAME_MAX_LENGTH;
}

static bool read_link(const struct dk_store *s, const char *name, char ret[DK_ID_SIZE])
{
	ssize_t n = readlinkat(s->names, name, ret, DK_ID_SIZE);

	if (n != DK_ID_SIZE - 1)
		return false;
	ret[n] = '\0';
	return str_valid_id(ret);
}

static bool is_there(const struct dk_store *s, const char *id)
{
	return faccessat(s->containers, id, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

bool dk_name_lookup(const struct dk_store *s, const char *name, char ret[DK_ID_SIZE])
{
	return dk_valid_name(name) && read_link(s, name, ret) && is_there(s, ret);
}

static void remove_stale(const struct dk_store *s, const char *name)
{
	auto_close int lock = openat(s->names, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char id[DK_ID_SIZE];

	if (lock < 0 || flock(lock, LOCK_EX) < 0)
		return;
	if (!read_link(s, name, id) || !is_there(s, id))
		unlinkat(s->names, name, 0);
}

int dk_name_reserve(const struct dk_store *s, const char *name, const char *id,
		    char ret_other[DK_ID_SIZE], struct err *e)
{
	for (int i = 0; i < ATTEMPTS; i++) {
		if (symlinkat(id, s->names, name) == 0)
			return 0;
		if (errno != EEXIST)
			return err_sys(e, "reserve the name %s", name);
		if (read_link(s, name, ret_other) && is_there(s, ret_other))
			return err_set(e, EEXIST, "the name %s is in use", name);
		remove_stale(s, name);
	}
	return err_set(e, EAGAIN, "reserve the name %s: too many others want it", name);
}

void dk_name_release(const struct dk_store *s, const char *name, const char *id)
{
	char owner[DK_ID_SIZE];

	if (name && read_link(s, name, owner) && str_eq(owner, id))
		unlinkat(s->names, name, 0);
}

void dk_name_release_all(const struct dk_store *s, const char *id)
{
	int fd = openat(s->names, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d)
		return;
	for (struct dirent *de; (de = readdir(d));)
		dk_name_release(s, de->d_name, id);
	closedir(d);
}

/* Ours: what a container may be like, and what it may be. */
static const char *const left[] = {
	"amber", "brave", "brisk", "calm", "clear", "clever", "crisp", "deft", "eager", "early",
	"fair", "fleet", "fond", "frank", "fresh", "gentle", "glad", "golden", "grand", "happy",
	"hardy", "honest", "humble", "jolly", "keen", "kind", "lively", "loyal", "lucid", "merry",
	"mild", "modest", "neat", "nimble", "noble", "patient", "plain", "polite", "prompt", "proud",
	"quick", "quiet", "rapid", "ready", "robust", "serene", "sharp", "silent", "simple", "sincere",
	"smooth", "snug", "sober", "solid", "steady", "sturdy", "subtle", "sunny", "swift", "tidy",
	"true", "vivid", "warm", "wise",
};
static const char *const right[] = {
	"acorn", "alder", "anchor", "aspen", "badger", "barley", "beacon", "birch", "boat", "bobbin",
	"bramble", "bridge", "brook", "cable", "cedar", "clover", "comet", "copper", "coral", "cove",
	"crane", "curlew", "dune", "elm", "falcon", "fern", "finch", "fjord", "flint", "galley",
	"gannet", "harbor", "hazel", "heron", "ibis", "inlet", "ivy", "jetty", "keel", "kestrel",
	"lantern", "larch", "lark", "linden", "maple", "marten", "meadow", "mill", "oar", "osprey",
	"otter", "pebble", "pine", "plover", "quay", "reef", "robin", "rudder", "sail", "sparrow",
	"tern", "thistle", "willow", "wren",
};
enum { WORDS = 64 };
_Static_assert(sizeof(left) == sizeof(right) && sizeof(left) / sizeof(left[0]) == WORDS, "words");

int dk_name_invent(const struct dk_store *s, const char *id, char **ret, struct err *e)
{
	char other[DK_ID_SIZE];

	for (int i = 0; i < ATTEMPTS; i++) {
		uint32_t r;
		char *name;
		int code;

		if (getrandom(&r, sizeof(r), 0) != sizeof(r))
			return err_sys(e, "invent a name: getrandom");
		name = arena_printf(s->arena, "%s_%s", left[r % WORDS], right[r / WORDS % WORDS]);
		if (i > 2) /* it gets crowded */
			name = arena_printf(s->arena, "%s%u", name, r >> 12);
		code = dk_name_reserve(s, name, id, other, e);
		if (code == 0)
			*ret = name;
		if (code != -EEXIST)
			return code;
	}
	return err_set(e, EEXIST, "invent a name: none is free");
}

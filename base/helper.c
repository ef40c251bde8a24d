/* SPDX-License-Identifier: Apache-2.0 */
#include "base/helper.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/str.h"

#define TUN "/dev/net/tun"

/* What keeps a program without privileges from a tun device; "" if nothing is seen. */
static const char *tun_hint(void)
{
	struct stat st;

	if (stat(TUN, &st) < 0)
		return " (there is no " TUN ": modprobe tun)";
	return (st.st_mode & 0006) == 0006 ? "" : " (" TUN " is not open to all: chmod 666 " TUN ")";
}

int helper_failed(int says, const char *what, struct err *e)
{
	char text[2048], clean[300], *line, *save = NULL, *last = NULL;
	ssize_t n = read(says, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (!strstr(line, "to syslog"))
			last = line;
	return err_set(e, EIO, "%s failed: %s%s", what,
		       last ? str_escape(clean, sizeof(clean), last) : "it said nothing",
		       last && strstr(last, "tun ") ? tun_hint() : "");
}

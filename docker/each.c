/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/each.h"

#include <stdio.h>

int dk_each_argument(struct dk_context *c, const struct dk_args *args,
		     int (*fn)(struct dk_context *c, const char *ref, void *options, struct err *e), struct err *e)
{
	int bad = 0;
	(void)e;

	for (int i = 0; i < args->argc; i++) {
		struct err why = {0};

		if (fn(c, args->argv[i], args->options, &why) < 0) {
			dk_print_error(c, &why);
			bad = 1;
			continue;
		}
		printf("%s\n", args->argv[i]);
		fflush(stdout);
	}
	return bad;
}

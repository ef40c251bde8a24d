/* SPDX-License-Identifier: Apache-2.0 */
/* `docker tag`. */
#include <errno.h>
#include <string.h>

#include "docker/commands.h"
#include "docker/happenings.h"
#include "docker/image-program.h"

static int tag(struct dk_context *c, const struct img_store *s, char **argv, struct err *e)
{
	struct img_image image;
	struct img_ref ref;

	for (int i = 0; i < 2; i++)
		if ((i || !(strlen(argv[i]) == 64 && img_is_hex(argv[i], 64))) && img_ref_parse(c->arena, argv[i], &ref, e) < 0)
			return dk_error(c, e, EINVAL, "Error parsing reference: \"%s\" is not a valid repository/tag: %s",
					argv[i], e->msg);
	if (ref.digest)
		return dk_error(c, e, EINVAL, "refusing to create a tag with a digest reference");
	if (dk_image_find(c, s, argv[0], &image, e) < 0)
		return -e->code;
	if (image.host)
		return dk_error(c, e, EINVAL, "host is built in and has no other name");
	if (img_tag(s, image.id, &ref, e) < 0)
		return dk_daemon_error(c, e, e->code, "%s", e->msg);
	dk_image_event(&c->store->roots, "tag", image.id, img_ref_familiar(c->arena, &ref), &image.config.labels);
	return 0;
}

int dk_cmd_tag(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	struct img_store s;
	int r = dk_image_store(c, &s, e);

	if (r == 0)
		r = tag(c, &s, args->argv, e);
	img_store_close(&s);
	return r;
}

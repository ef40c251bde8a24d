/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a template, on a document: it must not crash, and an error has a message. */
#include <stdlib.h>
#include <string.h>

#include "docker/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct dk_value id(struct arena *a, const void *row)
{
	(void)a, (void)row;
	return dk_string("0123456789ab");
}

static struct dk_value label(struct arena *a, const void *row, const char *name)
{
	(void)row;
	return dk_stringf(a, "<%s>", name);
}

static const struct dk_column rows[] = {{"ID", "CONTAINER ID", id, NULL}, {"Label", NULL, NULL, label}};
static const struct dk_columns columns = DK_COLUMNS("*formatter.FuzzContext", rows);

static struct dk_value document(struct arena *a)
{
	struct dk_value doc = dk_struct("fuzz.Document"), list = dk_array(), map = dk_dict();

	dk_push(a, &list, dk_string("A=1"));
	dk_push(a, &list, dk_int(-7));
	dk_push(a, &list, dk_nil());
	dk_put(a, &map, "key", dk_string("\xff<&>"));
	dk_put(a, &doc, "Id", dk_string("x"));
	dk_put(a, &doc, "List", list);
	dk_put(a, &doc, "Map", map);
	dk_put(a, &doc, "Real", dk_real(1e300));
	dk_put(a, &doc, "None", dk_null_pointer("fuzz.None"));
	return doc;
}

static void run(struct arena *a, struct dk_template *t, const struct dk_value *v, bool missing_is_error)
{
	auto_strbuf struct strbuf out = {0}, columns_out = {0};
	struct err e = {0};
	int r = dk_template_execute(t, v, missing_is_error, &out, &e);

	(void)a;
	if (r < 0 && (r != -e.code || !*e.msg))
		abort();
	dk_align_columns(&columns_out, strbuf_str(&out), out.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_arena struct arena *a = arena_new();
	char *text = arena_strndup(a, (const char *)data, size);
	const struct dk_value object = {.type = DK_OBJECT, .object = "", .columns = &columns},
			      header = {.type = DK_OBJECT, .null = true, .columns = &columns};
	const struct dk_value doc = document(a), raw = dk_to_raw(a, &doc);
	struct dk_template_options o = {.name = ""}, h = {.name = "", .header_functions = true};
	struct dk_template *t = NULL;
	struct err e = {0};
	int r = dk_template_parse(a, &o, text, &t, &e);

	if ((r == 0) != (t != NULL) || (r < 0 && (r != -e.code || !*e.msg)))
		abort();
	if (!t)
		return 0;
	dk_template_uses(t, "Size");
	run(a, t, &doc, false);
	run(a, t, &raw, true);
	run(a, t, &object, false);
	if (dk_template_parse(a, &h, text, &t, &e) == 0)
		run(a, t, &header, false);
	return 0;
}

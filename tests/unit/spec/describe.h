/* SPDX-License-Identifier: Apache-2.0 */
/* A field's type in the words of tools/check-schema. */
#pragma once

#include "json/fields.h"

static inline const char *describe_kind(const struct json_field *f)
{
	static const char *const names[] = {
		[JSON_KIND_BOOL] = "boolean",     [JSON_KIND_OPT_BOOL] = "boolean",
		[JSON_KIND_U32] = "uint32",       [JSON_KIND_OPT_U32] = "uint32",
		[JSON_KIND_U64] = "uint64",       [JSON_KIND_OPT_U64] = "uint64",
		[JSON_KIND_I64] = "int64",        [JSON_KIND_OPT_I64] = "int64",
		[JSON_KIND_OPT_I32] = "int32",    [JSON_KIND_OPT_U16] = "uint16",
		[JSON_KIND_OPT_F64] = "number",   [JSON_KIND_STR] = "string",
		[JSON_KIND_STRV] = "[string]",    [JSON_KIND_U32V] = "[uint32]",
		[JSON_KIND_STR_MAP] = "{string}", [JSON_KIND_OBJECT] = "object",
		[JSON_KIND_INLINE] = "object",    [JSON_KIND_LIST] = "[object]",
		[JSON_KIND_KEYED] = "{object}",
	};

	return names[f->kind];
}

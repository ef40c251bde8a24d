/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Value types shared by all specs and by the field tables of json/. Absent optional values have
 * set == false; absent strings, lists and objects are NULL / n == 0. All memory belongs to the
 * arena of the document.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct opt_bool { bool set, v; };
struct opt_i32 { bool set; int32_t v; };
struct opt_i64 { bool set; int64_t v; };
struct opt_u16 { bool set; uint16_t v; };
struct opt_u32 { bool set; uint32_t v; };
struct opt_u64 { bool set; uint64_t v; };
struct opt_f64 { bool set; double v; };

/* v has n entries and a NULL behind them, so it can serve as argv or envp. */
struct strv { char **v; size_t n; };
struct u32v { uint32_t *v; size_t n; };

/* A JSON object of strings, in document order. */
struct str_pair { char *key, *value; };
struct str_map { struct str_pair *v; size_t n; };

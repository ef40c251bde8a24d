/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of POST /execute: checked like the service that it replaces checks it. What is wrong is
 * collected, all of it, as {"detail":[{"loc":["body","image"],"msg":...,"type":...}]}.
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"
#include "base/types.h"

struct execute_request {
	char *execution_id, *image, *input_text, *working_directory;
	struct strv command;
	struct str_map environment;
	double timeout_seconds;   /* 300 unless given */
	double cpu_cores;         /* 0: not given */
	uint64_t memory_mb, max_processes; /* 0: not given */
	bool network_access;
};

/* 0, or -EINVAL with the body of the answer (422) in *detail. Strings live in a. */
int execute_request_parse(struct arena *a, const char *body, size_t len, struct execute_request *ret,
			  struct strbuf *detail);
/* An image reference as registries have it, or "host". */
bool image_reference_valid(const char *s);

/* SPDX-License-Identifier: Apache-2.0 */
/* GET /: the page on which code can be tried out, one file without anything from elsewhere. */
#pragma once

#include "sidecar/server.h"

void page_show(struct conn *c);

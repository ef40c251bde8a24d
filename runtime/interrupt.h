/* SPDX-License-Identifier: Apache-2.0 */
/* Giving up a set-up that takes too long: a file system that does not answer, a hook that hangs. */
#pragma once

#include <stdint.h>

#include "base/err.h"

struct interrupt { int set, signals, timer; };

#define INTERRUPT_NONE {-1, -1, -1}

/*
 * i->set becomes readable when TERM, INT, HUP or QUIT is pending (they must be blocked, and stay
 * pending), or after limit_ns nanoseconds (0: no limit). It is for rt_launch.interrupt.
 */
int interrupt_open(struct interrupt *i, uint64_t limit_ns, struct err *e);
void interrupt_close(struct interrupt *i);
#define auto_interrupt __attribute__((cleanup(interrupt_close)))

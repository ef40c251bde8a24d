/* SPDX-License-Identifier: Apache-2.0 */
/* The value types of all specs live in base/, where json/ can see them too. */
#pragma once

#include "base/types.h"

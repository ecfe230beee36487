/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The less and the greater of two. */
#ifndef UNDERSTUDY_LEAST_H
#define UNDERSTUDY_LEAST_H

#include "port.h"

static inline u64 later(u64 a, u64 b)
{
	return a > b ? a : b;
}

static inline u64 nearer(u64 a, u64 b)
{
	return a < b ? a : b;
}

#endif

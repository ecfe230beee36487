/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Minimum and maximum of two numbers; sums and products that saturate. */
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

/* Return the sum; if it overflows, U64_MAX, which stands for an infinite time. */
static inline u64 sum_at_most(u64 a, u64 b)
{
	u64 sum;

	return __builtin_add_overflow(a, b, &sum) ? U64_MAX : sum;
}

static inline u64 product_at_most(u64 a, u64 b)
{
	u64 product;

	return __builtin_mul_overflow(a, b, &product) ? U64_MAX : product;
}

#endif

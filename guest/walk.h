/* SPDX-License-Identifier: MIT */
/*
 * Linear interpolation between two integers, in fixed point with 40 fractional bits, and other
 * arithmetic for drawing.
 *
 * Each step is rounded down by less than 2^-40.  So after at most 65,535 steps the computed value
 * is too small by less than 2^-24.  The exact value is a fraction with a denominator of at most
 * 2^17, even if it begins at half an integer.  Therefore the computed value and the exact value
 * give the same integer when they are rounded up.
 */
#ifndef UNDERSTUDY_GUEST_WALK_H
#define UNDERSTUDY_GUEST_WALK_H

#include "raster.h"

#define WALK_ONE ((int64_t)1 << 40)

enum { BLUE, GREEN, RED, CHANNELS };

static inline int64_t min(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t max(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Divides and rounds down; the divisor must be positive. */
static inline int64_t divide_down(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

static inline int32_t channel(const struct corner *corner, int which)
{
	return corner->color >> 8 * which & 0xff;
}

static inline uint32_t *picture_row(const struct picture *picture, int64_t y)
{
	return picture->pixel + (uint64_t)y * (picture->stride / 4);
}

struct walk {
	int64_t at, step;
};

/* Begins a walk from one integer to another.  The number of steps is at least 1. */
static inline struct walk walk_from(int64_t from, int64_t to, int64_t steps)
{
	return (struct walk){
		.at = from * WALK_ONE,
		.step = divide_down((to - from) * WALK_ONE, steps),
	};
}

static inline void walk_on(struct walk *walk, int64_t steps)
{
	walk->at += walk->step * steps;
}

/* Returns the present value, rounded up. */
static inline int64_t walk_place(const struct walk *walk)
{
	return (walk->at + WALK_ONE - 1) >> 40;
}

#endif

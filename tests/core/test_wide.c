// SPDX-License-Identifier: MIT
/* core/wide.h gives the results of 128-bit arithmetic, to the last bit. */
#include "../../core/draw.h"
#include "../../core/wide.h"
#include "check.h"

#define DRAWS 4000000
#define EDGES 12

static const u64 edge[EDGES] = {
	1,
	2,
	3,
	0x7fffffff,
	0xffffffff,
	0x100000000,
	0x100000001,
	0x7fffffffffffffff,
	0x8000000000000000,
	0x8000000000000001,
	0xfffffffffffffffe,
	0xffffffffffffffff,
};

static u64 by_compiler(u64 a, u64 b, u64 c)
{
	return (u64)((unsigned __int128)a * b / c);
}

static void check_one(u64 a, u64 b, u64 c)
{
	struct wide product = wide_product(a, b);
	unsigned __int128 whole = (unsigned __int128)a * b;

	CHECK_EQ(wide_zeros(c), __builtin_clzll(c));
	CHECK_EQ(product.high, (u64)(whole >> 64));
	CHECK_EQ(product.low, (u64)whole);
	CHECK_EQ(wide_mul_div(a, b, c), by_compiler(a, b, c));
}

/* Draw a number of any length, often with runs of equal bits, where digits are estimated badly. */
static u64 some(struct draw *draw)
{
	u64 value = draw_u64(draw) >> draw_below(draw, 64);

	switch (draw_below(draw, 4)) {
	case 0:
		return value | ~0ull << draw_below(draw, 64);
	case 1:
		return edge[draw_below(draw, EDGES)] - draw_below(draw, 2);
	default:
		return value;
	}
}

static void at_the_edges(void)
{
	u32 a, b, c;

	for (a = 0; a < EDGES; a++) {
		for (b = 0; b < EDGES; b++) {
			for (c = 0; c < EDGES; c++)
				check_one(edge[a], edge[b], edge[c]);
		}
		check_one(0, edge[a], 1);
	}
}

static void anywhere(void)
{
	struct draw draw;
	u32 i;

	draw_seed(&draw, 38, 0);
	for (i = 0; i < DRAWS; i++) {
		u64 a = some(&draw), b = some(&draw);

		check_one(a, b, some(&draw) ?: 1);
	}
}

int main(void)
{
	at_the_edges();
	anywhere();
	return 0;
}

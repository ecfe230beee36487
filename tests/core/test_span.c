// SPDX-License-Identifier: MIT
/* Spans, and the sieve that saves searching them, against their definitions. */
#include "../../core/drive/sieve.h"
#include "../../core/span.h"
#include "check.h"

#define LAST 9

static void a_span(u64 start, u64 end)
{
	u64 sector, sectors;

	for (sector = 0; sector <= LAST; sector++) {
		CHECK_EQ(span_reaches(start, end, sector),
			 start <= sector && sector <= end);
		for (sectors = 1; sectors <= LAST; sectors++)
			CHECK_EQ(span_touches(start, end, sector, sectors),
				 start < sector + sectors && sector < end);
	}
}

/* Also those that are empty. */
static void all_small_spans(void)
{
	u64 start, end;

	for (start = 0; start <= LAST; start++) {
		for (end = start; end <= LAST; end++)
			a_span(start, end);
	}
}

static void a_block_holds_a_span(void)
{
	CHECK_EQ(sieve_for(0).block, 0);
	CHECK_EQ(sieve_for(1).block, 0);
	CHECK_EQ(sieve_for(512).block, 9);
	CHECK_EQ(sieve_for(513).block, 10);
}

/* The sieve passes everything that was added, and almost nothing else. */
static void it_sieves(struct draw *draw)
{
	u64 size = 1 + draw_below(draw, 2000);
	u32 strays = 0;
	struct sieve sieve = sieve_for(size);
	u32 i;

	for (i = 0; i < 16; i++) {
		u64 start = draw_below(draw, 1u << 31);
		u64 end = start + draw_below(draw, size + 1);

		sieve_add(&sieve, start, end);
		CHECK(sieve_lets_through(&sieve, start));
		CHECK(sieve_lets_through(&sieve, end));
		CHECK(sieve_lets_through(&sieve,
					 start + draw_below(draw, end - start + 1)));
	}
	for (i = 0; i < 1000; i++)
		strays += sieve_lets_through(&sieve, draw_below(draw, 1u << 31));
	CHECK(strays < 200);
}

int main(void)
{
	all_small_spans();
	a_block_holds_a_span();
	check_seeds(200, it_sieves);
	return 0;
}

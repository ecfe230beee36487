// SPDX-License-Identifier: MIT
/* Which extents touch a position, against a search through all of them. */
#include <string.h>

#include "../../sim/extents.h"
#include "check.h"

#define NUMBERS 40
#define PLACES 30

static struct extents extents;
static struct io_request rq[NUMBERS];
static u64 added[NUMBERS]; /* order of insertion; 0: not in the map */

static u32 latest(u8 op, u64 sector, bool by_start)
{
	u32 best = NO_EXTENT;
	u32 i;

	for (i = 0; i < NUMBERS; i++) {
		u64 place = by_start ? rq[i].sector : request_end(&rq[i]);

		if (added[i] && rq[i].op == op && place == sector &&
		    (best == NO_EXTENT || added[i] > added[best]))
			best = i;
	}
	return best;
}

static void random_change(struct draw *draw, u64 now)
{
	u32 i = draw_below(draw, NUMBERS);

	if (added[i]) {
		extents_remove(&extents, i);
		added[i] = 0;
		return;
	}
	rq[i] = (struct io_request){
		.sector = draw_below(draw, PLACES),
		.sectors = 1 + draw_below(draw, 5),
		.op = draw_below(draw, IO_OPS),
	};
	extents_add(&extents, i, &rq[i]);
	added[i] = now;
}

static void random_case(struct draw *draw)
{
	u64 now, sector;
	u8 op;

	memset(added, 0, sizeof(added));
	CHECK_EQ(extents_init(&extents, NUMBERS), 0);
	for (now = 1; now <= 300; now++) {
		random_change(draw, now);
		sector = draw_below(draw, PLACES + 5);
		op = draw_below(draw, IO_OPS);
		CHECK_EQ(extents_starting_at(&extents, op, sector),
			 latest(op, sector, true));
		CHECK_EQ(extents_ending_at(&extents, op, sector),
			 latest(op, sector, false));
	}
	extents_exit(&extents);
}

static void no_memory(void)
{
	u32 allowed;

	for (allowed = 0; allowed < 3; allowed++) {
		port_grant(allowed);
		CHECK_EQ(extents_init(&extents, NUMBERS), -ENOMEM);
		port_grant(U32_MAX);
		extents_exit(&extents);
	}
}

int main(void)
{
	check_seeds(100, random_case);
	no_memory();
	return 0;
}

// SPDX-License-Identifier: MIT
#include "demand.h"

/* Slots hold a place plus one, so that zero is none. */
static u64 *slot(u64 *slots, u32 number, u64 place)
{
	return &slots[place / DEMAND_PAGE_SECTORS & (number - 1)];
}

/* On either side: what is farther below wraps around and is huge. */
static bool is_near(u64 one, u64 other)
{
	return one - other + DEMAND_NEAR_SECTORS - 1 < 2 * DEMAND_NEAR_SECTORS - 1;
}

void demand_add(struct demand *demand, const struct io_request *io, u64 idle_ns,
		u64 busy_until_ns)
{
	u64 *begin = slot(demand->begin, DEMAND_PLACES, io->sector);
	u64 end = request_end(io);
	bool again = *begin == io->sector + 1;
	u64 last = demand->last_end, place = io->sector + 1;

	demand->written += io->op == IO_WRITE;
	if (io->sectors != DEMAND_PAGE_SECTORS) {
		demand->sized++;
		demand->long_ones += io->sectors > DEMAND_LONG_SECTORS;
	}
	if (last == place)
		demand->sequential++;
	else if (*slot(demand->end, DEMAND_ENDS, io->sector) == place)
		demand->streamed++;
	else if (!again && last && is_near(last, place))
		demand->near++;
	demand->again += again;
	if (idle_ns >= DEMAND_PAUSE_NS) {
		demand->paused++;
		demand->rested += idle_ns >= DEMAND_REST_NS;
	}
	demand->met_busy += io->arrival_ns < busy_until_ns;
	*begin = place;
	demand->last_end = end + 1;
	*slot(demand->end, DEMAND_ENDS, end) = end + 1;
}

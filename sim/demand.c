// SPDX-License-Identifier: MIT
#include "demand.h"

/* Slots hold a place plus one, so that zero is none. */
static u64 *slot(u64 *slots, u32 number, u64 place)
{
	return &slots[place / DEMAND_PAGE_SECTORS & (number - 1)];
}

void demand_add(struct demand *demand, const struct io_request *io, u64 idle_ns,
		u64 busy_until_ns)
{
	u64 *begin = slot(demand->begin, DEMAND_PLACES, io->sector);
	u64 end = request_end(io);

	demand->written += io->op == IO_WRITE;
	demand->sized += io->sectors != DEMAND_PAGE_SECTORS;
	demand->long_ones += io->sectors > DEMAND_LONG_SECTORS;
	demand->sequential +=
		*slot(demand->end, DEMAND_ENDS, io->sector) == io->sector + 1;
	demand->again += *begin == io->sector + 1;
	demand->paused += idle_ns >= DEMAND_PAUSE_NS;
	demand->met_busy += io->arrival_ns < busy_until_ns;
	*begin = io->sector + 1;
	*slot(demand->end, DEMAND_ENDS, end) = end + 1;
}

// SPDX-License-Identifier: MIT
#include "demand.h"

/* A slot holds a sector plus one, so that zero means empty. */
static u64 *slot(u64 *slots, u32 number, u64 place)
{
	return &slots[place / DEMAND_PAGE_SECTORS & (number - 1)];
}

/*
 * Return whether the two places are less than `sectors` apart, in either direction. If `one` is too
 * far below `other`, the unsigned sum wraps around to a huge number.
 */
static inline bool is_within(u64 sectors, u64 one, u64 other)
{
	return one - other + sectors - 1 < 2 * sectors - 1;
}

static bool is_beside(const struct demand *demand, u64 place)
{
	bool outside = place < demand->last_begin || place > demand->last_end;

	return outside && is_within(DEMAND_BESIDE_SECTORS, demand->last_end, place);
}

void demand_add(struct demand *demand, const struct io_request *io, u64 idle_ns,
		u64 busy_until_ns)
{
	u64 *begin = slot(demand->begin, DEMAND_PLACES, io->sector);
	u64 end = request_end(io);
	u64 last = demand->last_end, place = io->sector + 1;

	demand->written += io->op == IO_WRITE;
	if (io->sectors != DEMAND_PAGE_SECTORS) {
		demand->sized++;
		demand->long_ones += io->sectors > DEMAND_LONG_SECTORS;
	}
	if (last == place) {
		demand->sequential++;
	} else if (*slot(demand->end, DEMAND_ENDS, io->sector) == place) {
		demand->streamed++;
		demand->beside += is_beside(demand, place);
	} else if (*begin == place) {
		demand->again++;
		demand->beside += is_beside(demand, place);
	} else if (last && is_within(DEMAND_NEAR_SECTORS, last, place)) {
		demand->near++;
	}
	if (idle_ns >= DEMAND_PAUSE_NS) {
		demand->paused++;
		demand->rested += idle_ns >= DEMAND_REST_NS;
	}
	demand->met_busy += io->arrival_ns < busy_until_ns;
	*begin = place;
	demand->last_begin = place;
	demand->last_end = end + 1;
	*slot(demand->end, DEMAND_ENDS, end) = end + 1;
}

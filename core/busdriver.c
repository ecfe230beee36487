// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "busdriver.h"

static bool has_owner(const struct sorted_queue *pending, u32 owner)
{
	u32 i = 0;

	while (i < pending->count && pending->slot[i]->owner != owner)
		i++;
	return i < pending->count;
}

static void end(struct busdriver *busdriver, u64 *counter)
{
	if (busdriver->waits && busdriver->held)
		++*counter;
	busdriver->waits = false;
	busdriver->held = false;
}

void busdriver_begin(struct busdriver *busdriver, u32 owner,
		     const struct sorted_queue *pending, u64 now_ns)
{
	end(busdriver, &busdriver->cut);
	if (!busdriver->longest_ns || has_owner(pending, owner))
		return;
	busdriver->waits = true;
	busdriver->owner = owner;
	busdriver->until_ns = now_ns + busdriver->longest_ns;
}

void busdriver_look_at_clock(struct busdriver *busdriver, u64 now_ns)
{
	if (now_ns >= busdriver->until_ns)
		end(busdriver, &busdriver->lost);
}

void busdriver_see(struct busdriver *busdriver, u32 owner, u64 now_ns)
{
	busdriver_look_at_clock(busdriver, now_ns);
	if (!busdriver->waits || owner != busdriver->owner)
		return;
	busdriver->paid = busdriver->held;
	end(busdriver, &busdriver->won);
}

void busdriver_leave(struct busdriver *busdriver)
{
	end(busdriver, &busdriver->cut);
	busdriver->paid = false;
}

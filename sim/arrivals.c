// SPDX-License-Identifier: MIT
#include "arrivals.h"

#define ARRIVAL_MAX (1ull << 62)

int arrivals_before(const struct arrivals *arrivals, u64 until_ns, u64 *count)
{
	u64 previous_ns = 0;
	u64 i;

	for (i = 0; i < arrivals->count; i++) {
		u64 at_ns = arrivals->arrival_ns[i];

		if (at_ns < previous_ns || at_ns >= ARRIVAL_MAX)
			return -EBADMSG;
		if (at_ns >= until_ns)
			break;
		if (!arrivals->pieces[i])
			return -EBADMSG;
		previous_ns = at_ns;
	}
	*count = i;
	return 0;
}

int arrivals_walk_begin(struct arrivals_walk *walk, const struct arrivals *arrivals,
			const struct resampling *resampling, u64 until_ns, u64 seed,
			u64 stream)
{
	u64 block = resampling ? resampling->block : 0;
	int error;

	*walk = (struct arrivals_walk){
		.arrivals = arrivals,
		.block = block,
		.until_ns = until_ns,
	};
	draw_seed(&walk->draw, seed, stream);
	error = arrivals_before(arrivals, block ? resampling->pool_ns : until_ns,
				&walk->count);
	if (!error && block && walk->count) {
		u64 gaps = walk->count > 1 ? walk->count - 1 : 1;

		walk->wrap_ns = arrivals->arrival_ns[walk->count - 1] / gaps + 1;
	}
	return error;
}

static bool next_recorded(struct arrivals_walk *walk)
{
	if (walk->taken == walk->count)
		return false;
	walk->place = walk->taken++;
	walk->at_ns = walk->arrivals->arrival_ns[walk->place];
	return true;
}

/* The time from the previous request to the current one. */
static u64 gap_ns(const struct arrivals_walk *walk)
{
	const u64 *at_ns = walk->arrivals->arrival_ns;
	u64 gap;

	if (!walk->place)
		return walk->wrap_ns;
	gap = at_ns[walk->place] - at_ns[walk->place - 1];
	return gap < ARRIVAL_MAX ? gap : 0;
}

bool arrivals_walk_next(struct arrivals_walk *walk)
{
	if (!walk->block)
		return next_recorded(walk);
	if (walk->taken / 4 >= walk->count)
		return false;
	if (!walk->left) {
		walk->left = walk->block;
		walk->place = draw_below(&walk->draw, walk->count);
	} else if (++walk->place == walk->count) {
		walk->place = 0;
	}
	walk->left--;
	if (walk->taken++)
		walk->at_ns += gap_ns(walk);
	if (walk->at_ns < walk->until_ns)
		return true;
	walk->count = 0;
	return false;
}

u32 arrivals_walk_pieces(const struct arrivals_walk *walk)
{
	return walk->arrivals->pieces[walk->place] ?: 1;
}

bool arrivals_walk_write(const struct arrivals_walk *walk)
{
	return walk->arrivals->write && walk->arrivals->write[walk->place];
}

u64 arrivals_walk_waited_ns(const struct arrivals_walk *walk)
{
	const u64 *waited_ns = walk->arrivals->waited_ns;

	return waited_ns ? waited_ns[walk->place] % ARRIVAL_MAX : 0;
}

u64 arrivals_walk_service_ns(const struct arrivals_walk *walk)
{
	u64 time_ns = walk->arrivals->service_ns[walk->place];

	if (time_ns > RECORDED_SERVICE_MAX)
		time_ns = RECORDED_SERVICE_MAX;
	return time_ns ?: 1;
}

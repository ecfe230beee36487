/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The habits of a process that reads: how long it thinks between the end of one read and the start
 * of the next, and the distance between the two reads. A scheduler consults these habits before it
 * keeps the disk idle for the process.
 *
 * Think time and distance are moving means: each new sample has a weight of one eighth, and the
 * first sample is the first mean. Samples are capped, so that one long pause or one long distance
 * does not dominate the mean for long. The cap of a think time is a parameter of the scheduler. The
 * cap of a distance is HABITS_FARTHER times the mean plus HABITS_NEAR (64 MiB), as in Linux 2.6.
 */
#ifndef UNDERSTUDY_HABITS_H
#define UNDERSTUDY_HABITS_H

#include "request.h"

#define HABITS_SHARE 8
#define HABITS_FARTHER 4
#define HABITS_NEAR 131072

/**
 * struct habits - habits of one process
 * @think_ns: mean think time
 * @distance: mean distance between reads in sectors, in either direction
 * @since_ns: when its last read completed
 * @end: sector where that read ended
 * @thinking: no read of the process has arrived since then
 * @known: there is at least one sample
 */
struct habits {
	u64 think_ns;
	u64 distance;
	u64 since_ns;
	u64 end;
	bool thinking;
	bool known;
};

/* Return the distance of a request from a sector, in either direction. */
static inline u64 distance_from(u64 place, const struct io_request *rq)
{
	return rq->sector > place ? rq->sector - place : place - rq->sector;
}

static inline u64 habits_mean(const struct habits *habits, u64 mean, u64 sample)
{
	if (!habits->known)
		return sample;
	return ((HABITS_SHARE - 1) * mean + sample) / HABITS_SHARE;
}

/* Record that a read of the process completed, with no other read of the process pending. */
static inline void habits_think(struct habits *habits, const struct io_request *rq,
				u64 now_ns)
{
	habits->thinking = true;
	habits->since_ns = now_ns;
	habits->end = request_end(rq);
}

/* Record that a read of the process arrived. */
static inline void habits_act(struct habits *habits, const struct io_request *rq,
			      u64 now_ns, u64 longest_ns)
{
	u64 thought_ns = now_ns - habits->since_ns;
	u64 distance = distance_from(habits->end, rq);
	u64 farthest = HABITS_FARTHER * habits->distance + HABITS_NEAR;

	if (!habits->thinking)
		return;
	if (thought_ns > longest_ns)
		thought_ns = longest_ns;
	if (distance > farthest)
		distance = farthest;
	habits->think_ns = habits_mean(habits, habits->think_ns, thought_ns);
	habits->distance = habits_mean(habits, habits->distance, distance);
	habits->thinking = false;
	habits->known = true;
}

#endif

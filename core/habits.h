/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The habits of a process that reads: how long it thinks between the end of one
 * read and its next, and how far away that one is.  A scheduler that considers
 * keeping the disk idle for somebody asks them.
 *
 * Both are means in which the last sample counts an eighth, and the first one for
 * all.  A sample is cut, so that one long rest or one long way does not hide for
 * long what comes after it: a thought at a limit of the scheduler's, a distance at
 * HABITS_FARTHER times the mean and HABITS_NEAR, 64 MiB, as in Linux 2.6.
 */
#ifndef UNDERSTUDY_HABITS_H
#define UNDERSTUDY_HABITS_H

#include "request.h"

#define HABITS_SHARE 8
#define HABITS_FARTHER 4
#define HABITS_NEAR 131072

/**
 * struct habits - of one process
 * @think_ns: mean time to think
 * @distance: mean distance in sectors, either way
 * @since_ns: end of its last read
 * @end: sector where that one ended
 * @thinking: it has none pending since then
 * @known: is there a sample?
 */
struct habits {
	u64 think_ns;
	u64 distance;
	u64 since_ns;
	u64 end;
	bool thinking;
	bool known;
};

/* How far a request is from a place, either way. */
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

/* Its read was served and it has no other one pending. */
static inline void habits_think(struct habits *habits, const struct io_request *rq,
				u64 now_ns)
{
	habits->thinking = true;
	habits->since_ns = now_ns;
	habits->end = request_end(rq);
}

/* A read of it arrives. */
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

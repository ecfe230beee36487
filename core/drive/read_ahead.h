/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What a drive with a buffer does after a read: it reads on (core/drive/buffer.h has the rules and
 * their parameters).  As of the last call it is at struct read_ahead; what has happened since
 * is computed when somebody asks.
 */
#ifndef UNDERSTUDY_READ_AHEAD_H
#define UNDERSTUDY_READ_AHEAD_H

#include "drive.h"

/* Up to where it has come, as long as it reads into a segment. */
u64 read_ahead_until(const struct drive *drive, u64 now_ns);

/* When it came, or comes, there. */
u64 read_ahead_came_ns(const struct drive *drive, u64 until);

/**
 * struct read_ahead_end - what it comes to if it is to stop now
 * @until: up to where it has read
 * @head: where the head is: if it went on, over the sector that comes next, for which the arm may
 *	have moved to another track
 * @came_ns: when it came to @until; where angles are known nobody asks, and it is now
 */
struct read_ahead_end {
	u64 until;
	u64 head;
	u64 came_ns;
};

struct read_ahead_end read_ahead_end(const struct drive *drive, u64 now_ns);

/* Something else is to be done, and the arm is free for it. */
void read_ahead_stop(struct drive *drive, u64 now_ns);

/* From end on, where the head is at end_ns, after a read from sector on into that segment. */
void read_ahead_begin(struct drive *drive, u32 into, u64 sector, u64 end, u64 end_ns,
		      bool in_sequence);

/*
 * A read in sequence hits, and is complete at done_ns: it gives back the room of what it has
 * fetched, but not before.
 */
void read_ahead_farther(struct drive *drive, u64 sector, u64 end, u64 now_ns,
			u64 done_ns);

/* Does the segment that is being filled hold it, or will it soon? */
bool read_ahead_holds(const struct drive *drive, u64 sector, u64 now_ns);

/*
 * Go back behind a segment that these have hit, if there is more to read there by now; the seek is
 * not given up for a request that comes meanwhile.
 */
void read_ahead_return(struct drive *drive, u32 into, u64 sector, u64 end, u64 now_ns);

#endif

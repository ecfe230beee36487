/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Segments, and what a drive reads into them on its own.  Reading ahead begins when the medium is
 * done with the last sector of a read, while the bus may still be busy, and goes on at the
 * medium's rate, asked or not, until a request for another place, the segment's end, or the
 * track's (Ruemmler and Wilkes 1994, "Disk caching"; Shriver, Merchant and Wilkes 1998).
 *
 * Nothing happens here between requests: as of the last call it is at @from, and what has
 * happened since is computed when somebody asks.
 */
#ifndef UNDERSTUDY_READ_AHEAD_H
#define UNDERSTUDY_READ_AHEAD_H

#include "arm.h"
#include "segments.h"

/*
 * What a hit does to reading ahead.  One in sequence, where it has ended: leaves it there, or
 * has it go on.  One in another segment: stops it, or lets it go on; or an arm that has nothing
 * to do goes back, to read on behind a segment that is hit in sequence, if there is more to read
 * there by now.
 */
enum after_hit {
	AFTER_HIT_STOP,
	AFTER_HIT_GO_ON,
	AFTER_HIT_RETURN,
};

/**
 * struct read_ahead - what it is like, and how far it has come
 * @sectors: after each read that the medium served, at most
 * @reach_sectors: a read that begins with one of so many that come next waits for it to come
 *	by; for one farther ahead the arm goes there, and 0 is a drive that misses the next one
 * @to_track_end: and at most to the end of the last sector's track, in sequence to that of
 *	the next
 * @overwrites: the segment's room for what was asked for is taken by what follows, once
 *	that has left over the bus
 * @after_hit: enum after_hit
 * @segments: what was read
 * @into: the segment that is being filled, or SEGMENTS_NONE
 * @from: the medium is there
 * @from_ns: at that time
 * @limit: it ends there
 * @asked: end of the last request that it has served
 *
 * The first five are parameters.
 */
struct read_ahead {
	u64 sectors;
	u64 reach_sectors;
	u64 to_track_end;
	u64 overwrites;
	u64 after_hit;
	struct segments segments;
	u32 into;
	u64 from;
	u64 from_ns;
	u64 limit;
	u64 asked;
};

static inline bool read_ahead_is_on(const struct read_ahead *ahead)
{
	return ahead->into != SEGMENTS_NONE;
}

/* Up to where it has come, as long as it is on. */
u64 read_ahead_until(const struct read_ahead *ahead, const struct disk *disk,
		     u64 now_ns);

/* When it came, or comes, there. */
u64 read_ahead_came_ns(const struct read_ahead *ahead, const struct disk *disk,
		       u64 until);

/*
 * Where the head is if it has come to until, and stops now: if it went on, over the sector that
 * comes next, for which the arm may have moved to another track.
 */
struct head read_ahead_head(const struct read_ahead *ahead, const struct disk *disk,
			    u64 until, u64 now_ns);

/* Something else is to be done, and the arm is free for it. */
void read_ahead_stop(struct read_ahead *ahead, const struct disk *disk, struct arm *arm,
		     u64 now_ns);

/* From end on, where the head is at end_ns, after a read from sector on into that segment. */
void read_ahead_begin(struct read_ahead *ahead, const struct disk *disk, u32 into,
		      u64 sector, u64 end, u64 end_ns, bool in_sequence);

/*
 * A read in sequence hits, and is complete at done_ns: it gives back the room of what it has
 * fetched, but not before.
 */
void read_ahead_farther(struct read_ahead *ahead, const struct disk *disk,
			struct arm *arm, u64 sector, u64 end, u64 now_ns, u64 done_ns);

/* It has come to until: does the segment that is being filled hold the sector, or will it soon? */
bool read_ahead_holds(const struct read_ahead *ahead, u64 until, u64 sector);

/*
 * Go back behind a segment that these have hit, if there is more to read there by now; the seek is
 * not given up for a request that comes meanwhile.
 */
void read_ahead_return(struct read_ahead *ahead, const struct disk *disk,
		       struct arm *arm, u32 into, u64 sector, u64 end, u64 now_ns);

/* Forget everything; parameters stay. */
void read_ahead_clear(struct read_ahead *ahead);

#endif

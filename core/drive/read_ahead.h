/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Segments, and the read-ahead that fills them. Reading ahead begins when the medium has read the
 * last sector of a request, while the bus may still be busy. It goes on at the medium's rate until
 * a request for another place arrives, or until the end of the segment or of the track (Ruemmler
 * and Wilkes 1994, "Disk caching"; Shriver, Merchant and Wilkes 1998).
 *
 * Nothing is computed between requests. The last call left reading ahead at @from; the next call
 * computes what has happened since.
 */
#ifndef UNDERSTUDY_READ_AHEAD_H
#define UNDERSTUDY_READ_AHEAD_H

#include "arm.h"
#include "segments.h"

/*
 * What a hit does to reading ahead. After a hit in sequence in the segment being filled, GO_ON and
 * RETURN resume a read-ahead that has ended; STOP does not. A hit in another segment stops reading
 * ahead with STOP and RETURN; with GO_ON it goes on. With RETURN an idle arm then goes back behind
 * a segment that was hit in sequence, to read ahead there if there is more to read.
 */
enum after_hit {
	AFTER_HIT_STOP,
	AFTER_HIT_GO_ON,
	AFTER_HIT_RETURN,
};

/**
 * struct read_ahead - parameters and progress of reading ahead
 * @sectors: most sectors to read ahead after each read that the medium served
 * @reach_sectors: a read that begins among this many next sectors waits until they pass; for
 *	one farther ahead the arm moves. With 0 the drive misses even the next sector
 * @to_track_end: stop at the end of the last sector's track at the latest, after a read in
 *	sequence at the end of the next track
 * @overwrites: the segment's room for the requested sectors is reused for the following ones
 *	once the former have left over the bus
 * @after_hit: enum after_hit
 * @segments: the sectors read
 * @into: the segment being filled, or SEGMENTS_NONE
 * @from: where the medium is
 * @from_ns: at this time
 * @limit: where reading ahead ends
 * @stop: the track's end at which it stops in any case; U64_MAX: it does not stop at ends of
 *	tracks
 * @asked: end of the last request served from it
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
	u64 stop;
	u64 asked;
};

static inline bool read_ahead_is_on(const struct read_ahead *ahead)
{
	return ahead->into != SEGMENTS_NONE;
}

/* How far a read-ahead that is on has come at now_ns. */
u64 read_ahead_until(const struct read_ahead *ahead, const struct disk *disk,
		     u64 now_ns);

/* When reading ahead came, or will come, to `until`. */
u64 read_ahead_came_ns(const struct read_ahead *ahead, const struct disk *disk,
		       u64 until);

/*
 * Where the head is if reading ahead has come to `until` and stops now. If it was going on, the
 * head is over the next sector, for which the arm may have moved to another track.
 */
struct head read_ahead_head(const struct read_ahead *ahead, const struct disk *disk,
			    u64 until, u64 now_ns);

/* Stop reading ahead, which frees the arm for something else. */
void read_ahead_stop(struct read_ahead *ahead, const struct disk *disk, struct arm *arm,
		     u64 now_ns);

/* Begin at `end`, where the head is at end_ns, after a read from `sector` on into `into`. */
void read_ahead_begin(struct read_ahead *ahead, const struct disk *disk, u32 into,
		      u64 sector, u64 end, u64 end_ns, bool in_sequence);

/*
 * A read in sequence hits and completes at done_ns. The room of the sectors that it fetched becomes
 * free, but not before done_ns.
 */
void read_ahead_farther(struct read_ahead *ahead, const struct disk *disk,
			struct arm *arm, u64 sector, u64 end, u64 now_ns, u64 done_ns);

/*
 * Reading ahead has come to `until`: does the segment being filled hold the sector, or will it
 * soon?
 */
bool read_ahead_holds(const struct read_ahead *ahead, u64 until, u64 sector);

/*
 * Go back behind a segment that this read hit, to read ahead there if there is more to read. A
 * request that arrives meanwhile does not interrupt the seek.
 */
void read_ahead_return(struct read_ahead *ahead, const struct disk *disk,
		       struct arm *arm, u32 into, u64 sector, u64 end, u64 now_ns);

/* Forget everything; parameters stay. */
void read_ahead_clear(struct read_ahead *ahead);

#endif

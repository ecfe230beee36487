/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Segments, and the read-ahead that fills them. Reading ahead begins when the medium has read the
 * last sector of a request, while the bus may still be busy. It continues at the medium's rate
 * until a request for other sectors arrives, or until the end of the segment or of the track
 * (Ruemmler and Wilkes 1994, "Disk caching"; Shriver, Merchant and Wilkes 1998).
 *
 * Nothing is computed between requests. The last call records the current sector in @from; the next
 * call computes how far reading ahead has come since then.
 */
#ifndef UNDERSTUDY_READ_AHEAD_H
#define UNDERSTUDY_READ_AHEAD_H

#include "arm.h"
#include "segments.h"

/*
 * The effect of a hit on reading ahead. After a hit in sequence in the segment being filled, GO_ON
 * and RETURN resume a read-ahead that has ended; STOP does not. A hit in another segment stops
 * reading ahead with STOP and RETURN, but not with GO_ON. With RETURN, an idle arm then moves to
 * the end of the segment that was hit, if the hit was in sequence and there is more to read ahead
 * there.
 */
enum after_hit {
	AFTER_HIT_STOP,
	AFTER_HIT_GO_ON,
	AFTER_HIT_RETURN,
};

/**
 * struct read_ahead - parameters and progress of reading ahead
 * @sectors: most sectors to read ahead after each read that the medium served
 * @reach_sectors: a read that begins within the next @reach_sectors sectors waits until they pass;
 *	for a read farther ahead the arm moves. With 0 the drive misses even the next sector
 * @to_track_end: stop at the end of the last sector's track at the latest; after a read in
 *	sequence, at the end of the next track
 * @overwrites: once the requested sectors have been sent over the bus, their room in the segment is
 *	reused for the following sectors
 * @after_hit: enum after_hit
 * @segments: the sectors read
 * @into: the segment being filled, or SEGMENTS_NONE
 * @from: next sector to pass under the head ...
 * @from_ns: ... at this time
 * @limit: the sector at which reading ahead ends
 * @stop: end of the track at which reading ahead stops in any case; U64_MAX: it does not stop at
 *	ends of tracks
 * @asked: end of the last request served from the segment being filled
 *
 * @sectors, @reach_sectors, @to_track_end, @overwrites and @after_hit are parameters.
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

/* The sector that reading ahead, if it is active, has reached at now_ns. */
u64 read_ahead_until(const struct read_ahead *ahead, const struct disk *disk,
		     u64 now_ns);

/* When reading ahead reached, or will reach, the sector `until`. */
u64 read_ahead_came_ns(const struct read_ahead *ahead, const struct disk *disk,
		       u64 until);

/*
 * Where the head is if reading ahead has reached `until` and stops now. If reading ahead was still
 * active, the head is over the next sector, for which the arm may have moved to another track.
 */
struct head read_ahead_head(const struct read_ahead *ahead, const struct disk *disk,
			    u64 until, u64 now_ns);

/* Stop reading ahead, which frees the arm. */
void read_ahead_stop(struct read_ahead *ahead, const struct disk *disk, struct arm *arm,
		     u64 now_ns);

/*
 * Begin to read ahead at the sector `end`, where the head is at end_ns, after a read of the sectors
 * from `sector` on into the segment `into`.
 */
void read_ahead_begin(struct read_ahead *ahead, const struct disk *disk, u32 into,
		      u64 sector, u64 end, u64 end_ns, bool in_sequence);

/*
 * A read in sequence is a hit and completes at done_ns. The room of its sectors becomes free, but
 * not before done_ns.
 */
void read_ahead_farther(struct read_ahead *ahead, const struct disk *disk,
			struct arm *arm, u64 sector, u64 end, u64 now_ns, u64 done_ns);

/*
 * If reading ahead has reached `until`, does the segment being filled hold the sector, or will it
 * hold the sector soon?
 */
bool read_ahead_holds(const struct read_ahead *ahead, u64 until, u64 sector);

/*
 * Move the arm to the end of the segment that this read hit, if there is more to read ahead there.
 * A request that arrives meanwhile does not interrupt the seek.
 */
void read_ahead_return(struct read_ahead *ahead, const struct disk *disk,
		       struct arm *arm, u32 into, u64 sector, u64 end, u64 now_ns);

/* Forget everything; parameters stay. */
void read_ahead_clear(struct read_ahead *ahead);

#endif

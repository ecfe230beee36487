/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Segments, and the read-ahead that fills them. Reading ahead begins when the medium has read the
 * last sector of a request, while the bus may still be busy. It continues at the medium's rate
 * until a request for other sectors arrives, or until the end of the segment or of the track
 * (Ruemmler and Wilkes 1994, "Disk caching"; Shriver, Merchant and Wilkes 1998).
 *
 * Nothing is computed between requests. Each call records the next sector and its time. The
 * following call computes how far reading ahead has come since then.
 */
#ifndef UNDERSTUDY_READ_AHEAD_H
#define UNDERSTUDY_READ_AHEAD_H

#include "arm.h"
#include "segments.h"

/*
 * The effect of a hit on reading ahead. After a hit in sequence in the segment being filled, GO_ON
 * and RETURN resume a read-ahead that has ended; STOP does not. After a hit in another segment,
 * STOP and RETURN end the current read-ahead; GO_ON does not. With RETURN, an idle arm then moves
 * to the end of the segment that was hit, if the hit was in sequence and more can be read ahead
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
 * @reach_sectors: if a read begins within this many next sectors, the drive waits until they pass;
 *	for a read farther ahead, the arm moves. With 0 the drive does not wait even for the next
 *	sector
 * @to_track_end: stop at the latest at the end of the track that holds the last requested sector
 *	or, after a read in sequence, at the end of the next track
 * @overwrites: once the requested sectors have been sent over the bus, their room in the segment is
 *	reused for the following sectors
 * @after_hit: enum after_hit
 * @segments: the sectors read
 * @into: the segment being filled, or SEGMENTS_NONE
 * @from: next sector to pass under the head
 * @from_ns: when that sector passes
 * @limit: the sector at which reading ahead ends
 * @stop: end of the track at which reading ahead stops at the latest; U64_MAX: reading ahead does
 *	not stop at the end of a track
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

/* Return the sector that an active read-ahead has reached at now_ns. */
u64 read_ahead_until(const struct read_ahead *ahead, const struct disk *disk,
		     u64 now_ns);

/* Return when reading ahead reached, or will reach, the sector `until`. */
u64 read_ahead_came_ns(const struct read_ahead *ahead, const struct disk *disk,
		       u64 until);

/*
 * Return the position of the head if reading ahead has reached `until` and stops now. If reading
 * ahead was still active, the head is over the next sector, for which the arm may have moved to
 * another track.
 */
struct head read_ahead_head(const struct read_ahead *ahead, const struct disk *disk,
			    u64 until, u64 now_ns);

/* Stop reading ahead; the arm is then free. */
void read_ahead_stop(struct read_ahead *ahead, const struct disk *disk, struct arm *arm,
		     u64 now_ns);

/*
 * Begin to read ahead at the sector `end`, which the head reaches at end_ns, after a read of the
 * sectors from `sector` on into the segment `into`.
 */
void read_ahead_begin(struct read_ahead *ahead, const struct disk *disk, u32 into,
		      u64 sector, u64 end, u64 end_ns, bool in_sequence);

/*
 * Continue reading ahead after a read that hit the segment being filled and completes at done_ns.
 * The room of the read's sectors may be reused from done_ns on.
 */
void read_ahead_farther(struct read_ahead *ahead, const struct disk *disk,
			struct arm *arm, u64 sector, u64 end, u64 now_ns, u64 done_ns);

/*
 * If reading ahead has reached `until`, return whether the segment being filled holds the sector or
 * will hold it soon.
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

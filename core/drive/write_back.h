/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Writes that a drive has accepted into its cache and not yet destaged: spans of written sectors,
 * and the span on its way to the medium (Ruemmler and Wilkes 1994, "Write caching"). The drive
 * destages them when it is idle, or when it needs room. Once the data are on the medium, a segment
 * keeps them.
 */
#ifndef UNDERSTUDY_WRITE_BACK_H
#define UNDERSTUDY_WRITE_BACK_H

#include "read_ahead.h"

#define WRITE_BACK_SPANS_MAX 256

/*
 * The order in which a drive destages: the span that is soonest under the head; ascending from the
 * head and then from the lowest again; in order of arrival; or ascending from the end of the last
 * destaged span, even if reads have moved the head. A write inside a pending span is absorbed by
 * it, and a write that follows a pending span extends it. This is different if the drive destages
 * in order of arrival without idling first: then each write remains a separate span, and the arm
 * starts to move while the data are still being transferred over the bus.
 */
enum write_order {
	WRITE_SHORTEST_POSITIONING,
	WRITE_ASCENDING,
	WRITE_AS_THEY_COME,
	WRITE_ASCENDING_FROM_LAST,
};

/**
 * struct write_span - sectors [start, end)
 * @place: arm position for the first sector (core/drive/platter.h)
 * @angle: the angle at which the first sector begins, if angles are known
 */
struct write_span {
	u64 start, end;
	u64 place;
	u64 angle;
};

/**
 * struct write_back - pending writes; if zeroed, every write goes directly to the medium
 * @spans_max: most spans, including the span on its way to the medium, 0 to WRITE_BACK_SPANS_MAX
 * @sectors_max: most sectors in all spans
 * @idle_ns: how long the drive must have been idle before it begins to destage
 * @full_idle_ns: the same after the cache was full, until the cache holds at most low_sectors
 * @low_sectors: see @full_idle_ns; if it equals sectors_max, a full cache has no effect on idle
 *	times
 * @order: enum write_order
 * @settle_ns: how much longer a write needs than a read to reach the medium
 * @full: the cache was full, and still holds more than low_sectors
 * @nr: number of pending spans
 * @sectors: number of sectors in pending spans and in the span on its way
 * @span: the pending spans, in order of arrival
 * @under_way: the span on its way to the medium until the arm is free
 * @medium_ns: when the medium begins with the span on its way; until then that span can be extended
 * @last: end of the span that was begun before it
 *
 * The members up to @settle_ns are parameters.
 */
struct write_back {
	u64 spans_max;
	u64 sectors_max;
	u64 idle_ns;
	u64 full_idle_ns;
	u64 low_sectors;
	u64 order;
	u64 settle_ns;
	bool full;
	u32 nr;
	u64 sectors;
	struct write_span span[WRITE_BACK_SPANS_MAX];
	struct write_span under_way;
	u64 medium_ns;
	u64 last;
};

/* Is a span on its way to the medium? */
static inline bool write_back_is_busy(const struct write_back *writes)
{
	return writes->under_way.start != writes->under_way.end;
}

/*
 * Is there room for these sectors as another span? If each write remains a separate span, the first
 * write that continues the span on its way needs no room for another span.
 */
bool write_back_has_room(const struct write_back *writes, u64 sector, u64 sectors);

/* Does a single pending span hold all these sectors? */
bool write_back_holds(const struct write_back *writes, u64 sector, u64 sectors);

/* Index of the first pending span that overlaps these sectors, or the number of pending spans. */
u32 write_back_touched(const struct write_back *writes, u64 sector, u64 sectors);

/*
 * Accept a write. write_back_join() merges it with another span: a write inside a span is absorbed,
 * and a write that begins at a span's end may extend it. If it returns false, write_back_add() adds
 * a span, for which there must be room.
 */
bool write_back_join(struct write_back *writes, const struct disk *disk,
		     struct arm *arm, u64 sector, u64 sectors, u64 now_ns);
void write_back_add(struct write_back *writes, const struct disk *disk, u64 sector,
		    u64 sectors);

/*
 * If the arm is free and each write remains a separate span, start to move the arm at start_ns for
 * a write that is being received. The write's data are in the cache by ready_ns.
 */
void destage_coming(struct write_back *writes, const struct disk *disk, struct arm *arm,
		    u64 start_ns, u64 ready_ns);

/* Destage the spans that a drive that was idle from idle_ns on has destaged by now_ns. */
void destage_until(struct write_back *writes, struct read_ahead *ahead,
		   const struct disk *disk, struct arm *arm, u64 idle_ns, u64 now_ns);

/*
 * Wait until the arm is free, and return that time. The drive does not read ahead while a write is
 * on its way.
 */
u64 destage_wait(struct write_back *writes, struct read_ahead *ahead, struct arm *arm,
		 u64 now_ns);

/*
 * Destage one span, even if it is not yet time to, and return when the span is on the medium. There
 * must be a span.
 */
u64 destage_one(struct write_back *writes, struct read_ahead *ahead,
		const struct disk *disk, struct arm *arm, u64 now_ns);

/*
 * Destage the span on its way, and one span that overlaps these sectors; return when both are on
 * the medium.
 */
u64 destage_touched(struct write_back *writes, struct read_ahead *ahead,
		    const struct disk *disk, struct arm *arm, u64 sector, u64 sectors,
		    u64 now_ns);

/* Forget everything; parameters stay. */
void write_back_clear(struct write_back *writes);

#endif

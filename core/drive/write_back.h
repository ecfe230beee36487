/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Writes that a drive has accepted into its cache and not yet destaged: spans of written sectors,
 * and the span on its way to the medium (Ruemmler and Wilkes 1994, "Write caching"). The drive
 * destages them when it is idle, or when it needs room. A segment keeps the data once they are on
 * the medium.
 */
#ifndef UNDERSTUDY_WRITE_BACK_H
#define UNDERSTUDY_WRITE_BACK_H

#include "read_ahead.h"

#define WRITE_BACK_SPANS_MAX 256

/*
 * The order in which a drive destages: the span that is soonest under the head; ascending from the
 * head and then from the lowest again; in order of arrival; or ascending from the end of the last
 * destaged span, wherever reads took the head. A write inside a pending span is absorbed by it, and
 * a write that follows a pending span extends it. Not so if the drive destages in order of arrival
 * without idling first: then each write stays a span of its own, and the arm sets out while the
 * data still come over the bus.
 */
enum write_order {
	WRITE_SHORTEST_POSITIONING,
	WRITE_ASCENDING,
	WRITE_AS_THEY_COME,
	WRITE_ASCENDING_FROM_LAST,
};

/**
 * struct write_span - sectors [start, end)
 * @place: where the arm is for the first sector (core/drive/platter.h)
 * @angle: the angle at which the first sector begins, if angles are known
 */
struct write_span {
	u64 start, end;
	u64 place;
	u64 angle;
};

/**
 * struct write_back - pending writes; zeroed: every write goes to the medium
 * @spans_max: most spans, including the one on its way, 0 to WRITE_BACK_SPANS_MAX
 * @sectors_max: most sectors in all spans
 * @idle_ns: how long the drive has been idle before it begins to destage
 * @full_idle_ns: the same after the cache was full, until it holds at most low_sectors
 * @low_sectors: see @full_idle_ns; with sectors_max, being full changes nothing
 * @order: enum write_order
 * @settle_ns: how much longer a write takes than a read to reach the medium
 * @full: the cache was full, and still holds more than low_sectors
 * @nr: number of pending spans
 * @sectors: sectors in pending spans and in the one on its way
 * @span: the pending spans, in order of arrival
 * @under_way: the span on its way to the medium until the arm is free
 * @medium_ns: when the medium begins with it; until then it can be extended
 * @last: end of the last span begun before it
 *
 * The first seven are parameters.
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
 * Is there room for these sectors as another span? If each write stays a span of its own, the first
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
 * If the arm is free and each write stays a span of its own, the arm sets out at start_ns for a
 * write that is arriving. Its data are in the cache by ready_ns.
 */
void destage_coming(struct write_back *writes, const struct disk *disk, struct arm *arm,
		    u64 start_ns, u64 ready_ns);

/* Destage what a drive that was idle from idle_ns on has destaged until now_ns. */
void destage_until(struct write_back *writes, struct read_ahead *ahead,
		   const struct disk *disk, struct arm *arm, u64 idle_ns, u64 now_ns);

/* Wait until the arm is free, and return when. No read-ahead is on while a write is on its way. */
u64 destage_wait(struct write_back *writes, struct read_ahead *ahead, struct arm *arm,
		 u64 now_ns);

/* Destage one span, due or not, and return when that is done. There must be a span. */
u64 destage_one(struct write_back *writes, struct read_ahead *ahead,
		const struct disk *disk, struct arm *arm, u64 now_ns);

/* Destage the span on its way, and one that overlaps these sectors; return when that is done. */
u64 destage_touched(struct write_back *writes, struct read_ahead *ahead,
		    const struct disk *disk, struct arm *arm, u64 sector, u64 sectors,
		    u64 now_ns);

/* Forget everything; parameters stay. */
void write_back_clear(struct write_back *writes);

#endif

/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Writes that a drive has accepted into its cache and not yet destaged: pending spans of written
 * sectors, and the span being destaged (Ruemmler and Wilkes 1994, "Write caching"). The drive
 * destages spans when it is idle, or when it needs room. Once a span is on the medium, a segment
 * keeps its data.
 */
#ifndef UNDERSTUDY_WRITE_BACK_H
#define UNDERSTUDY_WRITE_BACK_H

#include "read_ahead.h"

#define WRITE_BACK_SPANS_MAX 256

/*
 * The order in which a drive destages spans: shortest positioning time first; ascending from the
 * head, then from the lowest span; order of arrival; or ascending from the end of the last destaged
 * span, even if reads have moved the head. A write inside a pending span is absorbed by that span,
 * and a write that begins at a span's end extends that span. If the drive destages in order of
 * arrival without an idle time, however, each write remains a separate span, and the arm starts to
 * move while the write's data are still being transferred over the bus.
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
 * @spans_max: most spans, including the span being destaged, 0 to WRITE_BACK_SPANS_MAX
 * @sectors_max: most sectors in all spans
 * @idle_ns: how long the drive must have been idle before it begins to destage
 * @full_idle_ns: like @idle_ns, but from when the cache is full until it holds at most @low_sectors
 * @low_sectors: see @full_idle_ns; if it equals @sectors_max, a full cache does not change the idle
 *	time
 * @order: enum write_order
 * @settle_ns: how much longer a write needs than a read to reach the medium
 * @full: the cache has been full, and still holds more than @low_sectors
 * @nr: number of pending spans
 * @sectors: number of sectors in pending spans and in the span being destaged
 * @span: the pending spans, in order of arrival
 * @under_way: the span being destaged, until the arm is free
 * @medium_ns: when the medium begins with the span being destaged; until then that span can be
 *	extended
 * @last: end of the last span destaged
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

/* Return whether a span is being destaged. */
static inline bool write_back_is_busy(const struct write_back *writes)
{
	return writes->under_way.start != writes->under_way.end;
}

/*
 * Return whether there is room for a new span of these sectors. If each write remains a separate
 * span, the first write that continues the span being destaged needs no room for a new span.
 */
bool write_back_has_room(const struct write_back *writes, u64 sector, u64 sectors);

/* Return whether a single pending span holds all these sectors. */
bool write_back_holds(const struct write_back *writes, u64 sector, u64 sectors);

/*
 * Return the index of the first pending span that overlaps these sectors, or the number of pending
 * spans.
 */
u32 write_back_touched(const struct write_back *writes, u64 sector, u64 sectors);

/*
 * Accept a write. write_back_join() merges the write with another span: a write inside a span is
 * absorbed, and a write that begins at a span's end may extend the span. If write_back_join()
 * returns false, write_back_add() adds a span, for which there must be room.
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

/* Bring destaging up to now_ns, for a drive that has been idle since idle_ns. */
void destage_until(struct write_back *writes, struct read_ahead *ahead,
		   const struct disk *disk, struct arm *arm, u64 idle_ns, u64 now_ns);

/*
 * Finish the span being destaged, and return when the arm is free, not before now_ns. The drive
 * does not read ahead while it destages.
 */
u64 destage_wait(struct write_back *writes, struct read_ahead *ahead, struct arm *arm,
		 u64 now_ns);

/*
 * Destage one span, even if the drive has not been idle long enough, and return when the span is on
 * the medium. There must be a span.
 */
u64 destage_one(struct write_back *writes, struct read_ahead *ahead,
		const struct disk *disk, struct arm *arm, u64 now_ns);

/*
 * Finish the span being destaged, then destage one pending span that overlaps these sectors; return
 * when both are on the medium.
 */
u64 destage_touched(struct write_back *writes, struct read_ahead *ahead,
		    const struct disk *disk, struct arm *arm, u64 sector, u64 sectors,
		    u64 now_ns);

/* Forget everything; parameters stay. */
void write_back_clear(struct write_back *writes);

#endif

/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What a drive has taken into its cache and not yet destaged: spans of sectors that were written,
 * and the one that is on its way to the medium (Ruemmler and Wilkes 1994, "Write caching").  They
 * are destaged when the drive has nothing else to do, or has to; what is on the medium then stays
 * in a segment.
 */
#ifndef UNDERSTUDY_WRITE_BACK_H
#define UNDERSTUDY_WRITE_BACK_H

#include "read_ahead.h"

#define WRITE_BACK_SPANS_MAX 256

/*
 * In which order a drive destages: the one that is soonest under its head; upwards from its head
 * and then from the lowest again; as they come; or upwards from the last one's end, wherever reads
 * took the head.  A write that lies in one that waits takes its place, and one that follows another
 * is joined to it.  Not so if they are destaged as they come without a wait: then it is each by
 * itself, and the arm goes while the data still come over the bus.
 */
enum write_order {
	WRITE_SHORTEST_POSITIONING,
	WRITE_ASCENDING,
	WRITE_AS_THEY_COME,
	WRITE_ASCENDING_FROM_LAST,
};

/**
 * struct write_span - sectors [start, end)
 * @place: where the arm is for the first of them (core/drive/platter.h)
 * @angle: where on the turn that begins, if angles are known
 */
struct write_span {
	u64 start, end;
	u64 place;
	u64 angle;
};

/**
 * struct write_back - usable when zeroed: every write goes to the medium
 * @spans_max: most spans, with the one under way, 0 to WRITE_BACK_SPANS_MAX
 * @sectors_max: most sectors in all
 * @idle_ns: how long the drive has had nothing to do before it begins to destage
 * @full_idle_ns: the same of one that was full, until it holds no more than low_sectors
 * @low_sectors: see there; sectors_max: being full changes nothing
 * @order: enum write_order
 * @settle_ns: what a write takes longer than a read to reach the medium
 * @full: it was, and holds more than low_sectors
 * @nr: how many wait
 * @sectors: in those and in the one under way
 * @span: those that wait, in the order in which they came
 * @under_way: on its way to the medium until the arm is free
 * @medium_ns: when the medium begins with it; until then it can be made longer
 * @last: end of the one before
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

/* Is one on its way to the medium? */
static inline bool write_back_is_busy(const struct write_back *writes)
{
	return writes->under_way.start != writes->under_way.end;
}

/* Is there room for these, as another span?  As they come, the first write that follows the one under
 * way shares its room. */
bool write_back_has_room(const struct write_back *writes, u64 sector, u64 sectors);

/* Does one that waits hold the whole span? */
bool write_back_holds(const struct write_back *writes, u64 sector, u64 sectors);

/* The first of those that wait which overlaps it, or how many wait. */
u32 write_back_touched(const struct write_back *writes, u64 sector, u64 sectors);

/* Take a write: one that lies in another takes its place, one that begins where another one ends may
 * make that longer, else there must be room. */
bool write_back_join(struct write_back *writes, const struct disk *disk,
		     struct arm *arm, u64 sector, u64 sectors, u64 now_ns);
void write_back_add(struct write_back *writes, const struct disk *disk, u64 sector,
		    u64 sectors);

/* The arm goes for a write that has come, from start_ns on, if it is free and the drive destages as
 * they come; the data are there by ready_ns. */
void destage_coming(struct write_back *writes, const struct disk *disk, struct arm *arm,
		    u64 start_ns, u64 ready_ns);

/* All that has been destaged until then by a drive that was idle from idle_ns on. */
void destage_until(struct write_back *writes, struct read_ahead *ahead,
		   const struct disk *disk, struct arm *arm, u64 idle_ns, u64 now_ns);

/* Wait until the arm is free; when that is.  Nothing is read ahead while a write is under way. */
u64 destage_wait(struct write_back *writes, struct read_ahead *ahead, struct arm *arm,
		 u64 now_ns);

/* Have one destaged, wanted or not; when that is done.  There must be one. */
u64 destage_one(struct write_back *writes, struct read_ahead *ahead,
		const struct disk *disk, struct arm *arm, u64 now_ns);

/* Have the one under way destaged, and one that overlaps these; when that is done. */
u64 destage_touched(struct write_back *writes, struct read_ahead *ahead,
		    const struct disk *disk, struct arm *arm, u64 sector, u64 sectors,
		    u64 now_ns);

/* Forget everything; parameters stay. */
void write_back_clear(struct write_back *writes);

#endif

// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "write_back.h"
#include "../least.h"
#include "../span.h"

static bool is_each_by_itself(const struct write_back *writes)
{
	return writes->order == WRITE_AS_THEY_COME && !writes->idle_ns;
}

bool write_back_has_room(const struct write_back *writes, u64 sector, u64 sectors)
{
	bool busy = write_back_is_busy(writes);
	bool follows = is_each_by_itself(writes) && busy && !writes->nr &&
		       writes->under_way.end == sector;

	return writes->nr + busy < writes->spans_max + follows &&
	       writes->sectors + sectors <= writes->sectors_max;
}

bool write_back_holds(const struct write_back *writes, u64 sector, u64 sectors)
{
	const struct write_span *span;

	for (span = writes->span; span < writes->span + writes->nr; span++) {
		if (span_reaches(span->start, span->end, sector) &&
		    sector + sectors <= span->end)
			return true;
	}
	return false;
}

u32 write_back_touched(const struct write_back *writes, u64 sector, u64 sectors)
{
	u32 i;

	for (i = 0; i < writes->nr; i++) {
		const struct write_span *span = &writes->span[i];

		if (span_touches(span->start, span->end, sector, sectors))
			break;
	}
	return i;
}

/* The span being destaged can be extended until the medium begins with it. */
bool write_back_join(struct write_back *writes, const struct disk *disk,
		     struct arm *arm, u64 sector, u64 sectors, u64 now_ns)
{
	struct write_span *span = &writes->under_way;

	if (is_each_by_itself(writes))
		return false;
	if (write_back_holds(writes, sector, sectors))
		return true;
	if (writes->sectors + sectors > writes->sectors_max)
		return false;
	if (write_back_is_busy(writes) && span->end == sector &&
	    now_ns <= writes->medium_ns) {
		arm->free_ns = disk_end_ns(disk, sector, sectors, arm->free_ns);
	} else {
		for (span = writes->span; span < writes->span + writes->nr; span++) {
			if (span->end == sector)
				break;
		}
		if (span == writes->span + writes->nr)
			return false;
	}
	span->end += sectors;
	writes->sectors += sectors;
	return true;
}

void write_back_add(struct write_back *writes, const struct disk *disk, u64 sector,
		    u64 sectors)
{
	struct write_span *span = &writes->span[writes->nr++];

	*span = (struct write_span){
		.start = sector,
		.end = sector + sectors,
		.place = disk_place(disk, sector),
	};
	if (disk_knows_angles(disk))
		span->angle = platter_angle(&disk->tracks, sector);
	writes->sectors += sectors;
}

/*
 * Return the index of the next span in order of arrival or of sectors. In order of sectors, it is
 * the first span at or above the head (or the end of the last destaged span), or else the lowest
 * span.
 */
static u32 next_by_place(const struct write_back *writes, u64 head)
{
	u64 from = writes->order == WRITE_ASCENDING ? head : writes->last;
	u32 next = 0;
	u32 i;

	if (writes->order == WRITE_AS_THEY_COME)
		return 0;
	for (i = 1; i < writes->nr; i++) {
		if (writes->span[i].start - from < writes->span[next].start - from)
			next = i;
	}
	return next;
}

/*
 * Return the index of the next span to destage. Set medium_ns to the time at which the span's first
 * sector is under the head.
 */
static u32 next_to_destage(struct write_back *writes, const struct disk *disk,
			   struct arm *arm, u64 start_ns)
{
	bool knows = disk_knows_angles(disk);
	u64 head = disk_arm_place(disk, arm->head.sector);
	u32 next = 0;
	u32 i;

	if (writes->order != WRITE_SHORTEST_POSITIONING) {
		next = next_by_place(writes, arm->head.sector);
		writes->medium_ns = arm_first_ns(arm, disk, writes->span[next].start,
						 writes->settle_ns, start_ns);
		return next;
	}
	writes->medium_ns = U64_MAX;
	for (i = 0; i < writes->nr; i++) {
		const struct write_span *span = &writes->span[i];
		u64 ns = knows ? arm_soonest_ns(disk, head, span->place, span->angle,
						start_ns + writes->settle_ns,
						writes->medium_ns)
			       : arm_first_ns(arm, disk, span->start, writes->settle_ns,
					      start_ns);

		if (ns < writes->medium_ns) {
			writes->medium_ns = ns;
			next = i;
		}
	}
	return next;
}

/*
 * Begin to destage a pending span, whose data are in the cache by ready_ns. The drive must not be
 * destaging another span.
 */
static void begin(struct write_back *writes, u32 index, const struct disk *disk,
		  struct arm *arm, u64 ready_ns)
{
	struct write_span *span = &writes->span[index];

	writes->under_way = *span;
	writes->nr--;
	memmove(span, span + 1, (writes->span + writes->nr - span) * sizeof(*span));
	span = &writes->under_way;
	writes->medium_ns =
		arm_ready_ns(disk, span->start, writes->medium_ns, ready_ns);
	arm->free_ns = disk_end_ns(disk, span->start, span->end - span->start,
				   writes->medium_ns);
}

static u64 leaves_ns(struct write_back *writes, struct read_ahead *ahead,
		     const struct disk *disk, struct arm *arm, u64 start_ns)
{
	read_ahead_stop(ahead, disk, arm, start_ns);
	return is_each_by_itself(writes) ? start_ns : arm_begin_ns(disk, start_ns);
}

static void destage(struct write_back *writes, struct read_ahead *ahead,
		    const struct disk *disk, struct arm *arm, u64 start_ns)
{
	start_ns = leaves_ns(writes, ahead, disk, arm, start_ns);
	begin(writes, next_to_destage(writes, disk, arm, start_ns), disk, arm, 0);
}

void destage_coming(struct write_back *writes, const struct disk *disk, struct arm *arm,
		    u64 start_ns, u64 ready_ns)
{
	if (is_each_by_itself(writes) && !write_back_is_busy(writes))
		begin(writes,
		      next_to_destage(writes, disk, arm, later(start_ns, arm->free_ns)),
		      disk, arm, ready_ns);
}

/* Record that the span being destaged is now on the medium; a segment keeps its data. */
static void is_destaged(struct write_back *writes, struct read_ahead *ahead,
			struct arm *arm)
{
	struct segments *segments = &ahead->segments;
	struct write_span span = writes->under_way;
	u32 into;

	if (!write_back_is_busy(writes))
		return;
	writes->last = span.end;
	arm_leave(arm, span.end, arm->free_ns);
	writes->sectors -= span.end - span.start;
	writes->under_way = (struct write_span){ 0 };
	writes->full = writes->full && writes->sectors > writes->low_sectors;
	if (!segments->nr)
		return;
	into = segments_take(segments);
	segments->segment[into].start = span.start;
	segments_trim(segments, into, span.end);
}

void destage_until(struct write_back *writes, struct read_ahead *ahead,
		   const struct disk *disk, struct arm *arm, u64 idle_ns, u64 now_ns)
{
	for (;;) {
		u64 start_ns;

		if (arm->free_ns <= now_ns)
			is_destaged(writes, ahead, arm);
		start_ns = later(idle_ns + (writes->full ? writes->full_idle_ns
							 : writes->idle_ns),
				 arm->free_ns);
		if (!writes->nr || start_ns > now_ns)
			return;
		destage(writes, ahead, disk, arm, start_ns);
	}
}

u64 destage_wait(struct write_back *writes, struct read_ahead *ahead, struct arm *arm,
		 u64 now_ns)
{
	is_destaged(writes, ahead, arm);
	return later(now_ns, arm->free_ns);
}

u64 destage_one(struct write_back *writes, struct read_ahead *ahead,
		const struct disk *disk, struct arm *arm, u64 now_ns)
{
	if (!write_back_is_busy(writes))
		destage(writes, ahead, disk, arm, later(now_ns, arm->free_ns));
	return destage_wait(writes, ahead, arm, now_ns);
}

u64 destage_touched(struct write_back *writes, struct read_ahead *ahead,
		    const struct disk *disk, struct arm *arm, u64 sector, u64 sectors,
		    u64 now_ns)
{
	u32 touched;

	now_ns = destage_wait(writes, ahead, arm, now_ns);
	touched = write_back_touched(writes, sector, sectors);
	if (touched == writes->nr)
		return now_ns;
	now_ns = leaves_ns(writes, ahead, disk, arm, now_ns);
	writes->medium_ns = arm_first_ns(arm, disk, writes->span[touched].start,
					 writes->settle_ns, now_ns);
	begin(writes, touched, disk, arm, 0);
	return destage_wait(writes, ahead, arm, now_ns);
}

void write_back_clear(struct write_back *writes)
{
	writes->full = false;
	writes->last = 0;
	writes->nr = 0;
	writes->sectors = 0;
	writes->under_way = (struct write_span){ 0 };
	writes->medium_ns = 0;
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "read_ahead.h"
#include "../least.h"

u64 read_ahead_until(const struct read_ahead *ahead, const struct disk *disk,
		     u64 now_ns)
{
	if (now_ns <= ahead->from_ns)
		return ahead->from;
	return ahead->from + disk_passed(disk, ahead->from, ahead->limit - ahead->from,
					 ahead->from_ns, now_ns);
}

u64 read_ahead_came_ns(const struct read_ahead *ahead, const struct disk *disk,
		       u64 until)
{
	return disk_end_ns(disk, ahead->from, until - ahead->from, ahead->from_ns);
}

/* Where angles are known nobody asks when the head came there. */
struct head read_ahead_head(const struct read_ahead *ahead, const struct disk *disk,
			    u64 until, u64 now_ns)
{
	return (struct head){
		.sector = until + (until < ahead->limit && disk_counts_tracks(disk)),
		.there_ns = disk_knows_angles(disk)
				    ? now_ns
				    : read_ahead_came_ns(ahead, disk, until),
	};
}

void read_ahead_stop(struct read_ahead *ahead, const struct disk *disk, struct arm *arm,
		     u64 now_ns)
{
	u64 until;

	if (!read_ahead_is_on(ahead))
		return;
	until = read_ahead_until(ahead, disk, now_ns);
	arm->head = read_ahead_head(ahead, disk, until, now_ns);
	arm->free_ns = later(arm->free_ns, now_ns);
	segments_trim(&ahead->segments, ahead->into, until);
	ahead->into = SEGMENTS_NONE;
}

/* Up to where it reads ahead after a read of these. */
static u64 limit_after(const struct read_ahead *ahead, const struct disk *disk,
		       u64 sector, u64 end, bool in_sequence)
{
	u64 limit = nearer(end + ahead->sectors, disk->capacity_sectors);
	u64 kept = ahead->overwrites ? end : sector;
	u64 track_end;

	limit = nearer(limit, later(end, kept + ahead->segments.sectors));
	if (!ahead->to_track_end)
		return limit;
	track_end = disk_track_end(disk, end - 1);
	if (in_sequence && track_end < limit)
		track_end = disk_track_end(disk, track_end);
	return nearer(limit, track_end);
}

void read_ahead_begin(struct read_ahead *ahead, const struct disk *disk, u32 into,
		      u64 sector, u64 end, u64 end_ns, bool in_sequence)
{
	ahead->into = into;
	ahead->from = ahead->asked = end;
	ahead->from_ns = end_ns;
	ahead->limit = limit_after(ahead, disk, sector, end, in_sequence);
}

/* It stands behind what it has read, and goes on there: a turn but for the time since then, or
 * any part of one if latencies have no place. */
static u64 resumes_ns(const struct read_ahead *ahead, const struct disk *disk,
		      struct arm *arm, u64 until, u64 now_ns)
{
	u64 rotation_ns = disk->rotation_ns;
	u64 since_ns;

	if (disk_knows_angles(disk))
		return arm_passes_ns(disk, until, now_ns);
	if (!arm->random_phase || !rotation_ns)
		return now_ns + arm_latency_ns(arm, disk);
	since_ns = now_ns - read_ahead_came_ns(ahead, disk, until);
	return now_ns + rotation_ns - since_ns % rotation_ns;
}

static void goes_on_from(struct read_ahead *ahead, const struct disk *disk,
			 struct arm *arm, u64 from, u64 now_ns)
{
	ahead->from_ns = resumes_ns(ahead, disk, arm, from, now_ns);
	ahead->from = from;
}

/*
 * What is on the bus in sequence is not overwritten: the head waits before it, and then for its
 * sector.
 */
static void keep(struct read_ahead *ahead, const struct disk *disk, struct arm *arm,
		 u64 sector, u64 end, u64 done_ns)
{
	u64 stop = sector + ahead->segments.sectors;
	bool in_sequence = sector <= ahead->asked && ahead->asked <= end;

	ahead->asked = end;
	if (ahead->overwrites && in_sequence && stop < ahead->limit &&
	    stop < read_ahead_until(ahead, disk, done_ns))
		goes_on_from(ahead, disk, arm, stop, done_ns);
}

void read_ahead_farther(struct read_ahead *ahead, const struct disk *disk,
			struct arm *arm, u64 sector, u64 end, u64 now_ns, u64 done_ns)
{
	u64 limit = limit_after(ahead, disk, sector, end, true);
	u64 until = read_ahead_until(ahead, disk, now_ns);

	if (limit > ahead->limit) {
		if (until == ahead->limit) { /* it stands there */
			if (ahead->after_hit == AFTER_HIT_STOP)
				return;
			goes_on_from(ahead, disk, arm, until, now_ns);
		}
		ahead->limit = limit;
	}
	keep(ahead, disk, arm, sector, end, done_ns);
}

bool read_ahead_holds(const struct read_ahead *ahead, u64 until, u64 sector)
{
	if (!read_ahead_is_on(ahead))
		return false;
	/* What was asked for has come, though its end may be rounded to the ns before. */
	until = later(until, ahead->asked);
	return ahead->segments.segment[ahead->into].start <= sector &&
	       sector <= ahead->limit && sector < until + ahead->reach_sectors;
}

void read_ahead_return(struct read_ahead *ahead, const struct disk *disk,
		       struct arm *arm, u32 into, u64 sector, u64 end, u64 now_ns)
{
	u64 from = ahead->segments.segment[into].end;
	u64 limit = limit_after(ahead, disk, sector, end, true);

	if (limit <= from)
		return;
	read_ahead_stop(ahead, disk, arm, now_ns);
	now_ns = later(now_ns, arm->free_ns);
	ahead->into = into;
	ahead->from = from;
	ahead->from_ns = arm_first_ns(arm, disk, from, 0, now_ns);
	ahead->limit = limit;
	ahead->asked = end;
	arm->free_ns = now_ns + disk_reach_ns(disk, arm->head.sector, from);
}

void read_ahead_clear(struct read_ahead *ahead)
{
	segments_clear(&ahead->segments);
	ahead->into = SEGMENTS_NONE;
	ahead->from = ahead->from_ns = ahead->limit = ahead->asked = 0;
}

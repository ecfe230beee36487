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

/* Where angles are known, there_ns of the result is not used. */
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

/*
 * Return the end of the track at which reading ahead stops after a read that ends at `end`;
 * U64_MAX: it does not stop at the end of a track.
 */
static u64 stop_after(const struct read_ahead *ahead, const struct disk *disk, u64 end,
		      bool in_sequence)
{
	u64 track_end;

	if (!ahead->to_track_end)
		return U64_MAX;
	track_end = disk_track_end(disk, end - 1);
	if (in_sequence && track_end < disk->capacity_sectors)
		track_end = disk_track_end(disk, track_end);
	return track_end;
}

/* Return the sector up to which the drive reads ahead after a read from `sector` to `end`. */
static u64 limit_after(const struct read_ahead *ahead, const struct disk *disk,
		       u64 sector, u64 end, u64 stop)
{
	u64 limit = nearer(end + ahead->sectors, disk->capacity_sectors);
	u64 kept = ahead->overwrites ? end : sector;

	limit = nearer(limit, later(end, kept + ahead->segments.sectors));
	return nearer(limit, stop);
}

void read_ahead_begin(struct read_ahead *ahead, const struct disk *disk, u32 into,
		      u64 sector, u64 end, u64 end_ns, bool in_sequence)
{
	ahead->into = into;
	ahead->from = ahead->asked = end;
	ahead->from_ns = end_ns;
	ahead->stop = stop_after(ahead, disk, end, in_sequence);
	ahead->limit = limit_after(ahead, disk, sector, end, ahead->stop);
}

/*
 * Return when reading ahead resumes at the sector `until`. The head has waited on the track since
 * `until` was reached, so reading ahead resumes a whole number of rotations later. If the model
 * computes no latencies from positions, reading ahead resumes after an ordinary latency.
 */
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
 * If the read is in sequence, read-ahead must not overwrite sectors that are still to be sent over
 * the bus. Read-ahead pauses before it would do so, until done_ns, and then waits until its next
 * sector passes.
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
	bool goes_on = ahead->after_hit != AFTER_HIT_STOP;
	bool full = ahead->to_track_end && ahead->limit < ahead->stop;
	u64 until = read_ahead_until(ahead, disk, now_ns);
	u64 limit;

	ahead->stop = later(ahead->stop, stop_after(ahead, disk, end, goes_on));
	limit = limit_after(ahead, disk, sector, end, ahead->stop);
	if (limit > ahead->limit) {
		if (until == ahead->limit) { /* reading ahead has stopped */
			if (!goes_on && !full)
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
	/*
	 * The requested sectors have passed, but because of rounding their computed end may be a ns
	 * later.
	 */
	until = later(until, ahead->asked);
	return ahead->segments.segment[ahead->into].start <= sector &&
	       sector <= ahead->limit && sector < until + ahead->reach_sectors;
}

void read_ahead_return(struct read_ahead *ahead, const struct disk *disk,
		       struct arm *arm, u32 into, u64 sector, u64 end, u64 now_ns)
{
	u64 from = ahead->segments.segment[into].end;
	u64 stop = stop_after(ahead, disk, end, true);
	u64 limit = limit_after(ahead, disk, sector, end, stop);

	if (limit <= from)
		return;
	read_ahead_stop(ahead, disk, arm, now_ns);
	now_ns = later(now_ns, arm->free_ns);
	ahead->into = into;
	ahead->from = from;
	ahead->from_ns = arm_first_ns(arm, disk, from, 0, now_ns);
	ahead->limit = limit;
	ahead->stop = stop;
	ahead->asked = end;
	arm->free_ns = now_ns + disk_reach_ns(disk, arm->head.sector, from);
}

void read_ahead_clear(struct read_ahead *ahead)
{
	segments_clear(&ahead->segments);
	ahead->into = SEGMENTS_NONE;
	ahead->from = ahead->from_ns = ahead->limit = ahead->stop = ahead->asked = 0;
}

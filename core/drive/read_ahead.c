// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "read_ahead.h"
#include "../least.h"
#include "positioning.h"

u64 read_ahead_until(const struct drive *drive, u64 now_ns)
{
	const struct read_ahead *ahead = &drive->buffer.ahead;

	if (now_ns <= ahead->from_ns)
		return ahead->from;
	return ahead->from + disk_passed(&drive->disk, ahead->from,
					 ahead->limit - ahead->from, ahead->from_ns,
					 now_ns);
}

u64 read_ahead_came_ns(const struct drive *drive, u64 until)
{
	const struct read_ahead *ahead = &drive->buffer.ahead;

	return disk_end_ns(&drive->disk, ahead->from, until - ahead->from,
			   ahead->from_ns);
}

struct read_ahead_end read_ahead_end(const struct drive *drive, u64 now_ns)
{
	const struct read_ahead *ahead = &drive->buffer.ahead;
	u64 until = read_ahead_until(drive, now_ns);
	struct read_ahead_end end = { .until = until, .head = until };

	if (until < ahead->limit)
		end.head += disk_counts_tracks(&drive->disk);
	end.came_ns = disk_knows_angles(&drive->disk)
			      ? now_ns
			      : read_ahead_came_ns(drive, until);
	return end;
}

void read_ahead_stop(struct drive *drive, u64 now_ns)
{
	struct buffer *buffer = &drive->buffer;
	u32 into = buffer->ahead.into;
	struct read_ahead_end end;

	if (into == SEGMENTS_NONE)
		return;
	end = read_ahead_end(drive, now_ns);
	drive->head = end.head;
	buffer->head_ns = end.came_ns;
	buffer->writes.busy_until_ns = later(buffer->writes.busy_until_ns, now_ns);
	segments_trim(&buffer->segments, into, end.until);
	buffer->ahead.into = SEGMENTS_NONE;
}

/* Up to where it reads on after a read of these. */
static u64 limit_after(const struct drive *drive, u64 sector, u64 end, bool in_sequence)
{
	const struct buffer *buffer = &drive->buffer;
	u64 limit = nearer(end + buffer->ahead_sectors, drive->disk.capacity_sectors);
	u64 track_end;

	if (buffer->ahead_overwrites)
		sector = end;
	limit = nearer(limit, later(end, sector + buffer->segments.sectors));
	if (!buffer->ahead_to_track_end)
		return limit;
	track_end = disk_track_end(&drive->disk, end - 1);
	if (in_sequence && track_end < limit)
		track_end = disk_track_end(&drive->disk, track_end);
	return nearer(limit, track_end);
}

void read_ahead_begin(struct drive *drive, u32 into, u64 sector, u64 end, u64 end_ns,
		      bool in_sequence)
{
	struct buffer *buffer = &drive->buffer;

	buffer->ahead = (struct read_ahead){
		.into = into,
		.from = end,
		.from_ns = end_ns,
		.limit = limit_after(drive, sector, end, in_sequence),
		.asked = end,
	};
}

/* It stands behind what it has read, and goes on there: a turn but for the time since then, or
 * any part of one if latencies have no place. */
static u64 resumes_ns(struct drive *drive, u64 until, u64 now_ns)
{
	u64 rotation_ns = drive->disk.rotation_ns;
	u64 since_ns;

	if (disk_knows_angles(&drive->disk))
		return position_passes_ns(drive, until, now_ns);
	if (!drive->random_phase || !rotation_ns)
		return now_ns + drive_latency_ns(drive);
	since_ns = now_ns - read_ahead_came_ns(drive, until);
	return now_ns + rotation_ns - since_ns % rotation_ns;
}

static void goes_on_from(struct read_ahead *ahead, u64 from, u64 from_ns)
{
	ahead->from = from;
	ahead->from_ns = from_ns;
}

/*
 * What is on the bus in sequence is not overwritten: the head waits before it, and then for its
 * sector.
 */
static void keep(struct drive *drive, u64 sector, u64 end, u64 done_ns)
{
	struct read_ahead *ahead = &drive->buffer.ahead;
	u64 stop = sector + drive->buffer.segments.sectors;
	bool in_sequence = sector <= ahead->asked && ahead->asked <= end;

	ahead->asked = end;
	if (drive->buffer.ahead_overwrites && in_sequence && stop < ahead->limit &&
	    stop < read_ahead_until(drive, done_ns))
		goes_on_from(ahead, stop, resumes_ns(drive, stop, done_ns));
}

void read_ahead_farther(struct drive *drive, u64 sector, u64 end, u64 now_ns,
			u64 done_ns)
{
	struct read_ahead *ahead = &drive->buffer.ahead;
	u64 limit = limit_after(drive, sector, end, true);
	u64 until = read_ahead_until(drive, now_ns);

	if (limit > ahead->limit) {
		if (until == ahead->limit) { /* it stands there */
			if (drive->buffer.after_hit == AFTER_HIT_STOP)
				return;
			goes_on_from(ahead, until, resumes_ns(drive, until, now_ns));
		}
		ahead->limit = limit;
	}
	keep(drive, sector, end, done_ns);
}

bool read_ahead_holds(const struct drive *drive, u64 sector, u64 now_ns)
{
	const struct buffer *buffer = &drive->buffer;
	const struct read_ahead *ahead = &buffer->ahead;
	u64 until;

	if (ahead->into == SEGMENTS_NONE)
		return false;
	/* What was asked for has come, though its end may be rounded to the ns before. */
	until = later(read_ahead_until(drive, now_ns), ahead->asked);
	return buffer->segments.segment[ahead->into].start <= sector &&
	       sector <= ahead->limit && sector < until + buffer->reach_sectors;
}

void read_ahead_return(struct drive *drive, u32 into, u64 sector, u64 end, u64 now_ns)
{
	struct buffer *buffer = &drive->buffer;
	u64 from = buffer->segments.segment[into].end;
	u64 limit = limit_after(drive, sector, end, true);
	u64 from_ns;

	if (limit <= from)
		return;
	read_ahead_stop(drive, now_ns);
	now_ns = later(now_ns, buffer->writes.busy_until_ns);
	from_ns = position_ns(drive, from, 0, now_ns);
	buffer->writes.busy_until_ns =
		now_ns + disk_reach_ns(&drive->disk, drive->head, from);
	buffer->ahead = (struct read_ahead){ .into = into,
					     .from = from,
					     .from_ns = from_ns,
					     .limit = limit,
					     .asked = end };
}

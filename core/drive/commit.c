// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "commit.h"
#include "../least.h"
#include "../span.h"

static u64 end_of(const struct command *command)
{
	return command->sector + command->sectors;
}

/*
 * Stop reading ahead and finish destaging so that the arm can serve a request. Return when the arm
 * can leave.
 */
static u64 arm_leaves_ns(struct drive *drive, u64 now_ns)
{
	u64 free_ns;

	read_ahead_stop(&drive->ahead, &drive->disk, &drive->arm, now_ns);
	free_ns = destage_wait(&drive->writes, &drive->ahead, &drive->arm, now_ns);
	return later(now_ns, arm_begin_ns(&drive->disk, free_ns));
}

/*
 * Return when these sectors have been sent over the bus, if the first sector passes the head at
 * from_ns. Set *last_ns to the time at which the last one has passed.
 */
static u64 sent_ns(const struct drive *drive, u64 sector, u64 end, u64 from_ns,
		   u64 *last_ns)
{
	return disk_sent_ns(&drive->disk, sector, end - sector, from_ns,
			    drive->bus.sector_ps, last_ns);
}

/* Like sent_ns(), but for a whole request: the bus waits for the watermark. */
static u64 all_sent_ns(const struct drive *drive, u64 sector, u64 end, u64 from_ns,
		       u64 *last_ns)
{
	const struct segments *segments = &drive->ahead.segments;
	u64 done_ns = sent_ns(drive, sector, end, from_ns, last_ns);
	u64 mark = end - sector;

	if (segments->nr)
		mark = nearer(mark, segments->sectors);
	mark = port_mul_div(drive->bus.watermark_percent, mark, 100);
	if (!mark)
		return done_ns;
	return later(done_ns, disk_end_ns(&drive->disk, sector, mark, from_ns) +
				      bus_ns(&drive->bus, end - sector));
}

/*
 * Read from the medium, and return when the read completes. The segment `into` is empty or holds
 * the beginning of the request; SEGMENTS_NONE: no segment is filled.
 */
static u64 read_medium_ns(struct drive *drive, const struct command *command, u32 into,
			  u64 start_ns)
{
	struct segments *segments = &drive->ahead.segments;
	struct segment *segment =
		into == SEGMENTS_NONE ? NULL : &segments->segment[into];
	u64 first = command->sector, end = end_of(command);
	bool in_sequence = segment && segment->asked && segment->asked == first;
	u64 from_ns, last_ns, done_ns;

	if (segment && segment->start == segment->end)
		segment->start = segment->end = first;
	if (segment)
		first = segment->end;
	from_ns = arm_from_ns(&drive->arm, &drive->disk, first, 0, start_ns);
	done_ns = (first == command->sector ? all_sent_ns : sent_ns)(drive, first, end,
								     from_ns, &last_ns);
	arm_leave(&drive->arm, end, last_ns);
	if (segment) {
		segments_trim(segments, into, end);
		read_ahead_begin(&drive->ahead, &drive->disk, into, command->sector,
				 end, last_ns, in_sequence);
		segment->asked = end;
	}
	if (first > command->sector)
		done_ns = later(done_ns,
				start_ns + bus_hit_ns(&drive->bus, command->sectors));
	return done_ns;
}

/* Serve the request from the medium, or only the part of it that no segment holds. */
static u64 medium_ns(struct drive *drive, const struct command *command, u32 into,
		     u64 now_ns)
{
	struct segments *segments = &drive->ahead.segments;
	const struct write_span *write = &drive->writes.under_way;
	bool changes = write_back_is_busy(&drive->writes) &&
		       (into != SEGMENTS_NONE ||
			span_reaches(write->start, write->end, command->sector));
	u64 start_ns = arm_leaves_ns(drive, now_ns);

	if (changes) /* the write is on the medium, and a segment now holds it */
		into = segments_find(segments, command->sector);
	if (into != SEGMENTS_NONE)
		segments_use(segments, into);
	else if (segments->nr)
		into = segments_take(segments);
	return read_medium_ns(drive, command, into, start_ns);
}

/* Serve a request whose sectors have all been read ahead. */
static u64 ahead_ns(struct drive *drive, const struct command *command, u64 now_ns)
{
	struct read_ahead *ahead = &drive->ahead;
	u64 done_ns = now_ns + bus_hit_ns(&drive->bus, command->sectors);

	segments_use(&ahead->segments, ahead->into);
	read_ahead_farther(ahead, &drive->disk, &drive->arm, command->sector,
			   end_of(command), now_ns, done_ns);
	ahead->segments.segment[ahead->into].asked = end_of(command);
	return done_ns;
}

/* Serve a request whose sectors from `first` on are being read ahead but have not yet passed. */
static u64 waits_ns(struct drive *drive, const struct command *command, u64 first,
		    u64 now_ns)
{
	struct read_ahead *ahead = &drive->ahead;
	struct segment *segment = &ahead->segments.segment[ahead->into];
	const struct disk *disk = &drive->disk;
	u64 sector = command->sector, end = end_of(command);
	u64 there_ns = read_ahead_came_ns(ahead, disk, end);
	u64 comes_ns =
		disk_next_ns(disk, ahead->from, first - ahead->from, ahead->from_ns);
	u64 done_ns, passed_ns;

	segments_use(&ahead->segments, ahead->into);
	done_ns = later(sent_ns(drive, first, end, comes_ns, &passed_ns),
			now_ns + bus_hit_ns(&drive->bus, command->sectors));
	if (end > ahead->limit) {
		segment->end = end;
		read_ahead_begin(ahead, disk, ahead->into, sector, end, there_ns, true);
	} else {
		read_ahead_farther(ahead, disk, &drive->arm, sector, end, now_ns,
				   there_ns);
	}
	segment->asked = end;
	return done_ns;
}

/* Serve a request from a segment that holds all of it and is not being filled. */
static u64 held_ns(struct drive *drive, const struct command *command, u32 index,
		   u64 now_ns)
{
	struct read_ahead *ahead = &drive->ahead;
	struct segment *segment = &ahead->segments.segment[index];
	u64 sector = command->sector, end = end_of(command);
	bool in_sequence = sector <= segment->asked && segment->asked <= end;
	bool idle = drive->arm.free_ns <= now_ns && !drive->writes.nr;

	if (ahead->after_hit != AFTER_HIT_GO_ON)
		read_ahead_stop(ahead, &drive->disk, &drive->arm, now_ns);
	segments_use(&ahead->segments, index);
	if (ahead->after_hit == AFTER_HIT_RETURN && in_sequence && idle)
		read_ahead_return(ahead, &drive->disk, &drive->arm, index, sector, end,
				  now_ns);
	segment->asked = end;
	return now_ns + bus_hit_ns(&drive->bus, command->sectors);
}

static u64 taken_ns(struct drive *drive, const struct command *command, u64 now_ns)
{
	struct write_back *writes = &drive->writes;
	u64 sector = command->sector, sectors = command->sectors;
	u64 done_ns = now_ns + bus_write_ns(&drive->bus, sectors);
	u64 room_ns = now_ns;

	read_ahead_stop(&drive->ahead, &drive->disk, &drive->arm, now_ns);
	segments_drop(&drive->ahead.segments, sector, sectors);
	if (write_back_join(writes, &drive->disk, &drive->arm, sector, sectors, now_ns))
		return done_ns;
	while (!write_back_has_room(writes, sector, sectors)) {
		writes->full = true;
		room_ns = destage_one(writes, &drive->ahead, &drive->disk, &drive->arm,
				      room_ns);
	}
	done_ns = later(done_ns, room_ns); /* the transfer overlaps the destaging */
	write_back_add(writes, &drive->disk, sector, sectors);
	destage_coming(writes, &drive->disk, &drive->arm, room_ns, done_ns);
	return done_ns;
}

static u64 through_ns(struct drive *drive, const struct command *command, u64 now_ns)
{
	u64 sector = command->sector, sectors = command->sectors;
	u64 start_ns = arm_leaves_ns(drive, now_ns);
	u64 begins_ns, done_ns;

	segments_drop(&drive->ahead.segments, sector, sectors);
	begins_ns = arm_ready_ns(&drive->disk, sector,
				 arm_first_ns(&drive->arm, &drive->disk, sector,
					      drive->writes.settle_ns, start_ns),
				 now_ns + bus_write_ns(&drive->bus, sectors));
	done_ns = disk_end_ns(&drive->disk, sector, sectors, begins_ns);
	arm_leave(&drive->arm, sector + sectors, done_ns);
	return done_ns;
}

u64 commit_plan(struct drive *drive, const struct command *command,
		struct drive_plan plan, u64 now_ns, bool *hit)
{
	while (plan.write_first) {
		struct drive_outlook look;

		now_ns = destage_touched(&drive->writes, &drive->ahead, &drive->disk,
					 &drive->arm, command->sector, command->sectors,
					 now_ns);
		look = drive_outlook(drive, now_ns);
		plan = drive_plan(drive, &look, command);
	}
	*hit = plan.kind == PLAN_HELD || plan.kind == PLAN_AHEAD ||
	       plan.kind == PLAN_WRITTEN;
	switch (plan.kind) {
	case PLAN_HELD:
		return held_ns(drive, command, plan.segment, now_ns);
	case PLAN_AHEAD:
		return ahead_ns(drive, command, now_ns);
	case PLAN_WRITTEN:
		return now_ns + bus_hit_ns(&drive->bus, command->sectors);
	case PLAN_WAITS:
		return waits_ns(drive, command, plan.first, now_ns);
	case PLAN_MEDIUM:
		return medium_ns(drive, command, plan.segment, now_ns);
	case PLAN_THROUGH:
		return through_ns(drive, command, now_ns);
	default:
		return taken_ns(drive, command, now_ns);
	}
}

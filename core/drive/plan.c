// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "plan.h"
#include "../least.h"
#include "../span.h"

/* No arm: a hit, or a write that is taken. */
static struct drive_plan at_once(u32 kind, u32 segment, u64 done_ns)
{
	return (struct drive_plan){ kind, segment, 0, done_ns };
}

static struct drive_plan hit(const struct drive *drive,
			     const struct drive_outlook *look,
			     const struct command *command, u32 kind, u32 segment)
{
	return at_once(kind, segment,
		       look->now_ns + bus_hit_ns(&drive->bus, command->sectors));
}

static struct drive_plan medium(const struct drive *drive,
				const struct drive_outlook *look,
				const struct command *command, u32 kind, u64 settle_ns,
				u64 by_ns)
{
	const struct disk *disk = &drive->disk;
	u64 first_ns;

	if (look->sieve && disk_knows_angles(disk))
		first_ns = arm_soonest_ns(disk, look->place, command->place,
					  command->angle, look->free_ns + settle_ns,
					  by_ns);
	else
		first_ns = arm_estimate_ns(&drive->arm, disk, look->head,
					   command->sector, settle_ns, look->free_ns);
	return (struct drive_plan){ kind, SEGMENTS_NONE, command->sector, first_ns };
}

/* A segment holds the beginning; the medium goes on with this sector. */
static struct drive_plan rest(const struct drive *drive,
			      const struct drive_outlook *look, u32 segment, u64 first)
{
	u64 first_ns = arm_estimate_ns(&drive->arm, &drive->disk, look->head, first, 0,
				       look->free_ns);

	return (struct drive_plan){ PLAN_MEDIUM, segment, first, first_ns };
}

/* It is being read ahead, or about to be. */
static struct drive_plan coming(const struct drive *drive,
				const struct drive_outlook *look,
				const struct command *command)
{
	const struct read_ahead *ahead = &drive->ahead;
	struct drive_plan plan = hit(drive, look, command, PLAN_AHEAD, ahead->into);

	if (command->sector + command->sectors <= look->until)
		return plan;
	if (look->until == ahead->limit)
		return rest(drive, look, ahead->into, look->until);
	plan.kind = PLAN_WAITS;
	plan.first = later(command->sector, look->until);
	plan.first_ns = later(plan.first_ns,
			      read_ahead_came_ns(ahead, &drive->disk, plan.first));
	return plan;
}

static struct drive_plan from_segments(const struct drive *drive,
				       const struct drive_outlook *look,
				       const struct command *command, u64 by_ns)
{
	const struct segments *segments = &drive->ahead.segments;
	u32 found = segments_find(segments, command->sector);
	u64 end;

	if (found == SEGMENTS_NONE)
		return medium(drive, look, command, PLAN_MEDIUM, 0, by_ns);
	end = segments->segment[found].end;
	if (command->sector + command->sectors <= end)
		return hit(drive, look, command, PLAN_HELD, found);
	return rest(drive, look, found, end);
}

/* Has a write to go to the medium before? */
static bool waits_for_write(const struct write_back *writes,
			    const struct command *command)
{
	const struct write_span *span = &writes->under_way;

	return (span->start < command->sector + command->sectors &&
		command->sector < span->end) ||
	       write_back_touches(writes, command->sector, command->sectors);
}

static struct drive_plan read(const struct drive *drive,
			      const struct drive_outlook *look,
			      const struct command *command, u64 by_ns)
{
	bool may_hold =
		!look->sieve || sieve_lets_through(look->sieve, command->sector);
	struct drive_plan plan;

	if (may_hold &&
	    write_back_holds(&drive->writes, command->sector, command->sectors))
		return hit(drive, look, command, PLAN_WRITTEN, SEGMENTS_NONE);
	if (read_ahead_holds(&drive->ahead, look->until, command->sector))
		plan = coming(drive, look, command);
	else if (may_hold)
		plan = from_segments(drive, look, command, by_ns);
	else
		return medium(drive, look, command, PLAN_MEDIUM, 0, by_ns);
	if (!look->sieve && waits_for_write(&drive->writes, command))
		plan.kind = PLAN_FIRST;
	return plan;
}

static struct drive_plan written(const struct drive *drive,
				 const struct drive_outlook *look,
				 const struct command *command, u64 by_ns)
{
	const struct write_back *writes = &drive->writes;
	bool taken = !command->through && writes->spans_max &&
		     command->sectors <= writes->sectors_max;

	if (taken && write_back_has_room(writes, command->sectors))
		return at_once(PLAN_TAKEN, SEGMENTS_NONE,
			       look->now_ns +
				       bus_write_ns(&drive->bus, command->sectors));
	return medium(drive, look, command, taken ? PLAN_TAKEN : PLAN_THROUGH,
		      writes->settle_ns, by_ns);
}

/* The papers' line and cache: nothing happens between requests but that the platters turn. */
static struct drive_plan unbuffered(const struct drive *drive,
				    const struct drive_outlook *look,
				    const struct command *command, u64 by_ns)
{
	const struct disk *disk = &drive->disk;

	if (command->op == IO_READ &&
	    disk_cache_holds(&drive->cache, command->sector, command->sectors))
		return at_once(PLAN_HELD, SEGMENTS_NONE,
			       look->now_ns + drive->bus.hit_ns);
	if (disk_knows_angles(disk))
		return medium(drive, look, command, PLAN_MEDIUM, 0, by_ns);
	return (struct drive_plan){ PLAN_MEDIUM, SEGMENTS_NONE, command->sector,
				    look->now_ns +
					    disk_service_ns(disk, look->head.sector,
							    command->sector, 0) };
}

struct drive_plan drive_plan(const struct drive *drive,
			     const struct drive_outlook *look,
			     const struct command *command, u64 by_ns)
{
	if (command->op >= IO_OPS)
		return at_once(PLAN_NEXT, SEGMENTS_NONE, look->now_ns);
	if (!drive->buffered)
		return unbuffered(drive, look, command, by_ns);
	if (command->op == IO_READ)
		return read(drive, look, command, by_ns);
	return written(drive, look, command, by_ns);
}

struct drive_outlook drive_outlook_at(const struct drive *drive, u64 now_ns)
{
	const struct write_back *writes = &drive->writes;
	const struct read_ahead *ahead = &drive->ahead;
	const struct disk *disk = &drive->disk;
	struct drive_outlook look = { .now_ns = now_ns,
				      .free_ns = now_ns,
				      .head = drive->arm.head };

	if (drive->buffered) {
		look.free_ns = later(now_ns, arm_begin_ns(disk, drive->arm.free_ns));
		if (write_back_is_busy(writes)) {
			look.head = (struct head){ writes->under_way.end,
						   drive->arm.free_ns };
		} else if (read_ahead_is_on(ahead)) {
			look.until = read_ahead_until(ahead, disk, now_ns);
			look.head =
				read_ahead_head(ahead, disk, look.until, look.free_ns);
		}
	}
	return look;
}

struct drive_outlook drive_look(struct drive *drive, u64 now_ns)
{
	struct drive_outlook look;

	if (drive->buffered)
		destage_until(&drive->writes, &drive->ahead, &drive->disk, &drive->arm,
			      drive->done_ns, now_ns);
	look = drive_outlook_at(drive, now_ns);
	if (drive->buffered && read_ahead_is_on(&drive->ahead))
		segments_trim(&drive->ahead.segments, drive->ahead.into, look.until);
	return look;
}

struct sieve plan_sieve(const struct drive *drive)
{
	const struct segments *segments = &drive->ahead.segments;
	const struct write_back *writes = &drive->writes;
	struct sieve held = sieve_for(later(segments->sectors, writes->sectors_max));
	u32 i;

	for (i = 0; i < segments->nr; i++)
		sieve_add(&held, segments->segment[i].start, segments->segment[i].end);
	for (i = 0; i < writes->nr; i++)
		sieve_add(&held, writes->span[i].start, writes->span[i].end);
	return held;
}

void plan_aim(const struct drive *drive, struct command *command)
{
	const struct disk *disk = &drive->disk;

	if (!disk_knows_angles(disk) || command->op >= IO_OPS)
		return; /* what has no place may name a sector that the disk has not */
	command->place = disk_place(disk, command->sector);
	command->angle = platter_angle(&disk->platter, &disk->tracks, command->sector);
}

static u64 wait_ns(struct drive *drive, const struct command *command, u64 start_ns)
{
	struct drive_outlook look = drive_look(drive, start_ns);

	return drive_plan(drive, &look, command, U64_MAX).first_ns - start_ns;
}

u64 estimate_ns(struct drive *drive, u8 op, u64 sector, u32 sectors, u64 start_ns)
{
	struct command command = { .op = op, .sector = sector, .sectors = sectors };

	return wait_ns(drive, &command, start_ns);
}

u64 estimate_through_ns(struct drive *drive, u64 sector, u64 start_ns)
{
	struct command command = {
		.op = IO_WRITE, .sector = sector, .sectors = 1, .through = true
	};

	return wait_ns(drive, &command, start_ns);
}

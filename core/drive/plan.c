// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "plan.h"
#include "../least.h"
#include "../span.h"

static struct drive_plan plan(u16 kind, u32 segment, u64 first)
{
	return (struct drive_plan){ .kind = kind, .segment = segment, .first = first };
}

/* Return the plan for a read whose sectors are being read ahead, or will be soon. */
static struct drive_plan coming(const struct read_ahead *ahead, u64 until,
				const struct command *command)
{
	if (command->sector + command->sectors <= until)
		return plan(PLAN_AHEAD, ahead->into, until);
	if (until == ahead->limit)
		return plan(PLAN_MEDIUM, ahead->into, until);
	return plan(PLAN_WAITS, ahead->into, later(command->sector, until));
}

static struct drive_plan from_segments(const struct segments *segments,
				       const struct command *command)
{
	u32 index = segments_find(segments, command->sector);
	u64 end;

	if (index == SEGMENTS_NONE)
		return plan(PLAN_MEDIUM, SEGMENTS_NONE, command->sector);
	end = segments->segment[index].end;
	if (command->sector + command->sectors <= end)
		return plan(PLAN_HELD, index, end);
	return plan(PLAN_MEDIUM, index, end);
}

static inline __attribute__((always_inline)) struct drive_plan
read(const struct drive *drive, const struct drive_outlook *look,
     const struct command *command)
{
	bool may_hold =
		!look->sieve || sieve_lets_through(look->sieve, command->sector);
	const struct write_back *writes = &drive->writes;
	u64 sector = command->sector, sectors = command->sectors;
	bool touches =
		may_hold && write_back_touched(writes, sector, sectors) != writes->nr;
	struct drive_plan is;

	if (touches && write_back_holds(writes, sector, sectors))
		return plan(PLAN_WRITTEN, SEGMENTS_NONE, 0);
	if (read_ahead_holds(&drive->ahead, look->until, command->sector))
		is = coming(&drive->ahead, look->until, command);
	else if (may_hold)
		is = from_segments(&drive->ahead.segments, command);
	else
		is = plan(PLAN_MEDIUM, SEGMENTS_NONE, command->sector);
	if (!look->sieve)
		is.write_first =
			touches || span_touches(writes->under_way.start,
						writes->under_way.end, sector, sectors);
	return is;
}

static struct drive_plan written(const struct write_back *writes,
				 const struct command *command)
{
	if (command->through || !writes->spans_max ||
	    command->sectors > writes->sectors_max)
		return plan(PLAN_THROUGH, SEGMENTS_NONE, command->sector);
	if (write_back_has_room(writes, command->sector, command->sectors))
		return plan(PLAN_TAKEN, SEGMENTS_NONE, 0);
	return plan(PLAN_ROOM, SEGMENTS_NONE, command->sector);
}

/* Return the plan of a drive with the papers' cache, which does nothing between requests. */
static struct drive_plan unbuffered(const struct drive *drive,
				    const struct command *command)
{
	bool hit = command->op == IO_READ &&
		   disk_cache_holds(&drive->cache, command->sector, command->sectors);

	return plan(hit ? PLAN_HELD : PLAN_MEDIUM, SEGMENTS_NONE, command->sector);
}

/*
 * This function is inlined in both callers for speed: to choose a command, a drive calls it for
 * each command in its queue.
 */
static inline __attribute__((always_inline)) struct drive_plan
decided(const struct drive *drive, const struct drive_outlook *look,
	const struct command *command)
{
	if (command->op >= IO_OPS)
		return plan(PLAN_NEXT, SEGMENTS_NONE, 0);
	if (!drive->buffered)
		return unbuffered(drive, command);
	if (command->op == IO_READ)
		return read(drive, look, command);
	return written(&drive->writes, command);
}

struct drive_plan drive_plan(const struct drive *drive,
			     const struct drive_outlook *look,
			     const struct command *command)
{
	return decided(drive, look, command);
}

struct drive_outlook drive_outlook(const struct drive *drive, u64 now_ns)
{
	struct drive_outlook look = { .now_ns = now_ns };

	if (read_ahead_is_on(&drive->ahead))
		look.until = read_ahead_until(&drive->ahead, &drive->disk, now_ns);
	return look;
}

struct drive_outlook drive_look(struct drive *drive, u64 now_ns)
{
	struct read_ahead *ahead = &drive->ahead;
	struct drive_outlook look;

	if (!drive->buffered)
		return (struct drive_outlook){ .now_ns = now_ns };
	destage_until(&drive->writes, ahead, &drive->disk, &drive->arm, drive->done_ns,
		      now_ns);
	look = drive_outlook(drive, now_ns);
	if (read_ahead_is_on(ahead))
		segments_trim(&ahead->segments, ahead->into, look.until);
	return look;
}

void plan_look(const struct drive *drive, struct drive_outlook *look)
{
	const struct write_back *writes = &drive->writes;
	const struct disk *disk = &drive->disk;

	look->free_ns = look->now_ns;
	look->head = drive->arm.head;
	if (drive->buffered) {
		look->free_ns =
			later(look->now_ns, arm_begin_ns(disk, drive->arm.free_ns));
		if (write_back_is_busy(writes))
			look->head = (struct head){ writes->under_way.end,
						    drive->arm.free_ns };
		else if (read_ahead_is_on(&drive->ahead))
			look->head = read_ahead_head(&drive->ahead, disk, look->until,
						     look->free_ns);
	}
	look->place = disk_arm_place(disk, look->head.sector);
}

/* Return when the first sector is under the head if the medium serves the whole request. */
static u64 medium_ns(const struct drive *drive, const struct drive_outlook *look,
		     const struct command *command, u64 settle_ns, u64 by_ns)
{
	const struct disk *disk = &drive->disk;

	if (disk_knows_angles(disk))
		return arm_soonest_ns(disk, look->place, command->place, command->angle,
				      look->free_ns + settle_ns, by_ns);
	if (drive->buffered)
		return arm_estimate_ns(&drive->arm, disk, look->head, command->sector,
				       settle_ns, look->free_ns);
	return look->now_ns +
	       disk_service_ns(disk, look->head.sector, command->sector, 0);
}

static u64 hit_ns(const struct drive *drive, const struct drive_outlook *look,
		  const struct command *command)
{
	if (!drive->buffered)
		return look->now_ns + drive->bus.hit_ns;
	return look->now_ns + bus_hit_ns(&drive->bus, command->sectors);
}

u64 plan_first_ns(const struct drive *drive, const struct drive_outlook *look,
		  const struct command *command, u64 by_ns)
{
	struct drive_plan is = decided(drive, look, command);
	u64 settle_ns = 0;

	switch (is.kind) {
	case PLAN_NEXT:
		return look->now_ns;
	case PLAN_WAITS:
		return later(read_ahead_came_ns(&drive->ahead, &drive->disk, is.first),
			     hit_ns(drive, look, command));
	case PLAN_MEDIUM:
		if (is.segment == SEGMENTS_NONE)
			break;
		return arm_estimate_ns(&drive->arm, &drive->disk, look->head, is.first,
				       0, look->free_ns);
	case PLAN_TAKEN:
		return look->now_ns + bus_write_ns(&drive->bus, command->sectors);
	case PLAN_ROOM:
	case PLAN_THROUGH:
		settle_ns = drive->writes.settle_ns;
		break;
	default:
		return hit_ns(drive, look, command);
	}
	return medium_ns(drive, look, command, settle_ns, by_ns);
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
		return; /* the sector of such a command may be beyond the end of the disk */
	command->place = disk_place(disk, command->sector);
	command->angle = platter_angle(&disk->tracks, command->sector);
}

static u64 wait_ns(struct drive *drive, struct command *command, u64 start_ns)
{
	struct drive_outlook look = drive_look(drive, start_ns);

	plan_look(drive, &look);
	plan_aim(drive, command);
	return plan_first_ns(drive, &look, command, U64_MAX) - start_ns;
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

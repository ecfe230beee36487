// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "estimate.h"
#include "../least.h"
#include "put_away.h"
#include "read_ahead.h"

/* Below, times are when a first sector comes by, or when a hit is complete. */

/* A hit, or a write that is taken, by what it costs besides the bus. */
static u64 at_once(const struct drive *drive, const struct arm *arm, u64 besides_ns,
		   u32 sectors)
{
	return arm->now_ns + besides_ns + buffer_bus_ns(&drive->buffer, sectors);
}

static u64 hit(const struct drive *drive, const struct arm *arm,
	       const struct command *command)
{
	return at_once(drive, arm, drive->hit_ns, command->sectors);
}

static u64 medium(const struct drive *drive, const struct arm *arm,
		  const struct command *command, u64 settle_ns, u64 by_ns)
{
	if (disk_knows_angles(&drive->disk))
		return position_soonest_ns(drive, arm->place, command->place,
					   command->angle, arm->free_ns + settle_ns,
					   by_ns);
	return position_estimate_ns(drive, arm->head, command->sector, settle_ns,
				    arm->free_ns);
}

/* A read of which the beginning is there waits for this sector. */
static u64 rest(const struct drive *drive, const struct arm *arm, u64 sector)
{
	return position_estimate_ns(drive, arm->head, sector, 0, arm->free_ns);
}

/* It is being read on, or about to be. */
static u64 coming(const struct drive *drive, const struct arm *arm,
		  const struct command *command)
{
	const struct read_ahead *ahead = &drive->buffer.ahead;
	u64 until = read_ahead_until(drive, arm->now_ns);

	if (command->sector + command->sectors <= until)
		return hit(drive, arm, command);
	if (until == ahead->limit)
		return rest(drive, arm, until);
	return later(read_ahead_came_ns(drive, later(command->sector, until)),
		     hit(drive, arm, command));
}

static u64 read(const struct drive *drive, const struct arm *arm,
		const struct command *command, u64 by_ns)
{
	const struct buffer *buffer = &drive->buffer;
	u64 sector = command->sector;
	bool may_hold = !arm->held || sieve_lets_through(arm->held, sector);
	u32 found;

	if (may_hold && write_cache_holds(&buffer->writes, sector, command->sectors))
		return hit(drive, arm, command);
	if (read_ahead_holds(drive, sector, arm->now_ns))
		return coming(drive, arm, command);
	if (!may_hold)
		return medium(drive, arm, command, 0, by_ns);
	found = segments_find(&buffer->segments, sector);
	if (found == SEGMENTS_NONE)
		return medium(drive, arm, command, 0, by_ns);
	if (sector + command->sectors <= buffer->segments.segment[found].end)
		return hit(drive, arm, command);
	return rest(drive, arm, buffer->segments.segment[found].end);
}

static u64 written(const struct drive *drive, const struct arm *arm,
		   const struct command *command, u64 by_ns)
{
	const struct buffer *buffer = &drive->buffer;
	const struct write_cache *writes = &buffer->writes;

	if (!command->through && writes->spans_max &&
	    command->sectors <= writes->sectors_max &&
	    write_cache_has_room(writes, command->sector, command->sectors))
		return at_once(drive, arm, buffer->write_ns, command->sectors);
	return medium(drive, arm, command, buffer->settle_ns, by_ns);
}

/* The papers' line and cache: nothing happens between requests but that the platters turn. */
static u64 unbuffered(const struct drive *drive, const struct arm *arm,
		      const struct command *command, u64 by_ns)
{
	if (command->op == IO_READ &&
	    disk_cache_holds(&drive->cache, command->sector, command->sectors))
		return arm->now_ns + drive->hit_ns;
	if (disk_knows_angles(&drive->disk))
		return medium(drive, arm, command, 0, by_ns);
	return arm->now_ns +
	       disk_service_ns(&drive->disk, drive->head, command->sector, 0);
}

/* What is on its way to the medium has the arm until it is there; reading ahead lets it go. */
static void see_buffer(const struct drive *drive, struct arm *arm)
{
	const struct buffer *buffer = &drive->buffer;
	const struct write_cache *writes = &buffer->writes;

	arm->free_ns =
		later(arm->now_ns, position_begin_ns(drive, writes->busy_until_ns));
	arm->head.there_ns = buffer->head_ns;
	if (write_cache_is_busy(writes)) {
		arm->head =
			(struct head){ writes->under_way.end, writes->busy_until_ns };
	} else if (buffer->ahead.into != SEGMENTS_NONE) {
		struct read_ahead_end end = read_ahead_end(drive, arm->free_ns);

		arm->head = (struct head){ end.head, end.came_ns };
	}
}

struct arm estimate_arm(struct drive *drive, u64 now_ns)
{
	struct arm arm = { .now_ns = now_ns,
			   .free_ns = now_ns,
			   .head.sector = drive->head };

	if (drive->buffered) {
		put_away_until(drive, now_ns);
		see_buffer(drive, &arm);
	}
	arm.place = disk_arm_place(&drive->disk, arm.head.sector);
	return arm;
}

struct sieve estimate_held(const struct drive *drive)
{
	const struct segments *segments = &drive->buffer.segments;
	const struct write_cache *writes = &drive->buffer.writes;
	struct sieve held = sieve_for(later(segments->sectors, writes->sectors_max));
	u32 i;

	for (i = 0; i < segments->nr; i++)
		sieve_add(&held, segments->segment[i].start, segments->segment[i].end);
	for (i = 0; i < writes->nr; i++)
		sieve_add(&held, writes->span[i].start, writes->span[i].end);
	return held;
}

void estimate_aim(const struct drive *drive, struct command *command)
{
	const struct disk *disk = &drive->disk;

	if (!disk_knows_angles(disk) || command->op >= IO_OPS)
		return; /* what has no place may name a sector that the disk has not */
	command->place = disk_place(disk, command->sector);
	command->angle = platter_angle(&disk->tracks, command->sector);
}

u64 estimate_command_ns(const struct drive *drive, const struct arm *arm,
			const struct command *command, u64 by_ns)
{
	if (command->op >= IO_OPS)
		return arm->now_ns;
	if (!drive->buffered)
		return unbuffered(drive, arm, command, by_ns);
	if (command->op == IO_READ)
		return read(drive, arm, command, by_ns);
	return written(drive, arm, command, by_ns);
}

static u64 wait_ns(struct drive *drive, struct command *command, u64 start_ns)
{
	struct arm arm = estimate_arm(drive, start_ns);

	estimate_aim(drive, command);
	return estimate_command_ns(drive, &arm, command, U64_MAX) - start_ns;
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

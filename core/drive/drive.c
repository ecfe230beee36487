// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "drive.h"
#include "../least.h"
#include "commit.h"

/* Return whether the papers' cache holds the request, and update the cache if it does not. */
static bool is_cached(struct drive *drive, u8 op, u64 sector, u32 sectors)
{
	if (op == IO_READ && disk_cache_holds(&drive->cache, sector, sectors))
		return true;
	if (op == IO_READ)
		disk_cache_insert(&drive->cache, sector, sectors);
	else
		disk_cache_drop(&drive->cache, sector, sectors);
	return false;
}

/*
 * Return the service time of a request on a disk with rotation. The latency is random, half a
 * rotation, or determined by the angles.
 */
static u64 turning_ns(struct drive *drive, u64 sector, u32 sectors, u64 start_ns)
{
	struct disk *disk = &drive->disk;
	u64 from_ns;

	if (!disk_knows_angles(disk))
		return disk_reach_ns(disk, drive->arm.head.sector, sector) +
		       arm_latency_ns(&drive->arm, disk) +
		       disk_transfer_ns(disk, sector, sectors);
	from_ns = arm_from_ns(&drive->arm, disk, sector, 0, start_ns);
	return disk_end_ns(disk, sector, sectors, from_ns) - start_ns;
}

static u64 serve_unbuffered(struct drive *drive, u8 op, u64 sector, u32 sectors,
			    u64 start_ns, bool *hit)
{
	u64 service_ns;

	*hit = is_cached(drive, op, sector, sectors);
	if (*hit)
		return drive->bus.hit_ns;
	if (drive->disk.rotation_ns)
		service_ns = turning_ns(drive, sector, sectors, start_ns);
	else
		service_ns = disk_service_ns(&drive->disk, drive->arm.head.sector,
					     sector, sectors);
	drive->arm.head.sector = sector + sectors;
	return service_ns;
}

u64 drive_commit(struct drive *drive, const struct command *command,
		 const struct drive_plan *plan, u64 start_ns, bool *hit)
{
	if (!drive->buffered)
		return serve_unbuffered(drive, command->op, command->sector,
					command->sectors, start_ns, hit);
	drive->done_ns = commit_plan(drive, command, *plan, start_ns, hit);
	return drive->done_ns - start_ns;
}

u64 drive_serve_command(struct drive *drive, const struct command *command,
			u64 start_ns, bool *hit)
{
	struct drive_outlook look;
	struct drive_plan plan;

	if (!drive->buffered)
		return serve_unbuffered(drive, command->op, command->sector,
					command->sectors, start_ns, hit);
	look = drive_look(drive, start_ns);
	plan = drive_plan(drive, &look, command);
	return drive_commit(drive, command, &plan, start_ns, hit);
}

u64 drive_serve(struct drive *drive, u8 op, u64 sector, u32 sectors, u64 start_ns,
		bool *hit)
{
	struct command command = { .op = op, .sector = sector, .sectors = sectors };

	return drive_serve_command(drive, &command, start_ns, hit);
}

u64 drive_serve_through(struct drive *drive, u64 sector, u32 sectors, u64 start_ns)
{
	struct command command = {
		.op = IO_WRITE, .sector = sector, .sectors = sectors, .through = true
	};
	bool hit;

	return drive_serve_command(drive, &command, start_ns, &hit);
}

u64 drive_flush(struct drive *drive, u64 start_ns)
{
	struct write_back *writes = &drive->writes;
	u64 end_ns;

	if (!drive->buffered)
		return 0;
	destage_until(writes, &drive->ahead, &drive->disk, &drive->arm, drive->done_ns,
		      start_ns);
	end_ns = destage_wait(writes, &drive->ahead, &drive->arm, start_ns);
	while (writes->nr)
		end_ns = destage_one(writes, &drive->ahead, &drive->disk, &drive->arm,
				     end_ns);
	drive->done_ns = end_ns;
	return end_ns - start_ns;
}

/*
 * Return the most sectors that the drive may read ahead, also in a current read-ahead that began
 * with other settings.
 */
static u64 ahead_most(const struct read_ahead *ahead)
{
	if (!read_ahead_is_on(ahead))
		return ahead->sectors;
	return later(ahead->sectors, ahead->limit - ahead->from);
}

/*
 * Return the longest delay before the medium serves a request: pending writes may have to be
 * destaged first, and the arm may be moving to the end of a segment to read ahead.
 */
static u64 before_slowest_ns(const struct drive *drive)
{
	const struct write_back *writes = &drive->writes;
	u64 spans = later(writes->spans_max, writes->nr + write_back_is_busy(writes));
	u64 sectors = later(writes->sectors_max, writes->sectors);

	return sum_at_most(
		(spans + (drive->ahead.after_hit == AFTER_HIT_RETURN)) *
			(disk_slowest_ns(&drive->disk, 0) + writes->settle_ns),
		disk_slowest_ns(&drive->disk, sectors));
}

u64 drive_slowest_ns(const struct drive *drive, u32 sectors)
{
	const struct bus *bus = &drive->bus;
	u64 medium_ns;

	if (!drive->buffered)
		return later(disk_slowest_ns(&drive->disk, sectors), bus->hit_ns);
	/* Sectors to be read ahead may have to pass first. */
	medium_ns = disk_slowest_ns(&drive->disk, sectors + ahead_most(&drive->ahead));
	return sum_at_most(sum_at_most(before_slowest_ns(drive), medium_ns),
			   drive->writes.settle_ns + bus->hit_ns +
				   bus_write_ns(bus, sectors));
}

static bool has_few_tracks(const struct drive *drive)
{
	const struct tracks *tracks = &drive->disk.tracks;
	u32 i;

	if (disk_knows_angles(&drive->disk))
		return true; /* no tracks are counted */
	for (i = 0; i < tracks->nr_zones; i++) {
		u64 sectors = tracks->zone[i].sectors;

		if (port_mul_div(ahead_most(&drive->ahead), 1, sectors) >
			    TRACKS_AHEAD_MAX ||
		    port_mul_div(disk_turn(&drive->disk, tracks->zone[i].first), 1,
				 sectors) > TRACKS_IN_TURN_MAX)
			return false;
	}
	return true;
}

static bool is_buffer(const struct drive *drive)
{
	const struct read_ahead *ahead = &drive->ahead;
	const struct write_back *writes = &drive->writes;

	return drive->bus.sector_ps <= DISK_SECTOR_PS_MAX &&
	       drive->bus.write_ns <= DISK_NS_MAX &&
	       drive->bus.watermark_percent <= 100 && ahead->sectors <= U32_MAX &&
	       ahead->reach_sectors <= U32_MAX &&
	       ahead->after_hit <= AFTER_HIT_RETURN &&
	       ahead->segments.nr <= SEGMENTS_MAX &&
	       ahead->segments.sectors <= U32_MAX &&
	       (!ahead->segments.nr || ahead->segments.sectors) &&
	       writes->spans_max <= WRITE_BACK_SPANS_MAX &&
	       writes->sectors_max <= U32_MAX &&
	       (!writes->spans_max || writes->sectors_max) &&
	       writes->settle_ns <= DISK_NS_MAX && writes->idle_ns <= DISK_NS_MAX &&
	       writes->full_idle_ns <= DISK_NS_MAX && writes->low_sectors <= U32_MAX &&
	       writes->order <= WRITE_ASCENDING_FROM_LAST;
}

int drive_check(const struct drive *drive)
{
	if (disk_check(&drive->disk) || drive->bus.hit_ns > DISK_NS_MAX ||
	    drive->queue_depth > QUEUE_DEPTH_MAX || drive->queue_age_ns > DISK_NS_MAX)
		return -EINVAL;
	if (disk_knows_angles(&drive->disk) && drive->arm.random_phase)
		return -EINVAL;
	if (drive->buffered)
		return has_few_tracks(drive) && is_buffer(drive) ? 0 : -EINVAL;
	return drive->cache.segments > DISK_CACHE_SEGMENTS_MAX ? -EINVAL : 0;
}

void drive_reset(struct drive *drive)
{
	arm_reset(&drive->arm);
	disk_cache_clear(&drive->cache);
	read_ahead_clear(&drive->ahead);
	write_back_clear(&drive->writes);
	drive->done_ns = 0;
}

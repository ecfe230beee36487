// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "drive.h"
#include "../least.h"
#include "positioning.h"

/* Processes draw from the streams below, one each. */
#define PHASE_STREAM (1ull << 32)

u64 drive_latency_ns(struct drive *drive)
{
	u64 rotation_ns = drive->disk.rotation_ns;

	if (!drive->random_phase || !rotation_ns)
		return rotation_ns / 2;
	return draw_below(&drive->phase, rotation_ns);
}

/* The papers' cache: does it hold it?  A miss changes it. */
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

/* A disk whose platters turn: what a request waits for them is drawn, or the clock says it. */
static u64 turning_ns(struct drive *drive, u64 sector, u32 sectors, u64 start_ns)
{
	u64 first_ns;

	if (!disk_knows_angles(&drive->disk))
		return disk_reach_ns(&drive->disk, drive->head, sector) +
		       drive_latency_ns(drive) +
		       disk_transfer_ns(&drive->disk, sector, sectors);
	first_ns = position_ns(drive, sector, 0, start_ns);
	return disk_end_ns(&drive->disk, sector, sectors, first_ns) - start_ns;
}

static u64 serve_unbuffered(struct drive *drive, u8 op, u64 sector, u32 sectors,
			    u64 start_ns, bool *hit)
{
	u64 service_ns;

	*hit = is_cached(drive, op, sector, sectors);
	if (*hit)
		return drive->hit_ns;
	if (drive->disk.rotation_ns)
		service_ns = turning_ns(drive, sector, sectors, start_ns);
	else
		service_ns =
			disk_service_ns(&drive->disk, drive->head, sector, sectors);
	drive->head = sector + sectors;
	return service_ns;
}

/* From then on a drive with a buffer is idle. */
static u64 done(struct drive *drive, u64 start_ns, u64 service_ns)
{
	drive->buffer.done_ns = start_ns + service_ns;
	return service_ns;
}

u64 drive_serve(struct drive *drive, u8 op, u64 sector, u32 sectors, u64 start_ns,
		bool *hit)
{
	if (!drive->buffered)
		return serve_unbuffered(drive, op, sector, sectors, start_ns, hit);
	if (op == IO_READ)
		return done(drive, start_ns,
			    buffer_read(drive, sector, sectors, start_ns, hit));
	*hit = false;
	return done(drive, start_ns, buffer_write(drive, sector, sectors, start_ns));
}

u64 drive_serve_through(struct drive *drive, u64 sector, u32 sectors, u64 start_ns)
{
	bool hit;

	if (!drive->buffered)
		return drive_serve(drive, IO_WRITE, sector, sectors, start_ns, &hit);
	return done(drive, start_ns,
		    buffer_write_through(drive, sector, sectors, start_ns));
}

u64 drive_flush(struct drive *drive, u64 start_ns)
{
	return drive->buffered ? done(drive, start_ns, buffer_flush(drive, start_ns))
			       : 0;
}

/* Besides what may be read on from now on, there is what was begun with other settings. */
static u64 ahead_most(const struct buffer *buffer)
{
	const struct read_ahead *ahead = &buffer->ahead;

	if (ahead->into == SEGMENTS_NONE)
		return buffer->ahead_sectors;
	return later(buffer->ahead_sectors, ahead->limit - ahead->from);
}

/* What may have to be put away before a request, and the arm to come to what is read on. */
static u64 before_slowest_ns(const struct drive *drive)
{
	const struct buffer *buffer = &drive->buffer;
	const struct write_cache *writes = &buffer->writes;
	u64 spans = later(writes->spans_max, writes->nr + write_cache_is_busy(writes));
	u64 sectors = later(writes->sectors_max, writes->sectors);

	return sum_at_most(
		(spans + (buffer->after_hit == AFTER_HIT_RETURN)) *
			(disk_slowest_ns(&drive->disk, 0) + buffer->settle_ns),
		disk_slowest_ns(&drive->disk, sectors));
}

u64 drive_slowest_ns(const struct drive *drive, u32 sectors)
{
	const struct buffer *buffer = &drive->buffer;
	u64 medium_ns;

	if (!drive->buffered) {
		medium_ns = disk_slowest_ns(&drive->disk, sectors);
		return medium_ns > drive->hit_ns ? medium_ns : drive->hit_ns;
	}
	/* What was read on may have to pass before. */
	medium_ns = disk_slowest_ns(&drive->disk, sectors + ahead_most(buffer));
	return sum_at_most(sum_at_most(before_slowest_ns(drive), medium_ns),
			   buffer->settle_ns + drive->hit_ns + buffer->write_ns +
				   buffer_bus_ns(buffer, sectors));
}

static bool has_few_tracks(const struct drive *drive)
{
	const struct tracks *tracks = &drive->disk.tracks;
	u32 i;

	if (disk_knows_angles(&drive->disk))
		return true; /* nothing counts them */
	for (i = 0; i < tracks->nr_zones; i++) {
		u64 sectors = tracks->zone[i].sectors;

		if (port_mul_div(ahead_most(&drive->buffer), 1, sectors) >
			    TRACKS_AHEAD_MAX ||
		    port_mul_div(disk_turn(&drive->disk, tracks->zone[i].first), 1,
				 sectors) > TRACKS_IN_TURN_MAX)
			return false;
	}
	return true;
}

int drive_check(const struct drive *drive)
{
	const struct disk_cache *cache = &drive->cache;

	if (disk_check(&drive->disk) || drive->hit_ns > DISK_NS_MAX ||
	    drive->queue_depth > QUEUE_DEPTH_MAX || drive->queue_age_ns > DISK_NS_MAX)
		return -EINVAL;
	if (disk_knows_angles(&drive->disk) && drive->random_phase)
		return -EINVAL;
	if (drive->buffered)
		return has_few_tracks(drive) ? buffer_check(&drive->buffer) : -EINVAL;
	return cache->segments > DISK_CACHE_SEGMENTS_MAX ? -EINVAL : 0;
}

void drive_reset(struct drive *drive)
{
	drive->head = 0;
	disk_cache_clear(&drive->cache);
	buffer_clear(&drive->buffer);
	draw_seed(&drive->phase, drive->seed, PHASE_STREAM);
}

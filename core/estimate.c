// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "estimate.h"
#include "least.h"
#include "positioning.h"
#include "put_away.h"
#include "read_ahead.h"

/* A hit, or a write that is taken, by what it costs besides the bus. */
static u64 at_once_ns(const struct drive *drive, u64 besides_ns, u32 sectors)
{
	return besides_ns + buffer_bus_ns(&drive->buffer, sectors);
}

static u64 medium_ns(const struct drive *drive, u64 sector, u64 settle_ns, u64 now_ns)
{
	const struct buffer *buffer = &drive->buffer;
	const struct write_cache *writes = &buffer->writes;
	struct head head = { drive->head, buffer->head_ns };
	u64 begin_ns = position_begin_ns(drive, writes->busy_until_ns);
	u64 free_ns = later(now_ns, begin_ns);

	if (write_cache_is_busy(writes)) {
		head = (struct head){ writes->under_way.end, writes->busy_until_ns };
	} else if (buffer->ahead.into != SEGMENTS_NONE) {
		head.sector = read_ahead_until(drive, free_ns);
		head.there_ns = read_ahead_came_ns(drive, head.sector);
	}
	return position_estimate_ns(drive, head, sector, settle_ns, free_ns) - now_ns;
}

/* It is being read on, or about to be. */
static u64 coming_ns(const struct drive *drive, u64 sector, u32 sectors, u64 now_ns)
{
	const struct read_ahead *ahead = &drive->buffer.ahead;
	u64 hit_ns = at_once_ns(drive, drive->hit_ns, sectors);
	u64 until = read_ahead_until(drive, now_ns);
	u64 there_ns;

	if (sector + sectors <= until)
		return hit_ns;
	if (until == ahead->limit)
		return medium_ns(drive, until, 0, now_ns);
	there_ns = read_ahead_came_ns(drive, later(sector, until));
	return later(later(there_ns, now_ns) - now_ns, hit_ns);
}

static u64 read_ns(const struct drive *drive, u64 sector, u32 sectors, u64 now_ns)
{
	const struct buffer *buffer = &drive->buffer;
	u64 hit_ns = at_once_ns(drive, drive->hit_ns, sectors);
	u32 found;

	if (write_cache_holds(&buffer->writes, sector, sectors))
		return hit_ns;
	if (read_ahead_holds(drive, sector, now_ns))
		return coming_ns(drive, sector, sectors, now_ns);
	found = segments_find(&buffer->segments, sector);
	if (found == SEGMENTS_NONE)
		return medium_ns(drive, sector, 0, now_ns);
	if (sector + sectors <= buffer->segments.segment[found].end)
		return hit_ns;
	return medium_ns(drive, buffer->segments.segment[found].end, 0, now_ns);
}

static u64 write_ns(const struct drive *drive, u64 sector, u32 sectors, u64 now_ns)
{
	const struct buffer *buffer = &drive->buffer;
	const struct write_cache *writes = &buffer->writes;

	if (writes->spans_max && sectors <= writes->sectors_max &&
	    write_cache_has_room(writes, sectors))
		return at_once_ns(drive, buffer_write_ns(drive, sector), sectors);
	return medium_ns(drive, sector, buffer->settle_ns, now_ns);
}

/* The papers' line and cache: nothing happens between requests but that the platters turn. */
static u64 unbuffered_ns(const struct drive *drive, u8 op, u64 sector, u32 sectors,
			 u64 now_ns)
{
	struct head head = { .sector = drive->head };

	if (op == IO_READ && disk_cache_holds(&drive->cache, sector, sectors))
		return drive->hit_ns;
	if (disk_knows_angles(&drive->disk))
		return position_estimate_ns(drive, head, sector, 0, now_ns) - now_ns;
	return disk_service_ns(&drive->disk, drive->head, sector, 0);
}

u64 estimate_ns(struct drive *drive, u8 op, u64 sector, u32 sectors, u64 start_ns)
{
	if (!drive->buffered)
		return unbuffered_ns(drive, op, sector, sectors, start_ns);
	put_away_until(drive, start_ns);
	return (op == IO_READ ? read_ns : write_ns)(drive, sector, sectors, start_ns);
}

u64 estimate_through_ns(struct drive *drive, u64 sector, u64 start_ns)
{
	if (!drive->buffered)
		return unbuffered_ns(drive, IO_WRITE, sector, 0, start_ns);
	put_away_until(drive, start_ns);
	return medium_ns(drive, sector, drive->buffer.settle_ns, start_ns);
}

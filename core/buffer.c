// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "buffer.h"
#include "drive.h"

static u64 later(u64 a, u64 b)
{
	return a > b ? a : b;
}

static u64 nearer(u64 a, u64 b)
{
	return a < b ? a : b;
}

static u64 bus_ns(const struct buffer *buffer, u64 sectors)
{
	return port_mul_div(buffer->bus_ps, sectors, 1000);
}

/* What the cache holds costs that. */
static u64 hit_ns(const struct drive *drive, u64 sectors)
{
	return drive->hit_ns + bus_ns(&drive->buffer, sectors);
}

/* Up to where it has come. */
static u64 read_until(const struct drive *drive, u64 now_ns)
{
	const struct read_ahead *ahead = &drive->buffer.ahead;

	if (now_ns <= ahead->from_ns)
		return ahead->from;
	return ahead->from + disk_passed(&drive->disk, ahead->from,
					 ahead->limit - ahead->from,
					 now_ns - ahead->from_ns);
}

static void stop_reading(struct drive *drive, u64 now_ns)
{
	struct buffer *buffer = &drive->buffer;
	struct read_ahead *ahead = &buffer->ahead;

	if (ahead->into == SEGMENTS_NONE)
		return;
	drive->head = read_until(drive, now_ns);
	buffer->segments.segment[ahead->into].end = drive->head;
	ahead->into = SEGMENTS_NONE;
}

/* Up to where it reads on after a read of these; a stream goes over the track's end. */
static u64 limit_after(const struct drive *drive, u64 sector, u64 end, bool in_sequence)
{
	const struct buffer *buffer = &drive->buffer;
	u64 limit = nearer(end + buffer->ahead_sectors, drive->disk.capacity_sectors);

	limit = nearer(limit, later(end, sector + buffer->segments.sectors));
	if (in_sequence || !buffer->ahead_to_track_end)
		return limit;
	return nearer(limit, tracks_end(&drive->disk.tracks, end - 1));
}

/* The segment keeps its tail. */
static void make_room(struct drive *drive, struct segment *segment, u64 limit)
{
	u64 size = drive->buffer.segments.sectors;

	if (limit - segment->start > size)
		segment->start = limit - size;
}

static void read_on(struct drive *drive, u32 into, u64 sector, u64 end, u64 end_ns,
		    bool in_sequence)
{
	struct buffer *buffer = &drive->buffer;

	buffer->ahead = (struct read_ahead){
		.into = into,
		.from = end,
		.from_ns = end_ns,
		.limit = limit_after(drive, sector, end, in_sequence),
	};
	make_room(drive, &buffer->segments.segment[into], buffer->ahead.limit);
}

/* A read in sequence gives back the room of what it has fetched. */
static void read_farther(struct drive *drive, u64 sector, u64 end, u64 now_ns)
{
	struct read_ahead *ahead = &drive->buffer.ahead;
	u64 limit = limit_after(drive, sector, end, true);
	u64 until = read_until(drive, now_ns);

	if (limit <= ahead->limit)
		return;
	if (until == ahead->limit) { /* it stands there, and waits for a turn */
		ahead->from = until;
		ahead->from_ns = now_ns + drive_latency_ns(drive);
	}
	ahead->limit = limit;
	make_room(drive, &drive->buffer.segments.segment[ahead->into], limit);
}

/* When the first sector is under the head, if the arm is free to go there. */
static u64 position(struct drive *drive, u64 sector, u64 settle_ns, u64 now_ns)
{
	return now_ns + disk_reach_ns(&drive->disk, drive->head, sector) + settle_ns +
	       drive_latency_ns(drive);
}

/* Put one of those that wait away, from start_ns on; none is under way. */
static void put_away(struct drive *drive, u64 start_ns)
{
	struct buffer *buffer = &drive->buffer;
	struct write_cache *writes = &buffer->writes;
	struct write_span *span = &writes->under_way;

	stop_reading(drive, start_ns);
	*span = write_cache_next(writes, drive->head);
	writes->medium_ns = position(drive, span->start, buffer->settle_ns, start_ns);
	writes->busy_until_ns =
		writes->medium_ns +
		disk_transfer_ns(&drive->disk, span->start, span->end - span->start);
}

/* What was on its way is on the medium; the buffer still holds it. */
static void has_been_put_away(struct drive *drive)
{
	struct buffer *buffer = &drive->buffer;
	struct write_cache *writes = &buffer->writes;
	struct write_span span = writes->under_way;
	struct segment *segment;

	if (span.start == span.end)
		return;
	drive->head = span.end;
	writes->sectors -= span.end - span.start;
	writes->under_way = (struct write_span){ 0 };
	if (!buffer->segments.nr)
		return;
	segment = &buffer->segments.segment[segments_take(&buffer->segments)];
	segment->start = span.start;
	segment->end = span.end;
	make_room(drive, segment, span.end);
}

/* Wait until the arm is free; when that is.  Nothing is read on while a write is under way. */
static u64 wait_for_arm(struct drive *drive, u64 now_ns)
{
	has_been_put_away(drive);
	return later(now_ns, drive->buffer.writes.busy_until_ns);
}

/* When the next of those that wait is begun, if nobody comes before. */
static u64 next_start_ns(const struct write_cache *writes)
{
	u64 ready_ns = U64_MAX;
	u32 i;

	for (i = 0; i < writes->nr; i++)
		ready_ns = nearer(ready_ns, writes->span[i].ready_ns);
	return later(ready_ns, writes->busy_until_ns);
}

/* What has been put away until then. */
static void catch_up(struct drive *drive, u64 now_ns)
{
	struct write_cache *writes = &drive->buffer.writes;

	for (;;) {
		if (writes->busy_until_ns <= now_ns)
			has_been_put_away(drive);
		if (!writes->nr || next_start_ns(writes) > now_ns)
			return;
		put_away(drive, next_start_ns(writes));
	}
}

/* Put one more away, wanted or not; when that is done. */
static u64 make_way(struct drive *drive, u64 now_ns)
{
	struct write_cache *writes = &drive->buffer.writes;

	now_ns = wait_for_arm(drive, now_ns);
	if (!writes->nr)
		return now_ns;
	put_away(drive, now_ns);
	return writes->busy_until_ns;
}

/* From the medium: the rest of what a segment holds a part of, or all. */
static u64 from_medium_ns(struct drive *drive, u32 into, u64 sector, u64 end,
			  u64 now_ns)
{
	struct buffer *buffer = &drive->buffer;
	struct segment *segment = &buffer->segments.segment[into];
	u64 first, first_ns, last_ns;

	stop_reading(drive, now_ns);
	if (segment->start == segment->end)
		segment->start = segment->end = sector;
	first = segment->end;
	first_ns = position(drive, first, 0, now_ns);
	last_ns = first_ns + disk_transfer_ns(&drive->disk, first, end - first);
	segment->end = end;
	drive->head = end;
	buffer->writes.busy_until_ns = last_ns;
	read_on(drive, into, sector, end, last_ns, false);
	return later(last_ns, first_ns + bus_ns(buffer, end - sector)) - now_ns;
}

/* It comes by, or is there: what is read on. */
static u64 follow_ns(struct drive *drive, u64 sector, u64 end, u64 now_ns, bool *hit)
{
	struct buffer *buffer = &drive->buffer;
	struct read_ahead *ahead = &buffer->ahead;
	u64 until = read_until(drive, now_ns);
	u64 there_ns;

	*hit = end <= until;
	if (*hit) {
		read_farther(drive, sector, end, now_ns);
		return hit_ns(drive, end - sector);
	}
	if (end > ahead->limit && until == ahead->limit)
		return from_medium_ns(drive, ahead->into, sector, end, now_ns);
	there_ns = ahead->from_ns +
		   disk_transfer_ns(&drive->disk, ahead->from, end - ahead->from);
	if (end > ahead->limit) {
		buffer->segments.segment[ahead->into].end = end;
		read_on(drive, ahead->into, sector, end, there_ns, true);
	} else {
		read_farther(drive, sector, end, now_ns);
	}
	return later(there_ns - now_ns, hit_ns(drive, end - sector));
}

/* Does the segment that is being filled hold it, or will it? */
static bool is_ahead(const struct drive *drive, u64 sector)
{
	const struct buffer *buffer = &drive->buffer;
	const struct read_ahead *ahead = &buffer->ahead;

	return ahead->into != SEGMENTS_NONE &&
	       buffer->segments.segment[ahead->into].start <= sector &&
	       sector <= ahead->limit;
}

static u64 without_segments_ns(struct drive *drive, u64 sector, u64 end, u64 now_ns)
{
	u64 first_ns = position(drive, sector, 0, now_ns);
	u64 last_ns = first_ns + disk_transfer_ns(&drive->disk, sector, end - sector);

	drive->head = end;
	drive->buffer.writes.busy_until_ns = last_ns;
	return later(last_ns, first_ns + bus_ns(&drive->buffer, end - sector)) - now_ns;
}

/* Nothing holds it: the arm has to go. */
static u64 miss_ns(struct drive *drive, u64 sector, u64 end, u64 now_ns)
{
	struct segments *segments = &drive->buffer.segments;
	u64 start_ns = wait_for_arm(drive, now_ns);
	u32 into;

	if (!segments->nr)
		return start_ns - now_ns +
		       without_segments_ns(drive, sector, end, start_ns);
	stop_reading(drive, start_ns);
	into = segments_find(segments, sector);
	if (into == SEGMENTS_NONE)
		into = segments_take(segments);
	else
		segments_use(segments, into);
	return start_ns - now_ns + from_medium_ns(drive, into, sector, end, start_ns);
}

/* What has been written and still waits is there, or has to be put away before. */
static bool waits_to_be_written(struct drive *drive, u64 sector, u64 sectors,
				u64 *now_ns)
{
	struct write_cache *writes = &drive->buffer.writes;

	if (write_cache_holds(writes, sector, sectors))
		return true;
	while (write_cache_touches(writes, sector, sectors))
		*now_ns = make_way(drive, *now_ns);
	if (writes->under_way.start < sector + sectors &&
	    sector < writes->under_way.end)
		*now_ns = wait_for_arm(drive, *now_ns);
	return false;
}

u64 buffer_read(struct drive *drive, u64 sector, u32 sectors, u64 now_ns, bool *hit)
{
	struct buffer *buffer = &drive->buffer;
	struct segments *segments = &buffer->segments;
	u64 end = sector + sectors;
	u64 start_ns = now_ns;
	u32 found;

	catch_up(drive, now_ns);
	*hit = waits_to_be_written(drive, sector, sectors, &start_ns);
	if (*hit)
		return hit_ns(drive, sectors);
	if (is_ahead(drive, sector)) {
		segments_use(segments, buffer->ahead.into);
		return start_ns - now_ns + follow_ns(drive, sector, end, start_ns, hit);
	}
	found = segments_find(segments, sector);
	*hit = found != SEGMENTS_NONE && end <= segments->segment[found].end;
	if (!*hit)
		return start_ns - now_ns + miss_ns(drive, sector, end, start_ns);
	if (buffer->hits_interrupt)
		stop_reading(drive, start_ns);
	segments_use(segments, found);
	return start_ns - now_ns + hit_ns(drive, sectors);
}

/* The one under way can be made longer until the medium has begun with it. */
static bool join_under_way(struct drive *drive, u64 sector, u64 sectors, u64 now_ns)
{
	struct write_cache *writes = &drive->buffer.writes;

	if (writes->under_way.start == writes->under_way.end ||
	    writes->under_way.end != sector || now_ns > writes->medium_ns ||
	    writes->sectors + sectors > writes->sectors_max)
		return false;
	writes->under_way.end += sectors;
	writes->sectors += sectors;
	writes->busy_until_ns += disk_transfer_ns(&drive->disk, sector, sectors);
	return true;
}

u64 buffer_write(struct drive *drive, u64 sector, u32 sectors, u64 now_ns)
{
	struct buffer *buffer = &drive->buffer;
	struct write_cache *writes = &buffer->writes;
	u64 room_ns = now_ns;
	u64 end_ns;

	if (!writes->spans_max || sectors > writes->sectors_max)
		return buffer_write_through(drive, sector, sectors, now_ns);
	catch_up(drive, now_ns);
	stop_reading(drive, now_ns);
	segments_drop(&buffer->segments, sector, sectors);
	end_ns = now_ns + buffer->write_ns + bus_ns(buffer, sectors);
	if (join_under_way(drive, sector, sectors, now_ns) ||
	    write_cache_join(writes, sector, sectors, end_ns + writes->idle_ns))
		return end_ns - now_ns;
	while (!write_cache_has_room(writes, sectors))
		room_ns = make_way(drive, room_ns);
	end_ns = later(end_ns, room_ns); /* the bus does not wait for room */
	write_cache_add(writes, (struct write_span){ sector, sector + sectors,
						     end_ns + writes->idle_ns });
	return end_ns - now_ns;
}

u64 buffer_write_through(struct drive *drive, u64 sector, u32 sectors, u64 now_ns)
{
	struct buffer *buffer = &drive->buffer;
	struct write_cache *writes = &buffer->writes;
	u64 start_ns, first_ns;

	catch_up(drive, now_ns);
	start_ns = wait_for_arm(drive, now_ns);
	stop_reading(drive, start_ns);
	segments_drop(&buffer->segments, sector, sectors);
	first_ns = later(position(drive, sector, buffer->settle_ns, start_ns),
			 now_ns + buffer->write_ns + bus_ns(buffer, sectors));
	drive->head = sector + sectors;
	writes->busy_until_ns =
		first_ns + disk_transfer_ns(&drive->disk, sector, sectors);
	return writes->busy_until_ns - now_ns;
}

u64 buffer_flush(struct drive *drive, u64 now_ns)
{
	struct write_cache *writes = &drive->buffer.writes;
	u64 end_ns;

	catch_up(drive, now_ns);
	end_ns = later(now_ns, writes->busy_until_ns);
	while (writes->nr)
		end_ns = make_way(drive, end_ns);
	return end_ns - now_ns;
}

int buffer_check(const struct buffer *buffer)
{
	const struct write_cache *writes = &buffer->writes;

	if (buffer->bus_ps > DISK_SECTOR_PS_MAX || buffer->write_ns > DISK_NS_MAX ||
	    buffer->settle_ns > DISK_NS_MAX || writes->idle_ns > DISK_NS_MAX)
		return -EINVAL;
	if (buffer->segments.nr > SEGMENTS_MAX ||
	    writes->spans_max > WRITE_CACHE_SPANS_MAX || writes->order > WRITE_NEAREST)
		return -EINVAL;
	if (buffer->segments.nr && !buffer->segments.sectors)
		return -EINVAL;
	if (buffer->ahead_sectors > U32_MAX || buffer->segments.sectors > U32_MAX)
		return -EINVAL;
	return writes->spans_max && !writes->sectors_max ? -EINVAL : 0;
}

void buffer_clear(struct buffer *buffer)
{
	segments_clear(&buffer->segments);
	write_cache_clear(&buffer->writes);
	buffer->ahead = (struct read_ahead){ .into = SEGMENTS_NONE };
}

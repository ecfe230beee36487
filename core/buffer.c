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

/* When it came there. */
static u64 read_until_ns(const struct drive *drive, u64 until)
{
	const struct read_ahead *ahead = &drive->buffer.ahead;

	return ahead->from_ns +
	       disk_transfer_ns(&drive->disk, ahead->from, until - ahead->from);
}

/* A segment that is full keeps its tail. */
static void trim(struct segments *segments, u32 index, u64 end)
{
	struct segment *segment = &segments->segment[index];

	if (end - segment->start > segments->sectors)
		segment->start = end - segments->sectors;
}

/* The medium has served a request up to there, and the arm stays. */
static void leave_head(struct drive *drive, u64 sector, u64 at_ns)
{
	struct buffer *buffer = &drive->buffer;

	drive->head = buffer->served = sector;
	buffer->head_ns = buffer->served_ns = at_ns;
}

static void stop_reading(struct drive *drive, u64 now_ns)
{
	struct buffer *buffer = &drive->buffer;
	u32 into = buffer->ahead.into;
	u64 until;

	if (into == SEGMENTS_NONE)
		return;
	until = read_until(drive, now_ns);
	drive->head = until;
	buffer->head_ns = read_until_ns(drive, until);
	buffer->segments.segment[into].end = until;
	trim(&buffer->segments, into, until);
	buffer->ahead.into = SEGMENTS_NONE;
}

/* Up to where it reads on after a read of these; a stream goes over the track's end. */
static u64 limit_after(const struct drive *drive, u64 sector, u64 end, bool in_sequence)
{
	const struct buffer *buffer = &drive->buffer;
	u64 limit = nearer(end + buffer->ahead_sectors, drive->disk.capacity_sectors);

	if (buffer->ahead_overwrites)
		sector = end;
	limit = nearer(limit, later(end, sector + buffer->segments.sectors));
	if (in_sequence || !buffer->ahead_to_track_end)
		return limit;
	return nearer(limit, tracks_end(&drive->disk.tracks, end - 1));
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
}

/* A whole turn but for the time since then; none of it has a place if latencies have none. */
static u64 rest_of_turn_ns(struct drive *drive, u64 since_ns)
{
	u64 rotation_ns = drive->disk.rotation_ns;

	if (!drive->random_phase || !rotation_ns)
		return drive_latency_ns(drive);
	return rotation_ns - since_ns % rotation_ns;
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
		if (!drive->buffer.hits_resume)
			return;
		ahead->from_ns =
			now_ns +
			rest_of_turn_ns(drive, now_ns - read_until_ns(drive, until));
		ahead->from = until;
	}
	ahead->limit = limit;
}

/* It is less than a turn from there. */
static bool is_near(const struct drive *drive, u64 sector, u64 there)
{
	u64 first = nearer(sector, there);

	return later(sector, there) - first < disk_turn(&drive->disk, first);
}

/* What the head waits for the sector if it arrives then, and was there at that time. */
static u64 known_latency_ns(const struct drive *drive, u64 sector, u64 arrives_ns,
			    u64 there, u64 there_ns)
{
	const struct disk *disk = &drive->disk;
	u64 rotation_ns = disk->rotation_ns;
	u64 first = nearer(sector, there);
	u64 apart_ns = disk_transfer_ns(disk, first, later(sector, there) - first) %
		       rotation_ns;
	u64 past_ns = arrives_ns + rotation_ns - there_ns;

	past_ns += sector < there ? apart_ns : rotation_ns - apart_ns;
	past_ns %= rotation_ns;
	return past_ns ? rotation_ns - past_ns : 0;
}

/* Angles are known around where the head is, and where it was before it read on. */
static u64 latency_ns(struct drive *drive, u64 sector, u64 arrives_ns)
{
	const struct buffer *buffer = &drive->buffer;

	if (drive->random_phase && is_near(drive, sector, drive->head))
		return known_latency_ns(drive, sector, arrives_ns, drive->head,
					buffer->head_ns);
	if (drive->random_phase && is_near(drive, sector, buffer->served))
		return known_latency_ns(drive, sector, arrives_ns, buffer->served,
					buffer->served_ns);
	return drive_latency_ns(drive);
}

/* When the first sector is under the head, if the arm is free to go there. */
static u64 position(struct drive *drive, u64 sector, u64 settle_ns, u64 now_ns)
{
	u64 arrives_ns =
		now_ns + disk_reach_ns(&drive->disk, drive->head, sector) + settle_ns;

	return arrives_ns + latency_ns(drive, sector, arrives_ns);
}

/* Whose turn it is, and when its first sector is under the head. */
static u32 next_to_put_away(struct drive *drive, u64 start_ns, u64 *first_ns)
{
	const struct buffer *buffer = &drive->buffer;
	const struct write_cache *writes = &buffer->writes;
	u32 next = 0;
	u32 i;

	if (writes->order != WRITE_SHORTEST_POSITIONING) {
		next = write_cache_next(writes, drive->head);
		*first_ns = position(drive, writes->span[next].start, buffer->settle_ns,
				     start_ns);
		return next;
	}
	*first_ns = U64_MAX;
	for (i = 0; i < writes->nr; i++) {
		u64 ns = position(drive, writes->span[i].start, buffer->settle_ns,
				  start_ns);

		if (ns < *first_ns) {
			*first_ns = ns;
			next = i;
		}
	}
	return next;
}

/* Put one of those that wait away, from start_ns on; none is under way. */
static void put_away(struct drive *drive, u64 start_ns)
{
	struct write_cache *writes = &drive->buffer.writes;
	struct write_span *span = &writes->under_way;
	u32 next;

	stop_reading(drive, start_ns);
	next = next_to_put_away(drive, start_ns, &writes->medium_ns);
	*span = write_cache_take(writes, next);
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
	u32 into;

	if (!write_cache_is_busy(writes))
		return;
	leave_head(drive, span.end, writes->busy_until_ns);
	writes->sectors -= span.end - span.start;
	writes->under_way = (struct write_span){ 0 };
	if (writes->sectors <= writes->low_sectors)
		writes->urgent = 0;
	if (!buffer->segments.nr)
		return;
	into = segments_take(&buffer->segments);
	buffer->segments.segment[into].start = span.start;
	buffer->segments.segment[into].end = span.end;
	trim(&buffer->segments, into, span.end);
}

/* Wait until the arm is free; when that is.  Nothing is read on while a write is under way. */
static u64 wait_for_arm(struct drive *drive, u64 now_ns)
{
	has_been_put_away(drive);
	return later(now_ns, drive->buffer.writes.busy_until_ns);
}

/* What has been put away until then, and what was read over. */
static void catch_up(struct drive *drive, u64 now_ns)
{
	struct buffer *buffer = &drive->buffer;
	struct write_cache *writes = &buffer->writes;
	u64 start_ns;

	for (;;) {
		if (writes->busy_until_ns <= now_ns)
			has_been_put_away(drive);
		start_ns = buffer->done_ns + (writes->urgent ? 0 : writes->idle_ns);
		start_ns = later(start_ns, writes->busy_until_ns);
		if (!writes->nr || start_ns > now_ns)
			break;
		put_away(drive, start_ns);
	}
	if (buffer->ahead.into != SEGMENTS_NONE)
		trim(&buffer->segments, buffer->ahead.into, read_until(drive, now_ns));
}

/* Have one put away, wanted or not; when that is done.  There must be one. */
static u64 make_way(struct drive *drive, u64 now_ns)
{
	if (!write_cache_is_busy(&drive->buffer.writes))
		put_away(drive, wait_for_arm(drive, now_ns));
	return wait_for_arm(drive, now_ns);
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
	trim(&buffer->segments, into, end);
	leave_head(drive, end, last_ns);
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
	there_ns = read_until_ns(drive, end);
	if (end > ahead->limit) {
		buffer->segments.segment[ahead->into].end = end;
		read_on(drive, ahead->into, sector, end, there_ns, true);
	} else {
		read_farther(drive, sector, end, now_ns);
	}
	return later(there_ns - now_ns, hit_ns(drive, end - sector));
}

/* Does the segment that is being filled hold it, or will it soon? */
static bool is_ahead(const struct drive *drive, u64 sector, u64 now_ns)
{
	const struct buffer *buffer = &drive->buffer;
	const struct read_ahead *ahead = &buffer->ahead;

	return ahead->into != SEGMENTS_NONE &&
	       buffer->segments.segment[ahead->into].start <= sector &&
	       sector <= ahead->limit &&
	       sector <= read_until(drive, now_ns) + buffer->reach_sectors;
}

static u64 without_segments_ns(struct drive *drive, u64 sector, u64 end, u64 now_ns)
{
	u64 first_ns = position(drive, sector, 0, now_ns);
	u64 last_ns = first_ns + disk_transfer_ns(&drive->disk, sector, end - sector);

	leave_head(drive, end, last_ns);
	drive->buffer.writes.busy_until_ns = last_ns;
	return later(last_ns, first_ns + bus_ns(&drive->buffer, end - sector)) - now_ns;
}

static bool is_arm_idle(const struct drive *drive, u64 now_ns)
{
	const struct buffer *buffer = &drive->buffer;

	return buffer->writes.busy_until_ns <= now_ns && !buffer->writes.nr &&
	       (buffer->ahead.into == SEGMENTS_NONE ||
		read_until(drive, now_ns) == buffer->ahead.limit);
}

/* Read on behind a segment; a seek is not given up for a request that comes meanwhile. */
static void return_to(struct drive *drive, u32 into, u64 sector, u64 now_ns)
{
	u64 end = drive->buffer.segments.segment[into].end;
	u64 from_ns;

	if (limit_after(drive, sector, end, true) == end)
		return;
	stop_reading(drive, now_ns);
	from_ns = position(drive, end, 0, now_ns);
	drive->buffer.writes.busy_until_ns =
		now_ns + disk_reach_ns(&drive->disk, drive->head, end);
	read_on(drive, into, sector, end, from_ns, true);
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
	if (is_ahead(drive, sector, start_ns)) {
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
	if (buffer->hits_return && end == segments->segment[found].end &&
	    is_arm_idle(drive, start_ns))
		return_to(drive, found, sector, start_ns);
	return start_ns - now_ns + hit_ns(drive, sectors);
}

/* The one under way can be made longer until the medium has begun with it. */
static bool join_under_way(struct drive *drive, u64 sector, u64 sectors, u64 now_ns)
{
	struct write_cache *writes = &drive->buffer.writes;

	if (!write_cache_is_busy(writes) || writes->under_way.end != sector ||
	    now_ns > writes->medium_ns ||
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
	    write_cache_join(writes, sector, sectors))
		return end_ns - now_ns;
	while (!write_cache_has_room(writes, sectors)) {
		writes->urgent = 1;
		room_ns = make_way(drive, room_ns);
	}
	end_ns = later(end_ns, room_ns); /* the bus does not wait for room */
	write_cache_add(writes, (struct write_span){ sector, sector + sectors });
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
	writes->busy_until_ns =
		first_ns + disk_transfer_ns(&drive->disk, sector, sectors);
	leave_head(drive, sector + sectors, writes->busy_until_ns);
	return writes->busy_until_ns - now_ns;
}

u64 buffer_flush(struct drive *drive, u64 now_ns)
{
	struct write_cache *writes = &drive->buffer.writes;
	u64 end_ns;

	catch_up(drive, now_ns);
	end_ns = wait_for_arm(drive, now_ns);
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
	    writes->spans_max > WRITE_CACHE_SPANS_MAX ||
	    writes->order > WRITE_SHORTEST_POSITIONING)
		return -EINVAL;
	if (buffer->segments.nr && !buffer->segments.sectors)
		return -EINVAL;
	if (buffer->ahead_sectors > U32_MAX || buffer->reach_sectors > U32_MAX ||
	    buffer->segments.sectors > U32_MAX)
		return -EINVAL;
	if (writes->low_sectors > writes->sectors_max)
		return -EINVAL;
	return writes->spans_max && !writes->sectors_max ? -EINVAL : 0;
}

void buffer_clear(struct buffer *buffer)
{
	segments_clear(&buffer->segments);
	write_cache_clear(&buffer->writes);
	buffer->ahead = (struct read_ahead){ .into = SEGMENTS_NONE };
	buffer->head_ns = 0;
	buffer->served = 0;
	buffer->served_ns = 0;
	buffer->done_ns = 0;
}

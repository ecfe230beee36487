// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "buffer.h"
#include "../least.h"
#include "positioning.h"
#include "put_away.h"
#include "read_ahead.h"

/* What the cache holds costs that. */
static u64 hit_ns(const struct drive *drive, u64 sectors)
{
	return drive->hit_ns + buffer_bus_ns(&drive->buffer, sectors);
}

/* The last of these is over the bus, if the first begins to pass then; last_ns: it has passed. */
static u64 sent_ns(const struct drive *drive, u64 sector, u64 end, u64 from_ns,
		   u64 *last_ns)
{
	return disk_sent_ns(&drive->disk, sector, end - sector, from_ns,
			    drive->buffer.bus_ps, last_ns);
}

/* The same of a whole request: the bus begins with its watermark. */
static u64 all_sent_ns(const struct drive *drive, u64 sector, u64 end, u64 from_ns,
		       u64 *last_ns)
{
	const struct buffer *buffer = &drive->buffer;
	u64 done_ns = sent_ns(drive, sector, end, from_ns, last_ns);
	u64 mark = end - sector;

	if (buffer->segments.nr)
		mark = nearer(mark, buffer->segments.sectors);
	mark = port_mul_div(buffer->watermark_percent, mark, 100);
	if (!mark)
		return done_ns;
	return later(done_ns, disk_end_ns(&drive->disk, sector, mark, from_ns) +
				      buffer_bus_ns(buffer, end - sector));
}

/* From the medium: the rest of what a segment holds a part of, or all. */
static u64 from_medium_ns(struct drive *drive, u32 into, u64 sector, u64 end,
			  u64 now_ns)
{
	struct buffer *buffer = &drive->buffer;
	struct segment *segment = &buffer->segments.segment[into];
	bool in_sequence = segment->asked && segment->asked == sector;
	u64 first, first_ns, last_ns, done_ns;

	read_ahead_stop(drive, now_ns);
	if (segment->start == segment->end)
		segment->start = segment->end = sector;
	first = segment->end;
	first_ns = position_ns(drive, first, 0, now_ns);
	done_ns = (first == sector ? all_sent_ns : sent_ns)(drive, first, end, first_ns,
							    &last_ns);
	segments_trim(&buffer->segments, into, end);
	position_leave(drive, end, last_ns);
	buffer->writes.busy_until_ns = last_ns;
	read_ahead_begin(drive, into, sector, end, last_ns, in_sequence);
	if (first > sector)
		done_ns = later(done_ns, now_ns + hit_ns(drive, end - sector));
	return done_ns - now_ns;
}

/* It comes by, or is there: what is read on. */
static u64 follow_ns(struct drive *drive, u64 sector, u64 end, u64 now_ns, bool *hit)
{
	struct buffer *buffer = &drive->buffer;
	struct read_ahead *ahead = &buffer->ahead;
	u64 until = read_ahead_until(drive, now_ns);
	u64 there_ns, done_ns, missing, comes_ns, passed_ns;

	*hit = end <= until;
	if (*hit) {
		u64 ns = hit_ns(drive, end - sector);

		read_ahead_farther(drive, sector, end, now_ns, now_ns + ns);
		return ns;
	}
	if (end > ahead->limit && until == ahead->limit)
		return from_medium_ns(drive, ahead->into, sector, end, now_ns);
	there_ns = read_ahead_came_ns(drive, end);
	missing = later(until, sector);
	comes_ns = disk_next_ns(&drive->disk, ahead->from, missing - ahead->from,
				ahead->from_ns);
	done_ns = sent_ns(drive, missing, end, comes_ns, &passed_ns);
	done_ns = later(done_ns, now_ns + hit_ns(drive, end - sector));
	if (end > ahead->limit) {
		buffer->segments.segment[ahead->into].end = end;
		read_ahead_begin(drive, ahead->into, sector, end, there_ns, true);
	} else {
		read_ahead_farther(drive, sector, end, now_ns, there_ns);
	}
	return done_ns - now_ns;
}

static u64 without_segments_ns(struct drive *drive, u64 sector, u64 end, u64 now_ns)
{
	u64 first_ns = position_ns(drive, sector, 0, now_ns);
	u64 last_ns;
	u64 done_ns = all_sent_ns(drive, sector, end, first_ns, &last_ns);

	position_leave(drive, end, last_ns);
	drive->buffer.writes.busy_until_ns = last_ns;
	return done_ns - now_ns;
}

/* It neither writes, or is to, nor is on its way. */
static bool is_arm_free(const struct drive *drive, u64 now_ns)
{
	const struct write_cache *writes = &drive->buffer.writes;

	return writes->busy_until_ns <= now_ns && !writes->nr;
}

static bool is_reading_on(const struct drive *drive, u64 now_ns)
{
	const struct read_ahead *ahead = &drive->buffer.ahead;

	return ahead->into != SEGMENTS_NONE &&
	       read_ahead_until(drive, now_ns) != ahead->limit;
}

/* What is read on, or put away, is left for a request: the arm may go then. */
static u64 arm_leaves_ns(struct drive *drive, u64 now_ns)
{
	read_ahead_stop(drive, now_ns);
	return put_away_begin_ns(drive, now_ns);
}

/* Nothing holds all of it, and found the beginning at most: the arm has to go. */
static u64 miss_ns(struct drive *drive, u32 found, u64 sector, u64 end, u64 now_ns)
{
	struct segments *segments = &drive->buffer.segments;
	bool changes = write_cache_is_busy(&drive->buffer.writes);
	u64 start_ns = arm_leaves_ns(drive, now_ns);

	if (!segments->nr)
		return start_ns - now_ns +
		       without_segments_ns(drive, sector, end, start_ns);
	if (changes) /* a write was finished, which a segment holds now */
		found = segments_find(segments, sector);
	if (found == SEGMENTS_NONE)
		found = segments_take(segments);
	else
		segments_use(segments, found);
	return start_ns - now_ns + from_medium_ns(drive, found, sector, end, start_ns);
}

/* What has been written and still waits is there, or has to be put away before. */
static bool waits_to_be_written(struct drive *drive, u64 sector, u64 sectors,
				u64 *now_ns)
{
	struct write_cache *writes = &drive->buffer.writes;

	while (write_cache_touches(writes, sector, sectors)) {
		if (write_cache_holds(writes, sector, sectors))
			return true;
		*now_ns = put_away_one(drive, *now_ns);
	}
	if (writes->under_way.start < sector + sectors &&
	    sector < writes->under_way.end)
		*now_ns = put_away_wait(drive, *now_ns);
	return false;
}

/* A segment that is not being read into holds all of it. */
static u64 held_ns(struct drive *drive, u32 found, u64 sector, u64 end, u64 now_ns)
{
	struct buffer *buffer = &drive->buffer;
	u64 asked = buffer->segments.segment[found].asked;
	bool in_sequence = sector <= asked && asked <= end;
	bool free = is_arm_free(drive, now_ns);

	if (buffer->after_hit != AFTER_HIT_GO_ON)
		read_ahead_stop(drive, now_ns);
	segments_use(&buffer->segments, found);
	if (buffer->after_hit == AFTER_HIT_RETURN && in_sequence && free &&
	    !is_reading_on(drive, now_ns))
		read_ahead_return(drive, found, sector, end, now_ns);
	buffer->segments.segment[found].asked = end;
	return hit_ns(drive, end - sector);
}

/* A segment holds it, or will. */
static u64 segment_ns(struct drive *drive, u64 sector, u64 end, u64 now_ns, bool *hit)
{
	struct buffer *buffer = &drive->buffer;
	struct segments *segments = &buffer->segments;
	u64 service_ns;

	if (read_ahead_holds(drive, sector, now_ns)) {
		segments_use(segments, buffer->ahead.into);
		service_ns = follow_ns(drive, sector, end, now_ns, hit);
	} else {
		u32 found = segments_find(segments, sector);

		*hit = found != SEGMENTS_NONE && end <= segments->segment[found].end;
		if (*hit)
			return held_ns(drive, found, sector, end, now_ns);
		service_ns = miss_ns(drive, found, sector, end, now_ns);
	}
	if (buffer->ahead.into != SEGMENTS_NONE)
		segments->segment[buffer->ahead.into].asked = end;
	return service_ns;
}

u64 buffer_read(struct drive *drive, u64 sector, u32 sectors, u64 now_ns, bool *hit)
{
	u64 start_ns = now_ns;

	put_away_until(drive, now_ns);
	*hit = waits_to_be_written(drive, sector, sectors, &start_ns);
	if (*hit)
		return hit_ns(drive, sectors);
	return start_ns - now_ns +
	       segment_ns(drive, sector, sector + sectors, start_ns, hit);
}

/* The one under way can be made longer until the medium has begun with it. */
static bool join_under_way(struct drive *drive, u64 sector, u64 sectors, u64 now_ns)
{
	struct write_cache *writes = &drive->buffer.writes;

	if (writes->order == WRITE_AS_THEY_COME || !write_cache_is_busy(writes) ||
	    writes->under_way.end != sector || now_ns > writes->medium_ns ||
	    writes->sectors + sectors > writes->sectors_max)
		return false;
	writes->under_way.end += sectors;
	writes->sectors += sectors;
	writes->busy_until_ns =
		disk_end_ns(&drive->disk, sector, sectors, writes->busy_until_ns);
	return true;
}

static struct write_span span_of(const struct disk *disk, u64 sector, u64 sectors)
{
	return (struct write_span){
		.start = sector,
		.end = sector + sectors,
		.place = disk_place(disk, sector),
		.angle = disk_knows_angles(disk) ? platter_angle(&disk->tracks, sector)
						 : 0,
	};
}

u64 buffer_write(struct drive *drive, u64 sector, u32 sectors, u64 now_ns)
{
	struct buffer *buffer = &drive->buffer;
	struct write_cache *writes = &buffer->writes;
	u64 room_ns = now_ns;
	u64 end_ns;

	if (!writes->spans_max || sectors > writes->sectors_max)
		return buffer_write_through(drive, sector, sectors, now_ns);
	put_away_until(drive, now_ns);
	read_ahead_stop(drive, now_ns);
	segments_drop(&buffer->segments, sector, sectors);
	end_ns = now_ns + buffer->write_ns + buffer_bus_ns(buffer, sectors);
	if (join_under_way(drive, sector, sectors, now_ns) ||
	    write_cache_join(writes, sector, sectors))
		return end_ns - now_ns;
	while (!write_cache_has_room(writes, sector, sectors))
		room_ns = put_away_one(drive, room_ns);
	end_ns = later(end_ns, room_ns); /* the bus does not wait for room */
	write_cache_add(writes, span_of(&drive->disk, sector, sectors));
	put_away_coming(drive, room_ns, end_ns);
	return end_ns - now_ns;
}

u64 buffer_write_through(struct drive *drive, u64 sector, u32 sectors, u64 now_ns)
{
	struct buffer *buffer = &drive->buffer;
	struct write_cache *writes = &buffer->writes;
	u64 start_ns, first_ns;

	put_away_until(drive, now_ns);
	start_ns = arm_leaves_ns(drive, now_ns);
	segments_drop(&buffer->segments, sector, sectors);
	first_ns = position_ns(drive, sector, buffer->settle_ns, start_ns);
	first_ns = position_ready_ns(drive, sector, first_ns,
				     now_ns + buffer->write_ns +
					     buffer_bus_ns(buffer, sectors));
	writes->busy_until_ns = disk_end_ns(&drive->disk, sector, sectors, first_ns);
	position_leave(drive, sector + sectors, writes->busy_until_ns);
	return writes->busy_until_ns - now_ns;
}

u64 buffer_flush(struct drive *drive, u64 now_ns)
{
	struct write_cache *writes = &drive->buffer.writes;
	u64 end_ns;

	put_away_until(drive, now_ns);
	end_ns = put_away_wait(drive, now_ns);
	while (writes->nr)
		end_ns = put_away_one(drive, end_ns);
	return end_ns - now_ns;
}

int buffer_check(const struct buffer *buffer)
{
	const struct write_cache *writes = &buffer->writes;

	if (buffer->bus_ps > DISK_SECTOR_PS_MAX || buffer->write_ns > DISK_NS_MAX ||
	    buffer->settle_ns > DISK_NS_MAX || writes->idle_ns > DISK_NS_MAX ||
	    buffer->watermark_percent > 100)
		return -EINVAL;
	if (buffer->segments.nr > SEGMENTS_MAX ||
	    writes->spans_max > WRITE_CACHE_SPANS_MAX ||
	    writes->order > WRITE_AS_THEY_COME || buffer->after_hit > AFTER_HIT_RETURN)
		return -EINVAL;
	if (buffer->segments.nr && !buffer->segments.sectors)
		return -EINVAL;
	if (buffer->ahead_sectors > U32_MAX || buffer->reach_sectors > U32_MAX ||
	    buffer->segments.sectors > U32_MAX || writes->sectors_max > U32_MAX)
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

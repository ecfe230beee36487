// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "put_away.h"
#include "../least.h"
#include "positioning.h"
#include "read_ahead.h"

/* The one that is soonest under the head: an index, and when. */
static u32 soonest(struct drive *drive, u64 start_ns, u64 *first_ns)
{
	const struct write_cache *writes = &drive->buffer.writes;
	u32 next = 0;
	u32 i;

	*first_ns = U64_MAX;
	for (i = 0; i < writes->nr; i++) {
		u64 ns = position_ns(drive, writes->span[i].start,
				     drive->buffer.settle_ns, start_ns);

		if (ns < *first_ns) {
			*first_ns = ns;
			next = i;
		}
	}
	return next;
}

/* The same where angles are known. */
static u32 soonest_by_angle(const struct drive *drive, u64 start_ns, u64 *first_ns)
{
	const struct write_cache *writes = &drive->buffer.writes;
	u64 head = disk_arm_place(&drive->disk, drive->head);
	u64 settled_ns = start_ns + drive->buffer.settle_ns;
	u32 next = 0;
	u32 i;

	*first_ns = U64_MAX;
	for (i = 0; i < writes->nr; i++) {
		const struct write_span *span = &writes->span[i];
		u64 ns = position_soonest_ns(drive, head, span->place, span->angle,
					     settled_ns, *first_ns);

		if (ns < *first_ns) {
			*first_ns = ns;
			next = i;
		}
	}
	return next;
}

/* Whose turn it is, and when its first sector is under the head. */
static u32 next_to_put_away(struct drive *drive, u64 start_ns, u64 *first_ns)
{
	const struct buffer *buffer = &drive->buffer;
	const struct write_cache *writes = &buffer->writes;
	u32 next;

	if (writes->order == WRITE_SHORTEST_POSITIONING) {
		if (disk_knows_angles(&drive->disk))
			return soonest_by_angle(drive, start_ns, first_ns);
		return soonest(drive, start_ns, first_ns);
	}
	next = write_cache_next(writes, drive->head);
	*first_ns = position_ns(drive, writes->span[next].start, buffer->settle_ns,
				start_ns);
	return next;
}

/* Put one of those that wait away: the arm may go from then on, its data are there by ready_ns;
 * none is under way. */
static void begin(struct drive *drive, u64 start_ns, u64 ready_ns)
{
	struct write_cache *writes = &drive->buffer.writes;
	struct write_span *span = &writes->under_way;
	u32 next = next_to_put_away(drive, start_ns, &writes->medium_ns);

	*span = write_cache_take(writes, next);
	writes->medium_ns =
		position_ready_ns(drive, span->start, writes->medium_ns, ready_ns);
	writes->busy_until_ns = disk_end_ns(&drive->disk, span->start,
					    span->end - span->start, writes->medium_ns);
}

static void put_away(struct drive *drive, u64 start_ns)
{
	read_ahead_stop(drive, start_ns);
	if (drive->buffer.writes.order != WRITE_AS_THEY_COME)
		start_ns = position_begin_ns(drive, start_ns);
	begin(drive, start_ns, 0);
}

void put_away_coming(struct drive *drive, u64 start_ns, u64 ready_ns)
{
	const struct write_cache *writes = &drive->buffer.writes;

	if (writes->order == WRITE_AS_THEY_COME && !writes->idle_ns &&
	    !write_cache_is_busy(writes))
		begin(drive, later(start_ns, writes->busy_until_ns), ready_ns);
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
	position_leave(drive, span.end, writes->busy_until_ns);
	writes->sectors -= span.end - span.start;
	writes->under_way = (struct write_span){ 0 };
	if (!buffer->segments.nr)
		return;
	into = segments_take(&buffer->segments);
	buffer->segments.segment[into].start = span.start;
	segments_trim(&buffer->segments, into, span.end);
}

u64 put_away_wait(struct drive *drive, u64 now_ns)
{
	has_been_put_away(drive);
	return later(now_ns, drive->buffer.writes.busy_until_ns);
}

u64 put_away_begin_ns(struct drive *drive, u64 now_ns)
{
	u64 free_ns = put_away_wait(drive, now_ns);

	return later(now_ns, position_begin_ns(drive, free_ns));
}

void put_away_until(struct drive *drive, u64 now_ns)
{
	struct buffer *buffer = &drive->buffer;
	struct write_cache *writes = &buffer->writes;
	u64 start_ns;

	for (;;) {
		if (writes->busy_until_ns <= now_ns)
			has_been_put_away(drive);
		start_ns =
			later(buffer->done_ns + writes->idle_ns, writes->busy_until_ns);
		if (!writes->nr || start_ns > now_ns)
			break;
		put_away(drive, start_ns);
	}
	if (buffer->ahead.into != SEGMENTS_NONE)
		segments_trim(&buffer->segments, buffer->ahead.into,
			      read_ahead_until(drive, now_ns));
}

u64 put_away_one(struct drive *drive, u64 now_ns)
{
	if (!write_cache_is_busy(&drive->buffer.writes))
		put_away(drive, put_away_wait(drive, now_ns));
	return put_away_wait(drive, now_ns);
}

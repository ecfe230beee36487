/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A drive's buffer as drives have it: a cache that works in time (Ruemmler and Wilkes 1994,
 * "Disk caching"; Shriver, Merchant and Wilkes 1998).
 *
 * Reading ahead begins when the medium is done with the last sector of a read, while the bus
 * may still be busy, and goes on at the medium's rate, asked or not, until a request for
 * another place, the segment's end, or the track's.  A read that runs into it waits for the
 * rest to pass under the head.  A write is taken at once while there is room, and put away
 * when the drive has nothing else to do.
 *
 * Nothing happens here between requests: the next one finds out what has happened since.
 */
#ifndef UNDERSTUDY_BUFFER_H
#define UNDERSTUDY_BUFFER_H

#include "segments.h"
#include "write_cache.h"

/*
 * What a hit does to reading ahead.  One in sequence, where it has ended: leaves it there, or
 * has it go on.  One in another segment: stops it, or lets it go on; or an arm that has nothing
 * to do goes back, to read on behind a segment that is hit in sequence, if there is more to read
 * there by now.
 */
enum after_hit {
	AFTER_HIT_STOP,
	AFTER_HIT_GO_ON,
	AFTER_HIT_RETURN,
};

/**
 * struct read_ahead - how far a drive has read on
 * @into: the segment that it fills, or SEGMENTS_NONE
 * @from: the medium is there
 * @from_ns: at that time
 * @limit: it stops there
 * @asked: end of the last request that it has served
 */
struct read_ahead {
	u32 into;
	u64 from;
	u64 from_ns;
	u64 limit;
	u64 asked;
};

/**
 * struct buffer - what it is like, and what is in it
 * @bus_ps: a sector's transfer over the bus, picoseconds
 * @watermark_percent: of a read, or of the segment if that is less, has to be there before the
 *	bus begins (SCSI's buffer full ratio), if nothing of it is held or comes by; 0: one sector
 * @write_ns: of a write, besides the bus
 * @settle_ns: what a write takes longer than a read to reach the medium
 * @ahead_sectors: read on after each read that the medium served, at most
 * @reach_sectors: a read that begins with one of so many that come next waits for it to come
 *	by; for one farther ahead the arm goes there, and 0 is a drive that misses the next one
 * @ahead_to_track_end: and at most to the end of the last sector's track, in sequence to that of
 *	the next
 * @ahead_overwrites: the segment's room for what was asked for is taken by what follows, once
 *	that has left over the bus
 * @after_hit: enum after_hit
 * @segments: what was read
 * @ahead: what is being read on
 * @writes: what was written
 * @head_ns: when the head was where struct drive has it
 * @served: end of the last request that the medium served, without what was read on ...
 * @served_ns: ... and when the head was there
 * @done_ns: the last request was complete
 */
struct buffer {
	u64 bus_ps;
	u64 watermark_percent;
	u64 write_ns;
	u64 settle_ns;
	u64 ahead_sectors;
	u64 reach_sectors;
	u64 ahead_to_track_end;
	u64 ahead_overwrites;
	u64 after_hit;
	struct segments segments;
	struct read_ahead ahead;
	struct write_cache writes;
	u64 head_ns;
	u64 served;
	u64 served_ns;
	u64 done_ns;
};

static inline u64 buffer_bus_ns(const struct buffer *buffer, u64 sectors)
{
	return port_mul_div(buffer->bus_ps, sectors, 1000);
}

struct drive;

/* As drive_serve(), for a drive with a buffer. */
u64 buffer_read(struct drive *drive, u64 sector, u32 sectors, u64 now_ns, bool *hit);
u64 buffer_write(struct drive *drive, u64 sector, u32 sectors, u64 now_ns);
u64 buffer_write_through(struct drive *drive, u64 sector, u32 sectors, u64 now_ns);
u64 buffer_flush(struct drive *drive, u64 now_ns);

/* 0, or -EINVAL. */
int buffer_check(const struct buffer *buffer);

/* Forget everything; parameters stay. */
void buffer_clear(struct buffer *buffer);

#endif

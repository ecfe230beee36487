/* SPDX-License-Identifier: MIT */
/*
 * A drive with a buffer and round times.  A sector takes 10 us on the medium and 20 us
 * on the bus.  Positioning takes 1 ms, 2 ms more for any seek, and half a rotation of 3
 * ms.  A hit takes 100 us, and a write 200 us more.
 */
#ifndef UNDERSTUDY_TEST_ROUND_DRIVE_H
#define UNDERSTUDY_TEST_ROUND_DRIVE_H

#include "../../core/drive/drive.h"
#include "check.h"
#include "laid_out.h"

#define US 1000ull
#define SECTOR (10 * US)
#define BUS (20 * US)
#define HIT (100 * US)
#define WRITE (200 * US)
#define NEAR (1000 * US + 3000 * US) /* without a seek: intercept and half a rotation */
#define FAR (NEAR + 2000 * US)
#define TRACK 50
#define CAPACITY 100000

static struct drive drive;
static u64 now;

/* A seek of distance 0 takes no time, and any other seek 2 ms. */
static inline void set(struct drive is)
{
	drive = is;
	drive.buffered = 1;
	drive.bus.hit_ns = HIT;
	drive.bus.sector_ps = 1000 * BUS;
	drive.bus.write_ns = WRITE;
	drive.disk = (struct disk){
		.capacity_sectors = CAPACITY,
		.intercept_ns = 1000 * US,
		.rotation_ns = 6000 * US,
		.seek = CURVE({ 0, 0 }, { 1, 2000 * US }, { CAPACITY, 2000 * US }),
		.transfer = CURVE({ 0, 1000 * SECTOR }, { CAPACITY, 1000 * SECTOR }),
		.tracks = ZONES({ .sectors = TRACK }),
	};
	CHECK_EQ(drive_check(&drive), 0);
	drive_reset(&drive);
	now = 0;
}

static inline void set_reading(u64 segments, u64 ahead)
{
	set((struct drive){ .ahead.segments = { .nr = segments, .sectors = 100 },
			    .ahead.sectors = ahead,
			    .ahead.reach_sectors = 100,
			    .ahead.after_hit = AFTER_HIT_GO_ON });
}

static inline void set_writing(u64 spans, u64 sectors)
{
	set((struct drive){ .ahead.segments = { .nr = 4, .sectors = 100 },
			    .writes = { .spans_max = spans, .sectors_max = sectors } });
}

static inline void answers(u64 service_ns, u64 want_ns, bool hit, bool want_hit)
{
	now += service_ns;
	CHECK_EQ(service_ns, want_ns);
	CHECK_EQ(hit, want_hit);
}

static inline void reads(u64 sector, u32 sectors, u64 want_ns, bool want_hit)
{
	bool hit;
	u64 ns = drive_serve(&drive, IO_READ, sector, sectors, now, &hit);

	answers(ns, want_ns, hit, want_hit);
}

static inline void writes(u64 sector, u32 sectors, u64 want_ns)
{
	bool hit;
	u64 ns = drive_serve(&drive, IO_WRITE, sector, sectors, now, &hit);

	answers(ns, want_ns, hit, false);
}

/* A read from the medium: the bus starts with the first sector and is slower than the medium. */
#define MISS(reach, sectors) ((reach) + (sectors)*BUS)

#endif

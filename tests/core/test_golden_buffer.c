// SPDX-License-Identifier: MIT
/*
 * Golden times: a hash of the service times and hits of several drives with a buffer, for one load.
 * Each drive has its own rules.  A changed hash means that existing profiles change their meaning.
 * If the change is intended, write down the new hash.
 *
 * Other tests check whether the times are right: test_buffer.c by hand, and bench/parts/blind.py
 * against detailed drives.
 */
#include "../../core/drive/drive.h"
#include "check.h"
#include "laid_out.h"

#define US 1000ull
#define MS 1000000ull
#define CAPACITY 200000
#define REQUESTS 6000
#define PLACES 6
#define STRETCH 400 /* most requests are within so many sectors of a position */

#define WITH_SEGMENTS .ahead.segments = { .nr = 4, .sectors = 100 }
#define READ_AHEAD WITH_SEGMENTS, .ahead.sectors = 90, .ahead.reach_sectors = 101

/* clang-format off */
#define WRITTEN(spans, most, idle, by) READ_AHEAD, \
	.writes = { .spans_max = spans, .sectors_max = most, .idle_ns = idle, .order = by }

static const struct golden {
	const char *name;
	u64 hash;
	u64 random_phase;
	struct drive drive;
} golden[] = {
	{ "no segments", 0x437ce377011f4f1aull, 1, { .buffered = 1 } },
	{ "no reading ahead", 0x61af541634696f5bull, 1, { WITH_SEGMENTS, .ahead.reach_sectors = 1 } },
	{ "to the segment's end", 0xa667c7adf3ee9064ull, 1, { READ_AHEAD } },
	{ "half a rotation", 0xb965887b2a84ceffull, 0, { READ_AHEAD } },
	{ "to the track's end", 0x02dd0c68f5180372ull, 1, { READ_AHEAD, .ahead.to_track_end = 1 } },
	{ "overwrites", 0x69a166f8076255edull, 1, { READ_AHEAD, .ahead.overwrites = 1 } },
	{ "goes on", 0xeb47ffed1dcf555aull, 1, { READ_AHEAD, .ahead.after_hit = AFTER_HIT_GO_ON } },
	{ "returns", 0xc7f08cb2e86c4b15ull, 1, { READ_AHEAD, .ahead.after_hit = AFTER_HIT_RETURN } },
	{ "written ascending", 0x40ba8dc45c317a3eull, 0, { WRITTEN(8, 100, 0, WRITE_ASCENDING), .ahead.after_hit = AFTER_HIT_GO_ON } },
	{ "written soonest", 0x25701c196e9a0aa5ull, 1, { WRITTEN(8, 100, 5 * MS, WRITE_SHORTEST_POSITIONING),
			 .ahead.after_hit = AFTER_HIT_GO_ON } },
	{ "all", 0x9760001ca09bad91ull, 1, { WRITTEN(6, 90, 2 * MS, WRITE_SHORTEST_POSITIONING),
			 .ahead.to_track_end = 1, .ahead.overwrites = 1,
			 .ahead.after_hit = AFTER_HIT_RETURN } },
};
/* clang-format on */

static struct drive drive;
static u64 hash;

static void mix_in(u64 value)
{
	hash = (hash ^ value) * 0x100000001b3ull;
	hash ^= hash >> 29;
}

static void set(const struct golden *is)
{
	drive = is->drive;
	drive.buffered = 1;
	drive.bus.hit_ns = 100 * US;
	drive.arm.random_phase = is->random_phase;
	drive.arm.seed = 7;
	drive.disk = (struct disk){
		.capacity_sectors = CAPACITY,
		.intercept_ns = 300 * US,
		.rotation_ns = 6 * MS,
		.seek = CURVE({ 0, 0 }, { 500, 900 * US }, { CAPACITY, 9 * MS }),
		.transfer = CURVE({ 0, 15000 * US }, { CAPACITY, 25000 * US }),
		.tracks = ZONES({ .sectors = 400 },
				{ .first = CAPACITY / 2, .sectors = 240 }),
		.switch_ns = 700 * US,
	};
	drive.bus.sector_ps = 9000 * US;
	drive.bus.write_ns = 200 * US;
	drive.writes.settle_ns = 600 * US;
	CHECK_EQ(drive_check(&drive), 0);
	drive_reset(&drive);
}

/*
 * Return a sector near one of a few positions, where the next request often continues.  Sometimes
 * return the last sector again, and seldom a random one.
 */
static u64 somewhere(struct draw *draw, u64 *place, u64 last)
{
	u64 *at = &place[draw_below(draw, PLACES)];

	switch (draw_below(draw, 10)) {
	case 0:
		return *at = draw_below(draw, CAPACITY - 2 * STRETCH);
	case 1:
	case 2:
		return *at - *at % STRETCH + draw_below(draw, STRETCH);
	case 3:
	case 4:
		return last;
	default:
		return *at;
	}
}

/* Return a pause: often 0, otherwise up to some ms. */
static u64 pause_ns(struct draw *draw)
{
	u64 longest_ns[] = { 0, 0, 300 * US, 3 * MS, 40 * MS };

	return draw_below(draw,
			  longest_ns[draw_below(draw, ARRAY_SIZE(longest_ns))] + 1);
}

static u64 serve(struct draw *draw, u64 sector, u32 sectors, u64 now_ns, bool *hit)
{
	*hit = false;
	switch (draw_below(draw, 40)) {
	case 0:
		return drive_flush(&drive, now_ns);
	case 1:
		return drive_serve_through(&drive, sector, sectors, now_ns);
	default:
		return drive_serve(&drive,
				   draw_below(draw, 10) < 6 ? IO_READ : IO_WRITE,
				   sector, sectors, now_ns, hit);
	}
}

static u64 times(const struct golden *is)
{
	u64 place[PLACES] = { 0 };
	u64 now_ns = 0, sector = 0;
	struct draw draw;
	u32 i;

	set(is);
	draw_seed(&draw, 1, 0);
	hash = 0;
	for (i = 0; i < REQUESTS; i++) {
		u32 sectors = 1 + draw_below(&draw, draw_below(&draw, 10) ? 16 : 250);
		bool hit;
		u64 ns;

		sector = somewhere(&draw, place, sector);
		now_ns += pause_ns(&draw);
		ns = serve(&draw, sector, sectors, now_ns, &hit);
		now_ns += ns;
		mix_in(ns << 1 | hit);
		place[draw_below(&draw, PLACES)] = sector + sectors;
	}
	return hash;
}

int main(void)
{
	u32 i, wrong = 0;

	for (i = 0; i < ARRAY_SIZE(golden); i++) {
		u64 found = times(golden + i);

		if (found == golden[i].hash)
			continue;
		printf("%s: 0x%016llx, not 0x%016llx\n", golden[i].name,
		       (unsigned long long)found, (unsigned long long)golden[i].hash);
		wrong++;
	}
	return wrong != 0;
}

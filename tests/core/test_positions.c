// SPDX-License-Identifier: MIT
/*
 * A drive with known sector positions.  Times are by hand, in slots; 64 slots are a rotation.
 * Tracks have 60 sectors, with 10 slots between tracks and 20 after each cylinder of four tracks.
 * The arm takes one slot, and 8 more for a seek of any length.  A second zone begins at sector 600,
 * 3 slots after the first zone's end.
 */
#include "../../core/drive/drive.h"
#include "../../core/least.h"
#include "check.h"

#define SLOT 65536ull
#define TURN 64
#define ANGLE(slots) ((u64)(slots) << 58)
#define CAPACITY 6000

static struct drive drive;
static u64 now; /* slots */

static struct curve_point seek[] = { { 0, 0 },
				     { 1, 8 * SLOT },
				     { CAPACITY, 8 * SLOT } };
static struct track_zone zones[2];

static const struct disk disk = {
	.capacity_sectors = CAPACITY,
	.intercept_ns = SLOT,
	.rotation_ns = TURN * SLOT,
	.seek = { 3, seek },
	.tracks = { .nr_zones = 2, .zone = zones, .velocity = 1ull << 42 },
	.switch_ns = 5 * SLOT,
};

static void set(u64 buffered, struct drive is)
{
	zones[0] = (struct track_zone){ .sectors = 60,
					.slot = ANGLE(1),
					.skew = ANGLE(10),
					.cylinder = { 4, 240, ANGLE(20) } };
	zones[1] = zones[0];
	zones[1].first = 600;
	zones[1].angle = ANGLE(9);
	zones[1].band = (struct track_level){ 8, 480, ANGLE(30) };
	seek[2].value = 8 * SLOT;
	drive = is;
	drive.disk = disk;
	drive.bus.hit_ns = SLOT;
	drive.buffered = buffered;
	CHECK_EQ(drive_check(&drive), 0);
	drive_reset(&drive);
	now = 0;
}

static void takes(u64 service_ns, u64 slots)
{
	CHECK_EQ(service_ns % SLOT, 0);
	CHECK_EQ(service_ns / SLOT, slots);
	now += slots;
}

static void serves(u8 op, u64 sector, u32 sectors, u64 slots, bool want_hit)
{
	bool hit;

	takes(drive_serve(&drive, op, sector, sectors, now * SLOT, &hit), slots);
	CHECK_EQ(hit, want_hit);
}

static void reads(u64 sector, u32 sectors, u64 slots)
{
	serves(IO_READ, sector, sectors, slots, false);
}

static void hits(u64 sector, u32 sectors, u64 slots)
{
	serves(IO_READ, sector, sectors, slots, true);
}

static void writes(u64 sector, u32 sectors, u64 slots)
{
	serves(IO_WRITE, sector, sectors, slots, false);
}

static void without_a_buffer(void)
{
	set(0, (struct drive){ 0 });
	reads(0, 1, 65); /* arm ready at 1, sector's angle at 64 */
	reads(1, 1, 65);
	reads(58, 4, 70); /* ready at 139, begins at 186; 2 + 10 + 2 */
	now += TURN;
	reads(58, 4, 64); /* ready at 273, begins at 314 */
	writes(58, 4, 64);
	takes(drive_serve_through(&drive, 58, 4, now * SLOT), 64);
}

/* The arm is ready at 9, just when the sector begins; one slot later would cost a rotation. */
static void what_is_just_there_is_not_missed(void)
{
	set(0, (struct drive){ 0 });
	CHECK_EQ(estimate_ns(&drive, IO_READ, 9, 1, 0), 9 * SLOT);
	CHECK_EQ(estimate_through_ns(&drive, 9, 0), 9 * SLOT);
	CHECK_EQ(estimate_through_ns(&drive, 9, SLOT), 72 * SLOT);
	reads(9, 1, 10);
}

/* The arm takes one slot from sector 0 to sector 0. */
static void as_soon_as_the_arm_is_there(void)
{
	set(0, (struct drive){ 0 });
	CHECK_EQ(arm_soonest_ns(&drive.disk, 0, 0, ANGLE(9), 8 * SLOT, U64_MAX),
		 9 * SLOT);
	CHECK_EQ(arm_soonest_ns(&drive.disk, 0, 0, ANGLE(9), 8 * SLOT + 1, U64_MAX),
		 73 * SLOT);
	CHECK_EQ(
		arm_soonest_ns(&drive.disk, 0, 0, ANGLE(9), 8 * SLOT + 1, 9 * SLOT + 1),
		73 * SLOT);
	CHECK_EQ(arm_soonest_ns(&drive.disk, 0, 0, ANGLE(9), 8 * SLOT + 1, 9 * SLOT),
		 9 * SLOT);
}

/* A sector that begins before the arm is ready is a rotation late. */
static void over_a_zone(void)
{
	set(0, (struct drive){ 0 });
	reads(599, 1, 70); /* begins at 69: ready at 9, angle 5 had passed */
	set(0, (struct drive){ 0 });
	reads(599, 2, 70 + 3 + TURN + 1);
	drive.disk.switch_ns = 3 * SLOT;
	drive_reset(&drive);
	now = 0;
	reads(599, 2, 70 + 3 + 1);
}

static void set_reading(void)
{
	set(1, (struct drive){ .ahead.segments = { .nr = 2, .sectors = 200 },
			       .ahead.sectors = 20,
			       .ahead.reach_sectors = 100,
			       .ahead.after_hit = AFTER_HIT_GO_ON });
}

static void reading_on_stands_at_an_angle(void)
{
	set_reading();
	reads(10, 1, 11);
	reads(20, 1, 10); /* the head reaches it */
	now = 100; /* read-ahead stopped long ago, at sector 40 */
	hits(30, 11, 1);
	reads(41, 1, 5); /* read-ahead continued at 105 */
}

/*
 * Without waiting for read-ahead, each read of a stream takes a rotation, unless its sector has
 * been read ahead.
 */
static void the_next_sector_is_missed(void)
{
	set_reading();
	drive.ahead.reach_sectors = 0;
	reads(10, 1, 11);
	reads(11, 1, TURN + 1);
	now += 3;
	hits(12, 3, 1);
}

/*
 * Read-ahead has reached sector 120, on the second track.  The arm returns to sector 60, where that
 * track begins, without a seek.
 */
static void the_arm_returns_from_where_it_is(void)
{
	bool hit;

	set(1, (struct drive){ .ahead.segments = { .nr = 4, .sectors = 100 },
			       .ahead.sectors = 100,
			       .ahead.to_track_end = 1,
			       .ahead.after_hit = AFTER_HIT_RETURN });
	drive.disk.tracks.step = 1 << 16;
	CHECK_EQ(drive_check(&drive), 0);
	reads(50, 4, 54);
	now += 10 * TURN;
	now += drive_serve(&drive, IO_READ, 61, 1, now * SLOT, &hit) / SLOT;
	now += 10 * TURN;
	hits(54, 6, 1);
	CHECK_EQ(drive.ahead.from, 60);
	CHECK_EQ(drive.arm.free_ns, now * SLOT);
}

static void a_write_waits_for_its_data(void)
{
	set(1, (struct drive){ .bus.write_ns = 5 * SLOT });
	writes(45, 1, 46);
	set(1, (struct drive){ .bus.write_ns = 45 * SLOT });
	writes(45, 1, 46);
	set(1, (struct drive){ .bus.write_ns = 46 * SLOT });
	writes(45, 1, 46 + TURN);
	set(1, (struct drive){ .writes.settle_ns = 37 * SLOT });
	writes(45, 1, 46 + TURN);
}

static void no_draw_is_taken(void)
{
	u64 before;

	set_reading();
	before = drive.arm.phase.state;
	reads(500, 1, 25);
	CHECK(drive.arm.phase.state == before);
	drive.arm.random_phase = 1;
	CHECK_EQ(drive_check(&drive), -EINVAL);
}

/*
 * Set a random drive with known positions, for loads that check the bound and the angle at the end.
 */
static void set_any(struct draw *draw)
{
	u32 i;

	set(draw_below(draw, 2),
	    (struct drive){ .ahead.segments = { .nr = draw_below(draw, 4),
						.sectors = 1 + draw_below(draw, 200) },
			    .ahead.sectors = draw_below(draw, 200),
			    .ahead.reach_sectors = draw_below(draw, 100),
			    .ahead.overwrites = draw_below(draw, 2),
			    .ahead.after_hit = draw_below(draw, 3),
			    .bus.write_ns = 1 + draw_below(draw, 9 * SLOT),
			    .writes = { .settle_ns = draw_below(draw, 9 * SLOT),
					.spans_max = draw_below(draw, 6),
					.sectors_max = 100,
					.idle_ns = draw_below(draw, 99 * SLOT),
					.order = draw_below(draw, 3) } });
	drive.disk.tracks.velocity -= draw_below(draw, 1000);
	for (i = 0; i < 2; i++) {
		struct track_zone *zone = &zones[i];

		zone->slot -= draw_below(draw, zone->slot / 100);
		zone->angle = draw_u64(draw);
		zone->skew += draw_below(draw, zone->skew);
	}
	CHECK_EQ(drive_check(&drive), 0);
}

/* Return the end of the buffered write that passes soonest; ask a copy of the drive for each. */
static u64 soonest_end(u64 now_ns)
{
	static struct drive asked;
	const struct write_back *writes = &drive.writes;
	u64 least_ns = U64_MAX;
	u64 end = 0;
	u32 i;

	asked = drive;
	read_ahead_stop(&asked.ahead, &asked.disk, &asked.arm, now_ns);
	now_ns = later(now_ns, asked.arm.free_ns);
	for (i = 0; i < writes->nr; i++) {
		u64 ns = arm_first_ns(&asked.arm, &asked.disk, writes->span[i].start,
				      writes->settle_ns, now_ns);

		if (ns < least_ns) {
			least_ns = ns;
			end = writes->span[i].end;
		}
	}
	return end;
}

/* Make the distance in tracks matter: the second zone has longer ways, also over surfaces. */
static void set_ways(struct draw *draw)
{
	seek[2].value = draw_below(draw, 200 * SLOT);
	drive.disk.tracks.step = 60 << 16;
	zones[1].before = 10;
	zones[1].surfaces = draw_below(draw, 3);
	CHECK_EQ(drive_check(&drive), 0);
}

static void none_is_sooner(struct draw *draw)
{
	struct write_back *writes = &drive.writes;
	u64 at_ns = 0;
	bool hit;
	u32 i;

	set_any(draw);
	set_ways(draw);
	drive.buffered = 1;
	writes->spans_max = 16;
	writes->order = WRITE_SHORTEST_POSITIONING;
	for (i = 0; i < 500; i++) {
		at_ns += drive_serve(&drive, draw_below(draw, 4) ? IO_WRITE : IO_READ,
				     draw_below(draw, CAPACITY - 10),
				     1 + draw_below(draw, 9), at_ns, &hit);
		if (writes->nr && !draw_below(draw, 5)) {
			u64 start_ns =
				destage_wait(writes, &drive.ahead, &drive.arm, at_ns);
			u64 end = soonest_end(start_ns);

			at_ns = destage_one(writes, &drive.ahead, &drive.disk,
					    &drive.arm, start_ns);
			CHECK_EQ(drive.arm.head.sector, end);
		}
	}
}

/*
 * Return the angle from the platters' position at that time to the last sector's end, in 2^-64
 * rotations.
 */
static u64 late_by(u64 last, u64 at_ns)
{
	const struct tracks *tracks = &drive.disk.tracks;
	u64 end = platter_angle(tracks, last) + tracks_view(tracks, last).zone->slot;

	return end - at_ns * tracks->velocity;
}

static void served_at_their_angles(struct draw *draw)
{
	u64 at_ns = 0;
	u32 i;

	set_any(draw);
	for (i = 0; i < 500; i++) {
		u64 sector = draw_below(draw, CAPACITY - 150);
		u32 sectors = 1 + draw_below(draw, 150);
		u8 op = draw_below(draw, 2);
		bool hit;
		u64 ns;

		at_ns += draw_below(draw, 3) ? 0 : draw_below(draw, 200 * SLOT);
		ns = drive_serve(&drive, op, sector, sectors, at_ns, &hit);
		CHECK(ns && ns <= drive_slowest_ns(&drive, sectors));
		at_ns += ns;
		if (!hit && !drive.buffered)
			CHECK(late_by(sector + sectors - 1, at_ns) <
			      drive.disk.tracks.velocity);
	}
}

int main(void)
{
	without_a_buffer();
	what_is_just_there_is_not_missed();
	as_soon_as_the_arm_is_there();
	over_a_zone();
	reading_on_stands_at_an_angle();
	the_next_sector_is_missed();
	the_arm_returns_from_where_it_is();
	a_write_waits_for_its_data();
	no_draw_is_taken();
	check_seeds(300, served_at_their_angles);
	check_seeds(100, none_is_sooner);
	return 0;
}

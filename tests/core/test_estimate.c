// SPDX-License-Identifier: MIT
/*
 * The estimate of a positioning time, held against what the drive then does: by hand, and with
 * random drives and loads, in which nothing may come out otherwise because somebody asked.
 */
#include "../../core/drive/estimate.h"
#include "check.h"
#include "laid_out.h"

#define US 1000ull
#define SECTOR (10 * US)
#define BUS (1 * US)
#define HIT (100 * US)
#define WRITE (200 * US)
#define SETTLE (500 * US)
#define TURN (6000 * US)
#define FAR (1000 * US + 2000 * US)
#define CAPACITY 100000

static struct drive drive;
static u64 now;

static void set(struct buffer buffer, bool random)
{
	drive = (struct drive){ .hit_ns = HIT, .buffered = 1, .buffer = buffer };
	drive.random_phase = random;
	drive.buffer.bus_ps = 1000 * BUS;
	drive.buffer.write_ns = WRITE;
	drive.buffer.settle_ns = SETTLE;
	drive.disk = (struct disk){
		.capacity_sectors = CAPACITY,
		.intercept_ns = 1000 * US,
		.rotation_ns = TURN,
		.seek = CURVE({ 0, 0 }, { 1, 2000 * US }, { CAPACITY, 2000 * US }),
		.transfer = CURVE({ 0, 1000 * SECTOR }, { CAPACITY, 1000 * SECTOR }),
	};
	CHECK_EQ(drive_check(&drive), 0);
	drive_reset(&drive);
	now = 0;
}

#define TURN_SECTORS 600
#define SKEW_SECTORS 40

/* The same with angles: 598 sectors on a track, and room for two more. */
static void set_known(struct buffer buffer)
{
	u64 slot = U64_MAX / TURN_SECTORS;

	set(buffer, false);
	drive.disk.tracks = ZONES({ .sectors = TURN_SECTORS - 2,
				    .slot = slot,
				    .skew = SKEW_SECTORS * slot });
	drive.disk.tracks.velocity = U64_MAX / TURN;
	CHECK_EQ(drive_check(&drive), 0);
}

static void set_reading(bool random)
{
	set((struct buffer){ .segments = { .nr = 4, .sectors = 200 },
			     .ahead_sectors = 100,
			     .reach_sectors = 150,
			     .after_hit = AFTER_HIT_GO_ON },
	    random);
}

static void reads(u64 sector, u32 sectors)
{
	bool hit;

	now += drive_serve(&drive, IO_READ, sector, sectors, now, &hit);
}

#define ESTIMATE(op, sector, sectors) estimate_ns(&drive, op, sector, sectors, now)

static void a_far_one_is_a_seek_and_half_a_turn(bool random)
{
	set_reading(random);
	reads(1000, 8);
	CHECK_EQ(ESTIMATE(IO_READ, 50000, 8), FAR + TURN / 2);
	CHECK_EQ(ESTIMATE(IO_WRITE, 50000, 8), FAR + SETTLE + TURN / 2);
	CHECK_EQ(estimate_through_ns(&drive, 50000, now), FAR + SETTLE + TURN / 2);
}

static void what_is_held_costs_its_hit(void)
{
	set_reading(true);
	reads(1000, 8);
	CHECK_EQ(ESTIMATE(IO_READ, 1002, 4), HIT + 4 * BUS);
	now += 50 * SECTOR;
	CHECK_EQ(ESTIMATE(IO_READ, 1008, 40), HIT + 40 * BUS);
}

/* 60 sectors of 10 us are to pass before; a hit is no quicker than a hit. */
static void what_is_read_on_comes_by(void)
{
	set_reading(true);
	reads(1000, 8);
	CHECK_EQ(ESTIMATE(IO_READ, 1068, 4), 60 * SECTOR);
	CHECK_EQ(ESTIMATE(IO_READ, 1009, 4), HIT + 4 * BUS);
}

/* It has stopped at 1108: back there the head waits for the rest of a turn. */
static void where_it_has_stopped_the_angle_is_known(void)
{
	set_reading(true);
	reads(1000, 8);
	now += 200 * SECTOR;
	CHECK_EQ(ESTIMATE(IO_READ, 1108, 4), TURN - 100 * SECTOR);
	set_reading(false);
	reads(1000, 8);
	now += 200 * SECTOR;
	CHECK_EQ(ESTIMATE(IO_READ, 1108, 4), 1000 * US + TURN / 2);
}

/* Nothing is read ahead: 1008 passed when the answer began. */
static void where_it_has_stayed_the_angle_is_known(void)
{
	set((struct buffer){ .writes = { .spans_max = 1, .sectors_max = 16 } }, true);
	reads(1000, 8);
	now += 200 * SECTOR;
	CHECK_EQ(ESTIMATE(IO_READ, 1008, 4), TURN - 200 * SECTOR);
}

static void a_write_is_taken_while_there_is_room(void)
{
	bool hit;

	set((struct buffer){ .writes = { .spans_max = 1,
					 .sectors_max = 16,
					 .idle_ns = 60000000 * US } },
	    true);
	CHECK_EQ(ESTIMATE(IO_WRITE, 500, 16), WRITE + 16 * BUS);
	CHECK_EQ(ESTIMATE(IO_WRITE, 50000, 17), FAR + SETTLE + TURN / 2);
	now += drive_serve(&drive, IO_WRITE, 70000, 8, now, &hit);
	CHECK_EQ(ESTIMATE(IO_WRITE, 50000, 8), FAR + SETTLE + TURN / 2);
	CHECK_EQ(ESTIMATE(IO_READ, 70000, 8), HIT + 8 * BUS);
}

/* It is on its way to the medium: the arm is free when it is there. */
static void a_read_waits_for_what_is_put_away(void)
{
	u64 free_ns;
	bool hit;

	set((struct buffer){ .writes = { .spans_max = 4, .sectors_max = 64 } }, false);
	now += drive_serve(&drive, IO_WRITE, 70000, 8, now, &hit);
	free_ns = FAR + SETTLE + TURN / 2 + 8 * SECTOR;
	CHECK_EQ(ESTIMATE(IO_READ, 500, 8), free_ns + FAR + TURN / 2);
	now += free_ns / 2;
	CHECK_EQ(ESTIMATE(IO_READ, 500, 8), free_ns - free_ns / 2 + FAR + TURN / 2);
}

/* It has begun when somebody asks, whoever that is. */
static void a_write_through_waits_for_it_too(void)
{
	bool hit;

	set((struct buffer){ .writes = { .spans_max = 4, .sectors_max = 64 } }, false);
	now += drive_serve(&drive, IO_WRITE, 70000, 8, now, &hit);
	CHECK_EQ(estimate_through_ns(&drive, 500, now),
		 2 * (FAR + SETTLE + TURN / 2) + 8 * SECTOR);
}

/* The papers' disk: the way and half a turn, and nothing of the transfer. */
static void without_a_buffer_a_write_through_is_a_write(void)
{
	set((struct buffer){ 0 }, false);
	drive.buffered = 0;
	reads(1000, 8);
	CHECK_EQ(ESTIMATE(IO_READ, 50000, 8), FAR + TURN / 2);
	CHECK_EQ(ESTIMATE(IO_READ, 1008, 8), 1000 * US + TURN / 2);
	CHECK_EQ(estimate_through_ns(&drive, 50000, now), FAR + TURN / 2);
	CHECK_EQ(estimate_through_ns(&drive, 1008, now), 1000 * US + TURN / 2);
}

/* Random drives: what the angle does not decide the estimate foretells exactly. */

static struct buffer random_buffer(struct draw *draw)
{
	u64 segments = draw_below(draw, 5);
	u64 size = 1 + draw_below(draw, 300);
	u64 writes = draw_below(draw, 6);

	return (struct buffer){
		.ahead_sectors = segments ? draw_below(draw, size + 1) : 0,
		.reach_sectors = draw_below(draw, 200),
		.ahead_overwrites = draw_below(draw, 2),
		.after_hit = draw_below(draw, 3),
		.segments = { .nr = segments, .sectors = size },
		.writes = { .spans_max = writes,
			    .sectors_max = writes ? 1 + draw_below(draw, 100) : 0,
			    .idle_ns =
				    draw_below(draw, 2) * draw_below(draw, 20000) * US,
			    .order = draw_below(draw, 3) },
	};
}

static void ask_about_anything(struct draw *draw, struct drive *of, u64 at)
{
	u32 questions = draw_below(draw, 4);

	while (questions--) {
		u64 sector = draw_below(draw, 2) ? draw_below(draw, CAPACITY - 100)
						 : draw_below(draw, 500);
		u64 ns = estimate_ns(of, draw_below(draw, 2), sector,
				     1 + draw_below(draw, 100), at);

		CHECK(ns <= drive_slowest_ns(of, 0) || of->buffer.writes.spans_max);
		estimate_through_ns(of, sector, at);
	}
}

/* Two drives alike: one is asked now and then, the other never. */
static void asking_changes_nothing(struct draw *draw)
{
	static struct drive other;
	u32 i;

	set(random_buffer(draw), draw_below(draw, 2));
	drive.seed = draw_u64(draw);
	drive_reset(&drive);
	other = drive;
	for (i = 0; i < 60; i++) {
		u64 sector = draw_below(draw, 2) ? draw_below(draw, CAPACITY - 100)
						 : draw_below(draw, 500);
		u64 pause = draw_below(draw, 2) * draw_below(draw, 30000) * US;
		u32 sectors = 1 + draw_below(draw, 100);
		u8 op = draw_below(draw, 2);
		bool hit, other_hit;
		u64 ns;

		ask_about_anything(draw, &drive, now);
		ask_about_anything(draw, &drive, now + draw_below(draw, pause + 1));
		now += pause;
		ns = drive_serve(&drive, op, sector, sectors, now, &hit);
		CHECK_EQ(ns, drive_serve(&other, op, sector, sectors, now, &other_hit));
		CHECK_EQ(hit, other_hit);
		now += ns;
	}
}

/*
 * A read that hits takes what was foretold; one that the arm has to go for, with the mean phase
 * or angles that are known, and a bus that is quicker than the medium, that and its transfer,
 * which goes over one track's end at most.
 */
static void it_comes_true(struct draw *draw, bool known)
{
	u64 skew_ns = known ? (SKEW_SECTORS + 1) * SECTOR : 0;
	u32 i;

	if (known)
		set_known(random_buffer(draw));
	else
		set(random_buffer(draw), false);
	drive.buffer.writes.spans_max = 0;
	for (i = 0; i < 60; i++) {
		u64 sector = draw_below(draw, 2) ? draw_below(draw, CAPACITY - 100)
						 : draw_below(draw, 500);
		u32 sectors = 1 + draw_below(draw, 100);
		u8 op = draw_below(draw, 4) ? IO_READ : IO_WRITE;
		u64 foretold_ns, ns;
		bool hit;

		now += draw_below(draw, 2) * draw_below(draw, 3000) * US;
		foretold_ns = ESTIMATE(op, sector, sectors);
		ns = drive_serve(&drive, op, sector, sectors, now, &hit);
		if (hit)
			CHECK_EQ(ns, foretold_ns);
		CHECK(ns >= foretold_ns);
		CHECK(ns <= foretold_ns + sectors * SECTOR + skew_ns);
		now += ns;
	}
}

static void it_comes_true_on_average(struct draw *draw)
{
	it_comes_true(draw, false);
}

static void it_comes_true_to_the_angle(struct draw *draw)
{
	it_comes_true(draw, true);
}

/* Without a buffer it is the same platter. */
static void without_a_buffer_it_comes_true(void)
{
	u64 foretold_ns, ns, sector;
	bool hit;

	set_known((struct buffer){ 0 });
	drive.buffered = 0;
	for (sector = 7; sector < CAPACITY; sector += 1237) {
		foretold_ns = ESTIMATE(IO_READ, sector, 1);
		ns = drive_serve(&drive, IO_READ, sector, 1, now, &hit);
		CHECK(ns >= foretold_ns + SECTOR - 5 && ns <= foretold_ns + SECTOR + 5);
		now += ns + sector;
	}
}

int main(void)
{
	a_far_one_is_a_seek_and_half_a_turn(false);
	a_far_one_is_a_seek_and_half_a_turn(true);
	what_is_held_costs_its_hit();
	what_is_read_on_comes_by();
	where_it_has_stopped_the_angle_is_known();
	where_it_has_stayed_the_angle_is_known();
	a_write_is_taken_while_there_is_room();
	a_read_waits_for_what_is_put_away();
	a_write_through_waits_for_it_too();
	without_a_buffer_a_write_through_is_a_write();
	check_seeds(2000, asking_changes_nothing);
	check_seeds(2000, it_comes_true_on_average);
	check_seeds(2000, it_comes_true_to_the_angle);
	without_a_buffer_it_comes_true();
	return 0;
}

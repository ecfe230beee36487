// SPDX-License-Identifier: MIT
/*
 * Plans: a drive does what its plan says, at the planned time, and asking for a plan changes
 * nothing.  Random drives and loads, and a few cases by hand.
 */
#include "../../core/drive/command_queue.h"
#include "../../core/least.h"
#include "check.h"
#include "laid_out.h"

#define US 1000ull
#define TURN (6000 * US)
#define TURN_SECTORS 600
#define SECTOR (TURN / TURN_SECTORS)
#define SKEW_SECTORS 40
#define CAPACITY 100000

static struct drive drive;
static u64 now;

static void set_disk(bool known, u64 step)
{
	u64 slot = U64_MAX / TURN_SECTORS;

	drive.disk = (struct disk){
		.capacity_sectors = CAPACITY,
		.rotation_ns = TURN,
		.seek = CURVE({ 0, 700 * US }, { 1, 2000 * US },
			      { CAPACITY, 5000 * US }),
		.transfer = CURVE({ 0, 1000 * SECTOR }, { CAPACITY, 1000 * SECTOR }),
		.tracks = ZONES({ .sectors = TURN_SECTORS - 2 }),
	};
	if (!known)
		return;
	drive.disk.tracks = ZONES(
		{ .sectors = TURN_SECTORS - 2,
		  .slot = slot,
		  .skew = SKEW_SECTORS * slot,
		  .cylinder = { 4, 4 * (TURN_SECTORS - 2), SKEW_SECTORS * slot } });
	drive.disk.tracks.velocity = U64_MAX / TURN;
	drive.disk.tracks.step = step;
}

/* Set a random drive, with a buffer in seven of eight cases. */
static void set_any(struct draw *draw, bool known)
{
	u64 segments = draw_below(draw, 6);
	u64 size = 1 + draw_below(draw, 300);
	u64 writes = draw_below(draw, 6);

	drive = (struct drive){
		.bus = { .sector_ps =
				 draw_below(draw, 2) * draw_below(draw, 2000 * SECTOR),
			 .hit_ns = draw_below(draw, 200 * US),
			 .write_ns = draw_below(draw, 300 * US) },
		.cache = { .segments = draw_below(draw, 4), .segment_sectors = 100 },
		.buffered = draw_below(draw, 8) > 0,
		.ahead = { .sectors = segments ? draw_below(draw, size + 1) : 0,
			   .reach_sectors = draw_below(draw, 200),
			   .to_track_end = draw_below(draw, 2),
			   .overwrites = draw_below(draw, 2),
			   .after_hit = draw_below(draw, 3),
			   .segments = { .nr = segments, .sectors = size } },
		.writes = { .spans_max = writes,
			    .sectors_max = writes ? 1 + draw_below(draw, 100) : 0,
			    .idle_ns =
				    draw_below(draw, 2) * draw_below(draw, 20000) * US,
			    .order = draw_below(draw, 3),
			    .settle_ns = draw_below(draw, 500 * US) },
	};
	drive.arm.seed = draw_u64(draw);
	set_disk(known, draw_below(draw, 2) * (60 << 16));
	CHECK_EQ(drive_check(&drive), 0);
	drive_reset(&drive);
	now = 0;
}

/* Return a random command, often where the last one was, or at the beginning. */
static struct command any_command(struct draw *draw)
{
	static u64 last;
	u64 sector = draw_below(draw, CAPACITY - 200);

	if (draw_below(draw, 3) == 0)
		sector = draw_below(draw, 500);
	else if (draw_below(draw, 3))
		sector = nearer(last + draw_below(draw, 3) * draw_below(draw, 40),
				CAPACITY - 200);
	last = sector + 1 + draw_below(draw, 100);
	return (struct command){ .op = draw_below(draw, 3) ? IO_READ : IO_WRITE,
				 .sector = sector,
				 .sectors = last - sector };
}

/* Return when the command completes according to the plan, calculated independently. */
static u64 planned_done_ns(const struct command *command, const struct drive_plan *plan,
			   u64 first_ns, u64 hit_ns)
{
	const struct disk *disk = &drive.disk;
	u64 end = command->sector + command->sectors;
	u64 last_ns, done_ns;

	switch (plan->kind) {
	case PLAN_MEDIUM:
		done_ns = disk_sent_ns(disk, plan->first, end - plan->first, first_ns,
				       drive.bus.sector_ps, &last_ns);
		return plan->segment == SEGMENTS_NONE ? done_ns
						      : later(done_ns, now + hit_ns);
	case PLAN_THROUGH:
		first_ns =
			arm_ready_ns(disk, command->sector, first_ns,
				     now + bus_write_ns(&drive.bus, command->sectors));
		return disk_end_ns(disk, command->sector, command->sectors, first_ns);
	default:
		return first_ns;
	}
}

static bool is_hit(const struct drive_plan *plan)
{
	return plan->kind == PLAN_HELD || plan->kind == PLAN_AHEAD ||
	       plan->kind == PLAN_WRITTEN;
}

/*
 * Compare a command's plan and its time with what a copy of the drive does.  A plan cannot foresee
 * what a pending write leaves in segments, or the time of a destage that must come first.
 */
static void holds_true(struct command *command)
{
	static struct drive copy;
	struct drive_outlook look = drive_look(&drive, now);
	struct drive_plan plan;
	u64 first_ns, hit_ns, done_ns;
	bool hit;

	plan_look(&drive, &look);
	plan_aim(&drive, command);
	plan = drive_plan(&drive, &look, command);
	first_ns = plan_first_ns(&drive, &look, command, U64_MAX);
	hit_ns = drive.bus.hit_ns +
		 (drive.buffered ? bus_ns(&drive.bus, command->sectors) : 0);
	done_ns = planned_done_ns(command, &plan, first_ns, hit_ns);
	copy = drive;
	look.now_ns = now + drive_commit(&copy, command, &plan, now, &hit);
	CHECK(look.now_ns >= first_ns || plan.write_first || plan.kind == PLAN_ROOM ||
	      write_back_is_busy(&drive.writes));
	if (plan.write_first || plan.kind == PLAN_ROOM ||
	    (write_back_is_busy(&drive.writes) && plan.kind == PLAN_MEDIUM))
		return;
	CHECK_EQ(hit, is_hit(&plan));
	if (!drive.buffered && !hit)
		return; /* without a bus: test_positions.c */
	if (plan.kind != PLAN_WAITS)
		CHECK_EQ(look.now_ns, done_ns);
	else
		CHECK(look.now_ns >= later(first_ns, now + hit_ns));
}

static void serve(struct draw *draw, struct drive *of, const struct command *command)
{
	bool hit;

	if (command->through)
		now += drive_serve_through(of, command->sector, command->sectors, now);
	else
		now += drive_serve(of, command->op, command->sector, command->sectors,
				   now, &hit);
	now += draw_below(draw, 2) * draw_below(draw, 30000) * US;
}

static void plans_hold_true(struct draw *draw)
{
	u32 i;

	set_any(draw, draw_below(draw, 4) > 0);
	for (i = 0; i < 80; i++) {
		struct command command = any_command(draw);

		command.through = command.op == IO_WRITE && !draw_below(draw, 4);
		holds_true(&command);
		serve(draw, &drive, &command);
	}
}

static void ask_about_anything(struct draw *draw)
{
	u32 questions = draw_below(draw, 4);

	while (questions--) {
		struct command of = any_command(draw);

		estimate_ns(&drive, of.op, of.sector, of.sectors, now);
		estimate_through_ns(&drive, of.sector, now);
	}
}

/*
 * Two equal drives, with random latencies or without: asking one for plans now and then must not
 * change its times.
 */
static void asking_changes_nothing(struct draw *draw)
{
	static struct drive other;
	u32 i;

	set_any(draw, false);
	drive.arm.random_phase = draw_below(draw, 2);
	other = drive;
	for (i = 0; i < 60; i++) {
		struct command command = any_command(draw);
		u64 pause = draw_below(draw, 2) * draw_below(draw, 30000) * US;
		bool hit, other_hit;
		u64 ns;

		ask_about_anything(draw);
		now += pause;
		ask_about_anything(draw);
		ns = drive_serve(&drive, command.op, command.sector, command.sectors,
				 now, &hit);
		CHECK_EQ(ns, drive_serve(&other, command.op, command.sector,
					 command.sectors, now, &other_hit));
		CHECK_EQ(hit, other_hit);
		now += ns;
	}
}

/*
 * A far command takes a seek and half a rotation, even if latencies are random; a write also
 * settles.
 */
static void a_far_one_is_a_seek_and_half_a_turn(bool random)
{
	drive = (struct drive){ .buffered = 1, .writes.settle_ns = 500 * US };
	set_disk(false, 0);
	drive.arm.random_phase = random;
	drive_reset(&drive);
	SAMPLE(drive.disk.seek, 2).value = 2000 * US;
	CHECK_EQ(estimate_ns(&drive, IO_READ, 50000, 8, 0), 2000 * US + TURN / 2);
	CHECK_EQ(estimate_ns(&drive, IO_WRITE, 50000, 8, 0), 2500 * US + TURN / 2);
	CHECK_EQ(estimate_through_ns(&drive, 50000, 0), 2500 * US + TURN / 2);
}

/* The papers' disk: seek and half a rotation, without transfer or settling. */
static void without_a_buffer_a_write_is_a_read(void)
{
	drive = (struct drive){ .writes.settle_ns = 500 * US };
	set_disk(false, 0);
	SAMPLE(drive.disk.seek, 2).value = 2000 * US;
	CHECK_EQ(estimate_ns(&drive, IO_WRITE, 50000, 8, 0), 2000 * US + TURN / 2);
	CHECK_EQ(estimate_through_ns(&drive, 50000, 0), 2000 * US + TURN / 2);
}

/* A destage that ended since the last command counts: the arm is where the destage ended. */
static void what_was_destaged_meanwhile_counts(void)
{
	u64 ns;
	bool hit;

	drive = (struct drive){ .buffered = 1,
				.writes = { .spans_max = 1, .sectors_max = 8 } };
	set_disk(true, 0);
	drive_reset(&drive);
	drive_serve(&drive, IO_WRITE, 70000, 8, 0, &hit);
	ns = estimate_ns(&drive, IO_READ, 70300, 8, 100 * TURN);
	CHECK_EQ(ns, estimate_ns(&drive, IO_READ, 70300, 8, 100 * TURN));
	CHECK(ns < 700 * US + TURN);
}

int main(void)
{
	check_seeds(4000, plans_hold_true);
	check_seeds(2000, asking_changes_nothing);
	a_far_one_is_a_seek_and_half_a_turn(false);
	a_far_one_is_a_seek_and_half_a_turn(true);
	without_a_buffer_a_write_is_a_read();
	what_was_destaged_meanwhile_counts();
	return 0;
}

// SPDX-License-Identifier: MIT
/*
 * A device in virtual time.  It is compared with a naive implementation that knows all
 * commands in advance and searches them, and checked by hand on a drive with round
 * times.
 */
#include <string.h>

#include "../../core/drive/device.h"
#include "../../core/least.h"
#include "check.h"
#include "laid_out.h"

#define MS 1000000ull
#define CAPACITY 100000
#define COMMANDS 200
#define SERVERS_MAX 40
#define AGED (60000 * MS)

static struct timed_device device;
static struct command command[COMMANDS];
static u64 free_ns[SERVERS_MAX];

/* Seeks take 1 ms to 10 ms over the disk. */
static void set(u64 depth, u64 age_ns)
{
	u32 i;

	memset(&device, 0, sizeof(device));
	memset(command, 0xff, sizeof(command)); /* whatever it was before */
	for (i = 0; i < COMMANDS; i++)
		command[i].through = false;
	device.scale_milli = 1000;
	device.drive.queue_depth = depth;
	device.drive.queue_age_ns = age_ns;
	linear(&device.drive.disk, CAPACITY, MS, 10 * MS);
}

static void start(u64 now_ns)
{
	CHECK_EQ(drive_check(&device.drive), 0);
	device_restart(&device, device.array.servers ? free_ns : NULL, now_ns);
}

static void set_started(u64 depth)
{
	set(depth, AGED);
	start(0);
}

/* 1 ms anywhere. */
static void set_flat(void)
{
	set(8, AGED);
	linear(&device.drive.disk, CAPACITY, MS, 0);
	start(0);
}

static void set_array(u64 servers)
{
	set(0, 0);
	device.array = (struct array){ .servers = servers, .mean_service_ns = 4 * MS };
	start(0);
}

static struct command *give(u32 i, u8 op, u64 sector, u64 now_ns)
{
	command[i].op = op;
	command[i].sector = sector;
	command[i].sectors = 8;
	device_give(&device, &command[i], now_ns);
	return &command[i];
}

static void is_served(const struct command *is, u64 start_ns, u64 due_ns)
{
	CHECK(!is->waits);
	CHECK_EQ(is->start_ns, start_ns);
	CHECK_EQ(is->due_ns, due_ns);
}

/* ---- by hand */

static void a_free_drive_begins_at_once_and_a_busy_one_when_it_is_free(void)
{
	set_flat();
	is_served(give(0, IO_READ, 0, 5 * MS), 5 * MS, 6 * MS);
	CHECK_EQ(device_next_ns(&device), U64_MAX);
	CHECK(give(1, IO_READ, 8, 5 * MS)->waits);
	CHECK_EQ(device_next_ns(&device), 6 * MS);
	CHECK(!device_next(&device, 6 * MS - 1));
	CHECK(device_next(&device, 900 * MS) == &command[1]);
	is_served(&command[1], 6 * MS, 7 * MS);
	CHECK(!device_next(&device, 900 * MS));
	CHECK(device_is_free(&device));
	is_served(give(2, IO_READ, 16, 900 * MS), 900 * MS, 901 * MS);
}

static void one_that_is_withdrawn_is_not_served(void)
{
	set_flat();
	give(0, IO_READ, 0, 0);
	give(1, IO_READ, 0, 0);
	give(2, IO_READ, 0, 0);
	device_withdraw(&device, &command[1]);
	device_withdraw(&device, &command[0]);
	CHECK(device_next(&device, MS) == &command[2]);
	CHECK(!command[1].waits);
}

/* A command without data still waits in the queue, and is the next one served. */
static void what_moves_no_data_takes_no_time(void)
{
	set_flat();
	is_served(give(0, COMMAND_NOTHING, 2 * CAPACITY, 0), 0, 0);
	CHECK(give(1, IO_READ, 0, 0)->waits);
	CHECK(give(2, COMMAND_NOTHING, 2 * CAPACITY, 0)->waits);
	CHECK(device_next(&device, 0) == &command[2]);
	CHECK(device_next(&device, 0) == &command[1]);
	is_served(&command[1], 0, MS);
	set_array(1);
	is_served(give(0, IO_READ, 0, 0), 0, 4 * MS);
	is_served(give(1, COMMAND_FLUSH, 0, 1), 1, 1);
	CHECK(!command[1].hit && !command[1].service_ns);
	is_served(give(2, COMMAND_NOTHING, 0, 2), 2, 2);
	is_served(give(3, IO_WRITE, 0, 3), 4 * MS, 8 * MS);
}

static void late(u32 i, u64 start_ns, u64 now_ns)
{
	command[i] = (struct command){ .sectors = 8 };
	device_give_late(&device, &command[i], start_ns, now_ns);
}

static void a_late_one_begins_before_it_is_given(void)
{
	set_flat();
	give(0, IO_READ, 0, 0);
	CHECK(!device_next(&device, 5 * MS));
	CHECK_EQ(device_free_ns(&device), MS);
	late(1, MS, 5 * MS);
	is_served(&command[1], MS, 5 * MS); /* without the delay, due at 2 ms */
	CHECK(give(2, IO_READ, 0, 5 * MS)->waits);
	CHECK(device_next(&device, 5 * MS) == &command[2]);
	is_served(&command[2], 5 * MS, 6 * MS);
	late(3, 5 * MS, 5 * MS);
	CHECK(command[3].waits && device_next(&device, 6 * MS) == &command[3]);
	is_served(&command[3], 6 * MS, 7 * MS);
}

static void where_nobody_waits_for_a_server_none_is_remembered(void)
{
	u32 i;

	set_array(1);
	device_restart(&device, NULL, 0);
	for (i = 0; i < 3; i++)
		is_served(give(i, IO_READ, 0, i), i, i + 4 * MS);
	device_serve_for(&device, &command[3], 7, 9);
	is_served(&command[3], 9, 16);
}

/* Commands in service keep their due time; a turning drive's clock continues without a jump. */
static void k_changes_for_those_that_begin_after_it(void)
{
	set_flat();
	device_set_scale(&device, 3000, 0);
	is_served(give(0, IO_READ, 0, 0), 0, 3 * MS);
	device_set_scale(&device, 2500, MS);
	CHECK_EQ(device_free_ns(&device), 3 * MS);
	CHECK_EQ(device.drive_ns, MS);
	give(1, IO_READ, 8, 2 * MS);
	CHECK(device_next(&device, 3 * MS) == &command[1]);
	is_served(&command[1], 3 * MS, 5500000);
	CHECK_EQ(command[1].service_ns, MS);
	CHECK(!device_next(&device, 8 * MS));
	device_set_scale(&device, 1000, 8 * MS);
	CHECK_EQ(device.drive_ns, 3 * MS);
	CHECK_EQ(device_free_ns(&device), 8 * MS);
	CHECK_EQ(device_scaled_ns(&device, U64_MAX), U64_MAX);
	device_set_scale(&device, 1001, 8 * MS);
	CHECK_EQ(device_scaled_ns(&device, U64_MAX), U64_MAX);
	CHECK_EQ(device_scaled_ns(&device, 999), 999);
	CHECK_EQ(device_scaled_ns(&device, 1000), 1001);
}

/* A quotient that overflowed 64 bits would crash a kernel. */
static void the_fastest_clock_stops_after_half_a_year(void)
{
	set_started(8);
	device_set_scale(&device, 1, 0);
	give(0, IO_READ, 0, U64_MAX / 2);
	CHECK_EQ(device.drive_ns, U64_MAX / 1000 * 1000);
}

static void an_estimate_is_of_when_it_is_free(void)
{
	struct io_request rq = { .sector = 50000, .sectors = 8 };

	set_started(8);
	device.drive.cache.segments = 1;
	device.drive.cache.segment_sectors = 64;
	device.drive.bus.hit_ns = 7;
	CHECK_EQ(device_positioning_ns(&device, &rq, 0), 6 * MS);
	give(0, IO_READ, 49992, 0);
	CHECK_EQ(device_positioning_ns(&device, &rq, 0), MS);
	device_set_scale(&device, 2000, 0);
	CHECK_EQ(device_positioning_ns(&device, &rq, 0), 2 * MS);
	rq.sector = 49992;
	CHECK_EQ(device_positioning_ns(&device, &rq, 0), 14);
}

/* A restart clears the drive's state and its clock. */
static void a_restart_repeats_everything(void)
{
	u64 first_ns;

	set_started(8);
	device_set_scale(&device, 2000, 0);
	give(0, IO_READ, 50000, 5 * MS);
	device_restart(&device, NULL, 9 * MS);
	CHECK(device_is_free(&device));
	CHECK_EQ(device_free_ns(&device), 9 * MS);
	CHECK_EQ(device.drive_ns + device.at_ns + device.drive.arm.free_ns, 0);
	is_served(give(0, IO_READ, 50000, 9 * MS), 9 * MS, 21 * MS);
	set_array(1);
	device.array.exponential = 1;
	device.array_seed = 5;
	device_restart(&device, free_ns, 7);
	first_ns = give(0, IO_READ, 0, 7)->due_ns;
	CHECK(give(1, IO_READ, 0, 7)->service_ns != command[0].service_ns);
	device_restart(&device, free_ns, 7);
	is_served(give(0, IO_READ, 0, 7), 7, first_ns);
}

/* ---- against a naive implementation */

struct asked {
	u64 given_ns;
	u64 given_drive_ns;
	bool done;
};

static struct drive naive;
static struct asked asked[COMMANDS];

static u64 naive_clock_ns(u64 anchor_drive_ns, u64 anchor_ns, u64 at_ns)
{
	return anchor_drive_ns + (at_ns - anchor_ns) * 1000 / device.scale_milli;
}

static u64 wait_ns(const struct command *of, u64 drive_ns)
{
	if (of->op >= IO_OPS)
		return 0;
	if (of->through && naive.buffered)
		return estimate_through_ns(&naive, of->sector, drive_ns);
	return estimate_ns(&naive, of->op, of->sector, of->sectors, drive_ns);
}

/*
 * Of the oldest commands in the queue, return the soonest, or the first command if that
 * is too old.
 */
static u32 naive_choice(u32 first, u64 now_ns, u64 drive_ns)
{
	u64 best_ns = U64_MAX;
	u32 best = first, seen = 0, i;

	if (drive_ns >= asked[first].given_drive_ns + device.drive.queue_age_ns)
		return first;
	for (i = first; i < COMMANDS && asked[i].given_ns < now_ns; i++) {
		u64 ns;

		if (asked[i].done || seen++ >= device.drive.queue_depth)
			continue;
		ns = wait_ns(&command[i], drive_ns);
		if (ns < best_ns) {
			best = i;
			best_ns = ns;
		}
	}
	return best;
}

static u64 naive_service_ns(const struct command *of, u64 drive_ns, bool *hit)
{
	*hit = false;
	if (of->op == COMMAND_FLUSH)
		return drive_flush(&naive, drive_ns);
	if (of->op == COMMAND_NOTHING)
		return 0;
	if (of->through)
		return drive_serve_through(&naive, of->sector, of->sectors, drive_ns);
	return drive_serve(&naive, of->op, of->sector, of->sectors, drive_ns, hit);
}

static void served_as_told(void)
{
	u64 at_ns = 0, drive_ns = 0, done_ns = 0;
	u32 first = 0;

	while (first < COMMANDS) {
		u64 start_ns = later(asked[first].given_ns, done_ns), ns;
		u32 next;
		bool hit;

		drive_ns = naive_clock_ns(drive_ns, at_ns, start_ns);
		at_ns = start_ns;
		next = naive_choice(first, start_ns, drive_ns);
		ns = naive_service_ns(&command[next], drive_ns, &hit);
		done_ns = start_ns + ns * device.scale_milli / 1000;
		CHECK_EQ(command[next].service_ns, ns);
		CHECK_EQ(command[next].hit, hit);
		is_served(&command[next], start_ns, done_ns);
		asked[next].done = true;
		while (first < COMMANDS && asked[first].done)
			first++;
	}
}

static void any_drive(struct draw *draw)
{
	struct drive *drive = &device.drive;

	set(draw_below(draw, 10), draw_below(draw, 60) * MS);
	device.scale_milli = draw_below(draw, 2) ? 1000 : 300 + draw_below(draw, 5000);
	device.drive.bus.hit_ns = MS / 10;
	device.drive.cache.segments = 2;
	device.drive.cache.segment_sectors = 64;
	device.drive.buffered = draw_below(draw, 2);
	if (!device.drive.buffered)
		return;
	drive->bus.sector_ps = 1000000;
	drive->writes.settle_ns = draw_below(draw, MS);
	drive->ahead.segments.nr = 4;
	drive->ahead.segments.sectors = 100;
	drive->writes.spans_max = 1 + draw_below(draw, 8);
	drive->writes.sectors_max = 64;
	drive->writes.idle_ns = draw_below(draw, 5 * MS);
}

static struct command any_command(struct draw *draw)
{
	u8 op = draw_below(draw, 8);

	return (struct command){
		.sector = draw_below(draw, 2) ? draw_below(draw, CAPACITY - 8)
					      : 8 * draw_below(draw, 60),
		.sectors = 8,
		.op = op <= COMMAND_NOTHING ? op : op % IO_OPS,
		.through = op == IO_WRITE && draw_below(draw, 2),
	};
}

/* The host may handle a completion late, but before it gives the next command. */
static void as_it_is_told(struct draw *draw)
{
	u64 now_ns = 0;
	u32 i;

	any_drive(draw);
	start(0);
	naive = device.drive;
	for (i = 0; i < COMMANDS; i++) {
		now_ns += 1 + draw_below(draw, 2) * draw_below(draw, 8 * MS);
		command[i] = any_command(draw);
		while (device_next(&device, now_ns))
			;
		asked[i] = (struct asked){
			.given_ns = now_ns,
			.given_drive_ns =
				naive_clock_ns(device.drive_ns, device.at_ns, now_ns),
		};
		device_give(&device, &command[i], now_ns);
	}
	while (device_next(&device, U64_MAX))
		;
	served_as_told();
}

/* The first server that is free takes the next command; service times are drawn in that order. */
static void an_array_as_it_is_told(struct draw *draw)
{
	u64 nr = 1 + draw_below(draw, SERVERS_MAX), now_ns = 0;
	u64 server_ns[SERVERS_MAX] = { 0 };
	struct draw service;
	u32 i, j;

	set_array(nr);
	device.array.exponential = 1;
	device.array_seed = draw_u64(draw);
	device.scale_milli = 1000 + 500 * draw_below(draw, 3);
	array_seed(&service, device.array_seed);
	start(0);
	for (i = 0; i < COMMANDS; i++) {
		u64 start_ns, ns, *first = server_ns;

		now_ns += draw_below(draw, 10 * MS / nr);
		for (j = 1; j < nr; j++)
			if (server_ns[j] < *first)
				first = &server_ns[j];
		start_ns = *first > now_ns ? *first : now_ns;
		ns = array_service_ns(&device.array, &service);
		*first = start_ns + ns * device.scale_milli / 1000;
		is_served(give(i, draw_below(draw, IO_OPS), 0, now_ns), start_ns,
			  *first);
		CHECK_EQ(command[i].service_ns, ns);
		CHECK(!command[i].hit);
		CHECK(!device_next(&device, U64_MAX));
	}
}

int main(void)
{
	a_free_drive_begins_at_once_and_a_busy_one_when_it_is_free();
	one_that_is_withdrawn_is_not_served();
	what_moves_no_data_takes_no_time();
	a_late_one_begins_before_it_is_given();
	where_nobody_waits_for_a_server_none_is_remembered();
	k_changes_for_those_that_begin_after_it();
	the_fastest_clock_stops_after_half_a_year();
	an_estimate_is_of_when_it_is_free();
	a_restart_repeats_everything();
	check_seeds(400, as_it_is_told);
	check_seeds(300, an_array_as_it_is_told);
	return 0;
}

// SPDX-License-Identifier: MIT
/*
 * positions PHASE BUFFER WRITES PROCESSES QUEUE REQUESTS: simulates processes without think time
 * that read and write 4 KiB at random locations on a disk of 16 zones.  Prints the CPU time per
 * request in ns.  PHASE is "drawn" if rotational latencies are random, "known" if the angle of each
 * sector is known, or "slipped" for "known" with 400 slipped sectors.  BUFFER is 1 for a disk with
 * all features of a buffer, or 0 for a disk without a buffer.  WRITES is the share of writes in per
 * cent.  QUEUE is the number of commands among which the drive chooses.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../sim/check.h"
#include "../../tests/core/schedulers.h"
#include "inputs.h"

#define CAPACITY (1ull << 21)
#define TURN_NS 6000000ull
#define ZONES 16
#define SAMPLES 400
#define SLIPS 400
#define WAITING 16 /* number of writes in the buffer */
/* a fraction n of a rotation, as an angle */
#define TURN_PART(n) ((u64)((n)*18446744073709551616.0))

static struct drive drive;
static struct sim_summary summary;

static u64 track_sectors(u32 zone)
{
	return 1000 - 30 * zone;
}

/* Sets the disk's seek curve (many samples), and each zone's tracks and time per sector. */
static void set_disk(struct disk *disk)
{
	static struct curve_point seek[SAMPLES], transfer[ZONES + 1];
	static struct track_zone zone[ZONES];
	u32 i;

	disk->capacity_sectors = CAPACITY;
	disk->rotation_ns = TURN_NS;
	disk->switch_ns = 900000;
	disk->seek = (struct curve){ SAMPLES, seek };
	for (i = 0; i < SAMPLES; i++)
		seek[i] = (struct curve_point){ CAPACITY * i / (SAMPLES - 1),
						500000 + 20000ull * i };
	disk->transfer = (struct curve){ ZONES + 1, transfer };
	for (i = 0; i <= ZONES; i++)
		transfer[i] = (struct curve_point){ CAPACITY * i / ZONES,
						    1000 * TURN_NS / track_sectors(i) };
	disk->tracks = (struct tracks){ .nr_zones = ZONES, .zone = zone };
	for (i = 0; i < ZONES; i++)
		zone[i] = (struct track_zone){
			.first = CAPACITY * i / ZONES,
			.sectors = track_sectors(i),
			.slot = U64_MAX / (track_sectors(i) + 10),
			.angle = TURN_PART(0.3),
			.skew = TURN_PART(0.15),
			.cylinder = { 4, 4 * track_sectors(i), TURN_PART(0.2) },
			.band = { 64, 64 * track_sectors(i), TURN_PART(0.25) },
		};
}

/* Adds slipped sectors. */
static void set_slips(struct tracks *tracks)
{
	static struct track_slip slip[SLIPS];
	u32 i;

	for (i = 0; i < SLIPS; i++)
		slip[i] = (struct track_slip){ CAPACITY * i / SLIPS + 77,
					       1 + i % (SLIPS / ZONES) };
	tracks->nr_slips = SLIPS;
	tracks->slip = slip;
}

static void set_buffer(void)
{
	drive.buffered = 1;
	drive.bus.sector_ps = 5000000;
	drive.bus.write_ns = 100000;
	drive.ahead.sectors = 512;
	drive.ahead.reach_sectors = 100;
	drive.ahead.overwrites = 1;
	drive.ahead.after_hit = AFTER_HIT_RETURN;
	drive.ahead.segments.nr = 16;
	drive.ahead.segments.sectors = 512;
	drive.writes.spans_max = WAITING;
	drive.writes.sectors_max = 2048;
	drive.writes.settle_ns = 100000;
	drive.writes.idle_ns = 2000000;
	drive.writes.order = WRITE_SHORTEST_POSITIONING;
}

static void set_drive(bool known, bool slipped, bool buffered, u64 queue)
{
	set_disk(&drive.disk);
	drive.bus.hit_ns = 100000;
	drive.arm.random_phase = !known;
	drive.queue_depth = queue;
	drive.queue_age_ns = 60000000000ull;
	if (known)
		drive.disk.tracks.velocity = U64_MAX / TURN_NS;
	if (slipped)
		set_slips(&drive.disk.tracks);
	if (buffered)
		set_buffer();
}

static u64 *parameter(const struct workload *workload, const char *name)
{
	u32 i = 0;

	while (strcmp(workload->parameters[i].name, name))
		i++;
	return &parameters[i];
}

/* A separate function, so that its instructions can be counted. */
static __attribute__((noipa)) int run(const struct sim_input *input)
{
	return sim_run(input, &summary);
}

int main(int argc, char **argv)
{
	struct sim_watch watch = { 0 };
	clock_t began;
	struct sim_input input = {
		.scheduler = registry_find("fcfs"),
		.tunables = tunables,
		.workload = find_workload("random"),
		.parameters = parameters,
		.world = { .capacity_sectors = CAPACITY, .seed = 1 },
		.drive = &drive,
		.max_pending = 1024,
		.merge_sectors = 2560,
		.watch = &watch,
	};

	if (argc != 7)
		return 2;
	input.world.processes = atoi(argv[4]);
	input.depth = atoi(argv[5]);
	set_drive(strcmp(argv[1], "drawn"), !strcmp(argv[1], "slipped"), atoi(argv[2]),
		  input.depth);
	set_initial(tunables, input.scheduler->tunables, input.scheduler->nr_tunables);
	set_initial(parameters, input.workload->parameters,
		    input.workload->nr_parameters);
	*parameter(input.workload, "writes_percent") = atoi(argv[3]);
	input.requests = atoi(argv[6]);
	summary.counters = counters;
	began = clock();
	if (sim_check(&input, 0, 0) || run(&input))
		return 1;
	printf("%.1f\n", 1e9 / CLOCKS_PER_SEC * (clock() - began) / input.requests);
	return 0;
}

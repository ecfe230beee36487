// SPDX-License-Identifier: MIT
/*
 * dispatch SCHEDULER OWNERS DISPATCHES THINK_NS [TUNABLE VALUE]: runs a closed loop in virtual
 * time.  Each owner reads 8 sectors at a random location on the papers' disk, waits for the read to
 * complete, thinks for THINK_NS, and reads again.  Prints the CPU time per dispatch in ns,
 * including the time of the simulated host and disk.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../core/draw.h"
#include "../../core/drive/drive.h"
#include "../../core/drive/drive.h"
#include "../../tests/core/schedulers.h"

#define CAPACITY 143374744ull
#define MS 1000000ull
#define OWNERS_MAX 1024

/* All owners think for the same time, so they wake in the order in which they were served. */
struct loop {
	const struct scheduler *scheduler;
	void *state;
	struct drive drive;
	struct draw draw;
	u64 now_ns;
	u64 think_ns;
	u64 next_id;
	u32 owners;
	struct io_request request[OWNERS_MAX];
	u64 wake_ns[OWNERS_MAX];
	u32 thinker[OWNERS_MAX]; /* ring buffer of the thinking owners */
	u32 first_thinker, nr_thinkers;
};

static struct loop loop;

static void think(u32 owner)
{
	u32 i = (loop.first_thinker + loop.nr_thinkers++) % loop.owners;

	loop.thinker[i] = owner;
	loop.wake_ns[i] = loop.now_ns + loop.think_ns;
}

static void wake_until(u64 now_ns)
{
	while (loop.nr_thinkers && loop.wake_ns[loop.first_thinker] <= now_ns) {
		u32 i = loop.first_thinker;
		struct io_request *rq = &loop.request[loop.thinker[i]];

		*rq = (struct io_request){
			.sector = draw_below(&loop.draw, CAPACITY - 8),
			.sectors = 8,
			.arrival_ns = loop.wake_ns[i],
			.id = ++loop.next_id,
			.owner = loop.thinker[i],
			.weight = IO_WEIGHT_DEFAULT,
			.io_class = IO_CLASS_BEST_EFFORT,
			.level = IO_LEVEL_DEFAULT,
		};
		loop.scheduler->add(loop.state, rq, rq->arrival_ns);
		loop.first_thinker = (i + 1) % loop.owners;
		loop.nr_thinkers--;
	}
	loop.now_ns = now_ns;
}

/* Lets time pass until until_ns, or until an owner wakes, without serving a request. */
static void idle(u64 until_ns)
{
	u64 next_ns = loop.nr_thinkers ? loop.wake_ns[loop.first_thinker] : U64_MAX;

	wake_until(until_ns && until_ns < next_ns ? until_ns : next_ns);
}

static void serve(struct io_request *rq)
{
	bool hit;

	wake_until(loop.now_ns + drive_serve(&loop.drive, rq->op, rq->sector,
					     rq->sectors, loop.now_ns, &hit));
	if (loop.scheduler->completed)
		loop.scheduler->completed(loop.state, rq, loop.now_ns);
	think(rq->owner);
	wake_until(loop.now_ns);
}

/* A separate function, so that its instructions can be counted. */
static __attribute__((noipa)) void run(u64 dispatches)
{
	while (dispatches) {
		u64 wake_ns = 0;
		struct io_request *rq =
			loop.scheduler->next(loop.state, loop.now_ns, &wake_ns);

		if (!rq) {
			idle(wake_ns);
			continue;
		}
		serve(rq);
		dispatches--;
	}
}

static bool tune(const char *name, u64 value)
{
	const struct scheduler *scheduler = loop.scheduler;
	u32 i = 0;

	while (i < scheduler->nr_tunables && strcmp(scheduler->tunables[i].name, name))
		i++;
	if (i == scheduler->nr_tunables)
		return false;
	*sched_field_value(loop.state, &scheduler->tunables[i]) = value;
	return true;
}

static u64 positioning_ns(void *device, const struct io_request *rq, u64 now_ns)
{
	return estimate_ns(&loop.drive, rq->op, rq->sector, rq->sectors, now_ns);
}

static bool set_up(const char *scheduler)
{
	struct sched_limits limits = { .capacity_sectors = CAPACITY,
				       .max_requests = OWNERS_MAX,
				       .positioning_ns = positioning_ns };
	static struct curve_point line[2];
	u32 i;

	disk_set_linear(&loop.drive.disk, line, CAPACITY, 4250000, 5250000);
	loop.drive.cache.segments = 64;
	loop.drive.cache.segment_sectors = 221;
	loop.drive.cache.prefetch_sectors = 64;
	loop.drive.bus.hit_ns = MS / 4;
	draw_seed(&loop.draw, 1, 0);
	loop.scheduler = registry_find(scheduler);
	if (!loop.scheduler || !loop.owners || loop.owners > OWNERS_MAX)
		return false;
	loop.state = registry_new_state(loop.scheduler);
	if (loop.scheduler->init && loop.scheduler->init(loop.state, &limits))
		return false;
	for (i = 0; i < loop.owners; i++)
		think(i);
	wake_until(loop.think_ns);
	return true;
}

int main(int argc, char **argv)
{
	clock_t began;
	u64 dispatches;

	if (argc != 5 && argc != 7)
		return 2;
	loop.owners = atoi(argv[2]);
	dispatches = strtoull(argv[3], NULL, 0);
	loop.think_ns = strtoull(argv[4], NULL, 0);
	if (!set_up(argv[1]))
		return 2;
	if (argc == 7 && !tune(argv[5], strtoull(argv[6], NULL, 0)))
		return 2;
	began = clock();
	run(dispatches);
	printf("%.1f\n", 1e9 / CLOCKS_PER_SEC * (clock() - began) / dispatches);
	return 0;
}

// SPDX-License-Identifier: MIT
/*
 * Merges of two or three adjacent requests, field by field, and requests that must not
 * merge.  The scheduler here only records its requests.
 */
#include <string.h>

#include "../../sim/elevator.h"
#include "check.h"

#define POOL 8
#define LIMIT 24

static struct pending pool[POOL];
static struct elevator elevator;
static struct io_request *given[POOL];
static u32 nr_given, nr_adds, nr_removes;
static u64 last_add_ns;

static void remember(void *state, struct io_request *rq, u64 now_ns)
{
	given[nr_given++] = rq;
	nr_adds++;
	last_add_ns = now_ns;
}

static void forget(void *state, struct io_request *rq)
{
	u32 i = 0;

	while (i < nr_given && given[i] != rq)
		i++;
	CHECK(i < nr_given);
	given[i] = given[--nr_given];
	nr_removes++;
}

static struct io_request *give_back(void *state, u64 now_ns, u64 *wake_ns)
{
	return nr_given ? given[--nr_given] : NULL;
}

static bool remembers(const void *state)
{
	return nr_given;
}

static const struct scheduler memory = {
	.name = "memory",
	.state_size = 1,
	.add = remember,
	.remove = forget,
	.next = give_back,
	.has_work = remembers,
};

static void begin(u32 merge_sectors)
{
	struct sim_input input = {
		.scheduler = &memory,
		.max_pending = POOL,
		.merge_sectors = merge_sectors,
	};

	memset(pool, 0, sizeof(pool));
	memset(&elevator, 0, sizeof(elevator));
	nr_given = nr_adds = nr_removes = 0;
	CHECK_EQ(elevator_init(&elevator, &input, pool, NULL), 0);
}

/* Request i has id 10 + i, arrives at 100 * (1 + i) and costs 10^i. */
static void arrive_as(u32 i, u8 op, u64 sector, u32 sectors)
{
	static const u64 cost_ns[] = { 1, 10, 100, 1000 };

	pool[i].io = (struct io_request){
		.sector = sector,
		.arrival_ns = 100 * (1 + i),
		.id = 10 + i,
		.cost_ns = cost_ns[i],
		.sectors = sectors,
		.op = op,
	};
	elevator_add(&elevator, &pool[i], 100 * (1 + i) + 7);
	CHECK_EQ(last_add_ns, 100 * (1 + i) + 7);
}

static void arrive(u32 i, u64 sector, u32 sectors)
{
	arrive_as(i, IO_READ, sector, sectors);
}

/* Expect one remaining request with these values, made of that many bios. */
static void expect_one(u64 sector, u32 sectors, u64 cost_ns, u32 bios)
{
	const struct io_request *rq = given[0];
	const struct pending *part;

	CHECK_EQ(nr_given, 1);
	CHECK_EQ(elevator.contract.pending, 1);
	CHECK_EQ(rq->sector, sector);
	CHECK_EQ(rq->sectors, sectors);
	CHECK_EQ(rq->cost_ns, cost_ns);
	CHECK_EQ(rq->id, 10);
	CHECK_EQ(rq->arrival_ns, 100);
	for (part = (const struct pending *)rq; part; part = part->next)
		bios--;
	CHECK_EQ(bios, 0);
}

static void end(void)
{
	static struct sim_summary summary;

	elevator_exit(&elevator, &summary);
	CHECK_EQ(!summary.oldest, !nr_given);
	CHECK(!summary.broken[0]);
}

/* Back merges, front merges, and merges into a gap: the result is as old as the oldest part. */
static void neighbours_become_one(void)
{
	begin(LIMIT);
	arrive(0, 1000, 8);
	arrive(1, 1008, 4);
	expect_one(1000, 12, 11, 2);
	end();

	begin(LIMIT);
	arrive(0, 1000, 8);
	arrive(1, 996, 4);
	expect_one(996, 12, 11, 2);
	end();

	begin(LIMIT);
	arrive(0, 1000, 8);
	arrive(1, 1012, 4);
	CHECK_EQ(elevator.contract.pending, 2);
	arrive(2, 1008, 4);
	expect_one(1000, 16, 111, 3);
	CHECK_EQ(nr_removes, 2);
	end();

	begin(LIMIT);
	arrive(0, 1012, 4);
	arrive(1, 1000, 8);
	arrive(2, 1008, 4);
	expect_one(1000, 16, 111, 3);
	end();
}

static void what_is_too_long_stays_apart(void)
{
	begin(LIMIT);
	arrive(0, 1000, 16);
	arrive(1, 1016, 8);
	expect_one(1000, 24, 11, 2);
	arrive(2, 1024, 1);
	CHECK_EQ(nr_given, 2);
	end();

	/* The gap closes, but the three together are too long. */
	begin(LIMIT);
	arrive(0, 1000, 8);
	arrive(1, 1016, 9);
	arrive(2, 1008, 8);
	CHECK_EQ(nr_given, 2);
	CHECK_EQ(elevator.contract.pending, 2);
	CHECK_EQ(pool[0].io.sectors, 16);
	end();
}

int main(void)
{
	neighbours_become_one();
	what_is_too_long_stays_apart();
	return 0;
}

// SPDX-License-Identifier: MIT
/*
 * Golden schedules: a hash of each scheduler's picks for one load, with their times and
 * reasons.  A changed hash means changed decisions.  If the change is intended, write
 * down the new hash.
 */
#include "host.h"

/* clang-format off */
static const struct golden {
	const char *scheduler;
	u64 hash;
	u64 sectors; /* upper limit of positions; 0: 20000 */
} golden[] = {
	{ "anticipatory", 0x68c100afcdb93848ull, 0 },
	{ "cats", 0xcd83ed7db734f1a3ull, 0 },
	{ "cfq", 0xc9022eb1db8cf4c2ull, 0 },
	{ "clook", 0xe0095e9be6d1ec72ull, 0 },
	{ "cscan", 0x72fbbdb33ae66c34ull, 0 },
	{ "deadline", 0xac16a279b9c350f6ull, 0 },
	{ "fcfs", 0x8cb4e01874983569ull, 0 },
	{ "look", 0x34df1d92de673f9cull, 0 },
	{ "scan", 0x7a523cc17cc10713ull, 0 },
	{ "sfq", 0x344716604a05b01dull, 0 },
	{ "sptf", 0xbbccd95acbe4e1aeull, 0 },
	{ "sstf", 0x3e8a3e29903da28eull, 0 },
	{ "tbbd", 0x0ed36d238eb29666ull, 0 },
	{ "vr", 0xd86a9707171c5bb4ull, HOST_CAPACITY },
};
/* clang-format on */

static u64 hash;

static void mix_in(u64 value)
{
	hash = (hash ^ value) * 0x100000001b3ull;
	hash ^= hash >> 29;
}

static void see_pick(struct host *host, const struct io_request *rq)
{
	mix_in(host->now_ns);
	mix_in(rq ? rq->id << 8 | rq->reason : 0xff);
}

int main(void)
{
	static struct host host;
	struct host_load load = {
		.requests = 400,
		.owners = 3,
		.writes_percent = 25,
		.merges_percent = 10,
		.gap_ns = 3 * MS,
		.picked = see_pick,
	};
	struct draw draw;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(golden); i++) {
		hash = 0;
		load.sectors = golden[i].sectors ?: 20000;
		draw_seed(&draw, 1, 0);
		host_init(&host, golden[i].scheduler);
		host_run(&host, &draw, &load);
		host_exit(&host);
		CHECK_EQ(hash, golden[i].hash);
	}
	return 0;
}

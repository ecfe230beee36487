// SPDX-License-Identifier: MIT
/*
 * The initial values of tunables and parameters, and their limits, as in the papers and
 * docs/schedulers/.  The table must list every one.
 */
#include <string.h>

#include "../../core/drive/drive.h"
#include "../../sim/registry.h"
#include "check.h"
#include "policies.h"
#include "schedulers.h"

#define MS 1000000ull
#define HOUR (3600000 * MS)

static const struct expected {
	const char *owner, *name;
	u64 initial, min, max;
} expected[] = {
	{ "anticipatory", "antic_expire_ns", 6 * MS, 0, HOUR },
	{ "anticipatory", "read_expire_ns", 125 * MS, 0, HOUR },
	{ "anticipatory", "write_expire_ns", 250 * MS, 0, HOUR },
	{ "anticipatory", "read_batch_ns", 500 * MS, 0, HOUR },
	{ "anticipatory", "write_batch_ns", 125 * MS, 0, HOUR },
	{ "anticipatory", "close_sectors", 128, 0, 1ull << 32 },
	{ "anticipatory", "back_max_sectors", 32768, 0, 1ull << 32 },
	{ "anticipatory", "back_penalty", 2, 1, 1000 },
	/* PERFORM 2010: 7 ms; 64 segments of 221 sectors with 64 sectors of read-ahead. */
	{ "cats", "busdriver_ns", 7 * MS, 0, HOUR },
	{ "cats", "read_delay_ns", 100 * MS, 0, HOUR },
	{ "cats", "min_write_delay_ns", 10 * MS, 0, HOUR },
	{ "cats", "max_write_delay_ns", 500 * MS, 0, HOUR },
	{ "cats", "shadow_segments", 64, 0, 512 },
	{ "cats", "shadow_segment_sectors", 221, 0, 1ull << 32 },
	{ "cats", "shadow_prefetch_sectors", 64, 0, 1ull << 32 },
	{ "cfq", "slice_sync_ns", 100 * MS, 0, HOUR },
	{ "cfq", "slice_async_ns", 40 * MS, 0, HOUR },
	{ "cfq", "slice_async_rq", 2, 1, 1000000 },
	{ "cfq", "slice_idle_ns", 8 * MS, 0, HOUR },
	{ "cfq", "slice_idle_far_ns", 2 * MS, 0, HOUR },
	{ "cfq", "far_sectors", 8192, 0, 1ull << 48 },
	{ "cfq", "fifo_expire_sync_ns", 125 * MS, 0, HOUR },
	{ "cfq", "fifo_expire_async_ns", 250 * MS, 0, HOUR },
	{ "cfq", "back_seek_max", 32768, 0, 1ull << 32 },
	{ "cfq", "back_seek_penalty", 2, 1, 1000 },
	{ "cscan", "full_seek_ns", 5250000, 0, HOUR },
	/* The defaults of the kernel's mq-deadline. */
	{ "deadline", "read_expire_ns", 500 * MS, 0, HOUR },
	{ "deadline", "write_expire_ns", 5000 * MS, 0, HOUR },
	{ "deadline", "writes_starved", 2, 0, 1000000 },
	{ "deadline", "fifo_batch", 16, 0, 1000000 },
	{ "scan", "full_seek_ns", 5250000, 0, HOUR },
	{ "sfq", "depth", 32, 1, 1024 },
	{ "sfq", "settle", 1, 0, 1 },
	{ "sfq", "cost_request_ns", 5 * MS, 1, HOUR },
	{ "sfq", "cost_sector_ns", 5000, 0, 1000 * MS },
	{ "sptf", "age_permille", 10, 0, 1000 },
	{ "tbbd", "busdriver_ns", 7 * MS, 0, HOUR },
	/* Geist and Daniel, 1987: R is 0.2. */
	{ "vr", "r_milli", 200, 0, 1000 },

	/* Linux opens with four pages; AMP's threshold of four is the paper's. */
	{ "amp", "first_pages", 4, 1, 1 << 15 },
	{ "amp", "async_pages", 4, 1, 1 << 15 },
	{ "doubling", "first_pages", 4, 1, 1 << 15 },
	{ "fixed", "pages", 1 << 15, 1, 1 << 15 },
	/* VLDB 1994: Kin is 25 %, Kout 50 %. */
	{ "2q", "queue_percent", 25, 1, 99 },
	{ "2q", "memory_percent", 50, 1, 1000 },

	{ "concurrent-read", "read_bytes", 10, 1, 1 << 20 },
	{ "concurrent-read", "think_ns", 0, 0, HOUR },
	{ "poisson", "mean_gap_ns", 20 * MS, 1, 1ull << 56 },
	{ "poisson", "writes_percent", 0, 0, 100 },
	{ "poisson", "sectors", 8, 1, 1 << 15 },
	{ "random", "writes_percent", 0, 0, 100 },
	{ "random", "sectors", 8, 1, 1 << 15 },
	{ "random", "think_ns", 0, 0, HOUR },
	{ "sequential", "writes_percent", 0, 0, 100 },
	{ "sequential", "sectors", 8, 1, 1 << 15 },
	{ "sequential", "think_ns", 0, 0, HOUR },
	{ "surge", "think_scale_milli", 1000, 0, 1000000 },
};

static u32 seen;

static void check(const char *owner, const struct sched_field *fields, u32 count)
{
	u32 i, k;

	for (i = 0; i < count; i++) {
		for (k = 0; k < ARRAY_SIZE(expected); k++) {
			if (!strcmp(expected[k].owner, owner) &&
			    !strcmp(expected[k].name, fields[i].name))
				break;
		}
		if (k == ARRAY_SIZE(expected))
			fprintf(stderr, "%s.%s\n", owner, fields[i].name);
		CHECK(k < ARRAY_SIZE(expected));
		CHECK_EQ(fields[i].initial, expected[k].initial);
		CHECK_EQ(fields[i].min, expected[k].min);
		CHECK_EQ(fields[i].max, expected[k].max);
		seen++;
	}
}

/*
 * Numbers that other programs and files use: records of a run, ionice and cgroups,
 * profiles and docs/.  A changed number would change the format.
 */
static void what_others_read(void)
{
	static const u32 reasons[] = { PICK_ORDER,   PICK_HIT,	  PICK_TABLE,
				       PICK_EXPIRED, PICK_WAITED, PICK_BURST,
				       PICK_REASONS };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(reasons); i++)
		CHECK_EQ(reasons[i], i);
	CHECK_EQ(IO_READ, 0);
	CHECK_EQ(IO_WRITE, 1);
	CHECK_EQ(IO_OPS, 2);
	CHECK_EQ(IO_CLASS_REALTIME, 1);
	CHECK_EQ(IO_CLASS_BEST_EFFORT, 2);
	CHECK_EQ(IO_CLASS_IDLE, 3);
	CHECK_EQ(IO_LEVELS, 8);
	CHECK_EQ(IO_LEVEL_DEFAULT, 4);
	CHECK_EQ(IO_WEIGHT_DEFAULT, 100);
	CHECK_EQ(CURVE_POINTS_MAX, 1024);
	CHECK_EQ(DISK_CACHE_SEGMENTS_MAX, 512);
	CHECK(sizeof(struct drive) < 32 << 10);
}

int main(void)
{
	u32 i;

	what_others_read();

	for (i = 0; i < scheduler_count(); i++) {
		const struct scheduler *scheduler = scheduler_get(i);

		check(scheduler->name, scheduler->tunables, scheduler->nr_tunables);
		CHECK_EQ(sched_depth(scheduler),
			 strcmp(scheduler->name, "sfq") ? 1 : 1024);
	}
	for (i = 0; i < prefetcher_count(); i++)
		check(prefetcher_get(i)->name, prefetcher_get(i)->tunables,
		      prefetcher_get(i)->nr_tunables);
	for (i = 0; i < replacer_count(); i++)
		check(replacer_get(i)->name, replacer_get(i)->tunables,
		      replacer_get(i)->nr_tunables);
	for (i = 0; i < workload_count(); i++) {
		const struct workload *workload = workload_get(i);

		check(workload->name, workload->parameters, workload->nr_parameters);
	}
	CHECK_EQ(seen, ARRAY_SIZE(expected));
	return 0;
}

// SPDX-License-Identifier: MIT
/*
 * The cache, and the rule by which a drive uses it; test_cats.c tests CATS' use of it.
 */
#include <string.h>

#include "../../core/drive/drive.h"
#include "check.h"
#include "laid_out.h"

static struct disk_cache cache;

static void set(u64 segments, u64 segment_sectors, u64 prefetch_sectors)
{
	disk_cache_clear(&cache);
	cache.segments = segments;
	cache.segment_sectors = segment_sectors;
	cache.prefetch_sectors = prefetch_sectors;
}

static void long_spans_keep_their_tail(void)
{
	struct disk_span span;

	set(1, 221, 64);
	span = disk_cache_insert(&cache, 1000, 157);
	CHECK_EQ(span.start, 1000);
	CHECK_EQ(span.end, 1221);
	CHECK(disk_cache_holds(&cache, 1000, 221));
	span = disk_cache_insert(&cache, 1000, 158);
	CHECK_EQ(span.start, 1001);
	CHECK_EQ(span.end, 1222);
	CHECK(!disk_cache_holds(&cache, 1000, 1));
	CHECK(disk_cache_holds(&cache, 1001, 221));
}

static void parameters_change(void)
{
	set(0, 221, 64);
	CHECK_EQ(disk_cache_insert(&cache, 0, 8).end, 0);
	CHECK(!disk_cache_holds(&cache, 0, 8));
	set(4, 221, 64);
	disk_cache_insert(&cache, 0, 8);
	disk_cache_insert(&cache, 500, 8);
	disk_cache_insert(&cache, 1000, 8);
	cache.segments = 2;
	CHECK(!disk_cache_holds(&cache, 1000, 8));
	disk_cache_insert(&cache, 2000, 8);
	CHECK(!disk_cache_holds(&cache, 0, 8));
	CHECK(disk_cache_holds(&cache, 500, 8));
}

/*
 * A naive cache: a segment is the set of sectors that it holds, and segments are kept
 * in the order in which they were written.
 */

#define SECTORS 700
#define NAIVE_SEGMENTS 8

static struct naive {
	u32 segments;
	bool holds[NAIVE_SEGMENTS][SECTORS]; /* the oldest first */
} naive;

static bool naive_holds(u64 sector, u32 sectors)
{
	u32 i, k;

	for (i = 0; i < naive.segments; i++) {
		for (k = 0; k < sectors && naive.holds[i][sector + k]; k++)
			;
		if (k == sectors)
			return true;
	}
	return false;
}

static void naive_insert(u64 sector, u64 sectors, u64 longest)
{
	bool *newest = naive.holds[naive.segments - 1];
	u64 k;

	memmove(naive.holds[0], naive.holds[1],
		(naive.segments - 1) * sizeof(naive.holds[0]));
	memset(newest, 0, sizeof(naive.holds[0]));
	for (k = 0; k < sectors; k++)
		newest[sector + k] = sectors - k <= longest;
}

static void naive_drop(u64 sector, u32 sectors)
{
	u32 i, k;

	for (i = 0; i < naive.segments; i++) {
		for (k = 0; k < sectors; k++) {
			if (naive.holds[i][sector + k])
				memset(naive.holds[i], 0, sizeof(naive.holds[i]));
		}
	}
}

static void compare_everywhere(void)
{
	u64 sector;
	u32 sectors;

	for (sector = 0; sector < SECTORS - 40; sector++) {
		for (sectors = 1; sectors < 40; sectors += 1 + sector % 5)
			CHECK_EQ(disk_cache_holds(&cache, sector, sectors),
				 naive_holds(sector, sectors));
	}
}

/* The lengths of segments and read-ahead change during the test. */
static void is_the_naive_cache(struct draw *draw)
{
	u32 i;

	memset(&cache, 0, sizeof(cache));
	memset(&naive, 0, sizeof(naive));
	naive.segments = 1 + draw_below(draw, NAIVE_SEGMENTS);
	cache.segments = naive.segments;
	for (i = 0; i < 60; i++) {
		u64 sector = draw_below(draw, SECTORS - 100);
		u32 sectors = 1 + draw_below(draw, 30);

		if (!draw_below(draw, 10))
			cache.segment_sectors = draw_below(draw, 80);
		if (!draw_below(draw, 10))
			cache.prefetch_sectors = draw_below(draw, 60);
		if (draw_below(draw, 4)) {
			disk_cache_insert(&cache, sector, sectors);
			naive_insert(sector, sectors + cache.prefetch_sectors,
				     cache.segment_sectors);
		} else {
			disk_cache_drop(&cache, sector, sectors);
			naive_drop(sector, sectors);
		}
		compare_everywhere();
	}
	disk_cache_clear(&cache);
	CHECK(!disk_cache_holds(&cache, 0, 1));
}

static struct drive drive;

static u64 serve(u8 op, u64 sector, bool want_hit)
{
	bool hit;
	u64 service_ns = drive_serve(&drive, op, sector, 8, 0, &hit);

	CHECK_EQ(hit, want_hit);
	return service_ns;
}

/* A hit costs hit_ns and changes nothing, a miss fills a segment, and a write drops segments. */
static void the_device(void)
{
	linear(&drive.disk, 1000000, 1000, 1000000);
	drive.cache.segments = 2;
	drive.cache.segment_sectors = 221;
	drive.cache.prefetch_sectors = 64;
	drive.bus.hit_ns = 250;

	CHECK_EQ(serve(IO_READ, 5000, false), 1000 + 5000);
	CHECK_EQ(drive.arm.head.sector, 5008);
	CHECK_EQ(serve(IO_READ, 5008, true), 250);
	CHECK_EQ(drive.arm.head.sector, 5008);
	CHECK_EQ(drive.cache.next, 1);
	CHECK_EQ(serve(IO_READ, 5072, false), 1000 + 64);
	CHECK_EQ(serve(IO_WRITE, 5010, false), 1000 + 70);
	CHECK_EQ(drive.arm.head.sector, 5018);
	CHECK_EQ(serve(IO_READ, 5000, false), 1000 + 18);
	CHECK_EQ(serve(IO_READ, 5080, true), 250);
	CHECK_EQ(serve(IO_WRITE, 6000, false), 1000 + 992);
	CHECK_EQ(serve(IO_READ, 5080, true), 250);
	drive_reset(&drive);
	CHECK_EQ(serve(IO_READ, 5080, false), 1000 + 5080);
}

int main(void)
{
	long_spans_keep_their_tail();
	parameters_change();
	check_seeds(40, is_the_naive_cache);
	the_device();
	return 0;
}

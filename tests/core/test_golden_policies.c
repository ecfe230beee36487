// SPDX-License-Identifier: MIT
/*
 * Golden fetches: a hash of what the page cache fetches and evicts for one load, with each
 * prefetcher and each replacement policy.  A changed hash means changed decisions.  If the change
 * is intended, write down the new hash.
 */
#include <string.h>

#include "check.h"
#include "policies.h"

#define PROCESSES 6
#define FILES 4
#define FILE_PAGES 60
#define FETCHES 64

/* clang-format off */
static const struct golden {
	const char *prefetcher, *replacer;
	u64 hash;
} golden[] = {
	{ "amp", "lru", 0x8effee80b58c664eull },
	{ "doubling", "lru", 0x1190a5c7188e5815ull },
	{ "fixed", "lru", 0x6064504ad52af8b3ull },
	{ "none", "lru", 0x26dbc17ee4d679b5ull },
	{ "doubling", "2q", 0x4af878029ece0ed6ull },
	{ "doubling", "clock", 0xfb0a57508906d039ull },
};
/* clang-format on */

static struct page_cache cache;
static struct fetch {
	u32 file;
	u64 first;
	u32 count;
} fetches[FETCHES];
static u32 pending;
static bool waits[PROCESSES];
static u64 hash;

static void mix_in(u64 value)
{
	hash = (hash ^ value) * 0x100000001b3ull;
	hash ^= hash >> 29;
}

static void see_fetch(void *context, u32 file, u64 first, u32 count, u32 process)
{
	mix_in(first << 32 | (u64)count << 16 | file << 8 | process);
	CHECK(pending < FETCHES);
	fetches[pending++] = (struct fetch){ file, first, count };
}

static void see_wake(void *context, u32 process)
{
	waits[process] = false;
}

static void fill_oldest(void)
{
	struct fetch fetch = fetches[0];

	memmove(fetches, fetches + 1, --pending * sizeof(*fetches));
	page_cache_filled(&cache, fetch.file, fetch.first, fetch.count);
}

/* Processes read files in order, and jump now and then; half of the reads are of one file. */
static void run(struct draw *draw)
{
	u32 file[PROCESSES] = { 0 };
	u64 page[PROCESSES] = { 0 };
	u32 i;

	for (i = 0; i < 4000; i++) {
		u32 process = draw_below(draw, PROCESSES);

		if (waits[process] || pending > FETCHES / 2) {
			fill_oldest();
			continue;
		}
		waits[process] = !page_cache_read(&cache, process, file[process],
						  page[process], FILE_PAGES);
		mix_in(waits[process]);
		if (waits[process])
			continue;
		if (draw_below(draw, 20)) {
			page[process] = (page[process] + 1) % FILE_PAGES;
		} else {
			file[process] = draw_below(draw, 2) * draw_below(draw, FILES);
			page[process] = draw_below(draw, FILE_PAGES);
		}
	}
	while (pending)
		fill_oldest();
}

int main(void)
{
	struct draw draw;
	u32 i;

	CHECK_EQ(ARRAY_SIZE(golden), prefetcher_count() + replacer_count() - 1);
	for (i = 0; i < ARRAY_SIZE(golden); i++) {
		cache = (struct page_cache){
			.pages = 50,
			.prefetch_pages = 16,
			.policies = policies_named(golden[i].prefetcher,
						   golden[i].replacer),
			.fetch = see_fetch,
			.wake = see_wake,
		};
		hash = 0;
		draw_seed(&draw, 1, 0);
		CHECK_EQ(page_cache_init(&cache, PROCESSES), 0);
		run(&draw);
		CHECK(!page_cache_is_broken(&cache));
		page_cache_exit(&cache);
		check_scheduler = golden[i].prefetcher;
		check_rule = golden[i].replacer;
		if (hash != golden[i].hash)
			CHECK_FAIL("the hash is 0x%016llxull",
				   (unsigned long long)hash);
	}
	return 0;
}

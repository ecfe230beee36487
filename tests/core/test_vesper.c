// SPDX-License-Identifier: MIT
/* libvesper (vesper/vesper.h): requests and interrupts, errors, data, the clock, statistics. */
#include <string.h>

#include "../../core/draw.h"
#include "../../vesper/vesper.h"
#include "check.h"

#undef memcpy
#undef memset
#undef memcmp

#define BLOCKS 256
#define BLOCK_BYTES 512
#define DONE_MAX 64

static struct vesper disk;
static char data[BLOCKS][BLOCK_BYTES];
static char buffer[4][BLOCK_BYTES];
static struct vesper_done seen[DONE_MAX];
static u32 interrupts;
static u32 more; /* requests that the handler issues */
static int nested; /* what a forbidden call within the handler returned */

static void handler(void *context, const struct vesper_done *done)
{
	CHECK(context == data);
	CHECK(interrupts < DONE_MAX);
	seen[interrupts++] = *done;
	nested = vesper_advance(&disk, vesper_now_ns(&disk));
	CHECK_EQ(vesper_exit(&disk), VESPER_IN_HANDLER);
	if (!more)
		return;
	more--;
	CHECK_EQ(vesper_read(&disk, (done->start_block + 40) % BLOCKS, 1, buffer[0]),
		 VESPER_OK);
}

static struct vesper_config usual(void)
{
	return (struct vesper_config){
		.profile = "vesper-zoned",
		.blocks = BLOCKS,
		.block_bytes = BLOCK_BYTES,
		.interrupt = handler,
		.context = data,
		.memory = data,
	};
}

static void start(const struct vesper_config *config)
{
	memset(&disk, 0, sizeof(disk));
	interrupts = 0;
	CHECK_EQ(vesper_init(&disk, config), VESPER_OK);
}

static void start_usual(void)
{
	struct vesper_config config = usual();

	start(&config);
}

/* Advance to each interrupt until none is due. */
static void run(void)
{
	while (vesper_next_ns(&disk) != VESPER_NEVER)
		CHECK_EQ(vesper_advance(&disk, vesper_next_ns(&disk)), VESPER_OK);
}

static struct vesper_totals totals(void)
{
	struct vesper_totals sums;

	CHECK_EQ(vesper_statistics(&disk, &sums), VESPER_OK);
	CHECK_EQ(sums.elapsed_ns, sums.seek_ns + sums.rotation_ns + sums.transfer_ns +
					  sums.cache_ns + sums.idle_ns);
	return sums;
}

/* By hand: the head is at 0, and sector 100 is in the seventh zone, of 51.6 MB/s. */
static void one_read_by_hand(void)
{
	/* 100 of 256 sectors are 99.609 of 255 steps; samples 99 and 100 are 6.468 and 6.495 ms. */
	u64 seek_ns = 6468000 + 16453; /* 27000 * 0.609375 = 16453.1 */
	u64 rotation_ns = 3000000;
	u64 transfer_ns = 992248; /* 512 B / 51.6 MB/s * 100 */
	struct vesper_totals sums;

	start_usual();
	strcpy(data[100], "written before");
	memset(buffer, 0, sizeof(buffer));
	CHECK_EQ(vesper_read(&disk, 100, 1, buffer[0]), VESPER_OK);
	CHECK_EQ(vesper_next_ns(&disk), seek_ns + rotation_ns + transfer_ns);
	CHECK_EQ(buffer[0][0], 0); /* data move at the interrupt */
	CHECK_EQ(vesper_advance(&disk, vesper_next_ns(&disk) - 1), VESPER_OK);
	CHECK_EQ(interrupts, 0);
	CHECK_EQ(vesper_advance(&disk, vesper_next_ns(&disk)), VESPER_OK);
	CHECK_EQ(interrupts, 1);
	CHECK(!strcmp(buffer[0], "written before"));
	CHECK_EQ(nested, VESPER_IN_HANDLER);
	sums = totals();
	CHECK_EQ(sums.seek_ns, seek_ns);
	CHECK_EQ(sums.rotation_ns, rotation_ns);
	CHECK_EQ(sums.transfer_ns, transfer_ns);
	CHECK_EQ(sums.idle_ns, 0);
	CHECK_EQ(sums.requests, 1);
	CHECK_EQ(sums.sectors, 1);
	CHECK_EQ(seen[0].start_block, 100);
	CHECK_EQ(seen[0].issued_ns, 0);
	CHECK_EQ(seen[0].done_ns, vesper_now_ns(&disk));
	CHECK(seen[0].data == buffer[0]);
}

static void refused_inits(void)
{
	static const struct vesper_profile damaged = { .name = "damaged" };
	struct vesper_config config = usual();
	struct vesper copy;

	memset(&disk, 0, sizeof(disk));
	CHECK_EQ(vesper_init(NULL, &config), VESPER_NULL);
	CHECK_EQ(vesper_init(&disk, NULL), VESPER_NULL);
#define REFUSED(member, value, result)                                           \
	do {                                                                     \
		config = usual();                                                \
		config.member = value;                                           \
		CHECK_EQ(vesper_init(&disk, &config), result);                   \
		CHECK_EQ(vesper_read(&disk, 0, 1, buffer[0]), VESPER_NOT_READY); \
	} while (0)
	REFUSED(profile, "no-such-disk", VESPER_NO_PROFILE);
	REFUSED(profile, "vesper", VESPER_NO_PROFILE);
	REFUSED(profile, "", VESPER_NO_PROFILE);
	REFUSED(profile, NULL, VESPER_NO_PROFILE);
	REFUSED(blocks, 0, VESPER_BAD_SIZE);
	REFUSED(blocks, 1ull << 60, VESPER_BAD_SIZE);
	REFUSED(blocks, U64_MAX, VESPER_BAD_SIZE);
	REFUSED(block_bytes, 0, VESPER_BAD_SIZE);
	REFUSED(block_bytes, 513, VESPER_BAD_SIZE);
	REFUSED(block_bytes, 32, VESPER_BAD_SIZE);
	REFUSED(block_bytes, 1 << 21, VESPER_BAD_SIZE);
	REFUSED(interrupt, NULL, VESPER_NO_HANDLER);
	REFUSED(memory, NULL, VESPER_NO_STORAGE);
	REFUSED(depth, 2, VESPER_BAD_DEPTH);
	REFUSED(depth, VESPER_DEPTH_MAX + 1, VESPER_BAD_DEPTH);
	config = usual();
	config.profile = NULL;
	config.table = &damaged;
	CHECK_EQ(vesper_init(&disk, &config), VESPER_NO_PROFILE);
	config = usual();
	start(&config);
	copy = disk;
	CHECK_EQ(vesper_init(&disk, &config), VESPER_TWICE);
	CHECK(!memcmp(&copy, &disk, sizeof(disk)));
	CHECK_EQ(vesper_exit(&disk), VESPER_OK);
	CHECK_EQ(vesper_exit(&disk), VESPER_NOT_READY);
	CHECK_EQ(vesper_init(&disk, &config), VESPER_OK);
}

static void refused_requests(void)
{
	struct vesper copy;

	start_usual();
	CHECK_EQ(vesper_advance(&disk, 5000), VESPER_OK);
	copy = disk;
	CHECK_EQ(vesper_read(&disk, BLOCKS, 1, buffer[0]), VESPER_PAST_END);
	CHECK_EQ(vesper_read(&disk, BLOCKS - 1, 2, buffer[0]), VESPER_PAST_END);
	CHECK_EQ(vesper_write(&disk, U64_MAX, 2, buffer[0]), VESPER_PAST_END);
	CHECK_EQ(vesper_write(&disk, 1, U32_MAX, buffer[0]), VESPER_PAST_END);
	CHECK_EQ(vesper_read(&disk, 0, 1, NULL), VESPER_NULL);
	CHECK_EQ(vesper_write(&disk, 0, 1, NULL), VESPER_NULL);
	CHECK_EQ(vesper_read(&disk, 0, 0, buffer[0]), VESPER_EMPTY);
	CHECK_EQ(vesper_advance(&disk, 4999), VESPER_BACKWARDS);
	CHECK_EQ(vesper_statistics(&disk, NULL), VESPER_NULL);
	CHECK(!memcmp(&copy, &disk, sizeof(disk)));
	CHECK_EQ(vesper_read(&disk, 0, 1, buffer[0]), VESPER_OK);
	copy = disk;
	CHECK_EQ(vesper_read(&disk, 9, 1, buffer[1]), VESPER_BUSY);
	CHECK(!memcmp(&copy, &disk, sizeof(disk)));
	run();
	CHECK_EQ(interrupts, 1);
}

static void calls_before_init(void)
{
	struct vesper_totals sums;

	memset(&disk, 0, sizeof(disk));
	CHECK_EQ(vesper_read(&disk, 0, 1, buffer[0]), VESPER_NOT_READY);
	CHECK_EQ(vesper_read(NULL, 0, 1, buffer[0]), VESPER_NOT_READY);
	CHECK_EQ(vesper_write(&disk, 0, 1, buffer[0]), VESPER_NOT_READY);
	CHECK_EQ(vesper_advance(&disk, 1), VESPER_NOT_READY);
	CHECK_EQ(vesper_statistics(&disk, &sums), VESPER_NOT_READY);
	CHECK_EQ(vesper_restart_statistics(&disk), VESPER_NOT_READY);
	CHECK_EQ(vesper_exit(&disk), VESPER_NOT_READY);
	CHECK_EQ(vesper_next_ns(&disk), VESPER_NEVER);
	CHECK_EQ(vesper_now_ns(&disk), 0);
}

static void a_handler_issues_the_next_request(void)
{
	start_usual();
	more = 20;
	CHECK_EQ(vesper_read(&disk, 3, 1, buffer[0]), VESPER_OK);
	run();
	CHECK_EQ(interrupts, 21);
	CHECK_EQ(totals().idle_ns, 0);
	CHECK_EQ(seen[20].start_block, (3 + 20 * 40) % BLOCKS);
}

/* The clock jumps over several requests: interrupts are late, and requests of handlers later. */
static void late_interrupts(void)
{
	u64 late_ns = 1000000000;

	start_usual();
	more = 1;
	CHECK_EQ(vesper_read(&disk, 3, 1, buffer[0]), VESPER_OK);
	CHECK_EQ(vesper_advance(&disk, late_ns), VESPER_OK);
	CHECK_EQ(interrupts, 1);
	CHECK(seen[0].done_ns < late_ns);
	run();
	CHECK_EQ(seen[1].issued_ns, late_ns);
	CHECK_EQ(seen[1].start_ns, late_ns);
	CHECK_EQ(totals().idle_ns, late_ns - seen[0].done_ns);
}

static void data_are_kept(void)
{
	struct draw draw;
	u32 i;

	draw_seed(&draw, 1, 0);
	memset(data, 0, sizeof(data));
	start_usual();
	for (i = 0; i < BLOCKS; i += 4) {
		memset(buffer, 'a' + i % 26, sizeof(buffer));
		CHECK_EQ(vesper_write(&disk, i, 4, buffer), VESPER_OK);
		run();
	}
	for (i = 0; i < 300; i++) {
		u64 first = draw_below(&draw, BLOCKS - 3);

		interrupts = 0;
		memset(buffer, 0, sizeof(buffer));
		CHECK_EQ(vesper_read(&disk, first, 4, buffer), VESPER_OK);
		run();
		CHECK(!memcmp(buffer, data[first], sizeof(buffer)));
		CHECK_EQ(buffer[3][0], 'a' + (first + 3) / 4 * 4 % 26);
		interrupts = 0;
	}
}

static int fail_read(void *context, uint64_t start_block, uint32_t blocks, void *to)
{
	return start_block == 7 ? -5 : 0;
}

static int fail_write(void *context, uint64_t start_block, uint32_t blocks,
		      const void *from)
{
	return start_block == 8 ? -5 : 0;
}

static void storage_that_fails(void)
{
	struct vesper_config config = usual();

	config.memory = NULL;
	config.storage = (struct vesper_storage){ fail_read, fail_write, NULL };
	start(&config);
	CHECK_EQ(vesper_read(&disk, 7, 1, buffer[0]), VESPER_OK);
	run();
	CHECK_EQ(vesper_read(&disk, 8, 1, buffer[0]), VESPER_OK);
	run();
	CHECK_EQ(vesper_write(&disk, 8, 1, buffer[0]), VESPER_OK);
	run();
	CHECK_EQ(seen[0].result, VESPER_IO);
	CHECK_EQ(seen[1].result, VESPER_OK);
	CHECK_EQ(seen[2].result, VESPER_IO);
	CHECK_EQ(seen[2].writes, 1);
}

/* The profile queues two; the third is refused, and overlaps with a write are. */
static void a_queue(void)
{
	struct vesper_config config = usual();

	config.profile = "cheetah-15k4";
	config.depth = 2;
	start(&config);
	CHECK_EQ(vesper_write(&disk, 10, 2, buffer[0]), VESPER_OK);
	CHECK_EQ(vesper_read(&disk, 11, 1, buffer[2]), VESPER_OVERLAP);
	CHECK_EQ(vesper_write(&disk, 8, 3, buffer[0]), VESPER_OVERLAP);
	CHECK_EQ(vesper_read(&disk, 12, 1, buffer[2]), VESPER_OK);
	CHECK_EQ(vesper_read(&disk, 13, 1, buffer[3]), VESPER_BUSY);
	run();
	CHECK_EQ(interrupts, 2);
	CHECK_EQ(seen[1].start_ns, seen[0].done_ns);
	CHECK_EQ(vesper_read(&disk, 100, 1, buffer[0]), VESPER_OK);
	CHECK_EQ(vesper_read(&disk, 100, 1, buffer[1]), VESPER_OK); /* both read */
	CHECK_EQ(vesper_advance(&disk, 10000000000ull), VESPER_OK);
	CHECK_EQ(interrupts, 4);
	CHECK_EQ(seen[3].start_ns,
		 seen[2].done_ns); /* although the interrupt was late */
	CHECK(seen[3].hit);
	CHECK_EQ(totals().hits, 1);
	CHECK_EQ(totals().cache_ns, 250000); /* of cheetah-15k4 */
}

static u64 total_ns(u64 blocks, u32 block_bytes, int scaling, const char *profile)
{
	struct vesper_config config = usual();
	u32 i;

	config.profile = profile;
	config.blocks = blocks;
	config.block_bytes = block_bytes;
	config.scaling = scaling;
	config.timing_only = 1;
	start(&config);
	for (i = 0; i < 8; i++) {
		CHECK_EQ(vesper_read(&disk, blocks / 8 * i, 8192 / block_bytes, NULL),
			 VESPER_OK);
		run();
	}
	return totals().transfer_ns;
}

/* Scaling is on below 16 MB; a profile's own scaling counts at every size. */
static void small_disks_are_scaled(void)
{
	u64 small = total_ns(256, 512, VESPER_SCALE_SMALL, "vesper-zoned");
	u64 never = total_ns(256, 512, VESPER_SCALE_NEVER, "vesper-zoned-small");
	u64 limit = (16 << 20) / 512;

	CHECK_EQ(small, total_ns(256, 512, VESPER_SCALE_SMALL, "vesper-zoned-small"));
	CHECK(small / 100 - never <= 8); /* each of 8 requests is rounded down */
	CHECK_EQ(never, total_ns(256, 512, VESPER_SCALE_NEVER, "vesper-zoned"));
	CHECK(total_ns(limit - 8, 512, VESPER_SCALE_SMALL, "vesper-zoned") >
	      50 * total_ns(limit, 512, VESPER_SCALE_SMALL, "vesper-zoned"));
	CHECK_EQ(total_ns(limit, 512, VESPER_SCALE_SMALL, "vesper-zoned-small"),
		 total_ns(limit, 512, VESPER_SCALE_ALWAYS, "vesper-zoned"));
	CHECK_EQ(total_ns(64, 2048, VESPER_SCALE_SMALL, "vesper-zoned"), small);
}

/* Blocks of 128 bytes, as on Nachos, take a quarter of the transfer time of a sector. */
static void blocks_below_a_sector(void)
{
	u64 quarter = total_ns(1024, 128, VESPER_SCALE_SMALL, "vesper-flat");
	u64 whole = total_ns(256, 512, VESPER_SCALE_SMALL, "vesper-flat");

	CHECK(quarter <= whole + 64 && whole <= quarter + 64);
	CHECK_EQ(totals().sectors, 8 * 16);
}

static void statistics_start_again(void)
{
	start_usual();
	CHECK_EQ(vesper_read(&disk, 3, 1, buffer[0]), VESPER_OK);
	run();
	CHECK_EQ(vesper_advance(&disk, vesper_now_ns(&disk) + 500), VESPER_OK);
	CHECK_EQ(totals().idle_ns, 500);
	CHECK_EQ(vesper_restart_statistics(&disk), VESPER_OK);
	CHECK_EQ(totals().elapsed_ns, 0);
	CHECK_EQ(totals().requests, 0);
	CHECK_EQ(vesper_advance(&disk, vesper_now_ns(&disk) + 70), VESPER_OK);
	CHECK_EQ(totals().idle_ns, 70);
}

static void every_result_has_words(void)
{
	int i, k;

	for (i = 0; i < VESPER_RESULTS; i++) {
		CHECK(strlen(vesper_error(-i)) > 3);
		for (k = 0; k < i; k++)
			CHECK(strcmp(vesper_error(-i), vesper_error(-k)));
	}
	CHECK(!strcmp(vesper_error(1), vesper_error(-VESPER_RESULTS)));
}

/* A table that a person damaged is refused, whatever is wrong with it. */
static void damaged_tables(struct draw *draw)
{
	struct vesper_point seek[4] = {
		{ 0, 1000000 }, { 1, 2000000 }, { 3, 5000000 }, { 4, 6000000 }
	};
	struct vesper_point rates[2] = { { 0, 60000000 }, { 2, 40000000 } };
	struct vesper_setting setting[2] = { { "rotation_ns", 6000000 },
					     { "hit_ns", 250000 } };
	struct vesper_profile table = {
		.name = "table",
		.queue_depth = 1,
		.seek = { 4, 4, seek },
		.rates = { 4, 2, rates },
		.settings = 2,
		.setting = setting,
	};
	u64 *number[] = { &seek[1].at,	    &seek[2].at,       &seek[3].at,
			  &seek[1].value,   &rates[0].at,      &rates[1].at,
			  &rates[1].value,  &table.seek.whole, &table.rates.whole,
			  &setting[0].value };
	struct vesper_config config = usual();
	u64 *damaged = number[draw_below(draw, ARRAY_SIZE(number))];
	int result;

	config.profile = NULL;
	config.table = &table;
	start(&config);
	CHECK_EQ(vesper_read(&disk, 255, 1, buffer[0]), VESPER_OK);
	run();
	*damaged = draw_u64(draw) >> draw_below(draw, 64);
	if (draw_below(draw, 4) == 0)
		setting[1].name = draw_below(draw, 2) ? "hit_n" : "";
	if (draw_below(draw, 4) == 0)
		table.seek.points = draw_below(draw, 2);
	memset(&disk, 0, sizeof(disk));
	result = vesper_init(&disk, &config);
	CHECK(result == VESPER_OK || result == VESPER_NO_PROFILE);
	if (result)
		return;
	interrupts = 0;
	CHECK_EQ(vesper_read(&disk, 200, 1, buffer[0]), VESPER_OK);
	run();
	CHECK_EQ(totals().requests, 1);
}

/* Random calls at random times: the sums agree, and each request has one interrupt. */
static void anything(struct draw *draw)
{
	static const char *const profiles[] = { "vesper-zoned", "vesper-flat-small",
						"cheetah-15k4" };
	struct vesper_config config = usual();
	u32 issued = 0, i;

	config.profile = profiles[draw_below(draw, 3)];
	config.depth = 1 + draw_below(draw, 2) * (config.profile == profiles[2]);
	config.now_ns = draw_below(draw, 1000000);
	start(&config);
	for (i = 0; i < 60; i++) {
		u64 first = draw_below(draw, BLOCKS + 2);
		u32 blocks = draw_below(draw, 5);
		int result = draw_below(draw, 2)
				     ? vesper_read(&disk, first, blocks, buffer)
				     : vesper_write(&disk, first, blocks, buffer);

		issued += result == VESPER_OK;
		if (draw_below(draw, 2))
			CHECK_EQ(vesper_advance(&disk,
						vesper_now_ns(&disk) +
							draw_below(draw, 20000000)),
				 VESPER_OK);
	}
	run();
	CHECK_EQ(interrupts, issued);
	CHECK_EQ(totals().requests, issued);
	for (i = 1; i < interrupts; i++)
		CHECK(seen[i].start_ns >= seen[i - 1].done_ns &&
		      seen[i].start_ns >= seen[i].issued_ns);
}

int main(void)
{
	one_read_by_hand();
	refused_inits();
	refused_requests();
	calls_before_init();
	a_handler_issues_the_next_request();
	late_interrupts();
	data_are_kept();
	storage_that_fails();
	a_queue();
	small_disks_are_scaled();
	blocks_below_a_sector();
	statistics_start_again();
	every_result_has_words();
	check_seeds(20000, damaged_tables);
	check_seeds(2000, anything);
	return 0;
}

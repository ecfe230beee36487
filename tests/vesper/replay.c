// SPDX-License-Identifier: MIT
/*
 * Sends the requests on standard input to libvesper, and prints for each, in the order of their
 * interrupts: its number, and when it began and completed. A line of the input is: op, first block,
 * blocks, and the time at which the request is issued, or "-" for the last interrupt's time.
 *
 * Usage: replay PROFILE|table BLOCKS BLOCK_BYTES DEPTH SEED SCALING
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vesper.h"

#ifdef TABLE
extern const struct vesper_profile TABLE;
#define TABLE_OR_NONE &TABLE
#else
#define TABLE_OR_NONE NULL
#endif

static struct vesper disk;

static void interrupt(void *context, const struct vesper_done *done)
{
	(void)context;
	printf("%llu %llu %llu %d\n", (unsigned long long)done->start_block,
	       (unsigned long long)done->start_ns, (unsigned long long)done->done_ns,
	       done->hit);
}

static void check(int result)
{
	if (!result)
		return;
	fprintf(stderr, "replay: %s\n", vesper_error(result));
	exit(1);
}

static void advance_to_interrupt(void)
{
	check(vesper_advance(&disk, vesper_next_ns(&disk)));
}

static void issue(char op, unsigned long long first, unsigned long long blocks)
{
	int result;

	for (;;) {
		result = op == 'w' ? vesper_write(&disk, first, blocks, NULL)
				   : vesper_read(&disk, first, blocks, NULL);
		if (result != VESPER_BUSY)
			break;
		advance_to_interrupt();
	}
	check(result);
}

int main(int count, char **word)
{
	struct vesper_config config = {
		.blocks = strtoull(word[2], NULL, 0),
		.block_bytes = strtoull(word[3], NULL, 0),
		.depth = strtoull(word[4], NULL, 0),
		.seed = strtoull(word[5], NULL, 0),
		.scaling = strtoull(word[6], NULL, 0),
		.interrupt = interrupt,
		.timing_only = 1,
	};
	unsigned long long first, blocks;
	struct vesper_totals sums;
	char op, at[32];

	(void)count;
	if (strcmp(word[1], "table"))
		config.profile = word[1];
	else
		config.table = TABLE_OR_NONE;
	check(vesper_init(&disk, &config));
	while (scanf(" %c %llu %llu %31s", &op, &first, &blocks, at) == 4) {
		if (strcmp(at, "-")) {
			unsigned long long at_ns = strtoull(at, NULL, 0);

			while (vesper_next_ns(&disk) <= at_ns)
				advance_to_interrupt();
			check(vesper_advance(&disk, at_ns));
		} else {
			while (vesper_next_ns(&disk) != VESPER_NEVER)
				advance_to_interrupt();
		}
		issue(op, first, blocks);
	}
	while (vesper_next_ns(&disk) != VESPER_NEVER)
		advance_to_interrupt();
	check(vesper_statistics(&disk, &sums));
	printf("%llu %llu %llu %llu %llu %llu %llu\n",
	       (unsigned long long)sums.elapsed_ns, (unsigned long long)sums.seek_ns,
	       (unsigned long long)sums.rotation_ns,
	       (unsigned long long)sums.transfer_ns, (unsigned long long)sums.cache_ns,
	       (unsigned long long)sums.idle_ns, (unsigned long long)sums.hits);
	return 0;
}

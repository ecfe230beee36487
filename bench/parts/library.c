// SPDX-License-Identifier: MIT
/*
 * library PROFILE BLOCKS REQUESTS: reads and writes of one to four blocks at random places of a disk
 * of libvesper, each issued by the handler of the one before. Data are in memory. Prints the user CPU
 * time of a request in ns.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../../core/draw.h"
#include "../../vesper/vesper.h"

#define BLOCK_BYTES 512
#define BLOCKS_MAX 4

static struct vesper disk;
static struct draw draw;
static u64 blocks, left;
static char buffer[BLOCKS_MAX * BLOCK_BYTES];

static void issue(void)
{
	u32 length = 1 + draw_u64(&draw) % BLOCKS_MAX;
	u64 first = draw_u64(&draw) % (blocks - length);
	int result = left % 4 ? vesper_read(&disk, first, length, buffer)
			      : vesper_write(&disk, first, length, buffer);

	if (result)
		abort();
}

static void interrupt(void *context, const struct vesper_done *done)
{
	if (--left)
		issue();
}

static __attribute__((noipa)) void run(void)
{
	issue();
	while (left)
		vesper_advance(&disk, vesper_next_ns(&disk));
}

static u64 cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

int main(int count, char **word)
{
	struct vesper_config config = {
		.profile = word[1],
		.blocks = strtoull(word[2], NULL, 0),
		.block_bytes = BLOCK_BYTES,
		.interrupt = interrupt,
	};
	u64 requests = strtoull(word[3], NULL, 0);
	u64 began_ns;

	blocks = config.blocks;
	config.memory = calloc(blocks, BLOCK_BYTES);
	if (!config.memory || vesper_init(&disk, &config))
		return 1;
	draw_seed(&draw, 1, 0);
	left = requests;
	began_ns = cpu_ns();
	run();
	printf("%f\n", (double)(cpu_ns() - began_ns) / requests);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Many sectors are looked for in few spans, and nearly none is there: a sieve says so without a
 * look at the spans.  It has a bit for each block of sectors, which blocks share by chance, and
 * lets through what a span might hold.
 */
#ifndef UNDERSTUDY_SIEVE_H
#define UNDERSTUDY_SIEVE_H

#include "../port.h"

#define SIEVE_WORDS 8 /* of 64 bits: 2^9, as sieve_bit() has it */

/**
 * struct sieve - one to which spans are added
 * @word: the bits
 * @block: sectors in a block, as a power of two
 */
struct sieve {
	u64 word[SIEVE_WORDS];
	u32 block;
};

/* An empty one, for spans of so many sectors, to 2^63: each is in two or three blocks. */
static inline struct sieve sieve_for(u64 sectors)
{
	struct sieve sieve = { .block = 0 };

	while (1ull << sieve.block < sectors)
		sieve.block++;
	return sieve;
}

/* Blocks next to each other get other bits, and so do those of a stride. */
static inline u32 sieve_bit(u64 block)
{
	return block * 0x9e3779b97f4a7c15ull >> 55;
}

/* All of [start, end], with the sector right behind the span. */
static inline void sieve_add(struct sieve *sieve, u64 start, u64 end)
{
	u64 block;

	for (block = start >> sieve->block; block <= end >> sieve->block; block++) {
		u32 bit = sieve_bit(block);

		sieve->word[bit / 64] |= 1ull << bit % 64;
	}
}

static inline bool sieve_lets_through(const struct sieve *sieve, u64 sector)
{
	u32 bit = sieve_bit(sector >> sieve->block);

	return sieve->word[bit / 64] >> bit % 64 & 1;
}

#endif

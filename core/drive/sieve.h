/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A filter for searches of many sectors in few spans, where nearly all searches fail. For most
 * sectors, the sieve shows without a search that no span holds the sector. The sieve has a bit for
 * each block of sectors; several blocks may share a bit. The sieve passes each sector that a span
 * might hold.
 */
#ifndef UNDERSTUDY_SIEVE_H
#define UNDERSTUDY_SIEVE_H

#include "../port.h"

#define SIEVE_WORDS 8 /* words of 64 bits: 2^9 bits, which sieve_bit() assumes */

/**
 * struct sieve - a sieve to which spans are added
 * @word: the bits
 * @block: binary logarithm of the number of sectors in a block
 */
struct sieve {
	u64 word[SIEVE_WORDS];
	u32 block;
};

/*
 * Return an empty sieve for spans of up to `sectors` sectors, at most 2^63. Such a span, with the
 * sector after it, overlaps at most two blocks.
 */
static inline struct sieve sieve_for(u64 sectors)
{
	struct sieve sieve = { .block = 0 };

	while (1ull << sieve.block < sectors)
		sieve.block++;
	return sieve;
}

/*
 * Return the bit of a block. Adjacent blocks get different bits, and so do blocks at a constant
 * stride.
 */
static inline u32 sieve_bit(u64 block)
{
	return block * 0x9e3779b97f4a7c15ull >> 55;
}

/* Add the span [start, end) and the first sector after it. */
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

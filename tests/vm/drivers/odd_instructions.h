/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Instructions that the bus does not know, on registers of the card odd (odd.yaml), for
 * a driver and for a process.
 *
 * Each function returns how many of its results are wrong.
 * tests/vm/test_card_instructions.py repeats the effects on the registers.
 */
#ifndef UNDERSTUDY_ODD_INSTRUCTIONS_H
#define UNDERSTUDY_ODD_INSTRUCTIONS_H

typedef unsigned long odd_word;
typedef unsigned char odd_byte;

#define ODD_AT(type, offset) (*(volatile type *)(page + (offset)))
#define ODD_HELD(n) ODD_AT(odd_word, 0x100 + 8 * (n))
#define ODD_SAVED 512

/*
 * Returns twice / 2 as the bits of a double. Uses integers only, since a driver has no
 * floating point.
 */
static odd_word odd_real(odd_word twice)
{
	int high = 63 - __builtin_clzl(twice);

	return ((odd_word)(1022 + high) << 52) |
	       ((twice << (52 - high)) & ((1ul << 52) - 1));
}

/*
 * Stores twice HELD_0 to HELD_1, and the same bits to HELD_2 as an integer. An 80-bit
 * real goes to the registers that follow.
 */
static unsigned int odd_x87(odd_byte *page, odd_word n)
{
	odd_word half = odd_real(2 * n + 1), whole = odd_real(4 * n + 2);
	unsigned int bad = 0;

	ODD_HELD(0) = half;
	__asm__ volatile("fldl 0x100(%0)\n"
			 "fadd %%st(0), %%st(0)\n"
			 "fstpl 0x108(%0)" ::"r"(page)
			 : "memory");
	bad += ODD_HELD(1) != whole;
	__asm__ volatile("fildll 0x108(%0)\n"
			 "fistpll 0x110(%0)\n"
			 "fldl 0x100(%0)\n"
			 "fstpt 0x118(%0)" ::"r"(page)
			 : "memory");
	bad += ODD_HELD(2) != whole;
	return bad + (ODD_HELD(3) != ((half << 11) | 1ul << 63));
}

/*
 * Exchanges HELD_0 and HELD_1 if they are as expected, which is so the first time only.
 */
static unsigned int odd_exchange(odd_byte *page, odd_word n)
{
	odd_word low = n, high = ~n;
	unsigned char done, again;

	ODD_HELD(0) = low;
	ODD_HELD(1) = high;
	__asm__ volatile("lock cmpxchg16b 0x100(%5)\n"
			 "sete %0\n"
			 "lock cmpxchg16b 0x100(%5)\n"
			 "sete %1"
			 : "=&r"(done), "=&r"(again), "+a"(low), "+d"(high)
			 : "b"(n + 1), "r"(page), "c"(n + 2)
			 : "memory", "cc");
	return !done + again + (low != n + 1) + (high != n + 2);
}

/* Divides by WORD_0; sets a half of a register and a byte by a condition. */
static unsigned int odd_general(odd_byte *page, odd_word n)
{
	unsigned int low = 7 * n + 3, high = 0, taken = 0;

	ODD_AT(unsigned int, 0x120) = 7;
	__asm__ volatile("divl 0x120(%3)\n"
			 "cmp %0, %0\n"
			 "cmove 0x120(%3), %2\n"
			 "sete 0x134(%3)\n"
			 "setne 0x135(%3)"
			 : "+a"(low), "+d"(high), "+r"(taken)
			 : "r"(page)
			 : "memory", "cc");
	return (low != (unsigned int)n) + (high != 3) + (taken != 7);
}

/* Stores all that FXSAVE saves, at offsets without a register. */
static void odd_save(odd_byte *page)
{
	__asm__ volatile("fxsave64 0x200(%0)" ::"r"(page) : "memory");
}

#endif

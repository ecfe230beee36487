/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The n-th write of a writer: widths and values vary with n.
 *
 * tests/vm/test_card_accesses.py repeats this in Python. All writers write parts of the
 * same register, whose writes have no effect.
 */
#ifndef HAMMER_PATTERN_H
#define HAMMER_PATTERN_H

#define HAMMER_AT 0x8 /* SOURCE of the copier */

static inline unsigned int hammer_bytes(unsigned int n)
{
	return 1u << n % 4;
}

static inline unsigned int hammer_offset(unsigned int n)
{
	return HAMMER_AT + (n * 5 % 8 & ~(hammer_bytes(n) - 1));
}

static inline unsigned long hammer_value(unsigned int writer, unsigned int n)
{
	return (writer + 1) * 0x9e3779b97f4a7c15ul + n / 3 * 0xbf58476d1ce4e5b9ul;
}

static inline void hammer(volatile void *registers, unsigned int writer, unsigned int n)
{
	volatile void *at = (volatile char *)registers + hammer_offset(n);
	unsigned long value = hammer_value(writer, n);

	switch (hammer_bytes(n)) {
	case 1:
		*(volatile unsigned char *)at = value;
		break;
	case 2:
		*(volatile unsigned short *)at = value;
		break;
	case 4:
		*(volatile unsigned int *)at = value;
		break;
	default:
		*(volatile unsigned long *)at = value;
	}
}

#endif

/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The product of two 64-bit numbers, divided, for machines without 128-bit numbers: schoolbook
 * arithmetic with digits of 32 bits (Knuth, volume 2, section 4.3.1). core/port.h includes this
 * file where it needs it, after the types.
 */
#ifndef UNDERSTUDY_WIDE_H
#define UNDERSTUDY_WIDE_H

/* Return the number of zeros above the highest bit of x, which is at least 1. */
static inline u32 wide_zeros(u64 x)
{
	u32 zeros = 0;
	u32 step;

	for (step = 32; step; step /= 2) {
		if (x >> (64 - step))
			continue;
		x <<= step;
		zeros += step;
	}
	return zeros;
}

/* Without an instruction for it, compilers call a library. */
#if defined(PORT_ALONE) && !defined(__x86_64__) && !defined(__i386__) && \
	!defined(__aarch64__)
#define __builtin_clzll(x) wide_zeros(x)
#define __builtin_clz(x) (wide_zeros(x) - 32)
#endif

/* A number of 128 bits. */
struct wide {
	u64 high, low;
};

static inline struct wide wide_product(u64 a, u64 b)
{
	u64 a_high = a >> 32, a_low = (u32)a;
	u64 b_high = b >> 32, b_low = (u32)b;
	u64 low = a_low * b_low;
	u64 middle = a_high * b_low + (low >> 32);
	u64 other = a_low * b_high + (u32)middle;

	return (struct wide){
		.high = a_high * b_high + (middle >> 32) + (other >> 32),
		.low = other << 32 | (u32)low,
	};
}

/*
 * Return one digit of the quotient: floor((rest * 2^32 + digit) / c), where rest is below c and the
 * highest bit of c is set. Set *rest to the remainder. The estimate from the high digit of c is at
 * most two too large.
 */
static inline u64 wide_digit(u64 *rest, u32 digit, u64 c)
{
	u64 c_high = c >> 32, c_low = (u32)c;
	u64 quotient = *rest / c_high;
	u64 left = *rest - quotient * c_high;

	while (quotient >> 32 || quotient * c_low > (left << 32 | digit)) {
		quotient--;
		left += c_high;
		if (left >> 32)
			break;
	}
	*rest = (*rest << 32 | digit) - quotient * c;
	return quotient;
}

/* Return the lowest 64 bits of floor(a * b / c). */
static inline u64 wide_mul_div(u64 a, u64 b, u64 c)
{
	struct wide product;
	u64 rest, high, low;
	u32 shift;

	if (!__builtin_mul_overflow(a, b, &low))
		return low / c;
	product = wide_product(a, b);
	shift = __builtin_clzll(c);
	c <<= shift;
	rest = product.high % (c >> shift);
	if (shift) {
		rest = rest << shift | product.low >> (64 - shift);
		product.low <<= shift;
	}
	high = wide_digit(&rest, product.low >> 32, c);
	return high << 32 | wide_digit(&rest, (u32)product.low, c);
}

#endif

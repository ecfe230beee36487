/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The platform below core/: the only file that knows whether the code is compiled into a kernel
 * module or into a program.
 *
 * core/ reads no clock, calls no libc and uses no floating point. It allocates memory only in init
 * functions and frees it only in exit functions.
 */
#ifndef UNDERSTUDY_PORT_H
#define UNDERSTUDY_PORT_H

#ifdef __KERNEL__

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/string.h>
#include <linux/types.h>

/* Return floor(a * b / c). The product may exceed 64 bits; the quotient must not. */
static inline u64 port_mul_div(u64 a, u64 b, u64 c)
{
	return mul_u64_u64_div_u64(a, b, c);
}

#else /* a program */

#if __STDC_HOSTED__ && !defined(PORT_ALONE)
#include <errno.h>
#else
#define PORT_ALONE /* without a libc, as in a teaching kernel */
enum { EINVAL = 22 };
#endif
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#define U32_MAX UINT32_MAX
#define U64_MAX UINT64_MAX

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define memmove __builtin_memmove
#define memcpy __builtin_memcpy
#define memset __builtin_memset
#define memcmp __builtin_memcmp

#if defined(__SIZEOF_INT128__) && !defined(PORT_ALONE)

static inline u64 port_mul_div(u64 a, u64 b, u64 c)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return product >> 64 ? (u64)(product / c) : (u64)product / c;
}

#else /* no numbers of 128 bits, or no library that divides them */

#include "wide.h"

static inline u64 port_mul_div(u64 a, u64 b, u64 c)
{
	return wide_mul_div(a, b, c);
}

#endif

#endif

/* Return zeroed memory or NULL; implemented in sim/port.c and kernel/port/port.c. */
void *port_zalloc(size_t bytes);
void port_free(void *memory);

#endif

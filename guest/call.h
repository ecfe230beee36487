/* SPDX-License-Identifier: MIT */
/*
 * System calls that return their result directly, or a negative errno if they failed.  The
 * processes of a workload share their memory, so they would share libc's errno.
 */
#ifndef UNDERSTUDY_GUEST_CALL_H
#define UNDERSTUDY_GUEST_CALL_H

#include <sys/syscall.h>

static inline long call(long number, long a, long b, long c, long d)
{
	register long fourth asm("r10") = d;
	long result;

	asm volatile("syscall"
		     : "=a"(result)
		     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
		     : "rcx", "r11", "memory");
	return result;
}

#endif

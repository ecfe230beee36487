// SPDX-License-Identifier: MIT
/*
 * Print at what rate this host's processors count time, kHz: the time stamp counter against the
 * monotonic clock over a tenth of a second.  However busy the host is: of many readings of both,
 * at the beginning and at the end, that one counts between whose two clocks the least time has
 * passed.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

#define READINGS 1000
#define PAUSE_NS 100000000

struct reading {
	uint64_t ns;
	uint64_t ticks;
};

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static struct reading read_both(void)
{
	struct reading best = { 0 };
	uint64_t least_ns = UINT64_MAX;

	for (int i = 0; i < READINGS; i++) {
		uint64_t before_ns = clock_ns();
		uint64_t ticks = __rdtsc();
		uint64_t passed_ns = clock_ns() - before_ns;

		if (passed_ns < least_ns) {
			least_ns = passed_ns;
			best = (struct reading){ before_ns + passed_ns / 2, ticks };
		}
	}
	return best;
}

int main(void)
{
	struct timespec pause = { 0, PAUSE_NS };
	struct reading begin = read_both();
	struct reading end;

	nanosleep(&pause, NULL);
	end = read_both();
	printf("%.0f\n", 1e6 * (end.ticks - begin.ticks) / (end.ns - begin.ns));
	return 0;
}

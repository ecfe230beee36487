// SPDX-License-Identifier: MIT
/*
 * Prints the rate of this host's time stamp counter in kHz, compared with the monotonic clock over
 * a tenth of a second. A busy host must not distort the result. So the program reads the counter
 * many times at the beginning and at the end, each time between two readings of the clock. It uses
 * the attempt with the least time between these two readings.
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

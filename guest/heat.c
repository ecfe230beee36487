// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Computes for some seconds: heat that spreads in a cube, by finite differences in double precision.
 * It stands in for the CFD code of Jones 2010, section 5.3: no input or output, nothing but
 * floating-point numbers and memory.
 *
 *   heat STEPS
 *
 * It prints the seconds that it took, by its own clock, and the sum of all temperatures, in
 * hexadecimal:
 *
 *   done SECONDS SUM
 *
 * Equal steps have equal sums on all processors that round as IEEE 754 says.
 */
#define _GNU_SOURCE
#include <time.h>

#include "options.h"

#define SIDE 66 /* with the two faces, whose temperature stays */
#define STEPS_MAX 1000000
#define SPREADS 0.125

static double cubes[2][SIDE][SIDE][SIDE];

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static void step(double (*to)[SIDE][SIDE], double (*from)[SIDE][SIDE])
{
	int x, y, z;

	for (x = 1; x < SIDE - 1; x++)
		for (y = 1; y < SIDE - 1; y++)
			for (z = 1; z < SIDE - 1; z++)
				to[x][y][z] =
					from[x][y][z] +
					SPREADS *
						(from[x - 1][y][z] + from[x + 1][y][z] +
						 from[x][y - 1][z] + from[x][y + 1][z] +
						 from[x][y][z - 1] + from[x][y][z + 1] -
						 6 * from[x][y][z]);
}

int main(int argc, char **argv)
{
	double begin = now(), sum = 0;
	uint64_t steps, i;
	int x, y, z;

	if (argc != 2) {
		fprintf(stderr, "heat STEPS\n");
		return EXIT_USAGE;
	}
	steps = option_number("STEPS", argv[1], 1, STEPS_MAX);
	for (y = 0; y < SIDE; y++) /* one face is hot */
		for (z = 0; z < SIDE; z++)
			cubes[0][0][y][z] = cubes[1][0][y][z] = 100;
	for (i = 0; i < steps; i++)
		step(cubes[(i + 1) % 2], cubes[i % 2]);
	for (x = 0; x < SIDE; x++)
		for (y = 0; y < SIDE; y++)
			for (z = 0; z < SIDE; z++)
				sum += cubes[steps % 2][x][y][z];
	printf("done %.6f %a\n", now() - begin, sum);
	return 0;
}

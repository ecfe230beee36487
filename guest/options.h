/* SPDX-License-Identifier: MIT */
/*
 * Parses numbers on the command line of a guest program.  A number must be an integer in range.
 * Otherwise the program prints one line about the error and exits with code 2.
 */
#ifndef UNDERSTUDY_GUEST_OPTIONS_H
#define UNDERSTUDY_GUEST_OPTIONS_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define EXIT_USAGE 2

static inline uint64_t option_number(const char *name, const char *text, uint64_t min,
				     uint64_t max)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || value < min || value > max) {
		fprintf(stderr, "%s: \"%s\" is not a whole number from %llu to %llu\n",
			name, text, (unsigned long long)min, (unsigned long long)max);
		exit(EXIT_USAGE);
	}
	return value;
}

#endif

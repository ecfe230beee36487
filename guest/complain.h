/* SPDX-License-Identifier: MIT */
/* Prints a guest program's error in one line, and returns the program's exit code. */
#ifndef UNDERSTUDY_GUEST_COMPLAIN_H
#define UNDERSTUDY_GUEST_COMPLAIN_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define EXIT_FAILED 1

static inline int complain_of(const char *what, int error)
{
	fprintf(stderr, "%s: %s (errno %d)\n", what, strerror(error), error);
	return EXIT_FAILED;
}

static inline int complain(const char *what)
{
	return complain_of(what, errno);
}

#endif

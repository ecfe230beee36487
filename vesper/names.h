/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Comparisons of names, without a libc. */
#ifndef VESPER_NAMES_H
#define VESPER_NAMES_H

#include "../core/port.h"

static inline bool name_is(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static inline bool name_ends_in(const char *name, const char *end)
{
	for (; *name; name++) {
		if (name_is(name, end))
			return true;
	}
	return false;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Shared by the tests of the core: CHECK, which ends the program and prints the source
 * line, the scheduler and rule under test, and the seed.  A test sets check_seed before
 * each random case.  Run the test with CHECK_SEED=n to repeat case n alone.
 */
#ifndef UNDERSTUDY_CHECK_H
#define UNDERSTUDY_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#include "../../core/draw.h"

extern u64 check_seed;

/* The scheduler and the rule under test; NULL if the source line is enough. */
extern const char *check_scheduler;
extern const char *check_rule;

/* End the program with a message in the format of printf. */
#define CHECK_FAIL(...) check_fail(__FILE__, __LINE__, __VA_ARGS__)
void check_fail(const char *file, int line, const char *format, ...)
	__attribute__((noreturn, format(printf, 3, 4)));

#define CHECK(condition)                                      \
	do {                                                  \
		if (!(condition))                             \
			CHECK_FAIL("not so: %s", #condition); \
	} while (0)

/* CHECK with a message instead of the condition's text. */
#define CHECK_RULE(condition, words)             \
	do {                                     \
		if (!(condition))                \
			CHECK_FAIL("%s", words); \
	} while (0)

#define CHECK_EQ(got, want)                                                    \
	do {                                                                   \
		long long got_ = (long long)(got);                             \
		long long want_ = (long long)(want);                           \
		if (got_ != want_)                                             \
			CHECK_FAIL("%s is %lld, not %lld", #got, got_, want_); \
	} while (0)

/* Let that many more allocations succeed and the next one fail; U32_MAX: none fails. */
void port_grant(u32 allocations);

/* Return whether that allocation failed; from now on, none fails. */
bool port_refused(void);

/* From now on, fail allocations of more bytes than this; SIZE_MAX: none fails. */
void port_limit(size_t bytes);

/* Run a random case for seeds 1 to n, or only for the seed in CHECK_SEED. */
static inline void check_seeds(u64 n, void (*run)(struct draw *draw))
{
	const char *only = getenv("CHECK_SEED");
	u64 first = only ? strtoull(only, NULL, 0) : 1;
	u64 last = only ? first : n;
	struct draw draw;

	for (check_seed = first; check_seed <= last; check_seed++) {
		draw_seed(&draw, check_seed, 0);
		run(&draw);
	}
	check_seed = 0;
}

#endif

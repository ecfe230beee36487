// SPDX-License-Identifier: MIT
/* The functions of check.h, and allocations that fail when a test requests it. */
#include <stdarg.h>

#include "check.h"

u64 check_seed;
const char *check_scheduler;
const char *check_rule;
static u32 left = U32_MAX;
static bool refused;
static size_t most = SIZE_MAX;

void check_fail(const char *file, int line, const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "%s:%d: ", file, line);
	if (check_scheduler)
		fprintf(stderr, "scheduler %s: ", check_scheduler);
	if (check_rule)
		fprintf(stderr, "%s: ", check_rule);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, " (CHECK_SEED=%llu)\n", (unsigned long long)check_seed);
	abort();
}

void port_grant(u32 allocations)
{
	left = allocations;
	refused = false;
}

bool port_refused(void)
{
	left = U32_MAX;
	return refused;
}

void port_limit(size_t bytes)
{
	most = bytes;
}

void *port_zalloc(size_t bytes)
{
	if (bytes > most)
		return NULL;
	refused |= !left;
	if (left != U32_MAX && !left--) /* which makes it U32_MAX */
		return NULL;
	return calloc(1, bytes ? bytes : 1);
}

void port_free(void *memory)
{
	free(memory);
}

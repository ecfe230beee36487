// SPDX-License-Identifier: MIT
/* What check.h declares, and memory that runs out when a test says so. */
#include "check.h"

u64 check_seed;
static u32 left = U32_MAX;
static bool refused;
static size_t most = SIZE_MAX;

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

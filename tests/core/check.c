// SPDX-License-Identifier: MIT
/* What check.h declares, and memory that runs out when a test says so. */
#include "check.h"

u64 check_seed;
static u32 left = U32_MAX;
static size_t most = SIZE_MAX;

void port_grant(u32 allocations)
{
	left = allocations;
}

void port_limit(size_t bytes)
{
	most = bytes;
}

void *port_zalloc(size_t bytes)
{
	if (!left || bytes > most)
		return NULL;
	left -= left != U32_MAX;
	return calloc(1, bytes ? bytes : 1);
}

void port_free(void *memory)
{
	free(memory);
}

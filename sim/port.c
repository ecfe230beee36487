// SPDX-License-Identifier: MIT
/* The functions that core/port.h requires from a program: memory from the heap. */
#include <stdlib.h>

#include "../core/port.h"

void *port_zalloc(size_t bytes)
{
	return calloc(1, bytes ? bytes : 1);
}

void port_free(void *memory)
{
	free(memory);
}

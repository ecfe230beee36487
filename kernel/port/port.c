// SPDX-License-Identifier: GPL-2.0
/*
 * What core/port.h needs from a kernel module: memory, allocated in a context that may sleep.
 *
 * These functions are not inline in the header: the kernel headers that they include would double
 * the time to compile each file of core/.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "../../core/port.h"

void *port_zalloc(size_t bytes)
{
	return kvzalloc(bytes, GFP_KERNEL);
}

void port_free(void *memory)
{
	kvfree(memory);
}

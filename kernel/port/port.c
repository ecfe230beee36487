// SPDX-License-Identifier: GPL-2.0
/*
 * The functions of core/port.h for kernel modules: they allocate memory, in a context that may
 * sleep.
 *
 * These functions are not inline functions in the header, because the kernel headers that they need
 * would double the time to compile each file of core/.
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

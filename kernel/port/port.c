// SPDX-License-Identifier: GPL-2.0
/*
 * What core/port.h asks of a kernel module: memory, which may sleep.
 *
 * Apart from the header, since those of the kernel that it takes would double the time to compile
 * each file of core/.
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

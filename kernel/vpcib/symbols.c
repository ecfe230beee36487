// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the addresses of functions that are not exported to modules.
 *
 * A kprobe would find most of these functions, but not those in which kprobes are forbidden, such
 * as page-fault handlers.  kallsyms_lookup_name finds all functions, and a kprobe finds
 * kallsyms_lookup_name.
 */
#include <linux/kprobes.h>

#include "card.h"

unsigned long symbol_address(const char *name)
{
	struct kprobe probe = { .symbol_name = "kallsyms_lookup_name" };
	unsigned long (*lookup)(const char *name);

	if (register_kprobe(&probe))
		return 0;
	lookup = (void *)probe.addr;
	unregister_kprobe(&probe);
	return lookup(name);
}

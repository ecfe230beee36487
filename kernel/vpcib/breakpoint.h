/* SPDX-License-Identifier: GPL-2.0 */
#ifndef UNDERSTUDY_VPCIB_BREAKPOINT_H
#define UNDERSTUDY_VPCIB_BREAKPOINT_H

#include <linux/kprobes.h>

/*
 * The post_handler of kprobes whose pre_handler changes where the processor goes on.  The kernel turns
 * a kprobe without a post_handler into a jump after a while, and then ignores such a change
 * (Documentation/trace/kprobes.rst).
 */
static inline void stays_breakpoint(struct kprobe *probe, struct pt_regs *regs,
				    unsigned long flags)
{
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef UNDERSTUDY_VPCIB_BREAKPOINT_H
#define UNDERSTUDY_VPCIB_BREAKPOINT_H

#include <linux/kprobes.h>
#include <linux/lockdep.h>

/*
 * The post_handler of kprobes that must stay breakpoints, since their pre_handler changes where the
 * processor goes on, or looks at the exception's state.  The kernel turns a kprobe without a
 * post_handler into a jump after a while, and then ignores such a change
 * (Documentation/trace/kprobes.rst).
 */
static inline void stays_breakpoint(struct kprobe *probe, struct pt_regs *regs,
				    unsigned long flags)
{
}

/*
 * Begin and end of what takes locks in a pre_handler.  To lockdep, the breakpoint's exception is an
 * interrupt that can't be masked, and so may come while its processor holds any lock.  But this one
 * comes only where a function begins that nobody calls with a lock of the bus.  (lockdep_off does not
 * help in such an interrupt.)
 */
static inline void breakpoint_locks(void)
{
#ifdef CONFIG_PROVE_LOCKING
	this_cpu_inc(lockdep_recursion);
#endif
}

static inline void breakpoint_unlocks(void)
{
#ifdef CONFIG_PROVE_LOCKING
	this_cpu_dec(lockdep_recursion);
#endif
}

#endif

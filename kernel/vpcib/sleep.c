// SPDX-License-Identifier: GPL-2.0
/*
 * Reports a driver that calls a function that may sleep where sleeping is not allowed: in an
 * interrupt handler, under a spin lock, or with interrupts off.  A kernel without
 * DEBUG_ATOMIC_SLEEP does not report this, unless the function does sleep.
 *
 * Functions that may sleep call __cond_resched(), or copy from and to processes.  A call counts
 * only if a driver of a card is among its callers.  When a driver really sleeps, the kernel can't
 * continue reliably, so it panics.
 *
 * ftrace can't intercept the functions that copy, so a kprobe's breakpoint does.
 *
 * Active only with the parameter "races".
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/hardirq.h>
#include <linux/irqflags.h>
#include <linux/kprobes.h>
#include <linux/preempt.h>
#include <linux/stacktrace.h>
#include <linux/uaccess.h>

#include "breakpoint.h"
#include "card.h"
#include "../iprobe/iprobe.h"

#define FRAMES 48
#define CALLS_MOST 64 /* calls that are reported */

/* Places in drivers that were reported, so that each is reported once. */
static unsigned long reported[CALLS_MOST];
static u32 nr_reported;
static DEFINE_RAW_SPINLOCK(reported_lock);

static bool is_new(unsigned long ip)
{
	unsigned long flags;
	bool is = true;
	u32 i;

	raw_spin_lock_irqsave(&reported_lock, flags);
	for (i = 0; i < nr_reported; i++)
		is &= reported[i] != ip;
	is &= nr_reported < CALLS_MOST;
	if (is)
		reported[nr_reported++] = ip;
	raw_spin_unlock_irqrestore(&reported_lock, flags);
	return is;
}

/* The code that makes a call: a preempt_count, and whether its interrupts are off. */
struct situation {
	unsigned int count;
	bool interrupts_off;
};

static bool may_not_sleep(struct situation at)
{
	return at.count || at.interrupts_off;
}

static const char *where(struct situation at)
{
	return at.count & HARDIRQ_MASK	   ? "in an interrupt handler"
	       : at.count & SOFTIRQ_OFFSET ? "in a soft interrupt"
	       : at.count & SOFTIRQ_MASK   ? "with soft interrupts off"
	       : at.interrupts_off	   ? "with interrupts off"
					   : "under a spin lock or with preemption off";
}

static u8 context(struct situation at)
{
	return at.count & HARDIRQ_MASK	   ? VPCIB_HARD_INTERRUPT
	       : at.count & SOFTIRQ_OFFSET ? VPCIB_SOFT_INTERRUPT
					   : VPCIB_KERNEL;
}

/*
 * Reports the call if a driver is among the callers, whose addresses are in `frames`.  Returns
 * whether this is so.
 */
static bool report(struct situation at, const char *place, const unsigned long *frames,
		   u32 count)
{
	u32 i, number;
	bool is = false;

	for (i = 1; i < count && !is; i++) {
		is = driver_has_code(frames[i], &number);
		if (is && is_new(frames[i]))
			misuse_note(number,
				    (struct vpcib_access){ .value = VPCIB_SLEEPS,
							   .ip = frames[i],
							   .context = context(at) },
				    "%pS calls %ps %s", (void *)frames[i],
				    (void *)frames[i - 1], place);
	}
	return is;
}

static bool report_here(struct situation at, const char *place)
{
	unsigned long frames[FRAMES];

	return report(at, place, frames, stack_trace_save(frames, FRAMES, 0));
}

static bool at_resched(struct iprobe *probe, struct pt_regs *regs)
{
	struct situation at = { preempt_count(), irqs_disabled() };

	if (may_not_sleep(at))
		report_here(at, where(at));
	return false;
}

/* The scheduler has switched preemption off itself. */
static bool at_bug(struct iprobe *probe, struct pt_regs *regs)
{
	struct situation at = { preempt_count(), irqs_disabled() };

	if (report_here(at, in_hardirq() ? where(at) : "where sleeping is not allowed"))
		panic("a driver sleeps where it must not");
	return false;
}

/* Points to stack_trace_save_regs, which is not exported to modules. */
static typeof(stack_trace_save_regs) *save_regs;

/*
 * Called in the breakpoint's exception, which counts as a non-maskable interrupt.  The instruction
 * pointer is beyond the breakpoint, where the stack may be expected to look different.
 */
static int at_copy(struct kprobe *probe, struct pt_regs *regs)
{
	struct situation at = { preempt_count() - NMI_OFFSET - HARDIRQ_OFFSET,
				!(regs->flags & X86_EFLAGS_IF) };
	struct pt_regs entry = *regs;
	unsigned long frames[FRAMES];

	if (!may_not_sleep(at) || pagefault_disabled())
		return 0;
	entry.ip = (unsigned long)probe->addr;
	breakpoint_locks();
	report(at, where(at), frames, save_regs(&entry, frames, FRAMES, 0));
	breakpoint_unlocks();
	return 0;
}

static struct iprobe resched_probe = { .symbol = "__cond_resched",
				       .decide = at_resched };
static struct iprobe bug_probe = { .symbol = "__schedule_bug", .decide = at_bug };

#define COPY(name)                                           \
	{                                                    \
		.symbol_name = name, .pre_handler = at_copy, \
		.post_handler = stays_breakpoint             \
	}
static struct kprobe copy_probes[] = {
	COPY("_copy_from_user"), COPY("_copy_to_user"), COPY("__get_user_1"),
	COPY("__get_user_2"),	 COPY("__get_user_4"),	COPY("__get_user_8"),
	COPY("__put_user_1"),	 COPY("__put_user_2"),	COPY("__put_user_4"),
	COPY("__put_user_8"),
};
static u32 nr_copies; /* those that are registered */

int sleep_init(void)
{
	int ret;

	if (!interrupt_races())
		return 0;
	save_regs = (void *)symbol_address("stack_trace_save_regs");
	if (!save_regs)
		return -ENOENT;
	ret = iprobe_register(&resched_probe);
	if (!ret)
		ret = iprobe_register(&bug_probe);
	while (!ret && nr_copies < ARRAY_SIZE(copy_probes)) {
		ret = register_kprobe(&copy_probes[nr_copies]);
		if (!ret)
			nr_copies++;
	}
	if (ret) {
		pr_err("can't intercept the functions that sleep or copy\n");
		sleep_exit();
	}
	return ret;
}

void sleep_exit(void)
{
	while (nr_copies)
		unregister_kprobe(&copy_probes[--nr_copies]);
	if (iprobe_registered(&bug_probe))
		iprobe_unregister(&bug_probe);
	if (iprobe_registered(&resched_probe))
		iprobe_unregister(&resched_probe);
}

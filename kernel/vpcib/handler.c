// SPDX-License-Identifier: GPL-2.0
/*
 * Observes what an interrupt handler returns: the kernel passes this to note_interrupt, on the same
 * processor.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/percpu.h>

#include "card.h"
#include "../iprobe/iprobe.h"

static struct iprobe probe;
static DEFINE_PER_CPU(u32, result); /* irqreturn_t + 1; 0: no handler has run */

/* Must be called before the handlers, with interrupts off until handler_result(). */
void handler_begin(void)
{
	this_cpu_write(result, 0);
}

/* Returns what the handlers have returned since handler_begin(), plus 1, or 0 if none has run. */
u32 handler_result(void)
{
	return this_cpu_read(result);
}

static bool observe(struct iprobe *probe, struct pt_regs *regs)
{
	this_cpu_write(result, (u32)regs->si + 1);
	return false;
}

int handler_init(void)
{
	int ret;

	probe = (struct iprobe){ .symbol = "note_interrupt", .decide = observe };
	ret = iprobe_register(&probe);
	if (ret)
		pr_err("can't intercept note_interrupt\n");
	return ret;
}

void handler_exit(void)
{
	iprobe_unregister(&probe);
}

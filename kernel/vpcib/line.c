// SPDX-License-Identifier: GPL-2.0
/*
 * The line of INTA when a driver requests and frees it.  With the parameter "races", a handler that
 * shares its line (IRQF_SHARED) is called right after request_irq and right before free_irq, as if
 * another card on the line interrupted; the kernel's CONFIG_DEBUG_SHIRQ does the like.  So a driver
 * whose handler uses what is not ready yet, or no longer there, is noticed.  A handler that does not
 * share the line is reported, since other cards on the line could then not be used.
 *
 * The referee knows these moments by the functions line_is_requested and line_is_freed in the
 * kernel's list of callers.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/interrupt.h>

#include "card.h"
#include "../iprobe/iprobe.h"

static struct iprobe request_probe;
static struct iprobe free_probe;

/* Returns the card that uses this line, or NULL.  Called under rcu_read_lock. */
static struct vpcib_card *card_on_line(unsigned int irq)
{
	struct vpcib_card *card;
	u32 number;

	for_each_card (card, number) {
		if (card->line_irq == irq)
			return card;
	}
	return NULL;
}

static void check_shared(unsigned int irq, unsigned long flags)
{
	struct vpcib_card *card;

	rcu_read_lock();
	card = flags & IRQF_SHARED ? NULL : card_on_line(irq);
	if (card)
		misuse_note(card->number,
			    (struct vpcib_access){ .value = VPCIB_SHARES_NOT,
						   .context = VPCIB_KERNEL },
			    "INTA is requested without IRQF_SHARED");
	rcu_read_unlock();
}

static void share(unsigned int irq)
{
	struct vpcib_card *card;

	rcu_read_lock();
	card = card_on_line(irq);
	if (card)
		interrupt_share(card);
	rcu_read_unlock();
}

/*
 * The barriers keep the compiler from leaving either function out of the list of callers, by a tail
 * call or by one function for both.
 */
static noinline void line_is_requested(unsigned int irq)
{
	share(irq);
	barrier_data(&request_probe);
}

static noinline void line_is_freed(unsigned int irq)
{
	share(irq);
	barrier_data(&free_probe);
}

static int our_request(unsigned int irq, irq_handler_t handler, irq_handler_t thread,
		       unsigned long flags, const char *name, void *data)
{
	typeof(our_request) *original = request_probe.original;
	int ret = original(irq, handler, thread, flags, name, data);

	check_shared(irq, flags);
	if (!ret)
		line_is_requested(irq);
	iprobe_done(&request_probe);
	return ret;
}

static const void *our_free(unsigned int irq, void *data)
{
	typeof(our_free) *original = free_probe.original;
	const void *name;

	line_is_freed(irq);
	name = original(irq, data);
	iprobe_done(&free_probe);
	return name;
}

/* Returns whether the call's first argument is a card's line. */
static bool is_line(struct iprobe *probe, struct pt_regs *regs)
{
	bool is;

	rcu_read_lock();
	is = card_on_line(regs->di);
	rcu_read_unlock();
	return is;
}

int line_init(void)
{
	int ret;

	request_probe = (struct iprobe){ .symbol = "request_threaded_irq",
					 .replacement = our_request,
					 .decide = is_line };
	free_probe = (struct iprobe){ .symbol = "free_irq",
				      .replacement = our_free,
				      .decide = is_line };
	ret = iprobe_register(&request_probe);
	if (ret) {
		pr_err("can't intercept request_threaded_irq\n");
		return ret;
	}
	ret = iprobe_register(&free_probe);
	if (ret) {
		pr_err("can't intercept free_irq\n");
		iprobe_unregister(&request_probe);
	}
	return ret;
}

void line_exit(void)
{
	iprobe_unregister(&free_probe);
	iprobe_unregister(&request_probe);
}

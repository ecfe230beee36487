// SPDX-License-Identifier: GPL-2.0
/*
 * Delivers the interrupts of the cards.  A card sends messages (MSI or MSI-X) if the driver has
 * enabled them, and uses INTA otherwise.  What the kernel's interrupt core needs is in irqs.c.
 *
 * The driver stores a card's message in the card's configuration space.  Handlers run in a hard
 * interrupt, which an irq_work triggers.  The irq_work runs on the processor that accesses the
 * card, if the interrupt's affinity allows this.  Otherwise it runs on a processor that the
 * affinity allows.  INTA is level-triggered, so it repeats while there is a reason to interrupt.
 *
 * With the parameter "races", an interrupt is delayed so that it is likely to arrive in the middle
 * of a sequence of accesses.  The interrupt arrives right after one of the driver's next few
 * accesses, or at most HOLD_NS_MOST later if there are no accesses.  Drivers that keep their
 * handler out of such a sequence are not affected; other drivers may fail.
 *
 * Also with "races", a handler that shares its line (IRQF_SHARED on INTA) is sometimes called though
 * its card has no reason, as if another card on the line interrupted (line.c).
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irq_work.h>
#include <linux/irqdesc.h>
#include <linux/module.h>
#include <linux/percpu.h>

#include "card.h"

#define UNANSWERED_MOST 10000
#define HOLD_ACCESSES_MOST 8
#define SHARED_ACCESSES 50 /* another card interrupts after one in so many accesses */
#define HURRIES_ONCE_IN 3 /* pieces of work, one of which the card does at once */
#define HOLD_NS_MOST (200 * NSEC_PER_USEC)

static unsigned int races;
module_param(races, uint, 0444);
MODULE_PARM_DESC(
	races,
	"deliver interrupts between a driver's accesses, drawn from this seed; 0: no");

bool interrupt_races(void)
{
	return races;
}

/* A card's interrupts on one processor. */
struct delivery {
	struct irq_work work;
	struct vpcib_card *card;
};

/* Points to irq_work_queue_on, which is not exported to modules. */
static bool (*queue_on)(struct irq_work *work, int cpu);

/* --- from the card to the processor ------------------------------------------------- */

static bool line_is_asserted(const struct vpcib_card *card)
{
	return card->asserted && !card->gone && !card->broken && !card->line_masked &&
	       !config_sends_messages(card) && !config_line_disabled(card) &&
	       card->unanswered < UNANSWERED_MOST;
}

static u64 ready_messages(const struct vpcib_card *card)
{
	return config_sends_messages(card) && !card->gone && !card->broken &&
			       power_is_on(card)
		       ? card->pending & ~config_masked(card)
		       : 0;
}

/*
 * Returns the processor for the interrupt: the present processor if the affinity allows it, or else
 * an allowed processor.
 */
static unsigned int cpu_of(unsigned int irq)
{
	unsigned int here = raw_smp_processor_id(), cpu;
	struct irq_data *data = irq ? irq_get_irq_data(irq) : NULL;
	const struct cpumask *mask;

	if (!data)
		return here;
	mask = irq_data_get_effective_affinity_mask(data);
	cpu = cpumask_any_and(mask, cpu_online_mask);
	return cpumask_test_cpu(here, mask) || cpu >= nr_cpu_ids ? here : cpu;
}

static void send(struct vpcib_card *card, unsigned int irq)
{
	unsigned int cpu = cpu_of(irq);
	struct irq_work *work = &per_cpu_ptr(card->deliveries, cpu)->work;

	if (cpu == raw_smp_processor_id())
		irq_work_queue(work);
	else
		queue_on(work, cpu);
}

/* Sends the interrupts that have become ready.  Called under the card's lock. */
void interrupt_update(struct vpcib_card *card)
{
	unsigned long ready;
	u32 vector;

	if (config_sends_messages(card))
		config_set_pending(card, card->pending & config_masked(card));
	else
		card->pending = 0;
	if (card->held)
		return;
	ready = ready_messages(card);
	for_each_set_bit(vector, &ready, VPCIB_VECTORS_MAX)
		send(card, irqs_of_vector(card, vector));
	if (line_is_asserted(card))
		send(card, card->line_irq);
}

/* Returns the card's next random number, which is below the limit. */
static u32 draw(struct vpcib_card *card, u32 limit)
{
	card->drawn = card->drawn * 1664525u + 1013904223u;
	return (u64)card->drawn * limit >> 32;
}

static void hold(struct vpcib_card *card)
{
	bool at_once = card->hurries;

	card->hurries = false;
	if (!races || card->held || at_once)
		return;
	card->held = 1 + draw(card, HOLD_ACCESSES_MOST);
	hrtimer_start(&card->hold_end, ns_to_ktime(1 + draw(card, HOLD_NS_MOST)),
		      HRTIMER_MODE_REL_HARD);
}

static enum hrtimer_restart end_hold(struct hrtimer *timer)
{
	struct vpcib_card *card = container_of(timer, struct vpcib_card, hold_end);
	unsigned long flags = vpcib_lock(card);

	card->held = 0;
	interrupt_update(card);
	vpcib_unlock(card, flags);
	return HRTIMER_NORESTART;
}

/* Returns whether the driver's handler must expect interrupts of other cards. */
static bool shares_line(const struct vpcib_card *card)
{
	struct irq_data *data = irq_get_irq_data(card->line_irq);
	const struct irqaction *action =
		data ? READ_ONCE(irq_data_to_desc(data)->action) : NULL;

	return action && action->flags & IRQF_SHARED && !card->asserted &&
	       !card->gone && !card->line_masked && !config_sends_messages(card) &&
	       !config_line_disabled(card);
}

/*
 * Calls the handlers of the card's line if they share it, as if another card interrupted, and waits
 * until they have run.  Called in a process, with interrupts on, under rcu_read_lock.
 */
void interrupt_share(struct vpcib_card *card)
{
	unsigned long flags = vpcib_lock(card);
	struct irq_work *work = NULL;

	if (races && shares_line(card)) {
		card->shared = true;
		work = &per_cpu_ptr(card->deliveries, cpu_of(card->line_irq))->work;
		send(card, card->line_irq);
	}
	vpcib_unlock(card, flags);
	while (work && irq_work_is_busy(work))
		cpu_relax();
}

/*
 * Called under the card's lock, after the driver has accessed a register outside an interrupt
 * handler.
 */
void interrupt_touched(struct vpcib_card *card)
{
	if (card->held && --card->held == 0)
		interrupt_update(card);
	if (races && shares_line(card) && !draw(card, SHARED_ACCESSES)) {
		card->shared = true;
		send(card, card->line_irq);
	}
}

bool vpcib_hurries(struct vpcib_card *card)
{
	card->hurries = races && !draw(card, HURRIES_ONCE_IN);
	return card->hurries;
}
EXPORT_SYMBOL_GPL(vpcib_hurries);

void vpcib_dawdle(struct vpcib_card *card)
{
	unsigned long flags;
	u32 us;

	while (vpcib_stalls(card))
		msleep(1);
	if (!races)
		return;
	flags = vpcib_lock(card);
	us = 1 + draw(card, HOLD_NS_MOST / NSEC_PER_USEC);
	vpcib_unlock(card, flags);
	usleep_range(us, us);
}
EXPORT_SYMBOL_GPL(vpcib_dawdle);

void vpcib_interrupt(struct vpcib_card *card, u64 vectors, u64 messages, u64 sources)
{
	bool lost = messages && config_sends_messages(card) && !config_is_master(card);

	journal_note(card,
		     (struct vpcib_access){ .what = VPCIB_RAISED,
					    .context = VPCIB_CARD,
					    .value = sources,
					    .flags = lost ? VPCIB_NOT_MASTER : 0 });
	if (lost)
		messages = 0; /* a message is a write to memory */
	if (messages && config_sends_messages(card) &&
	    fault_happens(card, FAULT_INTERRUPT))
		messages = 0;
	if (!vectors)
		card->unanswered = 0;
	if (messages)
		hold(card);
	card->asserted = vectors;
	card->pending |= messages;
	interrupt_update(card);
}
EXPORT_SYMBOL_GPL(vpcib_interrupt);

static void handle(struct vpcib_card *card, u32 vector, unsigned int irq, u8 flags)
{
	struct vpcib_access access = { .what = VPCIB_HANDLING,
				       .context = VPCIB_CARD,
				       .offset = vector,
				       .flags = flags };

	if (!irq)
		return;
	journal_note(card, access);
	handler_begin();
	generic_handle_irq(irq);
	access.what = VPCIB_HANDLED;
	access.value = handler_result();
	journal_note(card, access);
}

/* Runs in a hard interrupt: delivers this processor's interrupts. */
static void deliver(struct irq_work *work)
{
	struct vpcib_card *card = container_of(work, struct delivery, work)->card;
	unsigned long flags = vpcib_lock(card);
	unsigned long ready = ready_messages(card);
	unsigned int here = raw_smp_processor_id(), irq[VPCIB_VECTORS_MAX];
	bool line = line_is_asserted(card) && cpu_of(card->line_irq) == here;
	bool shared = !line && card->shared && !card->line_masked;
	u32 vector;

	for_each_set_bit(vector, &ready, VPCIB_VECTORS_MAX)
	{
		irq[vector] = irqs_of_vector(card, vector);
		if (cpu_of(irq[vector]) != here)
			__clear_bit(vector, &ready);
	}
	card->pending &= ~ready;
	card->shared = false;
	if (line && ++card->unanswered == UNANSWERED_MOST)
		pr_warn_ratelimited(
			"the card in slot %u is not answered: INTA is ignored\n",
			card->number % SLOTS);
	vpcib_unlock(card, flags);

	for_each_set_bit(vector, &ready, VPCIB_VECTORS_MAX)
		handle(card, vector, irq[vector], 0);
	if (line || shared)
		handle(card, 0, card->line_irq, shared ? VPCIB_SPURIOUS : 0);
}

int interrupt_add(struct vpcib_card *card)
{
	int cpu, ret;

	card->deliveries = alloc_percpu(struct delivery);
	if (!card->deliveries)
		return -ENOMEM;
	ret = irqs_add(card);
	if (ret) {
		free_percpu(card->deliveries);
		return ret;
	}
	for_each_possible_cpu (cpu)
		*per_cpu_ptr(card->deliveries, cpu) =
			(struct delivery){ IRQ_WORK_INIT_HARD(deliver), card };
	card->drawn = races * 2654435761u + card->number;
	hrtimer_init(&card->hold_end, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	card->hold_end.function = end_hold;
	return 0;
}

void interrupt_remove(struct vpcib_card *card)
{
	int cpu;

	hrtimer_cancel(&card->hold_end);
	for_each_possible_cpu (cpu)
		irq_work_sync(&per_cpu_ptr(card->deliveries, cpu)->work);
	free_percpu(card->deliveries);
	irqs_remove(card);
}

int interrupt_init(void)
{
	queue_on = (void *)symbol_address("irq_work_queue_on");
	return queue_on ? irqs_init() : -ENOENT;
}

void interrupt_exit(void)
{
	irqs_exit();
}

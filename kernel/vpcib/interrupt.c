// SPDX-License-Identifier: GPL-2.0
/*
 * Interrupts of the cards.  A card sends messages (MSI or MSI-X) if the driver has enabled them,
 * and uses INTA otherwise.
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
#include <linux/irqdomain.h>
#include <linux/module.h>
#include <linux/msi.h>
#include <linux/percpu.h>
#include <linux/slab.h>

#include "card.h"

/* target address of messages on a PC; nothing is written there */
#define MESSAGE_ADDRESS 0xfee00000
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

static struct fwnode_handle *fwnode;
/* hwirq numbers are the card's number * VPCIB_VECTORS_MAX + vector */
static struct irq_domain *vectors_domain;
static struct irq_domain *msi_domain;

struct irq_domain *interrupt_domain(void)
{
	return msi_domain;
}

/* --- messages ----------------------------------------------------------------------- */

static void ack_nothing(struct irq_data *data)
{
}

static u32 vectors_of(const struct vpcib_card *card)
{
	return max(card->kind->msi_vectors, card->kind->msix_vectors);
}

/* Returns the card's vectors whose message has this data.  Called with the card locked. */
static u32 messages_of(const struct vpcib_card *card, u32 data)
{
	u32 vectors = 0, i;

	for (i = 0; i < vectors_of(card); i++) {
		if (config_message(card, i) == data)
			vectors |= 1u << i;
	}
	return vectors;
}

static void compose(struct irq_data *data, struct msi_msg *message)
{
	*message =
		(struct msi_msg){ .address_lo = MESSAGE_ADDRESS, .data = data->hwirq };
}

/* Returns the vector's card, or NULL if the card was removed.  Called under rcu_read_lock. */
static struct vpcib_card *card_of_vector(const struct irq_data *data)
{
	return card_in(data->hwirq / VPCIB_VECTORS_MAX);
}

/*
 * Sends a vector's interrupt if it is ready.  Called when the vector's mask or affinity has
 * changed, or with `again` to repeat its message.
 */
static void update_vector(struct irq_data *data, bool again)
{
	struct vpcib_card *card;
	unsigned long flags;

	rcu_read_lock();
	card = card_of_vector(data);
	if (card) {
		flags = vpcib_lock(card);
		if (again)
			card->pending |= messages_of(card, data->hwirq);
		interrupt_update(card);
		vpcib_unlock(card, flags);
	}
	rcu_read_unlock();
}

/*
 * Repeats an interrupt that arrived while the driver had disabled it with disable_irq.  The
 * interrupt's lock is held.
 */
static int retrigger(struct irq_data *data)
{
	update_vector(data, true);
	return 1;
}

/*
 * Sets the processors that are allowed to handle the interrupt.  An interrupt that is pending on
 * another processor moves to an allowed processor.
 */
static int set_vector_affinity(struct irq_data *data, const struct cpumask *mask,
			       bool force)
{
	if (!cpumask_intersects(mask, cpu_online_mask))
		return -EINVAL;
	irq_data_update_effective_affinity(data, mask);
	update_vector(data, false);
	return IRQ_SET_MASK_OK;
}

/* Called when a driver requests its first handler of the interrupt. */
static int request_interrupt(struct irq_data *data)
{
	return refusal_of("request_irq") ? -EBUSY : 0;
}

static struct irq_chip vector_chip = {
	.name = "vpcib",
	.irq_ack = ack_nothing,
	.irq_retrigger = retrigger,
	.irq_compose_msi_msg = compose,
	.irq_set_affinity = set_vector_affinity,
};

/*
 * Unmasks a vector.  For MSI-X the kernel changes only the table in memory, so the card does not
 * see the change.
 */
static void unmask(struct irq_data *data)
{
	pci_msi_unmask_irq(data);
	update_vector(data->parent_data, false);
}

static int alloc_vectors(struct irq_domain *domain, unsigned int irq,
			 unsigned int count, void *arg)
{
	msi_alloc_info_t *info = arg;
	struct pci_dev *pdev = to_pci_dev(info->desc->dev);
	irq_hw_number_t first =
		card_number(pdev->devfn) * VPCIB_VECTORS_MAX + info->desc->msi_index;
	unsigned int i;

	for (i = 0; i < count; i++) {
		irq_domain_set_info(domain, irq + i, first + i, &vector_chip, NULL,
				    handle_edge_irq, NULL, NULL);
		irq_set_status_flags(irq + i, IRQ_MOVE_PCNTXT);
	}
	return 0;
}

static void report(u32 number, const char *what)
{
	misuse_note(number,
		    (struct vpcib_access){ .value = VPCIB_KEEPS_INTERRUPT,
					   .context = VPCIB_KERNEL },
		    "%s", what);
}

static void free_vectors(struct irq_domain *domain, unsigned int irq,
			 unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		struct irq_data *data = irq_domain_get_irq_data(domain, irq + i);

		if (irq_has_action(irq + i))
			report(data->hwirq / VPCIB_VECTORS_MAX,
			       "a vector is freed before its handler (free_irq)");
		irq_domain_reset_irq_data(data);
	}
}

static const struct irq_domain_ops vectors_operations = {
	.alloc = alloc_vectors,
	.free = free_vectors,
};

static struct irq_chip msi_chip = {
	.name = "vpcib-msi",
	.irq_request_resources = request_interrupt,
	.irq_mask = pci_msi_mask_irq,
	.irq_unmask = unmask,
	.irq_ack = irq_chip_ack_parent,
};

static struct msi_domain_info msi_info = {
	.flags = MSI_FLAG_USE_DEF_DOM_OPS | MSI_FLAG_USE_DEF_CHIP_OPS |
		 MSI_FLAG_MULTI_PCI_MSI | MSI_FLAG_PCI_MSIX,
	.chip = &msi_chip,
	.handler = handle_edge_irq,
	.handler_name = "edge",
};

/* --- INTA --------------------------------------------------------------------------- */

static bool line_is_asserted(const struct vpcib_card *card)
{
	return card->asserted && !card->gone && !card->line_masked &&
	       !config_sends_messages(card) && !config_line_disabled(card) &&
	       card->unanswered < UNANSWERED_MOST;
}

static void set_masked(struct irq_data *data, bool masked)
{
	struct vpcib_card *card = irq_data_get_irq_chip_data(data);
	unsigned long flags = vpcib_lock(card);

	card->line_masked = masked;
	interrupt_update(card);
	vpcib_unlock(card, flags);
}

static void mask_line(struct irq_data *data)
{
	set_masked(data, true);
}

static void unmask_line(struct irq_data *data)
{
	set_masked(data, false);
}

static int set_line_affinity(struct irq_data *data, const struct cpumask *mask,
			     bool force)
{
	struct vpcib_card *card = irq_data_get_irq_chip_data(data);
	unsigned long flags;

	if (!cpumask_intersects(mask, cpu_online_mask))
		return -EINVAL;
	flags = vpcib_lock(card);
	irq_data_update_effective_affinity(data, mask);
	interrupt_update(card);
	vpcib_unlock(card, flags);
	return IRQ_SET_MASK_OK;
}

static struct irq_chip line_chip = {
	.name = "vpcib-inta",
	.irq_request_resources = request_interrupt,
	.irq_mask = mask_line,
	.irq_unmask = unmask_line,
	.irq_set_affinity = set_line_affinity,
};

/* --- from the card to the processor ------------------------------------------------- */

static u32 ready_messages(const struct vpcib_card *card)
{
	return config_sends_messages(card) && !card->gone && power_is_on(card)
		       ? card->pending & ~config_masked(card)
		       : 0;
}

/*
 * Returns the interrupt for a message's data.  A message for another card's interrupt is dropped.
 */
static unsigned int irq_of_message(const struct vpcib_card *card, u32 data)
{
	return data / VPCIB_VECTORS_MAX == card->number
		       ? irq_find_mapping(vectors_domain, data)
		       : 0;
}

static unsigned int irq_of_vector(const struct vpcib_card *card, u32 vector)
{
	return irq_of_message(card, config_message(card, vector));
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
		send(card, irq_of_vector(card, vector));
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

void vpcib_interrupt(struct vpcib_card *card, u32 vectors, u32 messages, u64 sources)
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

static bool is_enabled(unsigned int irq)
{
	struct irq_data *data = irq ? irq_get_irq_data(irq) : NULL;

	return data && !irqd_irq_disabled(data);
}

/*
 * Returns whether the card has an interrupt that disable_irq has not disabled.  Called under
 * rcu_read_lock.
 */
bool interrupt_may_come(const struct vpcib_card *card)
{
	u32 vector;

	if (!config_sends_messages(card))
		return is_enabled(card->line_irq);
	for (vector = 0; vector < vectors_of(card); vector++) {
		if (is_enabled(irq_of_vector(card, vector)))
			return true;
	}
	return false;
}

/* Reports handlers and vectors that a driver has not freed.  The card has no driver. */
void interrupt_check(struct vpcib_card *card)
{
	u32 vector;

	if (irq_has_action(card->line_irq))
		report(card->number, "INTA still has a handler (free_irq)");
	for (vector = 0; vector < vectors_of(card); vector++) {
		unsigned int irq = irq_find_mapping(
			vectors_domain, card->number * VPCIB_VECTORS_MAX + vector);

		if (!irq)
			continue;
		report(card->number,
		       irq_has_action(irq)
			       ? "a vector still has a handler (free_irq)"
			       : "a vector is still allocated (pci_free_irq_vectors)");
		break;
	}
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
		irq[vector] = irq_of_vector(card, vector);
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
	int irq = irq_alloc_desc(NUMA_NO_NODE), cpu;

	if (irq < 0)
		return irq;
	card->deliveries = alloc_percpu(struct delivery);
	if (!card->deliveries) {
		irq_free_desc(irq);
		return -ENOMEM;
	}
	for_each_possible_cpu (cpu)
		*per_cpu_ptr(card->deliveries, cpu) =
			(struct delivery){ IRQ_WORK_INIT_HARD(deliver), card };
	card->line_irq = irq;
	card->drawn = races * 2654435761u + card->number;
	hrtimer_init(&card->hold_end, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	card->hold_end.function = end_hold;
	irq_set_chip_data(irq, card);
	irq_set_chip_and_handler(irq, &line_chip, handle_level_irq);
	irq_set_status_flags(irq, IRQ_MOVE_PCNTXT);
	return 0;
}

/*
 * Removes the card's interrupts.  If a driver was removed without freeing its handler, the
 * interrupt number remains in use.
 */
void interrupt_remove(struct vpcib_card *card)
{
	int cpu;

	hrtimer_cancel(&card->hold_end);
	for_each_possible_cpu (cpu)
		irq_work_sync(&per_cpu_ptr(card->deliveries, cpu)->work);
	free_percpu(card->deliveries);
	if (irq_has_action(card->line_irq)) {
		report(card->number, "the card is gone, but INTA still has a handler");
		return;
	}
	irq_set_chip_and_handler(card->line_irq, NULL, NULL);
	irq_free_desc(card->line_irq);
}

int interrupt_init(void)
{
	queue_on = (void *)symbol_address("irq_work_queue_on");
	if (!queue_on)
		return -ENOENT;
	fwnode = irq_domain_alloc_named_fwnode("vpcib");
	if (!fwnode)
		return -ENOMEM;
	vectors_domain = irq_domain_create_tree(fwnode, &vectors_operations, NULL);
	if (!vectors_domain)
		goto free_node;
	msi_domain = pci_msi_create_irq_domain(fwnode, &msi_info, vectors_domain);
	if (!msi_domain)
		goto remove_vectors;
	return 0;

remove_vectors:
	irq_domain_remove(vectors_domain);
free_node:
	irq_domain_free_fwnode(fwnode);
	return -ENOMEM;
}

void interrupt_exit(void)
{
	irq_domain_remove(msi_domain);
	irq_domain_remove(vectors_domain);
	irq_domain_free_fwnode(fwnode);
}

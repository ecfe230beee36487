// SPDX-License-Identifier: GPL-2.0
/*
 * The cards' interrupts as the kernel's interrupt core sees them: an irq_domain with the vectors of
 * all cards for MSI and MSI-X, and an interrupt for the INTA of each card.
 *
 * The kernel masks and unmasks an interrupt, and moves it to other processors, by the functions of its
 * irq_chip.  What becomes ready by that is sent by interrupt.c.  irqs_check reports what a driver has
 * not freed.
 */
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/irqdomain.h>
#include <linux/msi.h>

#include "card.h"
#include "compat.h"

/* target address of messages on a PC; nothing is written there */
#define MESSAGE_ADDRESS 0xfee00000

static struct fwnode_handle *fwnode;
/* hwirq numbers are the card's number * VPCIB_VECTORS_MAX + vector */
static struct irq_domain *vectors_domain;
static struct irq_domain *msi_domain;

struct irq_domain *irqs_domain(void)
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
static u64 messages_of(const struct vpcib_card *card, u32 data)
{
	u64 vectors = 0;
	u32 i;

	for (i = 0; i < vectors_of(card); i++) {
		if (config_message(card, i) == data)
			vectors |= 1ull << i;
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

/*
 * Returns the interrupt for a message's data.  A message for another card's interrupt is dropped.
 */
static unsigned int irq_of_message(const struct vpcib_card *card, u32 data)
{
	return data / VPCIB_VECTORS_MAX == card->number
		       ? irq_find_mapping(vectors_domain, data)
		       : 0;
}

unsigned int irqs_of_vector(const struct vpcib_card *card, u32 vector)
{
	return irq_of_message(card, config_message(card, vector));
}

/* --- what a driver has left behind --------------------------------------------------- */

static bool is_enabled(unsigned int irq)
{
	struct irq_data *data = irq ? irq_get_irq_data(irq) : NULL;

	return data && !irqd_irq_disabled(data);
}

/*
 * Returns whether the card has an interrupt that disable_irq has not disabled.  Called under
 * rcu_read_lock.
 */
bool irqs_may_come(const struct vpcib_card *card)
{
	u32 vector;

	if (!config_sends_messages(card))
		return is_enabled(card->line_irq);
	for (vector = 0; vector < vectors_of(card); vector++) {
		if (is_enabled(irqs_of_vector(card, vector)))
			return true;
	}
	return false;
}

/* Reports handlers and vectors that a driver has not freed.  The card has no driver. */
void irqs_check(struct vpcib_card *card)
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

/* --- beginning and end -------------------------------------------------------------- */

/* Gives the card an interrupt for INTA. */
int irqs_add(struct vpcib_card *card)
{
	int irq = irq_alloc_desc(NUMA_NO_NODE);

	if (irq < 0)
		return irq;
	card->line_irq = irq;
	irq_set_chip_data(irq, card);
	irq_set_chip_and_handler(irq, &line_chip, handle_level_irq);
	irq_set_status_flags(irq, IRQ_MOVE_PCNTXT);
	return 0;
}

/*
 * Removes the card's INTA.  If a driver was removed without freeing its handler, the interrupt number
 * remains in use.
 */
void irqs_remove(struct vpcib_card *card)
{
	if (irq_has_action(card->line_irq)) {
		report(card->number, "the card is gone, but INTA still has a handler");
		return;
	}
	irq_set_chip_and_handler(card->line_irq, NULL, NULL);
	irq_free_desc(card->line_irq);
}

int irqs_init(void)
{
	fwnode = irq_domain_alloc_named_fwnode("vpcib");
	if (!fwnode)
		return -ENOMEM;
	vectors_domain = irq_domain_create_tree(fwnode, &vectors_operations, NULL);
	if (!vectors_domain)
		goto free_node;
	msi_domain = pci_msi_create_irq_domain(fwnode, &msi_info, vectors_domain);
	if (!msi_domain)
		goto remove_vectors;
	isolate_messages(msi_domain);
	return 0;

remove_vectors:
	irq_domain_remove(vectors_domain);
free_node:
	irq_domain_free_fwnode(fwnode);
	return -ENOMEM;
}

void irqs_exit(void)
{
	irq_domain_remove(msi_domain);
	irq_domain_remove(vectors_domain);
	irq_domain_free_fwnode(fwnode);
}

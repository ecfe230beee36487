// SPDX-License-Identifier: GPL-2.0
/*
 * Looks up cards by number or by address, and implements functions that the cards' modules call.
 */
#include <linux/module.h>

#include "card.h"

struct vpcib_card __rcu *cards[CARDS];
unsigned long card_numbers[BITS_TO_LONGS(CARDS)]; /* those of the cards on the bus */

/* Returns the card with a number, or NULL if there is none.  Called under rcu_read_lock. */
struct vpcib_card *card_in(u32 number)
{
	return rcu_dereference(cards[number]);
}

static bool is_inside(const struct resource *range, phys_addr_t address, u32 type)
{
	return range->flags & type && address >= range->start && address <= range->end;
}

static struct vpcib_card *find(phys_addr_t address, u32 type, u32 *bar, u32 *offset)
{
	struct vpcib_card *card;
	u32 number, i;

	for_each_card (card, number) {
		for (i = 0; i < VPCIB_BARS; i++) {
			if (!is_inside(&card->address[i], address, type))
				continue;
			*bar = i;
			*offset = address - card->address[i].start;
			return card;
		}
	}
	return NULL;
}

/*
 * Returns the card at a bus address, and stores the number of the BAR and the offset in the BAR.
 * Called under rcu_read_lock.
 */
struct vpcib_card *card_at(phys_addr_t address, u32 *bar, u32 *offset)
{
	return find(address, IORESOURCE_MEM, bar, offset);
}

/* The same for the number of an I/O port. */
struct vpcib_card *card_at_port(u32 port, u32 *bar, u32 *offset)
{
	return find(port, IORESOURCE_IO, bar, offset);
}

bool kind_has_ports(const struct vpcib_kind *kind)
{
	u32 i;

	for (i = 0; i < VPCIB_BARS; i++) {
		if (kind->bars[i].bytes && kind->bars[i].is_io)
			return true;
	}
	return false;
}

void *vpcib_state(struct vpcib_card *card)
{
	return card->state;
}
EXPORT_SYMBOL_GPL(vpcib_state);

u32 vpcib_number(const struct vpcib_card *card)
{
	return card->number;
}
EXPORT_SYMBOL_GPL(vpcib_number);

unsigned long vpcib_lock(struct vpcib_card *card)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&card->lock, flags);
	return flags;
}
EXPORT_SYMBOL_GPL(vpcib_lock);

void vpcib_unlock(struct vpcib_card *card, unsigned long flags)
{
	raw_spin_unlock_irqrestore(&card->lock, flags);
}
EXPORT_SYMBOL_GPL(vpcib_unlock);

struct page **vpcib_memory(struct vpcib_card *card, u32 bar, u32 *pages)
{
	*pages = card->memory[bar] ? card->memory[bar]->count : 0;
	return card->memory[bar] ? card->memory[bar]->pages : NULL;
}
EXPORT_SYMBOL_GPL(vpcib_memory);

// SPDX-License-Identifier: GPL-2.0
/*
 * The MSI-X capability (PCI Local Bus 3.0, section 6.8.2), which says where the table of vectors
 * is.  The kernel fills in the table for the driver.  The table is in a memory BAR, so the card
 * does not see when the kernel masks a vector in the table.  The interrupt's irq_chip notices the
 * change (interrupt.c).
 *
 * All functions except msix_reset are called under the card's lock.
 */
#include <linux/mm.h>

#include "card.h"

#define PENDING_AT 0x800

struct entry {
	__le32 address_low;
	__le32 address_high;
	__le32 data;
	__le32 control;
};

static u32 control_at(const struct vpcib_card *card)
{
	return card->msix + PCI_MSIX_FLAGS;
}

static void *memory(const struct vpcib_card *card, u32 offset)
{
	struct bar_memory *bar = card->memory[card->kind->msix_bar];

	return page_address(bar->pages[0]) + offset;
}

static u32 entry_word(const __le32 *word)
{
	return le32_to_cpu(READ_ONCE(*word));
}

static struct entry *entry(const struct vpcib_card *card, u32 vector)
{
	return memory(card, vector * sizeof(struct entry));
}

void msix_reset(struct vpcib_card *card, u32 at)
{
	u32 vector;

	card->msix = at;
	for (vector = 0; vector < card->kind->msix_vectors; vector++)
		entry(card, vector)->control = cpu_to_le32(PCI_MSIX_ENTRY_CTRL_MASKBIT);
	config_put(card, at, PCI_CAP_ID_MSIX, 1);
	config_put(card, control_at(card), card->kind->msix_vectors - 1, 2);
	config_put(card, at + PCI_MSIX_TABLE, card->kind->msix_bar, 4);
	config_put(card, at + PCI_MSIX_PBA, PENDING_AT | card->kind->msix_bar, 4);
	config_chain(card, at);
}

/* Returns the bits that a driver can change in the capability's first word. */
u32 msix_writable(const struct vpcib_card *card)
{
	return card->msix ? (u32)(PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL) << 16
			  : 0;
}

bool msix_is_enabled(const struct vpcib_card *card)
{
	return card->msix &&
	       config_get(card, control_at(card), 2) & PCI_MSIX_FLAGS_ENABLE;
}

u32 msix_message(const struct vpcib_card *card, u32 vector)
{
	return entry_word(&entry(card, vector)->data);
}

u32 msix_masked(const struct vpcib_card *card)
{
	u32 masked = 0, vector;

	if (config_get(card, control_at(card), 2) & PCI_MSIX_FLAGS_MASKALL)
		return ~0u;
	for (vector = 0; vector < card->kind->msix_vectors; vector++) {
		if (entry_word(&entry(card, vector)->control) &
		    PCI_MSIX_ENTRY_CTRL_MASKBIT)
			masked |= 1u << vector;
	}
	return masked;
}

void msix_set_pending(struct vpcib_card *card, u32 vectors)
{
	WRITE_ONCE(*(__le32 *)memory(card, PENDING_AT), cpu_to_le32(vectors));
}

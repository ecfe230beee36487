// SPDX-License-Identifier: GPL-2.0
/*
 * The MSI-X capability (PCI Local Bus 3.0, section 6.8.2), which says where the table of vectors
 * is.  The kernel fills in the table for the driver.  The interrupt's irq_chip notices when the
 * kernel masks a vector (irqs.c), since the table may be in a memory BAR, where the card does
 * not see it.  In a BAR with registers, accesses to the table and to the pending bits are neither in
 * the journal nor seen by the card: the kernel makes them.
 *
 * All functions except msix_reset are called under the card's lock.
 */
#include <linux/mm.h>

#include "card.h"

#define ENTRY_WORDS (PCI_MSIX_ENTRY_SIZE / sizeof(__le32))
#define DATA_WORD (PCI_MSIX_ENTRY_DATA / sizeof(__le32))
#define CONTROL_WORD (PCI_MSIX_ENTRY_VECTOR_CTRL / sizeof(__le32))

static u32 control_at(const struct vpcib_card *card)
{
	return card->msix + PCI_MSIX_FLAGS;
}

static u32 table_bytes(const struct vpcib_card *card)
{
	return card->kind->msix_vectors * PCI_MSIX_ENTRY_SIZE;
}

/* Returns a word of the memory BAR that has the table, or `own` if that BAR has registers. */
static __le32 *word_at(const struct vpcib_card *card, u32 offset, const __le32 *own)
{
	struct bar_memory *bar = card->memory[card->kind->msix_bar];

	return bar ? page_address(bar->pages[offset >> PAGE_SHIFT]) +
			       offset_in_page(offset)
		   : (__le32 *)own;
}

static __le32 *entry_word(const struct vpcib_card *card, u32 vector, u32 word)
{
	u32 index = vector * ENTRY_WORDS + word;

	return word_at(card, card->kind->msix_table + index * sizeof(__le32),
		       &card->msix_table[index]);
}

static u32 entry_value(const struct vpcib_card *card, u32 vector, u32 word)
{
	return le32_to_cpu(READ_ONCE(*entry_word(card, vector, word)));
}

void msix_reset(struct vpcib_card *card, u32 at)
{
	u32 vector;

	card->msix = at;
	for (vector = 0; vector < card->kind->msix_vectors; vector++)
		*entry_word(card, vector, CONTROL_WORD) =
			cpu_to_le32(PCI_MSIX_ENTRY_CTRL_MASKBIT);
	config_put(card, at, PCI_CAP_ID_MSIX, 1);
	config_put(card, control_at(card), card->kind->msix_vectors - 1, 2);
	config_put(card, at + PCI_MSIX_TABLE,
		   card->kind->msix_table | card->kind->msix_bar, 4);
	config_put(card, at + PCI_MSIX_PBA,
		   card->kind->msix_pending | card->kind->msix_bar, 4);
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
	return entry_value(card, vector, DATA_WORD);
}

u64 msix_masked(const struct vpcib_card *card)
{
	u64 masked = 0;
	u32 vector;

	if (config_get(card, control_at(card), 2) & PCI_MSIX_FLAGS_MASKALL)
		return ~0ull;
	for (vector = 0; vector < card->kind->msix_vectors; vector++) {
		if (entry_value(card, vector, CONTROL_WORD) &
		    PCI_MSIX_ENTRY_CTRL_MASKBIT)
			masked |= 1ull << vector;
	}
	return masked;
}

void msix_set_pending(struct vpcib_card *card, u64 vectors)
{
	u32 at = card->kind->msix_pending;

	WRITE_ONCE(*word_at(card, at, &card->msix_bits[0]),
		   cpu_to_le32(lower_32_bits(vectors)));
	WRITE_ONCE(*word_at(card, at + sizeof(__le32), &card->msix_bits[1]),
		   cpu_to_le32(upper_32_bits(vectors)));
}

/* --- a table beside registers --------------------------------------------------------- */

static bool is_inside(u32 offset, u32 bytes, u32 begin, u32 size)
{
	return offset >= begin && bytes <= size && offset - begin <= size - bytes;
}

static bool is_in_table(const struct vpcib_card *card, u32 offset, u32 bytes)
{
	return is_inside(offset, bytes, card->kind->msix_table, table_bytes(card));
}

/* Returns whether an access to a BAR with registers is one to the table or to the pending bits. */
bool msix_holds(const struct vpcib_card *card, u32 bar, u32 offset, u32 bytes)
{
	return card->msix && bar == card->kind->msix_bar &&
	       (is_in_table(card, offset, bytes) ||
		is_inside(offset, bytes, card->kind->msix_pending,
			  sizeof(card->msix_bits)));
}

u64 msix_load(struct vpcib_card *card, u32 offset, u32 bytes)
{
	u64 value = 0;

	if (is_in_table(card, offset, bytes))
		memcpy(&value, (u8 *)card->msix_table + offset - card->kind->msix_table,
		       bytes);
	else
		memcpy(&value,
		       (u8 *)card->msix_bits + offset - card->kind->msix_pending,
		       bytes);
	return value;
}

/* The pending bits are read-only. */
void msix_store(struct vpcib_card *card, u32 offset, u64 value, u32 bytes)
{
	if (is_in_table(card, offset, bytes))
		memcpy((u8 *)card->msix_table + offset - card->kind->msix_table, &value,
		       bytes);
}

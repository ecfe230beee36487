// SPDX-License-Identifier: GPL-2.0
/*
 * Reads and writes the bytes of a card's configuration space, and adds capabilities to the chain.
 */
#include <linux/pci.h>
#include <linux/string.h>
#include <linux/unaligned/packed_struct.h>

#include "card.h"

u32 config_get(const struct vpcib_card *card, u32 where, u32 bytes)
{
	const u8 *at = card->config + where;

	return bytes == 1   ? *at
	       : bytes == 2 ? __get_unaligned_cpu16(at)
			    : __get_unaligned_cpu32(at);
}

void config_put(struct vpcib_card *card, u32 where, u32 value, u32 bytes)
{
	memcpy(card->config + where, &value, bytes);
}

/* Puts a capability at the front of the chain. */
void config_chain(struct vpcib_card *card, u32 at)
{
	config_put(card, at + PCI_CAP_LIST_NEXT,
		   config_get(card, PCI_CAPABILITY_LIST, 1), 1);
	config_put(card, PCI_CAPABILITY_LIST, at, 1);
	config_put(card, PCI_STATUS, PCI_STATUS_CAP_LIST, 2);
}

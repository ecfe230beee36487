// SPDX-License-Identifier: GPL-2.0
/*
 * Vendor-specific capabilities (PCI Local Bus 3.0, appendix H): bytes that a card's own driver
 * understands.  A driver can read them, and finds them by pci_find_capability.
 */
#include "card.h"

#define LENGTH PCI_CAP_FLAGS
#define DATA (PCI_CAP_FLAGS + 1)

/* Returns whether all capabilities are in the configuration space, after its header. */
bool vendor_fits(const struct vpcib_kind *kind)
{
	u32 i;

	if (kind->nr_vendor_capabilities > VPCIB_VENDOR_MAX)
		return false;
	for (i = 0; i < kind->nr_vendor_capabilities; i++) {
		const struct vpcib_capability *one = &kind->vendor_capabilities[i];

		if (one->at < PCI_STD_HEADER_SIZEOF || one->at % 4 ||
		    one->at + DATA + one->bytes > PCI_CFG_SPACE_SIZE)
			return false;
	}
	return true;
}

/* Adds the capabilities to the chain, so that the first of them comes first. */
void vendor_reset(struct vpcib_card *card)
{
	u32 i = card->kind->nr_vendor_capabilities;

	while (i--) {
		const struct vpcib_capability *one =
			&card->kind->vendor_capabilities[i];

		config_put(card, one->at, PCI_CAP_ID_VNDR, 1);
		config_put(card, one->at + LENGTH, DATA + one->bytes, 1);
		memcpy(card->config + one->at + DATA, one->data, one->bytes);
		config_chain(card, one->at);
	}
}

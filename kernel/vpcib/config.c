// SPDX-License-Identifier: GPL-2.0
/*
 * A card's configuration space: header of type 0, its BARs, and the MSI capability with 64-bit
 * addresses and a mask for each vector (PCI Local Bus 3.0, chapter 6).  MSI-X is in msix.c, power
 * management and PCI Express are in power.c, and vendor-specific capabilities in vendor.c.
 *
 * All functions except config_reset are called under the card's lock.
 */
#include <linux/log2.h>

#include "card.h"

#define MSI 0x40
#define MSI_CONTROL (MSI + PCI_MSI_FLAGS)
#define MSI_ADDRESS (MSI + PCI_MSI_ADDRESS_LO)
#define MSI_DATA (MSI + PCI_MSI_DATA_64)
#define MSI_MASK (MSI + PCI_MSI_MASK_64)
#define MSI_PENDING (MSI + PCI_MSI_PENDING_64)
#define MSIX 0x60
#define MULTI_FUNCTION 0x80 /* in PCI_HEADER_TYPE */
#define COMMAND_WRITABLE                                                \
	(PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_PARITY | \
	 PCI_COMMAND_SERR | PCI_COMMAND_INTX_DISABLE)

static u32 vector_bits(const struct vpcib_card *card)
{
	return GENMASK(card->kind->msi_vectors - 1, 0);
}

/* Returns the low bits of a BAR, which say what it is. */
static u32 type_of(const struct vpcib_bar *bar)
{
	return bar->is_io  ? PCI_BASE_ADDRESS_SPACE_IO
	       : bar->is64 ? PCI_BASE_ADDRESS_MEM_TYPE_64
			   : PCI_BASE_ADDRESS_MEM_TYPE_32;
}

/* Returns the bits of a BAR that are its address. */
static u32 address_mask(const struct vpcib_bar *bar)
{
	return (u32)(bar->is_io ? PCI_BASE_ADDRESS_IO_MASK : PCI_BASE_ADDRESS_MEM_MASK);
}

/* Writes the bits of the BARs that say what they are. */
void config_mark_bars(struct vpcib_card *card)
{
	u32 i;

	for (i = 0; i < VPCIB_BARS; i++) {
		if (card->kind->bars[i].bytes)
			config_put(card, PCI_BASE_ADDRESS_0 + 4 * i,
				   type_of(&card->kind->bars[i]), 4);
	}
}

/* Gives the BARs the addresses that the bus has reserved for them. */
void config_place_bars(struct vpcib_card *card)
{
	u32 i;

	for (i = 0; i < VPCIB_BARS; i++) {
		const struct vpcib_bar *bar = &card->kind->bars[i];
		u64 start = card->address[i].start;

		if (!bar->bytes)
			continue;
		config_put(card, PCI_BASE_ADDRESS_0 + 4 * i,
			   lower_32_bits(start) | type_of(bar), 4);
		if (bar->is64)
			config_put(card, PCI_BASE_ADDRESS_1 + 4 * i,
				   upper_32_bits(start), 4);
	}
}

/* Adds the MSI capability in front of the chain of capabilities. */
static void reset_msi(struct vpcib_card *card)
{
	config_put(card, MSI, PCI_CAP_ID_MSI, 1);
	config_put(card, MSI_CONTROL,
		   PCI_MSI_FLAGS_64BIT | PCI_MSI_FLAGS_MASKBIT |
			   ilog2(card->kind->msi_vectors) << 1,
		   2);
	config_chain(card, MSI);
}

void config_reset(struct vpcib_card *card)
{
	const struct vpcib_kind *kind = card->kind;

	memset(card->config, 0, CONFIG_BYTES);
	config_put(card, PCI_VENDOR_ID, kind->vendor, 2);
	config_put(card, PCI_DEVICE_ID, kind->device, 2);
	config_put(card, PCI_CLASS_REVISION, kind->class_code << 8 | kind->revision, 4);
	config_put(card, PCI_SUBSYSTEM_VENDOR_ID, kind->subsystem_vendor, 2);
	config_put(card, PCI_SUBSYSTEM_ID, kind->subsystem, 2);
	config_put(card, PCI_HEADER_TYPE, kind->functions > 1 ? MULTI_FUNCTION : 0, 1);
	config_put(card, PCI_INTERRUPT_PIN, 1, 1);
	config_place_bars(card);
	power_reset(card);
	if (kind->msi_vectors)
		reset_msi(card);
	if (kind->msix_vectors)
		msix_reset(card, MSIX);
	vendor_reset(card);
	aer_reset(card);
}

/* Returns the bits that a driver can change in the word at offset `where`. */
static u32 writable(const struct vpcib_card *card, u32 where)
{
	u32 i = (where - PCI_BASE_ADDRESS_0) / 4;

	switch (where) {
	case PCI_COMMAND:
		return COMMAND_WRITABLE |
		       (kind_has_ports(card->kind) ? PCI_COMMAND_IO : 0);
	case PCI_CACHE_LINE_SIZE:
		return 0xffff;
	case PCI_BASE_ADDRESS_0 ... PCI_BASE_ADDRESS_5:
		if (card->kind->bars[i].bytes)
			return -(u32)min(card->kind->bars[i].bytes, 1ull << 31) &
			       address_mask(&card->kind->bars[i]);
		if (i && card->kind->bars[i - 1].is64)
			return upper_32_bits(-card->kind->bars[i - 1].bytes);
		return 0;
	case PCI_INTERRUPT_LINE & ~3:
		return 0xff;
	}
	if (where == MSIX)
		return msix_writable(card);
	if (power_writable(card, where))
		return power_writable(card, where);
	if (where >= PCI_CFG_SPACE_SIZE)
		return aer_writable(card, where);
	if (!card->kind->msi_vectors)
		return 0;
	switch (where) {
	case MSI:
		return (u32)(PCI_MSI_FLAGS_ENABLE | PCI_MSI_FLAGS_QSIZE) << 16;
	case MSI_ADDRESS:
		return ~0x3u;
	case MSI_ADDRESS + 4:
		return ~0u;
	case MSI_DATA:
		return 0xffff;
	case MSI_MASK:
		return vector_bits(card);
	default:
		return 0;
	}
}

/* Only PCI Express has the extended configuration space. */
static u32 size_of(const struct vpcib_card *card)
{
	return card->kind->is_express ? PCI_CFG_SPACE_EXP_SIZE : PCI_CFG_SPACE_SIZE;
}

u32 config_read(struct vpcib_card *card, u32 where, u32 bytes)
{
	if (where + bytes > size_of(card))
		return 0;
	return config_get(card, where, bytes);
}

void config_write(struct vpcib_card *card, u32 where, u32 value, u32 bytes)
{
	u32 word = where & ~3u, shift = 8 * (where & 3);
	u32 lanes = (bytes == 4 ? ~0u : (1u << (8 * bytes)) - 1) << shift;
	u32 mask, old;

	if (where + bytes > size_of(card))
		return;
	mask = writable(card, word) & lanes;
	old = config_get(card, word, 4);
	config_put(card, word, (old & ~mask) | (value << shift & mask), 4);
	power_written(card, word, value << shift, lanes);
	aer_written(card, word, value << shift, lanes);
}

static u32 msi_control(const struct vpcib_card *card)
{
	return card->kind->msi_vectors ? config_get(card, MSI_CONTROL, 2) : 0;
}

/* Returns whether the BARs have the addresses that the bus gave them, as before a reset. */
static bool has_addresses(const struct vpcib_card *card)
{
	u32 i;

	for (i = 0; i < VPCIB_BARS; i++) {
		const struct vpcib_bar *bar = &card->kind->bars[i];
		u32 low = config_get(card, PCI_BASE_ADDRESS_0 + 4 * i, 4);

		if (bar->bytes && (low & address_mask(bar)) != card->address[i].start)
			return false;
	}
	return true;
}

/* Returns whether the card reacts to accesses of the BAR (pci_enable_device). */
bool config_decodes(const struct vpcib_card *card, u32 bar)
{
	u32 wanted = card->kind->bars[bar].is_io ? PCI_COMMAND_IO : PCI_COMMAND_MEMORY;

	return config_get(card, PCI_COMMAND, 2) & wanted && power_is_on(card) &&
	       has_addresses(card);
}

/* Returns whether the driver has allowed DMA and messages (pci_set_master). */
bool config_is_master(const struct vpcib_card *card)
{
	return config_get(card, PCI_COMMAND, 2) & PCI_COMMAND_MASTER &&
	       power_is_on(card);
}

bool config_sends_messages(const struct vpcib_card *card)
{
	return msi_control(card) & PCI_MSI_FLAGS_ENABLE || msix_is_enabled(card);
}

/*
 * Returns the data of a vector's MSI message.  The low bits are the vector's number.  The number of
 * these bits is log2 of the number of enabled vectors.
 */
u32 config_message(const struct vpcib_card *card, u32 vector)
{
	u32 enabled;

	if (msix_is_enabled(card))
		return msix_message(card, vector);
	enabled = 1u << ((msi_control(card) & PCI_MSI_FLAGS_QSIZE) >> 4);

	return (config_get(card, MSI_DATA, 2) & ~(enabled - 1)) |
	       min(vector, enabled - 1);
}

u64 config_masked(const struct vpcib_card *card)
{
	return msix_is_enabled(card) ? msix_masked(card)
				     : config_get(card, MSI_MASK, 4);
}

void config_set_pending(struct vpcib_card *card, u64 vectors)
{
	if (msix_is_enabled(card))
		msix_set_pending(card, vectors);
	else
		config_put(card, MSI_PENDING, lower_32_bits(vectors), 4);
}

bool config_line_disabled(const struct vpcib_card *card)
{
	return config_get(card, PCI_COMMAND, 2) & PCI_COMMAND_INTX_DISABLE ||
	       !power_is_on(card);
}

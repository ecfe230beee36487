/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The virtual PCI bus: a host bridge whose cards are modules (Jones 2010 section 3.1.2).
 *
 * The BARs of a card are at bus addresses without hardware.  Register BARs are mapped without
 * access, so each load or store of a driver faults, from the kernel or from a process.  The bus
 * decodes the instruction, and the card carries it out before the next instruction.  Other BARs are
 * memory of the card.
 *
 * A driver sees an ordinary card: a driver for the real card runs unchanged.
 */
#ifndef UNDERSTUDY_VPCIB_H
#define UNDERSTUDY_VPCIB_H

#include <linux/list.h>
#include <linux/types.h>

#define VPCIB_BARS 6
#define VPCIB_VECTORS_MAX 32

struct page;
struct vpcib_card;

/**
 * struct vpcib_bar - a window of a card in physical memory
 * @bytes: a power of two, at least a page; 0: no BAR of this number
 * @is64: a 64-bit address, which takes the next number too
 * @is_memory: loads and stores go straight to memory; there are no registers
 */
struct vpcib_bar {
	u64 bytes;
	bool is64;
	bool is_memory;
};

/**
 * struct vpcib_kind - the properties of all cards of a kind
 * @name: the name of the kind in /sys/kernel/vpcib/add
 * @vendor: as in config space, as are the next five
 * @msi_vectors: 0: no MSI
 * @msix_vectors: 0: no MSI-X; without MSI and MSI-X the card has INTA only
 * @msix_bar: number of the memory BAR with the MSI-X table
 * @state_bytes: memory for the card's own state, zero at first
 * @start: called before the card is on the bus; may sleep; returns 0 or negative errno
 * @load: a read of a register BAR, 1 to 8 bytes.  Under the card's lock, in any context.
 * @store: a write of a register BAR; context as for @load
 * @peek: reads the register that begins at @offset as a load would, but without side effects.
 *   Returns the number of bytes; 0: no register begins there.  Context as for @load.
 * @stop: called after the card has left the bus; may sleep
 */
struct vpcib_kind {
	const char *name;
	u16 vendor;
	u16 device;
	u16 subsystem_vendor;
	u16 subsystem;
	u32 class_code;
	u8 revision;
	u8 msi_vectors;
	u8 msix_vectors;
	u8 msix_bar;
	struct vpcib_bar bars[VPCIB_BARS];
	size_t state_bytes;
	int (*start)(struct vpcib_card *card);
	u64 (*load)(struct vpcib_card *card, u32 bar, u32 offset, u32 bytes);
	void (*store)(struct vpcib_card *card, u32 bar, u32 offset, u64 value,
		      u32 bytes);
	u32 (*peek)(struct vpcib_card *card, u32 bar, u32 offset, u64 *value);
	void (*stop)(struct vpcib_card *card);

	/* private */
	struct list_head list;
};

/**
 * vpcib_register - make a kind available for vpcib_add
 * @kind: must stay until it is unregistered
 *
 * Context: process, may sleep.
 * Return: 0, -EEXIST if the name is taken, -EINVAL if a BAR is invalid.
 */
int vpcib_register(struct vpcib_kind *kind);

/**
 * vpcib_unregister - remove all cards of this kind, then forget it
 * @kind: registered
 */
void vpcib_unregister(struct vpcib_kind *kind);

/**
 * vpcib_add - plug a card in
 * @kind: registered
 *
 * The driver, if there is one, has probed the card when this returns.
 * Return: its slot (0 to 31) or negative errno.
 */
int vpcib_add(struct vpcib_kind *kind);

/**
 * vpcib_remove - pull a card out, whatever its driver does
 * @slot: as vpcib_add returned
 *
 * From the first moment on reads return ones and writes have no effect, as on a real bus.
 * Return: 0, or -ENODEV if the slot is empty.
 */
int vpcib_remove(u32 slot);

void *vpcib_state(struct vpcib_card *card);
u32 vpcib_slot(const struct vpcib_card *card);

/* The card's lock, under which load and store are called, with interrupts off. */
unsigned long vpcib_lock(struct vpcib_card *card);
void vpcib_unlock(struct vpcib_card *card, unsigned long flags);

/**
 * vpcib_interrupt - update the card's interrupts
 * @card: locked
 * @vectors: vectors with a reason to interrupt, a bit each; INTA is asserted while there is any
 * @messages: vectors with a new reason, for each of which a message is sent
 * @sources: the card's own bits for the reasons, for the journal
 *
 * To be called when these have changed.  The handlers run in hard interrupts, as soon as the
 * processor accepts interrupts.
 */
void vpcib_interrupt(struct vpcib_card *card, u32 vectors, u32 messages, u64 sources);

/**
 * vpcib_dma_read - read the driver's memory
 * @card: the reader
 * @address: bus address
 * @to: the destination
 * @bytes: how many
 *
 * Only memory that the driver has allocated or mapped for this card can be read.
 * Context: any.
 * Return: 0, or -EFAULT and nothing is read.
 */
int vpcib_dma_read(struct vpcib_card *card, u64 address, void *to, size_t bytes);

/* vpcib_dma_write - write the driver's memory; as vpcib_dma_read. */
int vpcib_dma_write(struct vpcib_card *card, u64 address, const void *from,
		    size_t bytes);

/**
 * vpcib_dma_begin - the driver has started a transfer by the card
 * @card: the card
 * @address: bus address
 * @bytes: how many
 * @reads: whether the card reads the bytes, or writes them
 *
 * In the journal the bytes belong to the card until vpcib_dma_end.  With races, the bytes to be
 * read are compared with their first contents at each read and at the end.  If the driver has
 * changed them, the journal records this.
 * Context: any, locked or not.
 */
void vpcib_dma_begin(struct vpcib_card *card, u64 address, size_t bytes, bool reads);

/* vpcib_dma_end - the transfer is over; @address as for vpcib_dma_begin */
void vpcib_dma_end(struct vpcib_card *card, u64 address);

/* With races, imitates a busy card: sleeps for a random time drawn from the seed. */
void vpcib_dawdle(struct vpcib_card *card);

/* Pages of a memory BAR, and their number. */
struct page **vpcib_memory(struct vpcib_card *card, u32 bar, u32 *pages);

#endif

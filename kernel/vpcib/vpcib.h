/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The virtual PCI bus: a host bridge whose cards are modules (Jones 2010 section 3.1.2).
 *
 * The BARs of a card are at bus addresses without hardware.  Register BARs are mapped without
 * access permission, so each load or store of a driver faults, in the kernel or in a process.  The
 * bus decodes the instruction, and the card executes the access before the next instruction begins.
 * The other BARs are memory of the card.
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
 * struct vpcib_bar - a range of bus addresses of a card
 * @bytes: size: a power of two, at least a page; 0: the card has no BAR with this number
 * @is64: the BAR has a 64-bit address, and so uses the next BAR number too
 * @is_memory: the BAR is memory, without registers: loads and stores access it directly
 */
struct vpcib_bar {
	u64 bytes;
	bool is64;
	bool is_memory;
};

/**
 * struct vpcib_kind - the properties of all cards of a kind
 * @name: the name of the kind in /sys/kernel/vpcib/add
 * @vendor: value in the configuration space, like the next five fields
 * @msi_vectors: number of MSI vectors; 0: no MSI
 * @msix_vectors: number of MSI-X vectors; 0: no MSI-X.  Without MSI and MSI-X the card has only
 *   INTA.
 * @msix_bar: number of the memory BAR with the MSI-X table
 * @state_bytes: size of the card's own state, which is zero at first
 * @start: called before the card is on the bus; may sleep; returns 0 or a negative errno
 * @load: reads 1 to 8 bytes of a register BAR.  Called under the card's lock, in any context.
 * @store: writes to a register BAR.  Called in the same context as @load.
 * @peek: reads the register that begins at @offset as a load would, but without side effects.
 *   Returns the register's size in bytes, or 0 if no register begins there.  Called in the same
 *   context as @load.
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
 * @kind: the kind; must exist until it is unregistered
 *
 * Context: process, may sleep.
 * Return: 0, -EEXIST if the name is taken, -EINVAL if a BAR is invalid.
 */
int vpcib_register(struct vpcib_kind *kind);

/**
 * vpcib_unregister - remove all cards of this kind, and then the kind itself
 * @kind: registered
 */
void vpcib_unregister(struct vpcib_kind *kind);

/**
 * vpcib_add - plug a card in
 * @kind: registered
 *
 * When this function returns, the driver, if there is one, has probed the card.  Return: the card's
 * slot (0 to 31) or a negative errno.
 */
int vpcib_add(struct vpcib_kind *kind);

/**
 * vpcib_remove - pull a card out, whatever its driver does
 * @slot: the slot that vpcib_add returned
 *
 * Immediately, reads begin to return ones and writes have no effect, as on a real bus.
 * Return: 0, or -ENODEV if the slot is empty.
 */
int vpcib_remove(u32 slot);

void *vpcib_state(struct vpcib_card *card);
u32 vpcib_slot(const struct vpcib_card *card);

/* Takes the card's lock, under which load and store are called, with interrupts off. */
unsigned long vpcib_lock(struct vpcib_card *card);
void vpcib_unlock(struct vpcib_card *card, unsigned long flags);

/**
 * vpcib_interrupt - update the card's interrupts
 * @card: locked
 * @vectors: one bit for each vector with a reason to interrupt; INTA is asserted while any bit is
 *   set
 * @messages: one bit for each vector with a new reason; a message is sent for each of these
 * @sources: the reasons in the card's own encoding, for the journal
 *
 * Must be called when one of these arguments has changed.  The handlers run in hard interrupts, as
 * soon as the processor accepts interrupts.
 */
void vpcib_interrupt(struct vpcib_card *card, u32 vectors, u32 messages, u64 sources);

/**
 * vpcib_dma_read - read the driver's memory
 * @card: the card that reads
 * @address: bus address
 * @to: the destination
 * @bytes: how many
 *
 * Only memory that the driver has allocated or mapped for this card can be read.  Context: any.
 * Return: 0; or -EFAULT if the memory can't be read, and then nothing is read.
 */
int vpcib_dma_read(struct vpcib_card *card, u64 address, void *to, size_t bytes);

/* vpcib_dma_write - write the driver's memory; otherwise as vpcib_dma_read. */
int vpcib_dma_write(struct vpcib_card *card, u64 address, const void *from,
		    size_t bytes);

/**
 * vpcib_dma_begin - the driver has started a transfer by the card
 * @card: the card
 * @address: bus address
 * @bytes: how many
 * @reads: whether the card reads the bytes, or writes them
 *
 * In the journal the bytes belong to the card until vpcib_dma_end.  With the parameter "races",
 * bytes that the card reads are compared with their initial contents at each read and at the end of
 * the transfer.  If the driver has changed them, the journal records this.  Context: any, with or
 * without the card's lock.
 */
void vpcib_dma_begin(struct vpcib_card *card, u64 address, size_t bytes, bool reads);

/* vpcib_dma_end - the transfer has ended; @address as for vpcib_dma_begin */
void vpcib_dma_end(struct vpcib_card *card, u64 address);

/*
 * With the parameter "races", imitates a busy card: sleeps for a random time, which depends on the
 * seed.
 */
void vpcib_dawdle(struct vpcib_card *card);

/* Returns the pages of a memory BAR, and their number in `pages`. */
struct page **vpcib_memory(struct vpcib_card *card, u32 bar, u32 *pages);

#endif

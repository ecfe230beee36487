/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The virtual PCI bus: a host bridge whose cards are modules (Jones 2010 section 3.1.2).
 *
 * A card's BARs lie at bus addresses where nothing is.  Registers are mapped without access,
 * so each load and store of a driver, from the kernel or from a process, faults, is decoded
 * and carried out by the card before the next instruction.  Other BARs are memory of the card.
 *
 * To a driver all of it is ordinary: it is built for a real card and runs as it is.
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
 * @bytes: a power of two, at least a page; 0: there is none of this number
 * @is64: its address has 64 bits, and the next number is taken too
 * @is_memory: it has no registers; loads and stores go straight to memory
 */
struct vpcib_bar {
	u64 bytes;
	bool is64;
	bool is_memory;
};

/**
 * struct vpcib_kind - what all cards of a kind have in common
 * @name: as the kind is asked for in /sys/kernel/vpcib/add
 * @vendor: and the next five: as in config space
 * @msi_vectors: 0: it has no MSI
 * @msix_vectors: 0: it has no MSI-X; without either it has INTA only
 * @msix_bar: number of the BAR, which is memory, with their table
 * @state_bytes: memory for the card's own state, zero at first
 * @start: before the card is seen on the bus; may sleep; 0 or negative errno
 * @load: a read of a register BAR, 1 to 8 bytes.  Under the card's lock, in any context.
 * @store: a write, likewise
 * @peek: the register that begins at @offset, as a load would find it, and with no effect: its
 *	bytes and its value; 0: none begins there.  Likewise.
 * @stop: the card has gone from the bus; may sleep
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
 * vpcib_register - cards of this kind may be added from now on
 * @kind: stays until it is unregistered
 *
 * Context: process, may sleep.
 * Return: 0, -EEXIST if the name is taken, -EINVAL if a BAR can't be.
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
 * Its driver, if there is one, has probed it when this returns.
 * Return: its slot (0 to 31) or negative errno.
 */
int vpcib_add(struct vpcib_kind *kind);

/**
 * vpcib_remove - pull a card out, whatever its driver does
 * @slot: as vpcib_add returned
 *
 * From the first moment on reads give ones and writes go nowhere, as on a real bus.
 * Return: 0, or -ENODEV if there is none.
 */
int vpcib_remove(u32 slot);

void *vpcib_state(struct vpcib_card *card);
u32 vpcib_slot(const struct vpcib_card *card);

/* The card's lock, which load and store are under; interrupts are off meanwhile. */
unsigned long vpcib_lock(struct vpcib_card *card);
void vpcib_unlock(struct vpcib_card *card, unsigned long flags);

/**
 * vpcib_interrupt - say what the card has to tell the processor
 * @card: locked
 * @vectors: those with a reason to interrupt, a bit each; INTA is asserted while there is any
 * @messages: those with a new one: a message is sent for each
 * @sources: what the card knows of the reasons, for the journal
 *
 * Called when they have changed.
 * The handlers run in hard interrupts, once the processor takes any.
 */
void vpcib_interrupt(struct vpcib_card *card, u32 vectors, u32 messages, u64 sources);

/**
 * vpcib_dma_read - read the driver's memory
 * @card: the reader
 * @address: bus address
 * @to: receives
 * @bytes: how many
 *
 * Only what the driver has allocated or mapped for this card can be read.
 * Context: any.
 * Return: 0, or -EFAULT and nothing is read.
 */
int vpcib_dma_read(struct vpcib_card *card, u64 address, void *to, size_t bytes);

/* vpcib_dma_write - write the driver's memory; likewise. */
int vpcib_dma_write(struct vpcib_card *card, u64 address, const void *from,
		    size_t bytes);

/**
 * vpcib_dma_begin - the driver has sent the card to its memory
 * @card: the card
 * @address: bus address
 * @bytes: how many
 * @reads: whether the card is to read them, or to write
 *
 * Until vpcib_dma_end these bytes are the card's, as the journal has it.  With races, each read
 * and the end compare what is to be read with what it was, and the journal has it, too, if the
 * driver has changed it.
 * Context: any, locked or not.
 */
void vpcib_dma_begin(struct vpcib_card *card, u64 address, size_t bytes, bool reads);

/* vpcib_dma_end - the driver may have its memory back; @address as at the beginning */
void vpcib_dma_end(struct vpcib_card *card, u64 address);

/* With races, a busy card: sleeps for a while that the seed draws. */
void vpcib_dawdle(struct vpcib_card *card);

/* Pages of a BAR that is memory, and their number. */
struct page **vpcib_memory(struct vpcib_card *card, u32 bar, u32 *pages);

#endif

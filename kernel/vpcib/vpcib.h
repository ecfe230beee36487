/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The virtual PCI bus: a host bridge whose cards are modules (Jones 2010 section 3.1.2).
 *
 * A card's BARs are at bus addresses without hardware.  Register BARs are mapped without access
 * permission, so each load or store by a driver faults, in the kernel or in a process.  The bus
 * decodes the instruction, and the card executes the access before the next instruction begins.
 * All other BARs are memory of the card.
 *
 * A BAR may also be a range of I/O ports; then the driver's IN and OUT are intercepted (ports.c).
 *
 * A driver can't tell the card from a real card, so the real card's driver runs unchanged.
 */
#ifndef UNDERSTUDY_VPCIB_H
#define UNDERSTUDY_VPCIB_H

#include <linux/list.h>
#include <linux/types.h>

#define VPCIB_BARS 6
#define VPCIB_VECTORS_MAX 64
#define VPCIB_MSI_VECTORS_MAX 32
#define VPCIB_VENDOR_MAX 16
#define VPCIB_FUNCTIONS_MAX 8

struct page;
struct vpcib_card;

/**
 * struct vpcib_bar - a range of bus addresses of a card
 * @bytes: size: a power of two, at least 16, or 4 to 256 ports; 0 if the card has no BAR with this number
 * @is64: whether the BAR has a 64-bit address; if so, it also uses the next BAR number
 * @is_memory: whether the BAR is memory without registers, which loads and stores access directly
 * @is_io: whether the BAR is a range of I/O ports, which IN and OUT access
 */
struct vpcib_bar {
	u64 bytes;
	bool is64;
	bool is_memory;
	bool is_io;
};

/**
 * struct vpcib_capability - a vendor-specific capability
 * @at: its offset in the configuration space, a multiple of 4, where no other capability is
 * @bytes: number of bytes after its header of 3 bytes
 * @data: these bytes, which a driver can only read
 */
struct vpcib_capability {
	u8 at;
	u8 bytes;
	const u8 *data;
};

/**
 * struct vpcib_kind - the properties of all cards of a kind
 * @name: the kind's name in /sys/kernel/vpcib/add
 * @functions: number of functions of a card, 1 to 8: each has registers, state and BARs of its own,
 *   and is a struct vpcib_card
 * @vendor: value in the configuration space; so are the next five fields
 * @msi_vectors: number of MSI vectors, at most 32; 0: no MSI
 * @msix_vectors: number of MSI-X vectors, at most 64; 0: no MSI-X.  Without MSI and MSI-X the card has only
 *   INTA.
 * @msix_bar: number of the BAR with the MSI-X table and the pending bits
 * @msix_table: offset of the table in that BAR, a multiple of 8
 * @msix_pending: offset of the pending bits there
 * @has_pm: whether it has D3hot, by the capability of power management
 * @keeps_registers: whether it keeps its registers in D3hot
 * @is_express: whether it has the capability of PCI Express
 * @has_flr: whether that one has the function-level reset
 * @has_aer: whether it reports errors (Advanced Error Reporting)
 * @nr_vendor_capabilities: number of vendor-specific capabilities
 * @vendor_capabilities: these capabilities, in the order in which a driver finds them
 * @state_bytes: size of the card's own state, which is zero at first
 * @start: called before the card is on the bus; may sleep; returns 0 or a negative errno
 * @load: reads 1 to 8 bytes of a register BAR.  Called under the card's lock, in any context.
 * @store: writes to a register BAR.  Called in the same context as @load.
 * @peek: like a load of the register that begins at @offset, but without side effects.
 *   Returns the register's size in bytes, or 0 if no register begins there.  A register of 8
 *   bytes whose offset is no multiple of 8 counts as two of 4 bytes.  Called in the same context
 *   as @load.
 * @reset: sets the registers to their power-on values.  Called in the same context as @load.  May
 *   be NULL.
 * @accessed: called after an access by the kernel, without the card's lock and with interrupts off.
 *   @spins: the kernel can't be preempted there, and may poll.  May be NULL.
 * @stop: called after the card was removed from the bus; may sleep
 */
struct vpcib_kind {
	const char *name;
	u8 functions;
	u16 vendor;
	u16 device;
	u16 subsystem_vendor;
	u16 subsystem;
	u32 class_code;
	u8 revision;
	u8 msi_vectors;
	u8 msix_vectors;
	u8 msix_bar;
	u32 msix_table;
	u32 msix_pending;
	bool has_pm;
	bool keeps_registers;
	bool is_express;
	bool has_flr;
	bool has_aer;
	u32 nr_vendor_capabilities;
	struct vpcib_capability vendor_capabilities[VPCIB_VENDOR_MAX];
	struct vpcib_bar bars[VPCIB_BARS];
	size_t state_bytes;
	int (*start)(struct vpcib_card *card);
	u64 (*load)(struct vpcib_card *card, u32 bar, u32 offset, u32 bytes);
	void (*store)(struct vpcib_card *card, u32 bar, u32 offset, u64 value,
		      u32 bytes);
	u32 (*peek)(struct vpcib_card *card, u32 bar, u32 offset, u64 *value);
	void (*reset)(struct vpcib_card *card);
	void (*accessed)(struct vpcib_card *card, bool spins);
	void (*stop)(struct vpcib_card *card);

	/* private */
	struct list_head list;
};

/**
 * vpcib_register - make a kind available for vpcib_add
 * @kind: the kind; must remain valid until it is unregistered
 *
 * Context: process, may sleep.
 * Return: 0, -EEXIST if the name is in use, or -EINVAL if a BAR, a capability or a number of
 *   vectors is invalid.
 */
int vpcib_register(struct vpcib_kind *kind);

/**
 * vpcib_unregister - remove all cards of this kind, and then the kind itself
 * @kind: registered
 */
void vpcib_unregister(struct vpcib_kind *kind);

/**
 * vpcib_add - plug in a card
 * @kind: registered
 *
 * If there is a driver for the card, the driver has probed the card when this function returns.
 * Return: the card's slot (0 to 31) or a negative errno.
 */
int vpcib_add(struct vpcib_kind *kind);

/**
 * vpcib_remove - remove a card with all its functions, whatever their drivers are doing
 * @slot: the slot that vpcib_add returned
 *
 * From the beginning of the removal, reads return ones and writes have no effect, as on a real bus.
 * Return: 0, or -ENODEV if the slot is empty.
 */
int vpcib_remove(u32 slot);

void *vpcib_state(struct vpcib_card *card);

/*
 * Returns a number that no other card on the bus has, nor another function of this card: the slot for
 * the first function, and 32 more for each further one.
 */
u32 vpcib_number(const struct vpcib_card *card);

/*
 * Takes the card's lock, with interrupts off.  `load` and `store` are called with this lock held.
 */
unsigned long vpcib_lock(struct vpcib_card *card);
void vpcib_unlock(struct vpcib_card *card, unsigned long flags);

/**
 * vpcib_interrupt - update the card's interrupts
 * @card: locked
 * @vectors: one bit for each vector with a reason to interrupt.  INTA is asserted while any bit is
 *   set.
 * @messages: one bit for each vector with a new reason.  A message is sent for each of these
 *   vectors.
 * @sources: the reasons in the card's own encoding, for the journal
 *
 * Must be called when one of these arguments has changed.  The handlers run in hard interrupts, as
 * soon as the processor accepts interrupts.
 */
void vpcib_interrupt(struct vpcib_card *card, u64 vectors, u64 messages, u64 sources);

/**
 * vpcib_dma_read - read the driver's memory
 * @card: the card that reads
 * @address: bus address
 * @to: the destination
 * @bytes: how many
 *
 * A card can only read memory that the driver has allocated or mapped for this card.  Context: any.
 * Return: 0, or -EFAULT if the memory can't be read.  On error nothing is read.
 */
int vpcib_dma_read(struct vpcib_card *card, u64 address, void *to, size_t bytes);

/* vpcib_dma_write - write the driver's memory; arguments and result as for vpcib_dma_read */
int vpcib_dma_write(struct vpcib_card *card, u64 address, const void *from,
		    size_t bytes);

/**
 * vpcib_dma_begin - record that the driver has started a transfer by the card
 * @card: the card
 * @address: bus address
 * @bytes: how many
 * @reads: true if the card reads the bytes, false if it writes them
 *
 * According to the journal, the bytes belong to the card until vpcib_dma_end.  With the parameter
 * "races", bytes that the card reads are compared with their contents at the beginning of the
 * transfer.  They are compared at each read and at the end of the transfer.  If the driver has
 * changed the bytes, the journal records this.  Context: any, with or without the card's lock.
 */
void vpcib_dma_begin(struct vpcib_card *card, u64 address, size_t bytes, bool reads);

/* vpcib_dma_end - record that the transfer has ended; @address as for vpcib_dma_begin */
void vpcib_dma_end(struct vpcib_card *card, u64 address);

/* vpcib_dma_end_all - record that all transfers have ended, since the card is reset */
void vpcib_dma_end_all(struct vpcib_card *card);

/**
 * vpcib_mistake - report that the driver has broken a rule of the card
 * @card: the card
 * @format: what the driver has done, as for printk, without a newline
 *
 * For rules that the specification can't express, such as the alignment of an address in a
 * descriptor.  The referee reports a finding with this text.  Only the first 64 are reported.
 * Context: any, with or without the card's lock.
 */
__printf(2, 3) void vpcib_mistake(struct vpcib_card *card, const char *format, ...);

/*
 * Sleeps while the card stalls.  With the parameter "races", imitates a busy card by a sleep of random
 * length.  The length depends on the seed.
 */
void vpcib_dawdle(struct vpcib_card *card);

/*
 * Returns whether the card does a piece of work at once, within the driver's access that begins it.
 * With the parameter "races", this depends on the seed; its interrupt is then not delayed.  Called
 * once for each piece, with the card locked.
 */
bool vpcib_hurries(struct vpcib_card *card);

/*
 * Returns whether the card must not begin a piece of work now, by a fault that was asked for.
 * Called once for each piece, and again while it stalls.  Context: any.
 */
bool vpcib_stalls(struct vpcib_card *card);

/* Returns the pages of a memory BAR, and stores their number in `pages`. */
struct page **vpcib_memory(struct vpcib_card *card, u32 bar, u32 *pages);

#endif

/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The specification of a PCI card as data, for the code that imitates the card.
 * understudy_devices/cards/table.py makes the table from cards/NAME.yaml and checks it, so the C
 * code does not check it again. Each register is inside its BAR, at a multiple of the register's
 * size, or of 4 bytes if it has 8. No two registers overlap, but for two at one address, of which
 * the first takes the loads and the second the stores.
 *
 * A register is identified by its index in the table. Bit 0 of a mask is the register's least
 * significant bit.
 */
#ifndef UNDERSTUDY_CARD_TABLE_H
#define UNDERSTUDY_CARD_TABLE_H

#include "../port.h"

enum register_kind {
	REGISTER_PLAIN = 0,
	REGISTER_DOORBELL = 1, /* each write is an event */
	REGISTER_PORT = 2, /* each read or write has an effect, as with a FIFO */
};

enum register_side {
	REGISTER_BOTH = 0,
	REGISTER_LOADED = 1, /* another register at the same address takes the stores */
	REGISTER_STORED = 2, /* another register at the same address takes the loads */
};

enum card_direction {
	CARD_READS = 0, /* to_device */
	CARD_WRITES = 1, /* from_device */
};

/**
 * struct card_bar - a window of the card in physical memory, or a range of I/O ports
 * @number: number of the base address register (BAR); a 64-bit BAR also uses the next number
 * @is64: whether the BAR's address has 64 bits
 * @is_io: whether it is a range of I/O ports
 * @bytes: size in bytes, a power of two
 */
struct card_bar {
	u32 number;
	bool is64;
	bool is_io;
	u64 bytes;
};

/* Most bytes of a vendor-specific capability, without its header. */
#define CARD_CAPABILITY_BYTES_MAX 189

/**
 * struct card_capability - a vendor-specific capability in the config space
 * @at: its offset, a multiple of 4; no other capability is there
 * @bytes, @data: what follows its header of 3 bytes
 */
struct card_capability {
	u32 at;
	u32 bytes;
	u8 data[CARD_CAPABILITY_BYTES_MAX];
};

/**
 * struct card_register - a register, and what a driver may do to its bits
 * @name: name in the specification
 * @bar: number of its BAR
 * @bytes: size in bytes: 1, 2, 4 or 8
 * @offset: bytes from the start of the BAR
 * @kind: enum register_kind
 * @side: enum register_side
 * @reset: value after a reset
 * @readable: bits that a read returns; others read as 0
 * @writable: bits that keep the written value
 * @clears: bits that writing 1 clears
 * @sets: bits that writing 1 sets
 * @toggles: bits that writing 1 inverts
 * @at_zero: those of the three that writing 0 clears, sets or inverts instead
 * @always: those of the three that any write clears or sets
 * @read_clears: bits that a read clears
 * @read_sets: bits that a read sets
 *
 * A bit is in at most one of @writable, @clears, @sets, @toggles, @read_clears and @read_sets. A
 * reserved bit is in none of these masks, and not in @readable.
 */
struct card_register {
	const char *name;
	u32 bar;
	u32 bytes;
	u64 offset;
	enum register_kind kind;
	enum register_side side;
	u64 reset;
	u64 readable;
	u64 writable;
	u64 clears;
	u64 sets;
	u64 toggles;
	u64 at_zero;
	u64 always;
	u64 read_clears;
	u64 read_sets;
};

/**
 * struct card_interrupt - a source of interrupts
 * @name: name of the source
 * @status_register, @status_bit: register and mask of the one bit that is set when the event has
 *	happened; @status_bit 0: no register says so, and the card's behaviour sends the interrupt
 * @enable_register, @enable_bit: register and mask of the one bit that allows the event to
 *	interrupt; @enable_bit 0: it always may
 * @vector: MSI or MSI-X vector, below 64; 0 without these
 */
struct card_interrupt {
	const char *name;
	u32 status_register;
	u64 status_bit;
	u32 enable_register;
	u64 enable_bit;
	u32 vector;
};

/**
 * struct card_buffer - memory of the driver that the card reads or writes
 * @name: name of the buffer
 * @direction: enum card_direction
 * @address, @length, @doorbell: registers that hold the buffer's bus address and its length in
 *	bytes, and the register that starts the transfer when it is written
 * @alignment: alignment of the address in bytes, a power of two
 * @bytes_max: largest length in bytes
 */
struct card_buffer {
	const char *name;
	enum card_direction direction;
	u32 address, length, doorbell;
	u64 alignment;
	u64 bytes_max;
};

/**
 * struct card_ring - a circular buffer of equal entries
 * @buffer: the memory
 * @entry_bytes: size of an entry
 * @head, @tail: registers that hold the index of the next entry for the card to process, and the
 *	index after the last entry that the driver has filled
 */
struct card_ring {
	struct card_buffer buffer;
	u64 entry_bytes;
	u32 head, tail;
};

/**
 * struct card_table - a whole card
 * @name: name of the specification
 * @functions: number of its functions, 1 to 8, each with all of what follows
 * @vendor, @device, @subsystem_vendor, @subsystem, @class_code, @revision: fields of the config
 *	space
 * @msi_vectors: 1 to 32; 0: no MSI
 * @msix_vectors: 1 to 64; 0: no MSI-X. A card with neither MSI nor MSI-X has INTA
 * @msix_bar: number of the BAR with the MSI-X table and the pending bits
 * @msix_table, @msix_pending: their offsets in this BAR, multiples of 8
 * @has_pm: whether it has D3hot; @no_soft_reset: whether it keeps its registers there
 * @is_express: whether it has the PCI Express capability; @has_flr: with the function-level reset
 * @has_aer: whether it reports errors by the extended configuration space
 * @nr_vendor_capabilities, @vendor_capabilities: its vendor-specific capabilities, at most 16, in
 *	the order of the chain
 * @nr_bars, @bars: its BARs, in order of their numbers
 * @nr_registers, @registers: its registers, in order of BAR, then of offset
 * @nr_interrupts, @interrupts: its interrupt sources, at most 64
 * @nr_buffers, @buffers: its DMA buffers
 * @nr_rings, @rings: its DMA rings
 */
struct card_table {
	const char *name;
	u32 functions;
	u16 vendor, device, subsystem_vendor, subsystem;
	u32 class_code;
	u8 revision;
	u32 msi_vectors;
	u32 msix_vectors;
	u32 msix_bar;
	u32 msix_table, msix_pending;
	bool has_pm, no_soft_reset, is_express, has_flr, has_aer;
	u32 nr_vendor_capabilities, nr_bars, nr_registers, nr_interrupts, nr_buffers,
		nr_rings;
	const struct card_capability *vendor_capabilities;
	const struct card_bar *bars;
	const struct card_register *registers;
	const struct card_interrupt *interrupts;
	const struct card_buffer *buffers;
	const struct card_ring *rings;
};

#endif

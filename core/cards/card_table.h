/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A PCI card as data: what its specification says, in the form that the device's side
 * reads.  understudy/cards/table.py makes one of cards/NAME.yaml, checked, so that nothing
 * here is checked again: registers lie inside their BARs, each at a multiple of its size,
 * and none overlaps another.
 *
 * Registers are named by their index in the table.  Masks of bits are the register's own,
 * its least significant bit being bit 0.
 */
#ifndef UNDERSTUDY_CARD_TABLE_H
#define UNDERSTUDY_CARD_TABLE_H

#include "../port.h"

enum register_kind {
	REGISTER_PLAIN = 0,
	REGISTER_DOORBELL = 1, /* each write is an event */
	REGISTER_PORT = 2, /* each write or read counts, as at a FIFO */
};

enum card_direction {
	CARD_READS = 0, /* to_device */
	CARD_WRITES = 1, /* from_device */
};

/**
 * struct card_bar - a window of the card in physical memory
 * @number: of its base address register; one of 64 bits takes the next one as well
 * @is64: whether its address has 64 bits
 * @bytes: size, a power of two
 */
struct card_bar {
	u32 number;
	bool is64;
	u64 bytes;
};

/**
 * struct card_register - a register, and what a driver may do to its bits
 * @name: as the specification has it
 * @bar: number of its BAR
 * @bytes: size: 1, 2, 4 or 8
 * @offset: bytes from the start of the BAR
 * @kind: enum register_kind
 * @reset: value after a reset
 * @readable: bits that a read returns; others read as 0
 * @writable: bits that take what is written
 * @clears: bits that writing 1 clears
 * @sets: bits that writing 1 sets
 * @read_clears: bits that a read clears
 *
 * A bit is in at most one of the last four; a reserved one is in none of the last five.
 */
struct card_register {
	const char *name;
	u32 bar;
	u32 bytes;
	u64 offset;
	enum register_kind kind;
	u64 reset;
	u64 readable;
	u64 writable;
	u64 clears;
	u64 sets;
	u64 read_clears;
};

/**
 * struct card_interrupt - why the card interrupts
 * @name: of the source
 * @status_register, @status_bit: that it happened; a mask of one bit
 * @enable_register, @enable_bit: that it may interrupt
 * @vector: MSI vector, below 32; 0 without MSI
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
 * @name: of the buffer
 * @direction: enum card_direction
 * @address, @length, @doorbell: registers: bus address, bytes, and the one whose writing
 *	starts the transfer
 * @alignment: of the address in bytes, a power of two
 * @bytes_max: the longest
 */
struct card_buffer {
	const char *name;
	enum card_direction direction;
	u32 address, length, doorbell;
	u64 alignment;
	u64 bytes_max;
};

/**
 * struct card_ring - a buffer of equal entries that is used round and round
 * @buffer: the memory
 * @entry_bytes: size of an entry
 * @head, @tail: registers: next entry that the card takes, and the one behind the last
 *	that the driver has filled
 */
struct card_ring {
	struct card_buffer buffer;
	u64 entry_bytes;
	u32 head, tail;
};

/**
 * struct card_table - a card, whole
 * @name: of the specification
 * @vendor, @device, @subsystem_vendor, @subsystem, @class_code, @revision: config space
 * @msi_vectors: 1 to 32; 0: no MSI
 * @msix_vectors: 1 to 32; 0: no MSI-X; without either it has INTA
 * @msix_bar: number of the BAR with their table
 * @nr_bars, @bars: its windows, by number
 * @nr_registers, @registers: by BAR, then by offset
 * @nr_interrupts, @interrupts: their sources
 * @nr_buffers, @buffers: its DMA
 * @nr_rings, @rings: the same, used round and round
 */
struct card_table {
	const char *name;
	u16 vendor, device, subsystem_vendor, subsystem;
	u32 class_code;
	u8 revision;
	u32 msi_vectors;
	u32 msix_vectors;
	u32 msix_bar;
	u32 nr_bars, nr_registers, nr_interrupts, nr_buffers, nr_rings;
	const struct card_bar *bars;
	const struct card_register *registers;
	const struct card_interrupt *interrupts;
	const struct card_buffer *buffers;
	const struct card_ring *rings;
};

#endif

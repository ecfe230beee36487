/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The journal's record of each action between a driver and a card.  User space reads an array of
 * these records from /dev/vpcib: little endian, no padding.  understudy/cards/journal.py has the
 * same layout.
 */
#ifndef UNDERSTUDY_VPCIB_ACCESS_H
#define UNDERSTUDY_VPCIB_ACCESS_H

#include <linux/types.h>

enum vpcib_what {
	VPCIB_LOAD, /* a driver read a register */
	VPCIB_STORE, /* a driver wrote a register */
	VPCIB_RAISED, /* the card's reasons to interrupt have changed: value has all */
	VPCIB_HANDLING, /* a handler is about to run: offset is the vector */
	VPCIB_HANDLED, /* the handler has returned */
	VPCIB_DMA_READ, /* the card read the driver's memory: value is the address */
	VPCIB_DMA_WRITE,
	VPCIB_DMA_REFUSED, /* the memory was not the driver's */
	VPCIB_DMA_GIVEN, /* the driver allocated or mapped memory for the card */
	VPCIB_DMA_TAKEN, /* the driver has taken the memory back */
	VPCIB_ADDED, /* the card is on the bus */
	VPCIB_REMOVED,
	VPCIB_BOUND, /* a driver is about to take the card */
	VPCIB_UNBOUND, /* the driver has left the card, or did not take it */
	VPCIB_UNKNOWN, /* an instruction could not be carried out: value has its bytes */
	VPCIB_DMA_BEGUN, /* the driver has started a transfer */
	VPCIB_DMA_ENDED, /* the transfer is over */
	VPCIB_DMA_CHANGED, /* the driver changed bytes that the card was to read */
	VPCIB_FALLBACK, /* the fallback has carried out an instruction: value has its bytes */
};

enum vpcib_context {
	VPCIB_USER, /* a process, by its own mapping */
	VPCIB_KERNEL, /* a process or thread in the kernel */
	VPCIB_SOFT_INTERRUPT,
	VPCIB_HARD_INTERRUPT,
	VPCIB_CARD, /* the card itself */
};

#define VPCIB_ABSENT 0x1 /* the card was gone */
#define VPCIB_INTERRUPTIBLE 0x2 /* the card could interrupt at this point */
#define VPCIB_SOFT_INTERRUPTIBLE 0x4 /* soft interrupts could run at this point */

struct vpcib_access {
	__u64 ns; /* on the monotonic clock */
	__u64 number; /* of the record, from 0: a gap means lost records */
	__u64 value;
	__u64 ip; /* of the instruction; 0 for the card */
	__u32 offset; /* in the BAR; for DMA: bytes */
	__u32 pid;
	__u16 cpu;
	__u8 slot;
	__u8 bar;
	__u8 bytes;
	__u8 what; /* enum vpcib_what */
	__u8 context; /* enum vpcib_context */
	__u8 flags; /* VPCIB_ABSENT, ... */
};

/* The page at "journal_at", before the records. */
struct vpcib_journal {
	__u64 written; /* records so far, with those that did not fit */
};

#endif

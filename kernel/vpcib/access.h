/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the journal remembers of each thing that a driver and a card do to one another, as
 * user space reads it from /dev/vpcib: an array of these, little endian, no padding.
 * understudy/cards/journal.py has the same layout.
 */
#ifndef UNDERSTUDY_VPCIB_ACCESS_H
#define UNDERSTUDY_VPCIB_ACCESS_H

#include <linux/types.h>

enum vpcib_what {
	VPCIB_LOAD, /* a driver read a register */
	VPCIB_STORE, /* it wrote one */
	VPCIB_RAISED, /* the card's reasons to interrupt have changed: value is all of them */
	VPCIB_HANDLING, /* a handler is about to run: offset is the vector */
	VPCIB_HANDLED, /* it has returned */
	VPCIB_DMA_READ, /* the card read the driver's memory: value is the address */
	VPCIB_DMA_WRITE,
	VPCIB_DMA_REFUSED, /* it was not the driver's */
	VPCIB_DMA_GIVEN, /* the driver allocated or mapped memory for the card */
	VPCIB_DMA_TAKEN, /* it has it back */
	VPCIB_ADDED, /* the card is on the bus */
	VPCIB_REMOVED,
	VPCIB_BOUND, /* a driver is about to take the card */
	VPCIB_UNBOUND, /* it has left it, or did not take it */
	VPCIB_UNKNOWN, /* an instruction that could not be carried out: value is its bytes */
	VPCIB_DMA_BEGUN, /* the driver has sent the card to its memory */
	VPCIB_DMA_ENDED, /* it may have that back */
	VPCIB_DMA_CHANGED, /* the driver changed what it had sent the card to read */
	VPCIB_FALLBACK, /* an instruction that the fallback has carried out: its bytes */
};

enum vpcib_context {
	VPCIB_USER, /* a process, by its own mapping */
	VPCIB_KERNEL, /* a process or thread in the kernel */
	VPCIB_SOFT_INTERRUPT,
	VPCIB_HARD_INTERRUPT,
	VPCIB_CARD, /* the card itself */
};

#define VPCIB_ABSENT 0x1 /* the card was gone */
#define VPCIB_INTERRUPTIBLE 0x2 /* the card could interrupt there */
#define VPCIB_SOFT_INTERRUPTIBLE 0x4 /* soft interrupts could come there */

struct vpcib_access {
	__u64 ns; /* on the monotonic clock */
	__u64 number; /* of the record, from 0: a gap is a loss */
	__u64 value;
	__u64 ip; /* of the instruction; 0 for the card */
	__u32 offset; /* in the BAR; of DMA: bytes */
	__u32 pid;
	__u16 cpu;
	__u8 slot;
	__u8 bar;
	__u8 bytes;
	__u8 what; /* enum vpcib_what */
	__u8 context; /* enum vpcib_context */
	__u8 flags; /* VPCIB_ABSENT, ... */
};

/* What lies at "journal_at", a page before the records. */
struct vpcib_journal {
	__u64 written; /* records so far, also those for which there was no room */
};

#endif

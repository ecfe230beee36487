/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The journal's record of one action between a driver and a card.  User space reads an array of
 * these records from /dev/vpcib.  They are little-endian without padding, and
 * understudy_devices/cards/journal.py declares the same layout.
 */
#ifndef UNDERSTUDY_VPCIB_ACCESS_H
#define UNDERSTUDY_VPCIB_ACCESS_H

#include <linux/types.h>

enum vpcib_what {
	VPCIB_LOAD, /* a driver read a register */
	VPCIB_STORE, /* a driver wrote a register */
	VPCIB_RAISED, /* the card's reasons to interrupt have changed; value is the new set */
	VPCIB_HANDLING, /* an interrupt handler is about to run; offset is the vector */
	/* the interrupt handler has returned; value: its irqreturn_t + 1, or 0 if none has run */
	VPCIB_HANDLED,
	VPCIB_DMA_READ, /* the card read the driver's memory; value is the address */
	VPCIB_DMA_WRITE,
	VPCIB_DMA_REFUSED, /* refused: the card has no right to the memory */
	VPCIB_DMA_GIVEN, /* the driver allocated or mapped memory for the card */
	VPCIB_DMA_TAKEN, /* the driver freed or unmapped memory of the card */
	VPCIB_ADDED, /* the card is on the bus */
	VPCIB_REMOVED,
	VPCIB_BOUND, /* a driver is about to be bound to the card */
	VPCIB_UNBOUND, /* the driver was unbound; value 1: its probe has refused the card */
	VPCIB_UNKNOWN, /* an instruction could not be executed; value has its first bytes */
	VPCIB_DMA_BEGUN, /* the driver has started a transfer */
	VPCIB_DMA_ENDED, /* the transfer has ended */
	/* the driver has changed bytes during a transfer in which the card reads them */
	VPCIB_DMA_CHANGED,
	/* the fallback has executed an instruction; value has its first bytes */
	VPCIB_FALLBACK,
	VPCIB_CONFIG_READ, /* configuration space; offset and bytes say where */
	VPCIB_CONFIG_WRITE,
	VPCIB_MISUSE, /* value is an enum vpcib_misuse; the kernel's log has a line with details */
	VPCIB_FAULT, /* a fault that was asked for happens; value is an enum fault (card.h) */
	VPCIB_RESET, /* by its slot, or after an error: the card is as after power-on */
};

/* What a driver does to the kernel, or against a rule of its card. */
enum vpcib_misuse {
	VPCIB_SLEEPS, /* it calls a function that may sleep where sleeping is not allowed */
	VPCIB_KEEPS_REGION, /* its module is unloaded, but a BAR is still requested */
	VPCIB_KEEPS_MAPPING, /* its module is unloaded, but a BAR is still mapped */
	VPCIB_KEEPS_INTERRUPT, /* its module is unloaded, but it has a handler or a vector */
	VPCIB_COPIES_PAST_END, /* it copies more bytes than DMA memory has */
	VPCIB_MAPS_PAST_END, /* it maps more for a process than its card has */
	VPCIB_BREAKS_RULE, /* its card has called vpcib_mistake */
	VPCIB_RELEASES_OTHER, /* it unmaps or frees DMA memory that it has not given so */
	VPCIB_KEEPS_ENABLED, /* its module is unloaded, but the card is still enabled */
	VPCIB_FREES_MAPPED, /* it frees DMA memory that a process has mapped */
	VPCIB_REQUESTS_NOT, /* it maps a BAR that it has not requested */
	VPCIB_SHARES_NOT, /* its handler of INTA does not share the line */
	VPCIB_MISUSES, /* how many there are */
};

enum vpcib_context {
	VPCIB_USER, /* a process, through its own mapping of the registers */
	VPCIB_KERNEL, /* kernel code that runs in a process or thread */
	VPCIB_SOFT_INTERRUPT,
	VPCIB_HARD_INTERRUPT,
	VPCIB_CARD, /* the card itself */
};

#define VPCIB_ABSENT 0x1 /* the card had been removed */
#define VPCIB_INTERRUPTIBLE 0x2 /* a handler of the card could have run at this point */
#define VPCIB_SOFT_INTERRUPTIBLE 0x4 /* soft interrupts could have run at this point */
#define VPCIB_NOT_DECODED 0x8 /* ignored, since memory decoding is off */
#define VPCIB_NOT_MASTER 0x10 /* refused, since bus mastering is off */
#define VPCIB_WRONG_DIRECTION \
	0x20 /* refused, since the memory was mapped the other way */
/* read as it was when the driver mapped or synced it; it has changed since */
#define VPCIB_STALE 0x40
#define VPCIB_SPURIOUS 0x80 /* the handler runs though the card has no reason */

struct vpcib_access {
	__u64 ns; /* time on the monotonic clock */
	__u64 number; /* the record's number, from 0; missing numbers are lost records */
	__u64 value;
	__u64 ip; /* address of the instruction; 0 for actions of the card */
	__u32 offset; /* offset in the BAR; for DMA: number of bytes */
	__u32 pid;
	__u16 cpu;
	__u8 card; /* its slot, plus 32 for each function before this one */
	__u8 bar;
	__u8 bytes;
	__u8 what; /* enum vpcib_what */
	__u8 context; /* enum vpcib_context */
	__u8 flags; /* VPCIB_ABSENT, ... */
};

/* The page at the address "journal_at".  The records follow this page. */
struct vpcib_journal {
	__u64 written; /* number of records, including those for which there was no space */
};

#endif

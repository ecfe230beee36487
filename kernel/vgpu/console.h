/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface between a graphics card and the daemon that draws for it (Jones 2010 section
 * 3.1.1): the mappings of /dev/vgpuSLOT, and its one ioctl.
 *
 * The card hands over commands in a ring.  A command is a pair of a register's offset and a value.
 * Pairs are numbered from 0, and pair n is at index n % CONSOLE_PAIRS of the ring.
 */
#ifndef UNDERSTUDY_VGPU_CONSOLE_H
#define UNDERSTUDY_VGPU_CONSOLE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define CONSOLE_PAIRS (1u << 18)
#define CONSOLE_RING_AT 0ul /* offset for mapping the ring, read-only */
#define CONSOLE_FRAMEBUFFER_AT (1ul << 30) /* likewise the framebuffer, writable */
/*
 * Offset for mapping a page in which the daemon keeps its state, so that the next daemon can
 * continue if this one is killed.  The page is zero at first.
 */
#define CONSOLE_KEPT_AT (2ul << 30)
#define CONSOLE_KEPT_BYTES 4096ul

/* Special bits and values of struct console_pair.offset. */
#define CONSOLE_FROM_FIFO 0x80000000u /* a flag */
#define CONSOLE_END 0x7ffffffcu /* end of a DMA buffer */
#define CONSOLE_RESET 0x7ffffff8u /* reset of the card: reset the drawing state */

struct console_pair {
	__u32 offset;
	__u32 value;
};

/**
 * struct console_next - the daemon's report, and the kernel's answer
 * @done: number of pairs that the daemon has executed
 * @error: 0, or the card's error code for pair @done, which failed
 * @from: the next pair to execute
 * @to: the pair after the last available one
 */
struct console_next {
	__u64 done;
	__u32 error;
	__u32 reserved;
	__u64 from;
	__u64 to;
};

/*
 * Reports progress, and waits until there are pairs to execute.  Fails with ENODEV if the card was
 * pulled out.  The daemon calls this ioctl after each pair for which a process may be waiting
 * (CONSOLE_END, a fence), and after the last pair that the previous call returned.
 */
#define CONSOLE_NEXT _IOWR('V', 0, struct console_next)

#ifdef __KERNEL__

#include "device.h"

/**
 * struct console_events - callbacks for the daemon's progress
 *
 * @passed: called in the daemon's context for each pair that the daemon has executed, in order
 * @failed: called in the daemon's context if the daemon could not execute a pair
 * @advanced: called after the calls of @passed and @failed for one report
 */
struct console_events {
	void (*passed)(struct vgpu *device, const struct console_pair *pair);
	void (*failed)(struct vgpu *device, u32 error);
	void (*advanced)(struct vgpu *device);
};

struct console;

/* Returns an ERR_PTR on failure.  May sleep. */
struct console *console_open(struct vgpu *device, u32 framebuffer_bar,
			     const struct console_events *events);

/* Closes the console; the daemon's calls then fail, since the card is gone.  May sleep. */
void console_close(struct console *console);

/* Returns the number of pairs for which the ring has room.  Called with the card locked. */
u32 console_room(const struct console *console);

/* Hands over a pair.  The ring must have room for it.  Called with the card locked. */
void console_push(struct console *console, struct console_pair pair);

/* Drops the pairs that were handed over but not executed.  Called with the card locked. */
void console_drop(struct console *console);

#endif

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface between a graphics card and the daemon that draws for it (Jones 2010 section
 * 3.1.1): the mappings of /dev/vgpuSLOT, and its one ioctl.
 *
 * The card hands over commands in a ring.  A command is a pair of a register's offset and a value.
 * Pairs are numbered from 0; pair n is at n % CONSOLE_PAIRS.
 */
#ifndef UNDERSTUDY_VGPU_CONSOLE_H
#define UNDERSTUDY_VGPU_CONSOLE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define CONSOLE_PAIRS (1u << 18)
#define CONSOLE_RING_AT 0ul /* where to map the ring, to read */
#define CONSOLE_FRAMEBUFFER_AT (1ul << 30) /* and the framebuffer, to read and write */
/* A page in which a daemon keeps state for the next one, should it be killed; zeros at first. */
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
 * struct console_next - the daemon's report, and the answer
 * @done: number of pairs that the daemon has carried out
 * @error: 0, or the card's error code for pair @done, which failed
 * @from: the next pair to carry out
 * @to: the pair behind the last available one
 */
struct console_next {
	__u64 done;
	__u32 error;
	__u32 reserved;
	__u64 from;
	__u64 to;
};

/*
 * Waits until there is something to do.  ENODEV: the card was pulled out.  The daemon calls this
 * after each pair for which somebody may be waiting (CONSOLE_END, a fence), and after the last pair
 * of each answer.
 */
#define CONSOLE_NEXT _IOWR('V', 0, struct console_next)

#ifdef __KERNEL__

#include "device.h"

/**
 * struct console_events - callbacks for the daemon's progress
 *
 * @passed: called for each pair that the daemon has carried out, in order, in its context
 * @failed: called if the daemon could not carry out a pair; in its context
 * @advanced: called after those
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

/* Tells the daemon that the card is gone.  May sleep. */
void console_close(struct console *console);

/* The number of pairs for which the ring has room; locked. */
u32 console_room(const struct console *console);

/* Hands over a pair, for which the ring must have room; locked. */
void console_push(struct console *console, struct console_pair pair);

/* Drops the pairs that were handed over and not carried out; locked. */
void console_drop(struct console *console);

#endif

#endif

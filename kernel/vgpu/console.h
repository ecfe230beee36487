/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between a graphics card and the daemon that draws for it (Jones 2010 section 3.1.1): what is
 * mapped from /dev/vgpuSLOT, and its one ioctl.
 *
 * The card hands over commands, pairs of a register's offset and a value, in a ring.  They are
 * counted from 0; pair n lies at n % CONSOLE_PAIRS.
 */
#ifndef UNDERSTUDY_VGPU_CONSOLE_H
#define UNDERSTUDY_VGPU_CONSOLE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define CONSOLE_PAIRS (1u << 18)
#define CONSOLE_RING_AT 0ul /* where to map the ring, to read */
#define CONSOLE_FRAMEBUFFER_AT (1ul << 30) /* and the framebuffer, to read and write */
/* And what a daemon leaves to the next one, if it is killed; zeros at first. */
#define CONSOLE_KEPT_AT (2ul << 30)
#define CONSOLE_KEPT_BYTES 4096ul

/* Bits and values of struct console_pair.offset that are no offsets. */
#define CONSOLE_FROM_FIFO 0x80000000u /* a flag */
#define CONSOLE_END 0x7ffffffcu /* all of a DMA buffer was before this */
#define CONSOLE_RESET 0x7ffffff8u /* the card was reset: so is everything drawn with */

struct console_pair {
	__u32 offset;
	__u32 value;
};

/**
 * struct console_next - what the daemon says and is told
 * @done: pairs that it has carried out
 * @error: 0, or the card's error code for pair @done, which it could not
 * @from: the next pair to carry out
 * @to: the one behind the last that is there
 */
struct console_next {
	__u64 done;
	__u32 error;
	__u32 reserved;
	__u64 from;
	__u64 to;
};

/*
 * Waits until there is something to do.  ENODEV: the card was pulled out.  The daemon asks after
 * each pair that somebody may be waiting for (CONSOLE_END, a fence), and at the end of what it
 * was told.
 */
#define CONSOLE_NEXT _IOWR('V', 0, struct console_next)

#ifdef __KERNEL__

#include "device.h"

/**
 * struct console - the hand-over of one card
 *
 * @passed: called for each pair that the daemon has carried out, in order, in its context
 * @failed: it could not carry one out; likewise
 * @advanced: after those
 */
struct console_events {
	void (*passed)(struct vgpu *device, const struct console_pair *pair);
	void (*failed)(struct vgpu *device, u32 error);
	void (*advanced)(struct vgpu *device);
};

struct console;

/* Returns an ERR_PTR if it can't be.  May sleep. */
struct console *console_open(struct vgpu *device, u32 framebuffer_bar,
			     const struct console_events *events);

/* The card is gone; the daemon is told.  May sleep. */
void console_close(struct console *console);

/* Pairs for which there is room; locked. */
u32 console_room(const struct console *console);

/* Hand over a pair, for which there is room; locked. */
void console_push(struct console *console, struct console_pair pair);

/* Forget what was handed over and not carried out; locked. */
void console_drop(struct console *console);

#endif

#endif

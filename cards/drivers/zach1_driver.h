/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a program uses /dev/zach1_N: it maps the command buffers, fills one after the other with
 * commands, and submits each buffer.  A command is a pair of 32-bit words: a register's offset and
 * a value.  One program at a time can open the device; for another one, open fails with EBUSY.
 */
#ifndef ZACH1_DRIVER_H
#define ZACH1_DRIVER_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define ZACH1_BUFFERS 8
#define ZACH1_BUFFER_BYTES 262144
#define ZACH1_BUFFERS_AT 0 /* offset for mapping the buffers */
#define ZACH1_FRAMEBUFFER_AT (1 << 30)

/*
 * Submits a buffer.  The caller sets the argument to the number of bytes in the filled buffer.
 * On return the argument is the index of the next buffer to fill, which is then free.
 */
#define ZACH1_SUBMIT _IOWR('z', 0, __u32)
/* Waits until all submitted buffers are drawn. */
#define ZACH1_SYNC _IO('z', 1)
/* 1 shows the framebuffer; 0 shows the console again. */
#define ZACH1_GRAPHICS _IOW('z', 2, __u32)
/* Resets the card after an error (EIO).  The card is then idle. */
#define ZACH1_RESET _IO('z', 3)

#endif

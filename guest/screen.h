/* SPDX-License-Identifier: MIT */
/*
 * The guest's own display, a framebuffer device of the kernel (/dev/fb0), which shows the console
 * or a picture.  A person sees it in QEMU's window.
 */
#ifndef UNDERSTUDY_GUEST_SCREEN_H
#define UNDERSTUDY_GUEST_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "raster.h"

struct screen {
	uint8_t *memory;
	size_t bytes;
	uint32_t width, height;
	uint32_t row_bytes;
	uint32_t red, green, blue; /* first bit of each channel in a pixel of 32 bits */
	int console;
	bool graphics;
};

/*
 * Opens the display, which shows the console.  Complains and returns EXIT_FAILED if we can't use
 * the display.
 */
int screen_open(struct screen *screen, const char *path);

/*
 * Switches from the console to a black picture, unless it shows a picture already.  Complains
 * likewise.
 */
int screen_enter(struct screen *screen);

/*
 * Shows the picture in the middle.  A picture that is too large is cut off equally on opposite
 * sides.
 */
void screen_show(struct screen *screen, const struct picture *picture);

/* Switches back to the console, with its present contents. */
void screen_leave(struct screen *screen);

#endif

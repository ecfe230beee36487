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
	uint32_t red, green, blue; /* each channel's lowest bit in a pixel of 32 bits */
	int console;
	bool graphics;
};

/*
 * Opens the display, which then still shows the console.  If the display can't be used, prints a
 * line about the error and returns EXIT_FAILED.
 */
int screen_open(struct screen *screen, const char *path);

/*
 * Switches the display from the console to a black picture, unless it shows a picture already.
 * Reports errors as screen_open does.
 */
int screen_enter(struct screen *screen);

/*
 * Shows the picture in the middle of the display.  A picture that is too large is cut off equally
 * on opposite sides.
 */
void screen_show(struct screen *screen, const struct picture *picture);

/* Switches the display back to the console, with the console's present contents. */
void screen_leave(struct screen *screen);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The guest's own display (/dev/fb0, a framebuffer device of the kernel), which shows the console
 * or a picture.  QEMU shows the display in a window.
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
	uint32_t red, green, blue; /* each channel's lowest bit in a 32-bit pixel */
	int console;
	bool graphics;
};

/*
 * Opens the display without changing what it shows.  On failure prints a line about the error and
 * returns EXIT_FAILED.
 */
int screen_open(struct screen *screen, const char *path);

/*
 * Switches the display from the console to a black picture.  Does nothing if the display shows a
 * picture already.  Reports errors as screen_open does.
 */
int screen_enter(struct screen *screen);

/*
 * Shows the picture in the middle of the display.  Crops a picture that is too large equally on
 * opposite sides.
 */
void screen_show(struct screen *screen, const struct picture *picture);

/* Switches the display back to the console. */
void screen_leave(struct screen *screen);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The guest's own display, a framebuffer device of the kernel (/dev/fb0), which shows the
 * console or a picture.  What it shows a person sees in QEMU's window.
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

/* The console is shown.  Complains and returns EXIT_FAILED if that is no display for us. */
int screen_open(struct screen *screen, const char *path);

/* From the console to a black picture; nothing if it was that already.  Complains likewise. */
int screen_enter(struct screen *screen);

/* In the middle; what is too large is cut off on all sides alike. */
void screen_show(struct screen *screen, const struct picture *picture);

/* Back to the console, as it is by now. */
void screen_leave(struct screen *screen);

#endif

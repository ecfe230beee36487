/* SPDX-License-Identifier: MIT */
/*
 * Executes commands of the card zach1 (cards/zach1.yaml): pairs of words, a register's offset and
 * its new value.  Holds the registers that commands set.  Draws into its framebuffer, and never
 * outside of it, whatever the commands are.
 *
 * The caller shows the picture after a flip, reports fences, and calls again for the remaining
 * pairs.
 */
#ifndef UNDERSTUDY_GUEST_COMMANDS_H
#define UNDERSTUDY_GUEST_COMMANDS_H

#include <stddef.h>
#include <stdint.h>

#include "raster.h"

/* One call draws this many pixels and then pauses, at most one picture later. */
#define COMMANDS_PIXELS (1u << 22)

struct commands {
	uint32_t *framebuffer;
	uint32_t framebuffer_bytes;
	uint32_t width, height; /* of the picture, at most 4095 each */
	uint32_t frame_base, draw_base, stride;
	uint32_t clear_color;
	struct corner corner[3];
	int16_t rectangle_x, rectangle_y;
	uint16_t rectangle_width, rectangle_height;
	struct picture shown; /* at the last flip */
	uint32_t fence_passed; /* number of the last fence */
	uint32_t drawn; /* triangles, lines and rectangles; the caller may clear it */
	uint32_t error; /* enum zach1_error_code */
};

enum commands_end {
	COMMANDS_ALL, /* all pairs are taken, and none of the events below happened */
	COMMANDS_PAUSED, /* enough drawn for one call */
	COMMANDS_FLIP, /* the caller must show `shown` now */
	COMMANDS_FENCE, /* `fence_passed` was passed */
	COMMANDS_FAILED, /* `error` says why; nothing is taken until a reset */
};

/* Resets the registers and the error; the framebuffer and the size stay. */
void commands_reset(struct commands *commands);

/*
 * Takes pairs until one ends the call.  That one counts as taken unless it failed.  Returns the
 * number of pairs taken.  Each word is read once, so that a writer who changes it meanwhile gains
 * nothing.
 */
size_t commands_take(struct commands *commands, const volatile uint32_t *words,
		     size_t pairs, enum commands_end *end);

#endif

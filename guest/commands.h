/* SPDX-License-Identifier: MIT */
/*
 * Executes commands of the card zach1 (cards/zach1.yaml): pairs of words, a register's
 * offset and what is written there.  Holds the registers that commands set, and draws
 * into the framebuffer that it is given, never beside it, whatever the commands say.
 *
 * Who calls it shows the picture when there was a flip, tells of fences, and calls again
 * for the pairs that are left.
 */
#ifndef UNDERSTUDY_GUEST_COMMANDS_H
#define UNDERSTUDY_GUEST_COMMANDS_H

#include <stddef.h>
#include <stdint.h>

#include "raster.h"

/* One call draws so many pixels and then pauses, at most one picture later. */
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
	uint32_t fence_passed; /* the last one's number */
	uint32_t drawn; /* triangles, lines and rectangles; who calls may clear it */
	uint32_t error; /* enum zach1_error_code */
};

enum commands_end {
	COMMANDS_ALL, /* taken, and nothing of what follows */
	COMMANDS_PAUSED, /* enough drawn for one call */
	COMMANDS_FLIP, /* `shown` is to be shown now */
	COMMANDS_FENCE, /* `fence_passed` was passed */
	COMMANDS_FAILED, /* `error` says why; nothing is taken until a reset */
};

/* Registers as after a reset, and no error; the framebuffer and the size stay. */
void commands_reset(struct commands *commands);

/*
 * Takes pairs until one ends the call, which counts as taken unless it failed.  Returns
 * how many were taken.  Each word is read once, so that whoever writes them meanwhile
 * gains nothing.
 */
size_t commands_take(struct commands *commands, const volatile uint32_t *words,
		     size_t pairs, enum commands_end *end);

#endif

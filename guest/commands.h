/* SPDX-License-Identifier: MIT */
/*
 * Executes commands of the card zach1 (cards/zach1.yaml).  A command is a pair of words: a
 * register's offset and the register's new value.  struct commands holds the values of the
 * registers.  Drawing never writes outside the framebuffer, whatever the commands are.
 *
 * The caller of commands_take() shows the picture after a flip, reports fences, and calls again for
 * the remaining pairs.
 */
#ifndef UNDERSTUDY_GUEST_COMMANDS_H
#define UNDERSTUDY_GUEST_COMMANDS_H

#include <stddef.h>
#include <stdint.h>

#include "raster.h"

/*
 * A call pauses once it has drawn this many pixels.  The last command may exceed the limit by one
 * picture.
 */
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
	uint32_t drawn; /* triangles, lines and rectangles; the caller may reset it */
	uint32_t error; /* enum zach1_error_code */
};

enum commands_end {
	COMMANDS_ALL, /* all pairs are executed, without any of the events below */
	COMMANDS_PAUSED, /* the call has drawn COMMANDS_PIXELS */
	COMMANDS_FLIP, /* the caller must show `shown` now */
	COMMANDS_FENCE, /* the fence with the number `fence_passed` was reached */
	COMMANDS_FAILED, /* `error` says why; no command is executed until a reset */
};

/* Resets the registers and the error, but keeps the framebuffer and the picture's size. */
void commands_reset(struct commands *commands);

/*
 * Executes pairs until all are executed or one of them ends the call.  `end` says why the call
 * ended.  Returns the number of executed pairs, including the pair that ended the call, unless that
 * pair failed.  Each word is read only once, so a program that changes a word during the call can't
 * bypass a check.
 */
size_t commands_take(struct commands *commands, const volatile uint32_t *words,
		     size_t pairs, enum commands_end *end);

#endif

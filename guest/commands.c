// SPDX-License-Identifier: MIT
#include <stdbool.h>

#include "commands.h"
#include "zach1_registers.h"

#define FIELD(value, name) (((value)&name##_MASK) >> name##_SHIFT)
#define BASE_ALIGNMENT 4096

void commands_reset(struct commands *commands)
{
	*commands = (struct commands){
		.framebuffer = commands->framebuffer,
		.framebuffer_bytes = commands->framebuffer_bytes,
		.width = commands->width,
		.height = commands->height,
		.frame_base = ZACH1_FRAME_BASE_RESET_VALUE,
		.draw_base = ZACH1_DRAW_BASE_RESET_VALUE,
		.stride = ZACH1_STRIDE_RESET_VALUE,
	};
}

/*
 * Finds the picture that begins at an offset in the framebuffer.  Returns false if the picture does
 * not fit into the framebuffer.
 */
static bool picture_at(const struct commands *commands, uint32_t base,
		       struct picture *picture)
{
	uint64_t row = 4ull * commands->width;
	uint64_t rows = commands->height;
	uint32_t stride = commands->stride;

	if (!row || !rows || base % BASE_ALIGNMENT || stride % 4 || stride < row)
		return false;
	if (base + stride * (rows - 1) + row > commands->framebuffer_bytes)
		return false;
	*picture = (struct picture){
		.pixel = commands->framebuffer + base / 4,
		.width = commands->width,
		.height = commands->height,
		.stride = stride,
	};
	return true;
}

static enum commands_end fail(struct commands *commands, enum zach1_error_code error)
{
	commands->error = error;
	return COMMANDS_FAILED;
}

static uint64_t rectangle(const struct commands *commands,
			  const struct picture *picture)
{
	struct corner at = { commands->rectangle_x, commands->rectangle_y,
			     commands->corner[0].color };

	return raster_rectangle(picture, &at, commands->rectangle_width,
				commands->rectangle_height);
}

/*
 * Adds the picture's height to the number of pixels, since rows take time even if they contain few
 * pixels of a triangle.
 */
static enum commands_end draw(struct commands *commands, uint32_t doorbell,
			      uint64_t *pixels)
{
	struct picture picture;

	if (!picture_at(commands, commands->draw_base, &picture))
		return fail(commands, ZACH1_ERROR_CODE_TARGET);
	*pixels += picture.height;
	commands->drawn += doorbell != ZACH1_CLEAR;
	if (doorbell == ZACH1_CLEAR)
		*pixels += raster_clear(&picture, commands->clear_color);
	else if (doorbell == ZACH1_DRAW_TRIANGLE)
		*pixels += raster_triangle(&picture, commands->corner);
	else if (doorbell == ZACH1_DRAW_LINE)
		*pixels += raster_line(&picture, commands->corner);
	else
		*pixels += rectangle(commands, &picture);
	return *pixels < COMMANDS_PIXELS ? COMMANDS_ALL : COMMANDS_PAUSED;
}

static enum commands_end flip(struct commands *commands)
{
	if (!picture_at(commands, commands->frame_base, &commands->shown))
		return fail(commands, ZACH1_ERROR_CODE_TARGET);
	return COMMANDS_FLIP;
}

static void set_vertex(struct corner *corner, uint32_t value)
{
	corner->x = (int16_t)FIELD(value, ZACH1_VERTEX0_X);
	corner->y = (int16_t)FIELD(value, ZACH1_VERTEX0_Y);
}

/* Sets a corner's register; returns false if there is no such register. */
static bool set_corner(struct corner corner[3], uint32_t offset, uint32_t value)
{
	switch (offset) {
	case ZACH1_VERTEX0:
		set_vertex(&corner[0], value);
		return true;
	case ZACH1_COLOR0:
		corner[0].color = value;
		return true;
	case ZACH1_VERTEX1:
		set_vertex(&corner[1], value);
		return true;
	case ZACH1_COLOR1:
		corner[1].color = value;
		return true;
	case ZACH1_VERTEX2:
		set_vertex(&corner[2], value);
		return true;
	case ZACH1_COLOR2:
		corner[2].color = value;
		return true;
	default:
		return false;
	}
}

static bool set(struct commands *commands, uint32_t offset, uint32_t value)
{
	switch (offset) {
	case ZACH1_FRAME_BASE:
		commands->frame_base = value;
		return true;
	case ZACH1_DRAW_BASE:
		commands->draw_base = value;
		return true;
	case ZACH1_STRIDE:
		commands->stride = FIELD(value, ZACH1_STRIDE_BYTES);
		return true;
	case ZACH1_CLEAR_COLOR:
		commands->clear_color = value;
		return true;
	case ZACH1_RECTANGLE_AT:
		commands->rectangle_x = (int16_t)FIELD(value, ZACH1_RECTANGLE_AT_X);
		commands->rectangle_y = (int16_t)FIELD(value, ZACH1_RECTANGLE_AT_Y);
		return true;
	case ZACH1_RECTANGLE_SIZE:
		commands->rectangle_width = FIELD(value, ZACH1_RECTANGLE_SIZE_WIDTH);
		commands->rectangle_height = FIELD(value, ZACH1_RECTANGLE_SIZE_HEIGHT);
		return true;
	default:
		return set_corner(commands->corner, offset, value);
	}
}

static enum commands_end execute(struct commands *commands, uint32_t offset,
				 uint32_t value, uint64_t *pixels)
{
	switch (offset) {
	case ZACH1_CLEAR:
	case ZACH1_DRAW_TRIANGLE:
	case ZACH1_DRAW_LINE:
	case ZACH1_DRAW_RECTANGLE:
		return draw(commands, offset, pixels);
	case ZACH1_FLIP:
		return flip(commands);
	case ZACH1_FENCE:
		commands->fence_passed = value;
		return COMMANDS_FENCE;
	default:
		return set(commands, offset, value)
			       ? COMMANDS_ALL
			       : fail(commands, ZACH1_ERROR_CODE_COMMAND);
	}
}

size_t commands_take(struct commands *commands, const volatile uint32_t *words,
		     size_t pairs, enum commands_end *end)
{
	uint64_t pixels = 0;
	size_t taken;

	*end = commands->error ? COMMANDS_FAILED : COMMANDS_ALL;
	for (taken = 0; taken < pairs && *end == COMMANDS_ALL; taken++) {
		uint32_t offset = words[2 * taken];

		*end = execute(commands, offset, words[2 * taken + 1], &pixels);
	}
	return taken - (taken && *end == COMMANDS_FAILED);
}

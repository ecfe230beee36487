// SPDX-License-Identifier: MIT
/* Draws rectangles and lines.  For lines, computes only the pixels inside the picture. */
#include "walk.h"

static uint64_t fill(const struct picture *picture, int64_t left, int64_t top,
		     int64_t right, int64_t bottom, uint32_t color)
{
	left = max(left, 0);
	top = max(top, 0);
	right = min(right, picture->width);
	bottom = min(bottom, picture->height);
	if (left >= right || top >= bottom)
		return 0;
	for (int64_t y = top; y < bottom; y++) {
		uint32_t *row = picture_row(picture, y);

		for (int64_t x = left; x < right; x++)
			row[x] = color & 0xffffff;
	}
	return (uint64_t)(right - left) * (uint64_t)(bottom - top);
}

uint64_t raster_clear(const struct picture *picture, uint32_t color)
{
	return fill(picture, 0, 0, picture->width, picture->height, color);
}

uint64_t raster_rectangle(const struct picture *picture, const struct corner *at,
			  uint16_t width, uint16_t height)
{
	return fill(picture, at->x, at->y, at->x + width, at->y + height, at->color);
}

/* Indices of the values that change along a line: the channels, X and Y. */
enum { X = CHANNELS, Y, WALKS };

/*
 * Each value begins half a pixel too low, and walk_place() rounds up.  The result is the nearest
 * pixel, or the lower of two pixels that are equally near.
 */
static void set_walks(struct walk walk[WALKS], const struct corner end[2],
		      int64_t steps)
{
	for (int i = 0; i < CHANNELS; i++)
		walk[i] = walk_from(channel(&end[0], i), channel(&end[1], i), steps);
	walk[X] = walk_from(end[0].x, end[1].x, steps);
	walk[Y] = walk_from(end[0].y, end[1].y, steps);
	for (int i = 0; i < WALKS; i++)
		walk[i].at -= WALK_ONE / 2;
}

/* Narrows the range from first to last to the steps whose coordinate is in 0 .. size - 1. */
static void clip(const struct walk *walk, int64_t size, int64_t *first, int64_t *last)
{
	int64_t to_low = 1 - WALK_ONE - walk->at;
	int64_t to_high = (size - 1) * WALK_ONE - walk->at;

	if (walk->step > 0) {
		*first = max(*first, -divide_down(-to_low, walk->step));
		*last = min(*last, divide_down(to_high, walk->step));
	} else if (walk->step < 0) {
		*first = max(*first, -divide_down(to_high, -walk->step));
		*last = min(*last, divide_down(-to_low, -walk->step));
	} else if (to_low > 0 || to_high < 0) {
		*last = -1;
	}
}

uint64_t raster_line(const struct picture *picture, const struct corner end[2])
{
	int64_t width = end[1].x - end[0].x;
	int64_t height = end[1].y - end[0].y;
	int64_t first = 0;
	int64_t last = max(max(width, -width), max(height, -height));
	struct walk walk[WALKS];

	set_walks(walk, end, max(last, 1));
	clip(&walk[X], picture->width, &first, &last);
	clip(&walk[Y], picture->height, &first, &last);
	if (first > last)
		return 0;
	for (int i = 0; i < WALKS; i++)
		walk_on(&walk[i], first);
	for (int64_t step = first; step <= last; step++) {
		uint32_t *row = picture_row(picture, walk_place(&walk[Y]));

		row[walk_place(&walk[X])] = (uint32_t)(walk_place(&walk[RED]) << 16 |
						       walk_place(&walk[GREEN]) << 8 |
						       walk_place(&walk[BLUE]));
		for (int i = 0; i < WALKS; i++)
			walk_on(&walk[i], 1);
	}
	return (uint64_t)(last - first + 1);
}

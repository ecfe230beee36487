/* SPDX-License-Identifier: MIT */
/*
 * Draws into a picture in memory: fills it, and draws rectangles, lines and triangles.  Colours are
 * blended between the corners of lines and triangles.  docs/drawing.md defines each pixel's colour
 * exactly.
 *
 * The code uses only integers, allocates no memory and needs no libc.  Corners may be anywhere.
 * Shapes are clipped to the picture before drawing, so the time depends only on the number of
 * pixels and rows inside the picture.
 */
#ifndef UNDERSTUDY_GUEST_RASTER_H
#define UNDERSTUDY_GUEST_RASTER_H

#include <stdint.h>

#define PICTURE_SIDE_MAX 65535

/*
 * Pixels are words 0x00RRGGBB.  Rows begin `stride` bytes apart.  `stride` is a multiple of 4 and
 * at least 4 * width; width and height are at most PICTURE_SIDE_MAX.
 */
struct picture {
	uint32_t *pixel;
	uint32_t width;
	uint32_t height;
	uint32_t stride;
};

/*
 * Coordinates in pixels from the picture's upper left corner, and a colour 0x00RRGGBB.  The
 * colour's top byte is ignored.
 */
struct corner {
	int16_t x, y;
	uint32_t color;
};

/* Each function returns the number of pixels that it has drawn. */
uint64_t raster_clear(const struct picture *picture, uint32_t color);
uint64_t raster_rectangle(const struct picture *picture, const struct corner *at,
			  uint16_t width, uint16_t height);
uint64_t raster_line(const struct picture *picture, const struct corner end[2]);
uint64_t raster_triangle(const struct picture *picture, const struct corner corner[3]);

#endif

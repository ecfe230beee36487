/* SPDX-License-Identifier: MIT */
/*
 * The triangles for measuring the speed of drawing (Jones' dissertation, section 3.2).
 *
 * The size is the distance of the third corner from the dominant edge, in pixels.  The dominant
 * edge is vertical and as long as the size, so a triangle has about size * size / 2 pixels.  Four
 * properties are random: the side of the edge on which the third corner is, the height of that
 * corner, the triangle's location in the picture, and a colour for each corner.
 */
#ifndef UNDERSTUDY_GUEST_TRIANGLES_H
#define UNDERSTUDY_GUEST_TRIANGLES_H

#include "raster.h"

/* The size of the picture. */
#define TRIANGLES_WIDTH 640
#define TRIANGLES_HEIGHT 480

/* Generates n triangles from the seed.  The size is at least 1 and at most TRIANGLES_HEIGHT. */
void triangles_make(struct corner (*corner)[3], uint32_t n, uint32_t size,
		    uint64_t seed);

#endif

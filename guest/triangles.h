/* SPDX-License-Identifier: MIT */
/*
 * The triangles for measuring the speed of drawing (Jones' dissertation, section 3.2).
 *
 * The size is the distance of the third corner from the dominant edge, in pixels.  That edge is
 * upright and as long as the size, so a triangle has about size * size / 2 pixels.  All else is
 * random: the side of the third corner, its height, the place in the picture, and a colour for each
 * corner.
 */
#ifndef UNDERSTUDY_GUEST_TRIANGLES_H
#define UNDERSTUDY_GUEST_TRIANGLES_H

#include "raster.h"

/* The size of the picture. */
#define TRIANGLES_WIDTH 640
#define TRIANGLES_HEIGHT 480

/* Makes the first n triangles of the seed; the size is 1 ..  TRIANGLES_HEIGHT. */
void triangles_make(struct corner (*corner)[3], uint32_t n, uint32_t size,
		    uint64_t seed);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The triangles that are drawn to see how fast that is (Jones' dissertation, section 3.2).
 *
 * The size is the distance of the third corner from the dominant edge, in pixels.  That edge
 * is upright and as long, so a triangle has about size * size / 2 pixels.  All else is
 * drawn at random: the side that the third corner is on, its height, the place in the
 * picture, and a colour for each corner.
 */
#ifndef UNDERSTUDY_GUEST_TRIANGLES_H
#define UNDERSTUDY_GUEST_TRIANGLES_H

#include "raster.h"

/* The picture that they are in. */
#define TRIANGLES_WIDTH 640
#define TRIANGLES_HEIGHT 480

/* The first n of the seed's; the size is 1 .. TRIANGLES_HEIGHT. */
void triangles_make(struct corner (*corner)[3], uint32_t n, uint32_t size,
		    uint64_t seed);

#endif

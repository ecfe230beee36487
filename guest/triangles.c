// SPDX-License-Identifier: MIT
#include "../core/draw.h"
#include "triangles.h"

static void make(struct draw *draw, uint32_t size, struct corner corner[3])
{
	uint32_t left = (uint32_t)draw_below(draw, TRIANGLES_WIDTH - size + 1);
	uint32_t top = (uint32_t)draw_below(draw, TRIANGLES_HEIGHT - size + 1);
	uint32_t third = (uint32_t)draw_below(draw, size + 1);
	uint32_t side = (uint32_t)draw_below(draw, 2) * size;

	corner[0].x = corner[1].x = (int16_t)(left + side);
	corner[2].x = (int16_t)(left + size - side);
	corner[0].y = (int16_t)top;
	corner[1].y = (int16_t)(top + size);
	corner[2].y = (int16_t)(top + third);
	for (int i = 0; i < 3; i++)
		corner[i].color = (uint32_t)draw_below(draw, 1 << 24);
}

void triangles_make(struct corner (*corner)[3], uint32_t n, uint32_t size,
		    uint64_t seed)
{
	struct draw draw;

	draw_seed(&draw, seed, 0);
	for (uint32_t i = 0; i < n; i++)
		make(&draw, size, corner[i]);
}

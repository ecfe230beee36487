// SPDX-License-Identifier: MIT
/*
 * Draws triangles row by row.  A triangle's dominant edge is the edge with the largest range of y.
 * In each row, the span of pixels lies between the dominant edge and one of the other two edges.
 * Computes four pixels at a time.
 *
 * Colours have 24 fractional bits, and are computed modulo 2^32.  Intermediate values may exceed
 * the 8 integer bits of a channel, but the values at pixels of the triangle do not
 * (docs/drawing.md).
 */
#include "walk.h"

#define COLOR_ONE ((int64_t)1 << 24)
#define LANES 4

typedef uint32_t lanes __attribute__((vector_size(4 * LANES)));
typedef uint32_t stored __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

/*
 * One channel of four neighbouring pixels' colours.  At first the leftmost of these pixels is
 * corner a.
 */
struct shade {
	lanes at, step; /* step: change from one group of four pixels to the next */
	uint32_t right, down; /* change per pixel */
};

struct triangle {
	const struct corner *a, *b,
		*c; /* sorted by y, then by x, so the dominant edge is from a to c */
	int64_t area; /* twice the area; positive if b is to the right of the dominant edge */
	struct shade shade[CHANNELS];
};

static int is_before(const struct corner *one, const struct corner *other)
{
	return one->y < other->y || (one->y == other->y && one->x < other->x);
}

static void put_in_order(const struct corner **one, const struct corner **other)
{
	const struct corner *kept = *one;

	if (is_before(*other, kept)) {
		*one = *other;
		*other = kept;
	}
}

static void set_corners(struct triangle *triangle, const struct corner corner[3])
{
	const struct corner *a = &corner[0], *b = &corner[1], *c = &corner[2];

	put_in_order(&a, &b);
	put_in_order(&b, &c);
	put_in_order(&a, &b);
	triangle->a = a;
	triangle->b = b;
	triangle->c = c;
	triangle->area = (int64_t)(b->x - a->x) * (c->y - a->y) -
			 (int64_t)(c->x - a->x) * (b->y - a->y);
}

static void set_shades(struct triangle *triangle)
{
	const struct corner *a = triangle->a, *b = triangle->b, *c = triangle->c;
	int64_t one = triangle->area < 0 ? -COLOR_ONE : COLOR_ONE;
	int64_t area = max(triangle->area, -triangle->area);

	for (int i = 0; i < CHANNELS; i++) {
		struct shade *shade = &triangle->shade[i];
		int64_t to_b = one * (channel(b, i) - channel(a, i));
		int64_t to_c = one * (channel(c, i) - channel(a, i));
		int64_t right = to_b * (c->y - a->y) - to_c * (b->y - a->y);
		int64_t down = to_c * (b->x - a->x) - to_b * (c->x - a->x);

		shade->right = (uint32_t)divide_down(right, area);
		shade->down = (uint32_t)divide_down(down, area);
		shade->step = (lanes){ 0 } + LANES * shade->right;
		shade->at = (lanes){ 0, 1, 2, 3 } * shade->right +
			    (uint32_t)(channel(a, i) * COLOR_ONE + COLOR_ONE / 2);
	}
}

static lanes shade_at(const struct shade *shade, uint32_t right, uint32_t down)
{
	return shade->at + (right * shade->right + down * shade->down);
}

static lanes mixed(lanes red, lanes green, lanes blue)
{
	return (red >> 8 & 0xff0000) | (green >> 16 & 0xff00) | blue >> 24;
}

/*
 * Draws n pixels.  The first pixel is `right` pixels to the right of corner a and `down` pixels
 * below it.
 */
static void draw_span(uint32_t *restrict pixel, int64_t n,
		      const struct shade *restrict shade, uint32_t right, uint32_t down)
{
	lanes red = shade_at(&shade[RED], right, down);
	lanes green = shade_at(&shade[GREEN], right, down);
	lanes blue = shade_at(&shade[BLUE], right, down);
	lanes rest;

	for (; n >= LANES; n -= LANES) {
		*(stored *)pixel = mixed(red, green, blue);
		red += shade[RED].step;
		green += shade[GREEN].step;
		blue += shade[BLUE].step;
		pixel += LANES;
	}
	rest = mixed(red, green, blue);
	for (int i = 0; i < LANES - 1; i++)
		if (i < n)
			pixel[i] = rest[i];
}

static uint64_t draw_rows(const struct picture *picture,
			  const struct triangle *triangle, struct walk left,
			  struct walk right, int64_t top, int64_t bottom)
{
	const struct corner *a = triangle->a;
	uint64_t drawn = 0;

	for (int64_t y = top; y < bottom; y++) {
		int64_t first = max(walk_place(&left), 0);
		int64_t n = min(walk_place(&right), picture->width) - first;

		if (n > 0) {
			draw_span(picture_row(picture, y) + first, n, triangle->shade,
				  (uint32_t)(first - a->x), (uint32_t)(y - a->y));
			drawn += (uint64_t)n;
		}
		walk_on(&left, 1);
		walk_on(&right, 1);
	}
	return drawn;
}

/*
 * Draws the part of the triangle between the dominant edge and another edge.  Omits the row of the
 * other edge's lower corner.
 */
static uint64_t draw_part(const struct picture *picture,
			  const struct triangle *triangle, const struct corner *upper,
			  const struct corner *lower)
{
	const struct corner *a = triangle->a, *c = triangle->c;
	int64_t top = max(upper->y, 0);
	int64_t bottom = min(lower->y, picture->height);
	struct walk dominant, other;

	if (top >= bottom)
		return 0;
	dominant = walk_from(a->x, c->x, c->y - a->y);
	other = walk_from(upper->x, lower->x, lower->y - upper->y);
	walk_on(&dominant, top - a->y);
	walk_on(&other, top - upper->y);
	return triangle->area > 0
		       ? draw_rows(picture, triangle, dominant, other, top, bottom)
		       : draw_rows(picture, triangle, other, dominant, top, bottom);
}

uint64_t raster_triangle(const struct picture *picture, const struct corner corner[3])
{
	struct triangle triangle;

	set_corners(&triangle, corner);
	if (!triangle.area)
		return 0;
	set_shades(&triangle);
	return draw_part(picture, &triangle, triangle.a, triangle.b) +
	       draw_part(picture, &triangle, triangle.b, triangle.c);
}

// SPDX-License-Identifier: MIT
/*
 * PPM (netpbm's format P6): a text header, then three bytes per pixel.  The host converts the file
 * to PNG.
 */
#include "ppm.h"

#include <errno.h>

static void put_row(FILE *file, const struct picture *picture, uint32_t y)
{
	const uint32_t *pixel = picture->pixel + (size_t)y * (picture->stride / 4);

	for (uint32_t x = 0; x < picture->width; x++)
		for (int shift = 16; shift >= 0; shift -= 8)
			putc((uint8_t)(pixel[x] >> shift), file);
}

int ppm_write(FILE *file, const struct picture *picture)
{
	if (!picture->width || !picture->height) {
		errno = EINVAL;
		return -1;
	}
	fprintf(file, "P6\n%u %u\n255\n", picture->width, picture->height);
	for (uint32_t y = 0; y < picture->height; y++)
		put_row(file, picture, y);
	return fflush(file) || ferror(file) ? -1 : 0;
}

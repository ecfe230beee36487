/* SPDX-License-Identifier: MIT */
/* Writes a picture as a PPM file, with 8 bits per channel. */
#ifndef UNDERSTUDY_GUEST_PPM_H
#define UNDERSTUDY_GUEST_PPM_H

#include <stdio.h>

#include "raster.h"

/*
 * Returns 0, or -1 with errno set: EINVAL if the picture has no pixels, or the error of the write.
 */
int ppm_write(FILE *file, const struct picture *picture);

#endif

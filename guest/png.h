/* SPDX-License-Identifier: MIT */
/* Writes a picture as a PNG file, 8 bits a channel, not compressed. */
#ifndef UNDERSTUDY_GUEST_PNG_H
#define UNDERSTUDY_GUEST_PNG_H

#include <stdio.h>

#include "raster.h"

/* Returns 0, or -1 and errno: EINVAL if the picture has no pixel, or the error of the write. */
int png_write(FILE *file, const struct picture *picture);

#endif

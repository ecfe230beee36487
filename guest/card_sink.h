/* SPDX-License-Identifier: MIT */
/*
 * A command sink (renderer.h) that sends the commands to the card through the buffers of the card's
 * driver (/dev/zach1_N).
 */
#ifndef UNDERSTUDY_GUEST_CARD_SINK_H
#define UNDERSTUDY_GUEST_CARD_SINK_H

#include "raster.h"
#include "renderer.h"

struct card_sink {
	struct command_sink sink;
	int device;
	uint32_t *buffers;
	struct picture picture; /* the card's framebuffer */
};

/* Opens the device and clears the picture.  Returns 0, or -1 with errno set. */
int card_sink_open(struct card_sink *card, const char *device, uint32_t width,
		   uint32_t height);

#endif

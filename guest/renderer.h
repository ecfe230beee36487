/* SPDX-License-Identifier: MIT */
/*
 * Two ways to draw a program's triangles.  The direct renderer calls the rasteriser for each
 * triangle.  The command renderer writes zach1's commands into a buffer, and an executor such as
 * the card executes the buffer.
 */
#ifndef UNDERSTUDY_GUEST_RENDERER_H
#define UNDERSTUDY_GUEST_RENDERER_H

#include "raster.h"

struct renderer {
	/* Each function returns 0, or -1 with errno set. */
	int (*triangle)(struct renderer *renderer, const struct corner corner[3]);
	int (*finish)(struct renderer *renderer); /* draws the pending triangles */
};

struct direct_renderer {
	struct renderer renderer;
	struct picture picture;
};

void direct_renderer_init(struct direct_renderer *direct,
			  const struct picture *picture);

/* A buffer for commands.  The commands of a full buffer are executed. */
struct command_sink {
	uint32_t *words;
	uint32_t pairs_max; /* at least COMMAND_PAIRS_TRIANGLE */
	/*
	 * Starts the execution of the buffer's first `pairs` pairs.  They may be executed later.
	 * Afterwards `words` points to the space for the next pairs.  Returns 0, or -1 with errno
	 * set.
	 */
	int (*submit)(struct command_sink *sink, uint32_t pairs);
	/* Waits until all submitted commands are executed. */
	int (*finish)(struct command_sink *sink);
};

#define COMMAND_PAIRS_TRIANGLE 7

struct command_renderer {
	struct renderer renderer;
	struct command_sink *sink;
	uint32_t pairs; /* in the buffer */
};

void command_renderer_init(struct command_renderer *commands,
			   struct command_sink *sink);

#endif

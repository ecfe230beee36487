/* SPDX-License-Identifier: MIT */
/*
 * Draws a program's triangles, with the rasteriser, which is called for each; or with commands of
 * zach1, which are put into a buffer for an executor such as the card.
 */
#ifndef UNDERSTUDY_GUEST_RENDERER_H
#define UNDERSTUDY_GUEST_RENDERER_H

#include "raster.h"

struct renderer {
	/* Each returns 0, or -1 and errno. */
	int (*triangle)(struct renderer *renderer, const struct corner corner[3]);
	int (*finish)(struct renderer *renderer); /* all are drawn when it returns */
};

struct direct_renderer {
	struct renderer renderer;
	struct picture picture;
};

void direct_renderer_init(struct direct_renderer *direct,
			  const struct picture *picture);

/* A buffer for commands.  When it is full, its commands are executed. */
struct command_sink {
	uint32_t *words;
	uint32_t pairs_max; /* at least COMMAND_PAIRS_TRIANGLE */
	/*
	 * Gets this many pairs of the buffer executed, at once or later.  `words` is then the place
	 * for the next ones.  Returns 0, or -1 and errno.
	 */
	int (*submit)(struct command_sink *sink, uint32_t pairs);
	/* Waits until all are executed. */
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

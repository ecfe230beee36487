// SPDX-License-Identifier: MIT
/*
 * drawing WAY SIZE TRIANGLES: draws TRIANGLES triangles of size SIZE.  If WAY is "raster", calls
 * the rasteriser for each triangle, and prints the mean number of pixels per triangle.  If WAY is
 * "commands", executes commands of zach1, in buffers of 256 triangles.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../guest/commands.h"
#include "../../guest/renderer.h"
#include "../../guest/triangles.h"

#define TRIANGLES_A_BUFFER 256
#define PAIRS_MAX (COMMAND_PAIRS_TRIANGLE * TRIANGLES_A_BUFFER)

static uint32_t pixels[TRIANGLES_WIDTH * TRIANGLES_HEIGHT];
static const struct picture picture = { pixels, TRIANGLES_WIDTH, TRIANGLES_HEIGHT,
					4 * TRIANGLES_WIDTH };

/* The two ways are separate functions, so that their instructions can be counted. */
static __attribute__((noipa)) uint64_t by_raster(const struct corner (*corner)[3],
						 uint32_t n)
{
	uint64_t drawn = 0;

	for (uint32_t i = 0; i < n; i++)
		drawn += raster_triangle(&picture, corner[i]);
	return drawn;
}

static struct commands commands = {
	.framebuffer = pixels,
	.framebuffer_bytes = sizeof(pixels),
	.width = TRIANGLES_WIDTH,
	.height = TRIANGLES_HEIGHT,
};

static __attribute__((noipa)) int execute(struct command_sink *sink, uint32_t pairs)
{
	const uint32_t *words = sink->words;
	enum commands_end end = COMMANDS_ALL;

	while (pairs && end != COMMANDS_FAILED) {
		size_t taken = commands_take(&commands, words, pairs, &end);

		words += 2 * taken;
		pairs -= (uint32_t)taken;
	}
	return pairs ? -1 : 0;
}

static int finish(struct command_sink *sink)
{
	(void)sink;
	return 0;
}

static __attribute__((noipa)) int by_commands(const struct corner (*corner)[3],
					      uint32_t n)
{
	static uint32_t words[2 * PAIRS_MAX];
	struct command_sink sink = { words, PAIRS_MAX, execute, finish };
	struct command_renderer renderer;

	commands_reset(&commands);
	command_renderer_init(&renderer, &sink);
	for (uint32_t i = 0; i < n; i++)
		if (renderer.renderer.triangle(&renderer.renderer, corner[i]))
			return -1;
	return renderer.renderer.finish(&renderer.renderer);
}

int main(int argc, char **argv)
{
	uint32_t size = argc == 4 ? (uint32_t)atoi(argv[2]) : 0;
	uint32_t n = size ? (uint32_t)atoi(argv[3]) : 0;
	struct corner(*corner)[3] = calloc(n, sizeof(*corner));

	if (!n || !corner)
		return 2;
	triangles_make(corner, n, size, 1);
	if (!strcmp(argv[1], "commands"))
		return by_commands(corner, n) || commands.drawn != n;
	printf("%.2f\n", (double)by_raster(corner, n) / n);
	return 0;
}

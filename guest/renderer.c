// SPDX-License-Identifier: MIT
#include "renderer.h"
#include "zach1_registers.h"

static int draw_directly(struct renderer *renderer, const struct corner corner[3])
{
	struct direct_renderer *direct = (struct direct_renderer *)renderer;

	raster_triangle(&direct->picture, corner);
	return 0;
}

static int finish_directly(struct renderer *renderer)
{
	(void)renderer;
	return 0;
}

void direct_renderer_init(struct direct_renderer *direct, const struct picture *picture)
{
	*direct = (struct direct_renderer){
		.renderer = { .triangle = draw_directly, .finish = finish_directly },
		.picture = *picture,
	};
}

static uint32_t *put(uint32_t *word, uint32_t offset, uint32_t value)
{
	*word++ = offset;
	*word++ = value;
	return word;
}

static uint32_t vertex(const struct corner *corner)
{
	return (uint32_t)(uint16_t)corner->x << ZACH1_VERTEX0_X_SHIFT |
	       (uint32_t)(uint16_t)corner->y << ZACH1_VERTEX0_Y_SHIFT;
}

static int submit(struct command_renderer *commands)
{
	uint32_t pairs = commands->pairs;

	commands->pairs = 0;
	return pairs ? commands->sink->submit(commands->sink, pairs) : 0;
}

static int put_triangle(struct renderer *renderer, const struct corner corner[3])
{
	struct command_renderer *commands = (struct command_renderer *)renderer;
	uint32_t *word;

	if (commands->pairs + COMMAND_PAIRS_TRIANGLE > commands->sink->pairs_max)
		if (submit(commands))
			return -1;
	word = commands->sink->words + 2 * commands->pairs;
	word = put(word, ZACH1_VERTEX0, vertex(&corner[0]));
	word = put(word, ZACH1_COLOR0, corner[0].color);
	word = put(word, ZACH1_VERTEX1, vertex(&corner[1]));
	word = put(word, ZACH1_COLOR1, corner[1].color);
	word = put(word, ZACH1_VERTEX2, vertex(&corner[2]));
	word = put(word, ZACH1_COLOR2, corner[2].color);
	put(word, ZACH1_DRAW_TRIANGLE, 0);
	commands->pairs += COMMAND_PAIRS_TRIANGLE;
	return 0;
}

static int finish_commands(struct renderer *renderer)
{
	struct command_renderer *commands = (struct command_renderer *)renderer;

	return submit(commands) ? -1 : commands->sink->finish(commands->sink);
}

void command_renderer_init(struct command_renderer *commands, struct command_sink *sink)
{
	*commands = (struct command_renderer){
		.renderer = { .triangle = put_triangle, .finish = finish_commands },
		.sink = sink,
	};
}

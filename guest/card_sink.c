// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "../cards/drivers/zach1_driver.h"
#include "card_sink.h"
#include "zach1_registers.h"

#define BUFFER_WORDS (ZACH1_BUFFER_BYTES / 4)
#define PAIR_BYTES 8

static int submit(struct command_sink *sink, uint32_t pairs)
{
	struct card_sink *card = (struct card_sink *)sink;
	uint32_t number = pairs * PAIR_BYTES; /* out: number of the next buffer */

	if (ioctl(card->device, ZACH1_SUBMIT, &number))
		return -1;
	sink->words = card->buffers + number * BUFFER_WORDS;
	return 0;
}

/* Shows the picture, and waits until all commands are executed. */
static int finish(struct command_sink *sink)
{
	sink->words[0] = ZACH1_FLIP;
	sink->words[1] = 1;
	if (submit(sink, 1))
		return -1;
	return ioctl(((struct card_sink *)sink)->device, ZACH1_SYNC);
}

static void *map(const struct card_sink *card, size_t bytes, off_t at)
{
	void *mapped =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, card->device, at);

	return mapped == MAP_FAILED ? NULL : mapped;
}

/*
 * Places the picture at the start of the framebuffer, for drawing and for display, and clears the
 * picture to black.
 */
static int clear(struct card_sink *card)
{
	static const uint32_t commands[] = { ZACH1_FRAME_BASE,	0, ZACH1_DRAW_BASE, 0,
					     ZACH1_CLEAR_COLOR, 0, ZACH1_CLEAR,	    1 };

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		card->sink.words[i] = commands[i];
	return submit(&card->sink, sizeof(commands) / PAIR_BYTES);
}

int card_sink_open(struct card_sink *card, const char *device, uint32_t width,
		   uint32_t height)
{
	uint32_t on = 1;

	card->sink =
		(struct command_sink){ .pairs_max = ZACH1_BUFFER_BYTES / PAIR_BYTES,
				       .submit = submit,
				       .finish = finish };
	card->device = open(device, O_RDWR | O_CLOEXEC);
	if (card->device < 0)
		return -1;
	card->buffers = map(card, ZACH1_BUFFERS * ZACH1_BUFFER_BYTES, ZACH1_BUFFERS_AT);
	card->picture =
		(struct picture){ .pixel = map(card, ZACH1_BAR_FRAMEBUFFER_BYTES,
					       ZACH1_FRAMEBUFFER_AT),
				  .width = width,
				  .height = height,
				  .stride = ZACH1_STRIDE_RESET_VALUE };
	card->sink.words = card->buffers;
	if (!card->buffers || !card->picture.pixel)
		return -1;
	return ioctl(card->device, ZACH1_GRAPHICS, &on) ? -1 : clear(card);
}

// SPDX-License-Identifier: MIT
/*
 * Reads commands of zach1 from stdin as pairs of words, has the card's driver execute
 * them, and shows the picture until it is killed.
 *
 * Buffers are so short that most triangles are split over several.
 *
 * submit [text]: runs in graphics mode, or in text mode
 */
#include <sys/ioctl.h>
#include <unistd.h>

#include "../../cards/drivers/zach1_driver.h"
#include "../../guest/card_sink.h"
#include "../../guest/complain.h"

#define DEVICE "/dev/zach1_0"
#define PAIR_BYTES 8
#define PAIRS 5

int main(int argc, char **argv)
{
	static struct card_sink card;
	uint32_t graphics = argc == 1;
	size_t pairs;

	(void)argv;
	if (card_sink_open(&card, DEVICE, 640, 480))
		return complain(DEVICE);
	if (ioctl(card.device, ZACH1_GRAPHICS, &graphics))
		return complain("the mode");
	pairs = fread(card.sink.words, PAIR_BYTES, card.sink.pairs_max, stdin);
	if (card.sink.submit(&card.sink, (uint32_t)pairs) ||
	    card.sink.finish(&card.sink))
		return complain("the commands");
	puts("shown");
	fflush(stdout);
	pause();
	return 0;
}

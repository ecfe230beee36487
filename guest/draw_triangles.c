// SPDX-License-Identifier: MIT
/*
 * Draws smooth-shaded triangles (triangles.h) as fast as it can, and prints how long the drawing
 * took:
 *
 *   done SECONDS CHECKSUM
 *
 * There are three ways to draw.  By default the program calls the rasteriser for each triangle.  It
 * can also create the card's commands and execute them itself.  With --card, it sends the commands
 * to the card through the driver's device, and the card shows the finished picture for --hold
 * seconds.
 *
 * The triangles are computed from the seed before the measurement begins, so all three ways draw
 * the same triangles.  The checksum is FNV-1a of the picture's words.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "card_sink.h"
#include "commands.h"
#include "complain.h"
#include "options.h"
#include "ppm.h"
#include "renderer.h"
#include "triangles.h"

#define WIDTH TRIANGLES_WIDTH
#define HEIGHT TRIANGLES_HEIGHT
#define TRIANGLES_MAX 10000000
#define PAIRS_MAX 16384
#define HOLD_SECONDS_MAX 86400

struct triangles {
	uint32_t n, size;
	uint64_t seed;
	bool by_commands;
	uint32_t pairs; /* pairs in a buffer of commands */
	uint32_t hold; /* seconds */
	const char *card;
	const char *ppm;
};

static uint32_t pixels[WIDTH * HEIGHT];
static struct picture picture = { pixels, WIDTH, HEIGHT, 4 * WIDTH };

/* A command sink that executes the commands in this program when they are submitted. */
struct local_sink {
	struct command_sink sink;
	struct commands commands;
	uint32_t words[2 * PAIRS_MAX];
};

static int submit(struct command_sink *sink, uint32_t pairs)
{
	struct local_sink *local = (struct local_sink *)sink;
	const uint32_t *words = sink->words;
	enum commands_end end;
	size_t taken;

	do {
		taken = commands_take(&local->commands, words, pairs, &end);
		words += 2 * taken;
		pairs -= (uint32_t)taken;
	} while (pairs && end != COMMANDS_FAILED);
	if (!pairs)
		return 0;
	errno = EPROTO;
	return -1;
}

static int finish(struct command_sink *sink)
{
	(void)sink;
	return 0;
}

static struct renderer *local_renderer(void)
{
	static struct command_renderer renderer;
	static struct local_sink local = {
		.sink = { .pairs_max = PAIRS_MAX, .submit = submit, .finish = finish },
		.commands = { .framebuffer = pixels,
			      .framebuffer_bytes = sizeof(pixels),
			      .width = WIDTH,
			      .height = HEIGHT },
	};

	commands_reset(&local.commands);
	local.sink.words = local.words;
	command_renderer_init(&renderer, &local.sink);
	return &renderer.renderer;
}

static struct renderer *direct_renderer(void)
{
	static struct direct_renderer renderer;

	direct_renderer_init(&renderer, &picture);
	return &renderer.renderer;
}

/* Creates a renderer that draws with the card.  Returns NULL with errno set on failure. */
static struct renderer *card_renderer(const struct triangles *triangles)
{
	static struct command_renderer renderer;
	static struct card_sink card;

	if (card_sink_open(&card, triangles->card, WIDTH, HEIGHT))
		return NULL;
	if (card.sink.pairs_max > triangles->pairs)
		card.sink.pairs_max = triangles->pairs;
	picture = card.picture;
	command_renderer_init(&renderer, &card.sink);
	return &renderer.renderer;
}

static struct renderer *chosen(const struct triangles *triangles)
{
	if (triangles->card)
		return card_renderer(triangles);
	return triangles->by_commands ? local_renderer() : direct_renderer();
}

/* Returns the time in seconds, or a negative number with errno set. */
static double draw_all(struct renderer *renderer, const struct corner (*corner)[3],
		       uint32_t n)
{
	struct timespec begin, end;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (uint32_t i = 0; i < n; i++)
		if (renderer->triangle(renderer, corner[i]))
			return -1;
	if (renderer->finish(renderer))
		return -1;
	clock_gettime(CLOCK_MONOTONIC, &end);
	return (double)(end.tv_sec - begin.tv_sec) +
	       1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
}

static uint64_t checksum(void)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (int i = 0; i < WIDTH * HEIGHT; i++)
		hash = (hash ^ picture.pixel[i]) * 0x100000001b3;
	return hash;
}

static int save(const char *path)
{
	FILE *file = fopen(path, "wb");
	int result;

	if (!file)
		return complain(path);
	result = ppm_write(file, &picture) ? complain(path) : 0;
	if (fclose(file) && !result)
		result = complain(path);
	return result;
}

static void usage(void)
{
	fputs("draw_triangles --size PIXELS [--triangles 1000000] [--seed 1] "
	      "[--ppm FILE]\n"
	      "               [--by-commands | --card /dev/zach1_0 [--pairs 32768] "
	      "[--hold 0]]\n",
	      stderr);
	exit(EXIT_USAGE);
}

static const struct option long_options[] = { { "size", required_argument, NULL, 's' },
					      { "triangles", required_argument, NULL,
						'n' },
					      { "seed", required_argument, NULL, 'S' },
					      { "by-commands", no_argument, NULL, 'c' },
					      { "card", required_argument, NULL, 'd' },
					      { "pairs", required_argument, NULL, 'P' },
					      { "hold", required_argument, NULL, 'h' },
					      { "ppm", required_argument, NULL, 'p' },
					      { NULL, 0, NULL, 0 } };

static void parse(int argc, char **argv, struct triangles *triangles)
{
	int option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (option == 's')
			triangles->size =
				(uint32_t)option_number("--size", optarg, 1, HEIGHT);
		else if (option == 'n')
			triangles->n = (uint32_t)option_number("--triangles", optarg, 1,
							       TRIANGLES_MAX);
		else if (option == 'S')
			triangles->seed =
				option_number("--seed", optarg, 0, UINT64_MAX);
		else if (option == 'c')
			triangles->by_commands = true;
		else if (option == 'd')
			triangles->card = optarg;
		else if (option == 'h')
			triangles->hold = (uint32_t)option_number("--hold", optarg, 0,
								  HOLD_SECONDS_MAX);
		else if (option == 'P')
			triangles->pairs = (uint32_t)option_number(
				"--pairs", optarg, COMMAND_PAIRS_TRIANGLE, UINT32_MAX);
		else if (option == 'p')
			triangles->ppm = optarg;
		else
			usage();
	}
	if (optind != argc || !triangles->size)
		usage();
}

int main(int argc, char **argv)
{
	struct triangles triangles = { .n = 1000000, .seed = 1, .pairs = UINT32_MAX };
	struct corner(*corner)[3];
	struct renderer *renderer;
	double seconds;

	parse(argc, argv, &triangles);
	corner = malloc(triangles.n * sizeof(*corner));
	if (!corner)
		return complain("--triangles");
	triangles_make(corner, triangles.n, triangles.size, triangles.seed);
	renderer = chosen(&triangles);
	if (!renderer)
		return complain(triangles.card);
	seconds = draw_all(renderer, corner, triangles.n);
	if (seconds < 0)
		return complain("draw_triangles");
	printf("done %.6f %016llx\n", seconds, (unsigned long long)checksum());
	fflush(stdout);
	sleep(triangles.hold);
	return triangles.ppm ? save(triangles.ppm) : 0;
}

// SPDX-License-Identifier: MIT
/*
 * The virtual console daemon: executes the commands of a graphics card, and shows the card's
 * picture (Jones 2010 section 3.1.1).
 *
 *   vcd --card /dev/vgpu0 [--screen /dev/fb0] [--ppm FOLDER] [--frames 100]
 *
 * The daemon sleeps in the card's ioctl until there are commands (kernel/vgpu/console.h), reads the
 * commands' pairs from the shared ring, and draws into the card's framebuffer.  In graphics mode,
 * each flip shows a picture on the guest's display, in place of the console.  With --ppm, each
 * picture is also written to FOLDER/frame-000001.ppm and so on, up to --frames pictures.  The
 * daemon ends when the card is removed, or on SIGINT or SIGTERM, and restores the console.  A new
 * daemon continues from the last daemon's state, even if the last daemon was killed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../kernel/vgpu/console.h"
#include "commands.h"
#include "complain.h"
#include "options.h"
#include "ppm.h"
#include "screen.h"
#include "zach1_registers.h"

#define PATH_BYTES 4096
#define BUSY_US 10000
#define BUSY_TRIES 100
#define FIELD(value, name) (((value)&name##_MASK) >> name##_SHIFT)

/* The state that a new daemon needs to continue. */
struct state {
	struct console_next next;
	struct commands commands;
	uint32_t mode_size;
	bool graphics;
	uint64_t frames;
};

/*
 * Stored in the card's memory.  The last state is always complete: if the daemon is killed while it
 * stores a new state, the previous state remains.
 */
struct kept {
	uint64_t times;
	struct state state[2]; /* the last complete state is state[times % 2] */
};

_Static_assert(sizeof(struct kept) <= CONSOLE_KEPT_BYTES, "struct kept fits");

struct vcd {
	int card;
	const struct console_pair *ring;
	struct kept *kept;
	struct state state;
	const char *display; /* NULL: no display */
	struct screen screen;
	const char *ppm;
	uint64_t frames_max;
};

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
}

static void set_size(struct vcd *vcd)
{
	vcd->state.commands.width = FIELD(vcd->state.mode_size, ZACH1_MODE_SIZE_WIDTH);
	vcd->state.commands.height =
		FIELD(vcd->state.mode_size, ZACH1_MODE_SIZE_HEIGHT);
}

static void leave_graphics(struct vcd *vcd)
{
	if (vcd->state.graphics && vcd->display)
		screen_leave(&vcd->screen);
	vcd->state.graphics = false;
}

static void reset(struct vcd *vcd)
{
	vcd->state.mode_size = ZACH1_MODE_SIZE_RESET_VALUE;
	leave_graphics(vcd);
	set_size(vcd);
	commands_reset(&vcd->state.commands);
}

static int write_ppm(struct vcd *vcd)
{
	char path[PATH_BYTES];
	FILE *file;
	int result;

	if (!vcd->ppm || vcd->state.frames == vcd->frames_max)
		return 0;
	snprintf(path, sizeof(path), "%s/frame-%06llu.ppm", vcd->ppm,
		 (unsigned long long)++vcd->state.frames);
	file = fopen(path, "wb");
	if (!file)
		return complain(path);
	result = ppm_write(file, &vcd->state.commands.shown) ? complain(path) : 0;
	if (fclose(file) && !result)
		result = complain(path);
	return result;
}

static int show(struct vcd *vcd)
{
	if (!vcd->state.graphics)
		return 0;
	if (vcd->display)
		screen_show(&vcd->screen, &vcd->state.commands.shown);
	return write_ppm(vcd);
}

static int set_control(struct vcd *vcd, uint32_t control)
{
	if (FIELD(control, ZACH1_CONTROL_MODE) != ZACH1_CONTROL_MODE_GRAPHICS) {
		leave_graphics(vcd);
		return 0;
	}
	if (!vcd->state.graphics) {
		set_size(vcd);
		vcd->state.commands.shown = (struct picture){ 0 };
	}
	vcd->state.graphics = true;
	return vcd->display ? screen_enter(&vcd->screen) : 0;
}

/* Returns whether the pair sets a register that controls the card rather than the drawing. */
static bool is_special(const struct console_pair *pair)
{
	return pair->offset < ZACH1_FRAME_BASE || pair->offset >= CONSOLE_RESET;
}

/* Handles such a pair.  Returns 0, or prints an error and returns EXIT_FAILED. */
static int take_special(struct vcd *vcd, const struct console_pair *pair)
{
	switch (pair->offset) {
	case CONSOLE_RESET:
		reset(vcd);
		return 0;
	case ZACH1_CONTROL:
		return set_control(vcd, pair->value);
	case ZACH1_MODE_SIZE:
		vcd->state.mode_size = pair->value;
		return 0;
	default:
		return 0;
	}
}

/*
 * Returns the number of pairs, starting with pair `from`, that are contiguous in the ring and only
 * concern drawing.
 */
static size_t plain_pairs(const struct vcd *vcd, uint64_t from, uint64_t to)
{
	const struct console_pair *first = &vcd->ring[from % CONSOLE_PAIRS];
	size_t most = CONSOLE_PAIRS - from % CONSOLE_PAIRS, n = 0;

	if (most > to - from)
		most = to - from;
	while (n < most && !is_special(first + n))
		n++;
	return n;
}

/* Executes one pair from the FIFO, or all available contiguous pairs that are not from the FIFO. */
static size_t draw(struct vcd *vcd, uint64_t from, uint64_t to, enum commands_end *end)
{
	const struct console_pair *pair = &vcd->ring[from % CONSOLE_PAIRS];
	uint32_t words[2] = { pair->offset & ~CONSOLE_FROM_FIFO, pair->value };

	if (pair->offset & CONSOLE_FROM_FIFO)
		return commands_take(&vcd->state.commands, words, 1, end);
	return commands_take(&vcd->state.commands, &pair->offset,
			     plain_pairs(vcd, from, to), end);
}

static bool is_to_be_drawn(const struct console_pair *pair)
{
	return pair->offset & CONSOLE_FROM_FIFO || !is_special(pair);
}

/*
 * Executes pairs until an event that must be reported to the kernel.  Stores the number of executed
 * pairs in `next`.
 */
static int carry_out(struct vcd *vcd, struct console_next *next)
{
	enum commands_end end = COMMANDS_ALL;
	uint64_t at = next->from;
	int result = 0;

	next->error = 0;
	while (at < next->to && !stopped && !result) {
		const struct console_pair *pair = &vcd->ring[at % CONSOLE_PAIRS];

		if (!is_to_be_drawn(pair)) {
			at++;
			result = take_special(vcd, pair);
			if (pair->offset == CONSOLE_END)
				break;
			continue;
		}
		at += draw(vcd, at, next->to, &end);
		if (end == COMMANDS_FLIP)
			result = show(vcd);
		if (end == COMMANDS_FAILED)
			next->error = vcd->state.commands.error;
		if (end == COMMANDS_FENCE || end == COMMANDS_FAILED)
			break;
	}
	next->done = at;
	return result;
}

static void keep(struct vcd *vcd)
{
	uint64_t times = vcd->kept->times + 1;

	vcd->kept->state[times % 2] = vcd->state;
	__atomic_store_n(&vcd->kept->times, times, __ATOMIC_RELEASE);
}

/* Continues from the last daemon's state, but with this daemon's address of the framebuffer. */
static void take_over(struct vcd *vcd)
{
	uint32_t *framebuffer = vcd->state.commands.framebuffer;
	struct commands *commands = &vcd->state.commands;

	vcd->state = vcd->kept->state[vcd->kept->times % 2];
	if (commands->shown.pixel)
		commands->shown.pixel =
			framebuffer + (commands->shown.pixel - commands->framebuffer);
	commands->framebuffer = framebuffer;
}

static int begin(struct vcd *vcd)
{
	if (!vcd->kept->times) {
		reset(vcd);
		return 0;
	}
	take_over(vcd);
	if (!vcd->state.graphics || !vcd->display)
		return 0;
	if (screen_enter(&vcd->screen))
		return EXIT_FAILED;
	screen_show(&vcd->screen, &vcd->state.commands.shown);
	return 0;
}

static int serve(struct vcd *vcd)
{
	struct console_next *next = &vcd->state.next;

	while (!stopped) {
		keep(vcd);
		if (ioctl(vcd->card, CONSOLE_NEXT, next)) {
			if (errno == EINTR)
				continue;
			return errno == ENODEV ? 0 : complain("the card");
		}
		if (carry_out(vcd, next))
			return EXIT_FAILED;
	}
	return 0;
}

static void *map(const struct vcd *vcd, size_t bytes, int access, unsigned long at)
{
	void *mapped = mmap(NULL, bytes, access, MAP_SHARED, vcd->card, (off_t)at);

	return mapped == MAP_FAILED ? NULL : mapped;
}

/*
 * Opens the card, and retries while the card is busy: after a daemon is killed, the kernel takes
 * some time to release the card.
 */
static int open_when_free(const char *path)
{
	int file = open(path, O_RDWR | O_CLOEXEC);
	unsigned int tries;

	for (tries = 0; file < 0 && errno == EBUSY && tries < BUSY_TRIES; tries++) {
		usleep(BUSY_US);
		file = open(path, O_RDWR | O_CLOEXEC);
	}
	return file;
}

static int open_card(struct vcd *vcd, const char *path)
{
	vcd->card = open_when_free(path);
	if (vcd->card < 0)
		return complain(path);
	vcd->ring = map(vcd, CONSOLE_PAIRS * sizeof(*vcd->ring), PROT_READ,
			CONSOLE_RING_AT);
	vcd->kept =
		map(vcd, sizeof(*vcd->kept), PROT_READ | PROT_WRITE, CONSOLE_KEPT_AT);
	vcd->state.commands.framebuffer_bytes = ZACH1_BAR_FRAMEBUFFER_BYTES;
	vcd->state.commands.framebuffer =
		map(vcd, ZACH1_BAR_FRAMEBUFFER_BYTES, PROT_READ | PROT_WRITE,
		    CONSOLE_FRAMEBUFFER_AT);
	return vcd->ring && vcd->kept && vcd->state.commands.framebuffer
		       ? 0
		       : complain(path);
}

static void usage(void)
{
	fputs("vcd --card /dev/vgpu0 [--screen /dev/fb0] [--ppm FOLDER] [--frames "
	      "100]\n",
	      stderr);
	exit(EXIT_USAGE);
}

static const struct option long_options[] = {
	{ "card", required_argument, NULL, 'c' },
	{ "screen", required_argument, NULL, 's' },
	{ "ppm", required_argument, NULL, 'p' },
	{ "frames", required_argument, NULL, 'f' },
	{ NULL, 0, NULL, 0 }
};

static const char *parse(int argc, char **argv, struct vcd *vcd)
{
	const char *card = NULL;
	int option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (option == 'c')
			card = optarg;
		else if (option == 's')
			vcd->display = optarg;
		else if (option == 'p')
			vcd->ppm = optarg;
		else if (option == 'f')
			vcd->frames_max =
				option_number("--frames", optarg, 1, UINT32_MAX);
		else
			usage();
	}
	if (optind != argc || !card)
		usage();
	return card;
}

int main(int argc, char **argv)
{
	static struct vcd vcd = { .frames_max = 100 };
	struct sigaction action = { .sa_handler = stop };
	const char *card = parse(argc, argv, &vcd);
	int result;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (open_card(&vcd, card))
		return EXIT_FAILED;
	if (vcd.display && screen_open(&vcd.screen, vcd.display))
		return EXIT_FAILED;
	result = begin(&vcd) ? EXIT_FAILED : serve(&vcd);
	leave_graphics(&vcd);
	return result;
}

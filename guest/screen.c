// SPDX-License-Identifier: MIT
#include "screen.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fb.h>
#include <linux/kd.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "complain.h"

#define CONSOLE "/dev/tty0"
#define PIXEL_BITS 32

static bool is_channel(const struct fb_bitfield *channel)
{
	return channel->length == 8 && channel->offset <= 24 && !channel->msb_right;
}

static bool can_show(const struct fb_fix_screeninfo *fix,
		     const struct fb_var_screeninfo *var)
{
	return fix->type == FB_TYPE_PACKED_PIXELS &&
	       var->bits_per_pixel == PIXEL_BITS && is_channel(&var->red) &&
	       is_channel(&var->green) && is_channel(&var->blue);
}

static int map(struct screen *screen, int device, const char *path)
{
	struct fb_fix_screeninfo fix;
	struct fb_var_screeninfo var;
	void *memory;

	if (ioctl(device, FBIOGET_FSCREENINFO, &fix) ||
	    ioctl(device, FBIOGET_VSCREENINFO, &var)) {
		fprintf(stderr, "%s: not a framebuffer, such as /dev/fb0\n", path);
		return EXIT_FAILED;
	}
	if (!can_show(&fix, &var)) {
		fprintf(stderr,
			"%s: %u bits a pixel, not 32 with 8 for each colour: try "
			"QEMU's "
			"-device VGA, and the module bochs\n",
			path, var.bits_per_pixel);
		return EXIT_FAILED;
	}
	screen->width = var.xres;
	screen->height = var.yres;
	screen->row_bytes = fix.line_length;
	screen->bytes = (size_t)fix.line_length * var.yres;
	screen->red = var.red.offset;
	screen->green = var.green.offset;
	screen->blue = var.blue.offset;
	memory = mmap(NULL, screen->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, device,
		      0);
	screen->memory = memory == MAP_FAILED ? NULL : memory;
	return screen->memory ? 0 : complain(path);
}

int screen_open(struct screen *screen, const char *path)
{
	int device = open(path, O_RDWR | O_CLOEXEC), result;

	*screen = (struct screen){ .console = -1 };
	if (device < 0)
		return complain(path);
	result = map(screen, device, path);
	close(device);
	if (result)
		return EXIT_FAILED;
	screen->console = open(CONSOLE, O_RDWR | O_CLOEXEC);
	if (screen->console < 0)
		return complain(CONSOLE);
	screen_leave(screen);
	return 0;
}

int screen_enter(struct screen *screen)
{
	if (screen->graphics)
		return 0;
	if (ioctl(screen->console, KDSETMODE, KD_GRAPHICS))
		return complain(CONSOLE);
	memset(screen->memory, 0, screen->bytes);
	screen->graphics = true;
	return 0;
}

void screen_leave(struct screen *screen)
{
	ioctl(screen->console, KDSETMODE, KD_TEXT);
	screen->graphics = false;
}

static void show_row(const struct screen *screen, const uint32_t *from, uint32_t *to,
		     uint32_t pixels)
{
	uint32_t i;

	for (i = 0; i < pixels; i++)
		to[i] = (from[i] >> 16 & 0xff) << screen->red |
			(from[i] >> 8 & 0xff) << screen->green |
			(from[i] & 0xff) << screen->blue;
}

/* Returns the offset that centres the shorter of two lengths in the longer one. */
static uint32_t middle(uint32_t longer, uint32_t shorter)
{
	return longer > shorter ? (longer - shorter) / 2 : 0;
}

void screen_show(struct screen *screen, const struct picture *picture)
{
	uint32_t width =
		picture->width < screen->width ? picture->width : screen->width;
	uint32_t height =
		picture->height < screen->height ? picture->height : screen->height;
	uint32_t from_x = middle(picture->width, width),
		 from_y = middle(picture->height, height);
	uint32_t to_x = middle(screen->width, width),
		 to_y = middle(screen->height, height);
	uint32_t y;

	for (y = 0; y < height; y++) {
		const uint8_t *from = (const uint8_t *)picture->pixel +
				      (size_t)(from_y + y) * picture->stride;
		uint8_t *to = screen->memory + (size_t)(to_y + y) * screen->row_bytes;

		show_row(screen, (const uint32_t *)from + from_x, (uint32_t *)to + to_x,
			 width);
	}
}

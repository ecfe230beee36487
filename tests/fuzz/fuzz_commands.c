// SPDX-License-Identifier: MIT
/*
 * Turn bytes into a framebuffer and commands for it.  The commands are either raw pairs, or command
 * registers with mostly plausible values.  Framebuffer and pairs lie in memory of exactly their
 * size, so that the sanitizer detects accesses past the end.  The counts of consumed commands and
 * drawn pixels must add up.
 */
#include <string.h>

#include "../../guest/commands.h"
#include "../core/check.h"
#include "zach1_registers.h"

#define PAIRS_MAX 256
#define SIDE_MAX 4095
#define PAGE 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The remaining bytes; zeros follow the last byte. */
struct program {
	const u8 *byte, *end;
};

static u32 take(struct program *program, u32 bytes)
{
	u32 value = 0;

	while (bytes--)
		value = value << 8 |
			(program->byte < program->end ? *program->byte++ : 0);
	return value;
}

static u32 offset(struct program *program)
{
	static const u32 known[] = {
		ZACH1_FRAME_BASE,    ZACH1_DRAW_BASE,	   ZACH1_STRIDE,
		ZACH1_FLIP,	     ZACH1_FENCE,	   ZACH1_CLEAR_COLOR,
		ZACH1_CLEAR,	     ZACH1_VERTEX0,	   ZACH1_COLOR0,
		ZACH1_VERTEX1,	     ZACH1_COLOR1,	   ZACH1_VERTEX2,
		ZACH1_COLOR2,	     ZACH1_DRAW_TRIANGLE,  ZACH1_DRAW_LINE,
		ZACH1_RECTANGLE_AT,  ZACH1_RECTANGLE_SIZE, ZACH1_DRAW_RECTANGLE,
		ZACH1_DRAW_TRIANGLE, ZACH1_DRAW_LINE,
	};
	u32 which = take(program, 1);

	return which ? known[which % ARRAY_SIZE(known)] : take(program, 4);
}

/* Return a value whose halves are both small, with either sign. */
static u32 near(u32 any)
{
	return (u32)((s32)(any << 16) >> 25 & 0xffff) | (u32)((s32)any >> 25) << 16;
}

static u32 value(struct program *program, const struct commands *commands, u32 offset)
{
	u32 pages = commands->framebuffer_bytes / PAGE;
	u32 any = take(program, 4);

	if (any % 16 == 0)
		return any;
	if (offset == ZACH1_STRIDE)
		return 4 * (commands->width + (any >> 8) % 8);
	if (offset == ZACH1_FRAME_BASE || offset == ZACH1_DRAW_BASE)
		return (any >> 8) % (pages / 2 + 1) * PAGE;
	if (any % 4 && (offset == ZACH1_VERTEX0 || offset == ZACH1_VERTEX1 ||
			offset == ZACH1_VERTEX2 || offset == ZACH1_RECTANGLE_AT))
		return near(any);
	return any;
}

static void reset(struct commands *commands)
{
	commands_reset(commands);
	commands->stride = 4 * commands->width;
}

static void set_up(struct program *program, struct commands *commands)
{
	u32 kind = take(program, 1);

	*commands = (struct commands){
		.framebuffer_bytes = take(program, 2),
		.width = 1 + take(program, 1) % 64,
		.height = kind ? 1 + kind % 64 : take(program, 2) % SIDE_MAX,
	};
	commands->framebuffer = calloc(commands->framebuffer_bytes + 1, 1);
	CHECK(commands->framebuffer);
	reset(commands);
}

static void check_end(const struct commands *commands, size_t taken, u32 given,
		      enum commands_end end)
{
	CHECK(taken <= given);
	CHECK((end == COMMANDS_FAILED) == (commands->error != ZACH1_ERROR_CODE_NONE));
	if (end == COMMANDS_ALL)
		CHECK_EQ(taken, given);
	else if (end != COMMANDS_FAILED)
		CHECK(taken > 0);
	CHECK(commands->drawn <= taken);
}

static void run(struct program *program, struct commands *commands)
{
	u32 given = take(program, 1) % PAIRS_MAX;
	u32 *words = malloc(8 * given + 1);
	enum commands_end end;
	size_t taken;
	u32 i;

	for (i = 0; i < given; i++) {
		words[2 * i] = offset(program);
		words[2 * i + 1] = value(program, commands, words[2 * i]);
	}
	commands->drawn = 0;
	taken = commands_take(commands, words, given, &end);
	check_end(commands, taken, given, end);
	free(words);
	if (end == COMMANDS_FAILED)
		reset(commands);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct program program = { data, data + size };
	struct commands commands;

	set_up(&program, &commands);
	while (program.byte < program.end)
		run(&program, &commands);
	free(commands.framebuffer);
	return 0;
}

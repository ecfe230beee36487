// SPDX-License-Identifier: GPL-2.0
/*
 * The behaviour of Zach 1 (zach1.yaml): commands arrive through registers, the FIFO and DMA.  The
 * card passes the commands in order of arrival to the daemon that draws.
 */
#include <linux/module.h>
#include <linux/sizes.h>

#include "../kernel/vgpu/console.h"
#include "zach1_registers.h"
#include "zach1_table.h"

#define PIECE_PAIRS 512u
#define FIFO_WORDS 512u
#define KEPT_ROOM 4096u /* entries of the daemon's queue that DMA leaves free */
#define PAIR_BYTES sizeof(struct console_pair)

struct zach1 {
	struct console *console;
	struct console_pair piece[PIECE_PAIRS]; /* used by the card's thread only */

	/* guarded by the card's lock */
	u64 begun; /* bus address of the DMA buffer */
	u64 next; /* bus address of the first byte not yet fetched */
	u32 left; /* number of bytes not yet fetched */
	u32 fifo_words; /* number of words in the FIFO */
	u32 fifo_offset; /* first word of a command whose second word has not arrived */
	bool fifo_half;
};

static struct zach1 *zach1_of(struct vgpu *device)
{
	return device->state;
}

static bool has_failed(const struct vgpu *device)
{
	return vgpu_get(device, ZACH1_INDEX_ERROR);
}

/* Ends DMA, so that the buffer belongs to the driver again.  Called with the card locked. */
static void end_dma(struct vgpu *device)
{
	vgpu_clear_bits(device, ZACH1_INDEX_STATUS, ZACH1_STATUS_DMA_BUSY_MASK);
	vpcib_dma_end(device->card, zach1_of(device)->begun);
	zach1_of(device)->left = 0;
}

/* Stops the card at the first error.  Called with the card locked. */
static void fail(struct vgpu *device, u32 code)
{
	if (!has_failed(device))
		vgpu_set(device, ZACH1_INDEX_ERROR, code);
	vgpu_set_bits(device, ZACH1_INDEX_STATUS, ZACH1_STATUS_FAILED_MASK);
	vgpu_clear_bits(device, ZACH1_INDEX_STATUS, ZACH1_STATUS_DRAWING_MASK);
	end_dma(device);
}

/* --- commands ----------------------------------------------------------------------- */

static bool is_command(u32 index)
{
	return index == ZACH1_INDEX_FENCE || index >= ZACH1_INDEX_CLEAR_COLOR ||
	       (index >= ZACH1_INDEX_FRAME_BASE && index <= ZACH1_INDEX_FLIP);
}

/* Finds the command register at an offset; returns false if there is none. */
static bool find_command(struct vgpu *device, u32 offset, u32 *index)
{
	struct register_access access =
		registers_access(device->registers.table, ZACH1_BAR_CONTROL, offset, 4);
	struct register_part part;

	if (offset & 3 || !registers_next(&access, &part) || part.shift)
		return false;
	*index = part.index;
	return is_command(part.index);
}

/* Passes a pair to the daemon, if there is room.  Called with the card locked. */
static void hand_over(struct vgpu *device, struct console_pair pair)
{
	struct zach1 *zach1 = zach1_of(device);

	if (!console_room(zach1->console)) {
		fail(device, ZACH1_ERROR_CODE_OVERFLOW);
		return;
	}
	vgpu_set_bits(device, ZACH1_INDEX_STATUS, ZACH1_STATUS_DRAWING_MASK);
	console_push(zach1->console, pair);
}

/* Handles a command from the FIFO or a DMA buffer.  Called with the card locked. */
static void take(struct vgpu *device, struct console_pair pair, u32 flags)
{
	u32 index;

	if (!find_command(device, pair.offset, &index)) {
		fail(device, ZACH1_ERROR_CODE_COMMAND);
		return;
	}
	registers_store(&device->registers, index, pair.value, ~0u);
	pair.offset |= flags;
	hand_over(device, pair);
}

/* --- the FIFO ----------------------------------------------------------------------- */

static void set_fifo_words(struct vgpu *device, u32 words)
{
	struct zach1 *zach1 = zach1_of(device);

	if (zach1->fifo_words > FIFO_WORDS / 4 && words <= FIFO_WORDS / 4)
		vgpu_set_bits(device, ZACH1_INDEX_STATUS, ZACH1_STATUS_FIFO_LOW_MASK);
	zach1->fifo_words = words;
	vgpu_set(device, ZACH1_INDEX_FIFO_STATE, FIFO_WORDS - words);
}

static void take_word(struct vgpu *device, u32 word)
{
	struct zach1 *zach1 = zach1_of(device);

	if (zach1->fifo_words == FIFO_WORDS) {
		fail(device, ZACH1_ERROR_CODE_OVERFLOW);
		return;
	}
	set_fifo_words(device, zach1->fifo_words + 1);
	zach1->fifo_half = !zach1->fifo_half;
	if (zach1->fifo_half)
		zach1->fifo_offset = word;
	else
		take(device, (struct console_pair){ zach1->fifo_offset, word },
		     CONSOLE_FROM_FIFO);
}

/* --- DMA ---------------------------------------------------------------------------- */

static u32 check(u64 address, u32 bytes)
{
	if (address & (ZACH1_DMA_COMMANDS_ALIGNMENT - 1))
		return ZACH1_ERROR_CODE_ADDRESS;
	if (!bytes || bytes % PAIR_BYTES || bytes > ZACH1_DMA_COMMANDS_BYTES_MAX)
		return ZACH1_ERROR_CODE_LENGTH;
	return ZACH1_ERROR_CODE_NONE;
}

static void start_dma(struct vgpu *device)
{
	struct zach1 *zach1 = zach1_of(device);
	u64 address = vgpu_get(device, ZACH1_INDEX_DMA_ADDRESS);
	u32 bytes = vgpu_get(device, ZACH1_INDEX_DMA_LENGTH);
	u32 code = check(address, bytes);

	if (vgpu_get(device, ZACH1_INDEX_STATUS) & ZACH1_STATUS_DMA_BUSY_MASK)
		code = ZACH1_ERROR_CODE_BUSY;
	if (code) {
		fail(device, code);
		return;
	}
	zach1->begun = address;
	zach1->next = address;
	zach1->left = bytes;
	vpcib_dma_begin(device->card, address, bytes, true);
	vgpu_set_bits(device, ZACH1_INDEX_STATUS, ZACH1_STATUS_DMA_BUSY_MASK);
	vgpu_wake(device);
}

/*
 * Returns how many pairs the next piece of the buffer has; 0 if the daemon's queue has no room for
 * them.  Called with the card locked.
 */
static u32 next_pairs(const struct zach1 *zach1)
{
	u32 room = console_room(zach1->console);
	u32 pairs = min_t(u32, zach1->left / PAIR_BYTES, PIECE_PAIRS);

	return pairs + 1 + KEPT_ROOM <= room ? pairs : 0;
}

/*
 * Handles the first `pairs` commands of zach1->piece.  Called with the card locked, after a check
 * that no reset has happened since the piece was read.
 */
static void take_piece(struct vgpu *device, u32 pairs)
{
	struct zach1 *zach1 = zach1_of(device);
	u32 i;

	zach1->next += pairs * PAIR_BYTES;
	zach1->left -= pairs * PAIR_BYTES;
	for (i = 0; i < pairs && !has_failed(device); i++)
		take(device, zach1->piece[i], 0);
	if (!zach1->left && !has_failed(device))
		hand_over(device, (struct console_pair){ .offset = CONSOLE_END });
}

/*
 * Fetches and handles the next piece of the buffer.  Returns false if no piece is left, or the
 * daemon's queue has no room for it.
 */
static bool fetch(struct vgpu *device)
{
	struct zach1 *zach1 = zach1_of(device);
	unsigned long flags = vgpu_lock(device);
	u32 resets = device->resets, pairs = next_pairs(zach1);
	u64 address = zach1->next;
	int ret;

	vgpu_unlock(device, flags);
	if (!pairs)
		return false;
	ret = vpcib_dma_read(device->card, address, zach1->piece, pairs * PAIR_BYTES);
	flags = vgpu_lock(device);
	if (resets == device->resets && zach1->left) {
		if (ret)
			fail(device, ZACH1_ERROR_CODE_ADDRESS);
		else
			take_piece(device, pairs);
	}
	vgpu_unlock(device, flags);
	return true;
}

static void work(struct vgpu *device)
{
	while (fetch(device))
		cond_resched();
}

/* --- the driver's side -------------------------------------------------------------- */

static void reset(struct vgpu *device)
{
	struct zach1 *zach1 = zach1_of(device);

	end_dma(device);
	zach1->fifo_words = 0;
	zach1->fifo_half = false;
	console_drop(zach1->console);
	console_push(zach1->console, (struct console_pair){ .offset = CONSOLE_RESET });
}

static bool may_store(struct vgpu *device, u32 index)
{
	return !has_failed(device) || index < ZACH1_INDEX_FENCE;
}

static void stored(struct vgpu *device, u32 index, u64 value)
{
	if (index == ZACH1_INDEX_CONTROL && value & ZACH1_CONTROL_RESET_MASK) {
		vgpu_reset(device);
		return;
	}
	if (has_failed(device))
		return;
	if (index == ZACH1_INDEX_FIFO)
		take_word(device, value);
	else if (index == ZACH1_INDEX_DMA_START)
		start_dma(device);
	else if (device->registers.table->registers[index].kind == REGISTER_DOORBELL)
		hand_over(device,
			  (struct console_pair){
				  device->registers.table->registers[index].offset,
				  value });
	else if (is_command(index) || index == ZACH1_INDEX_CONTROL ||
		 index == ZACH1_INDEX_MODE_SIZE)
		hand_over(device,
			  (struct console_pair){
				  device->registers.table->registers[index].offset,
				  vgpu_get(device, index) });
}

/* --- the daemon's side -------------------------------------------------------------- */

static bool draws(u32 offset)
{
	return offset == ZACH1_DRAW_TRIANGLE || offset == ZACH1_DRAW_LINE ||
	       offset == ZACH1_DRAW_RECTANGLE;
}

static void passed(struct vgpu *device, const struct console_pair *pair)
{
	u32 offset = pair->offset & ~CONSOLE_FROM_FIFO;
	bool from_fifo = pair->offset & CONSOLE_FROM_FIFO;
	unsigned long flags;

	if (offset != ZACH1_FENCE && offset != CONSOLE_END && !draws(offset) &&
	    !from_fifo)
		return;
	flags = vgpu_lock(device);
	if (from_fifo && zach1_of(device)->fifo_words >= 2)
		set_fifo_words(device, zach1_of(device)->fifo_words - 2);
	if (draws(offset)) {
		vgpu_set(device, ZACH1_INDEX_DRAWN,
			 (u32)vgpu_get(device, ZACH1_INDEX_DRAWN) + 1);
	} else if (offset == ZACH1_FENCE) {
		vgpu_set(device, ZACH1_INDEX_FENCE_PASSED, pair->value);
		vgpu_set_bits(device, ZACH1_INDEX_STATUS, ZACH1_STATUS_FENCE_MASK);
	} else if (offset == CONSOLE_END) {
		end_dma(device);
		vgpu_set_bits(device, ZACH1_INDEX_STATUS, ZACH1_STATUS_DMA_DONE_MASK);
	}
	vgpu_unlock(device, flags);
}

static void failed(struct vgpu *device, u32 error)
{
	unsigned long flags = vgpu_lock(device);

	fail(device, error & ZACH1_ERROR_CODE_MASK);
	console_drop(zach1_of(device)->console);
	vgpu_unlock(device, flags);
}

static void advanced(struct vgpu *device)
{
	struct zach1 *zach1 = zach1_of(device);
	unsigned long flags = vgpu_lock(device);

	if (console_room(zach1->console) == CONSOLE_PAIRS)
		vgpu_clear_bits(device, ZACH1_INDEX_STATUS, ZACH1_STATUS_DRAWING_MASK);
	vgpu_unlock(device, flags);
	vgpu_wake(device);
}

static const struct console_events events = {
	.passed = passed,
	.failed = failed,
	.advanced = advanced,
};

static int start(struct vgpu *device)
{
	struct console *console = console_open(device, ZACH1_BAR_FRAMEBUFFER, &events);

	if (IS_ERR(console))
		return PTR_ERR(console);
	zach1_of(device)->console = console;
	return 0;
}

static void stop(struct vgpu *device)
{
	console_close(zach1_of(device)->console);
}

const struct behaviour card_behaviour = {
	.table = &zach1_table,
	.state_bytes = sizeof(struct zach1),
	.start = start,
	.stop = stop,
	.reset = reset,
	.may_store = may_store,
	.stored = stored,
	.work = work,
};

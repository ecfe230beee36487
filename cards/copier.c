// SPDX-License-Identifier: GPL-2.0
/*
 * The behaviour of the copier (copier.yaml): it copies data, fills memory and computes checksums in
 * the card's own thread.
 */
#include <linux/crc32.h>
#include <linux/module.h>
#include <linux/sizes.h>

#include "../kernel/vgpu/device.h"
#include "copier_registers.h"
#include "copier_table.h"

#define PIECE_BYTES SZ_4K
#define ALIGNED(address) (!((address)&7))

struct copier {
	u8 piece[PIECE_BYTES];
};

/*
 * The values of the registers at START.  A driver can't change the registers while the card is
 * BUSY.
 */
struct order {
	u32 resets; /* of the card, when the order was taken */
	u32 operation;
	u64 source;
	u64 destination;
	u32 bytes;
	u8 pattern;
	u32 checksum;
};

static bool is_busy(const struct vgpu *device)
{
	return vgpu_get(device, COPIER_INDEX_STATUS) & COPIER_STATUS_BUSY_MASK;
}

/* Ends the operation with an error.  Called with the card locked. */
static void fail(struct vgpu *device, enum copier_error_code code)
{
	if (!(vgpu_get(device, COPIER_INDEX_STATUS) & COPIER_STATUS_FAILED_MASK))
		vgpu_set(device, COPIER_INDEX_ERROR, code);
	vgpu_set_bits(device, COPIER_INDEX_STATUS, COPIER_STATUS_FAILED_MASK);
}

static bool may_store(struct vgpu *device, u32 index)
{
	if (!is_busy(device) || index == COPIER_INDEX_ENABLE ||
	    index == COPIER_INDEX_STATUS)
		return true;
	fail(device, COPIER_ERROR_CODE_BUSY_WRITE);
	return false;
}

static struct order order_of(const struct vgpu *device)
{
	return (struct order){
		.resets = device->resets,
		.operation = vgpu_get(device, COPIER_INDEX_COMMAND),
		.source = vgpu_get(device, COPIER_INDEX_SOURCE),
		.destination = vgpu_get(device, COPIER_INDEX_DESTINATION),
		.bytes = vgpu_get(device, COPIER_INDEX_LENGTH),
		.pattern = vgpu_get(device, COPIER_INDEX_PATTERN),
	};
}

static enum copier_error_code check(const struct order *order)
{
	if (order->operation > COPIER_COMMAND_OPERATION_CHECKSUM)
		return COPIER_ERROR_CODE_OPERATION;
	if (!order->bytes || order->bytes > COPIER_DMA_SOURCE_BYTES_MAX)
		return COPIER_ERROR_CODE_LENGTH;
	if (order->operation != COPIER_COMMAND_OPERATION_FILL &&
	    !ALIGNED(order->source))
		return COPIER_ERROR_CODE_ADDRESS;
	if (order->operation != COPIER_COMMAND_OPERATION_CHECKSUM &&
	    !ALIGNED(order->destination))
		return COPIER_ERROR_CODE_ADDRESS;
	return COPIER_ERROR_CODE_NONE;
}

static void stored(struct vgpu *device, u32 index, u64 value)
{
	struct order order;
	enum copier_error_code code;

	if (index == COPIER_INDEX_STATUS &&
	    !(vgpu_get(device, index) & COPIER_STATUS_FAILED_MASK))
		vgpu_set(device, COPIER_INDEX_ERROR, COPIER_ERROR_CODE_NONE);
	if (index != COPIER_INDEX_START)
		return;
	order = order_of(device);
	code = check(&order);
	if (code) {
		fail(device, code);
		return;
	}
	vgpu_set_bits(device, COPIER_INDEX_STATUS, COPIER_STATUS_BUSY_MASK);
	if (order.operation != COPIER_COMMAND_OPERATION_FILL)
		vpcib_dma_begin(device->card, order.source, order.bytes, true);
	if (order.operation != COPIER_COMMAND_OPERATION_CHECKSUM)
		vpcib_dma_begin(device->card, order.destination, order.bytes, false);
	vgpu_wake(device);
}

static int do_piece(struct vgpu *device, struct order *order, u32 at, u32 bytes)
{
	struct copier *copier = device->state;
	int ret = 0;

	if (order->operation == COPIER_COMMAND_OPERATION_FILL)
		memset(copier->piece, order->pattern, bytes);
	else
		ret = vpcib_dma_read(device->card, order->source + at, copier->piece,
				     bytes);
	if (ret)
		return ret;
	if (order->operation != COPIER_COMMAND_OPERATION_CHECKSUM)
		return vpcib_dma_write(device->card, order->destination + at,
				       copier->piece, bytes);
	order->checksum = __crc32c_le(order->checksum, copier->piece, bytes);
	return 0;
}

/* Returns whether the card was reset since the order was taken; then the order is void. */
static bool was_reset(const struct vgpu *device, const struct order *order)
{
	return READ_ONCE(device->resets) != order->resets;
}

static int carry_out(struct vgpu *device, struct order *order)
{
	u32 at, bytes;
	int ret = 0;

	order->checksum = ~0u;
	for (at = 0; at < order->bytes && !ret && !was_reset(device, order);
	     at += bytes) {
		bytes = min_t(u32, order->bytes - at, PIECE_BYTES);
		ret = do_piece(device, order, at, bytes);
	}
	return ret;
}

static void finish(struct vgpu *device, const struct order *order, int error)
{
	if (was_reset(device, order))
		return;
	vgpu_clear_bits(device, COPIER_INDEX_STATUS, COPIER_STATUS_BUSY_MASK);
	vpcib_dma_end(device->card, order->source);
	vpcib_dma_end(device->card, order->destination);
	if (error) {
		fail(device, COPIER_ERROR_CODE_ADDRESS);
		return;
	}
	if (order->operation == COPIER_COMMAND_OPERATION_CHECKSUM)
		vgpu_set(device, COPIER_INDEX_CHECKSUM, ~order->checksum);
	vgpu_set(device, COPIER_INDEX_COMPLETED,
		 vgpu_get(device, COPIER_INDEX_COMPLETED) + 1);
	vgpu_set_bits(device, COPIER_INDEX_STATUS, COPIER_STATUS_DONE_MASK);
}

static void work(struct vgpu *device)
{
	unsigned long flags = vgpu_lock(device);
	struct order order = order_of(device);
	bool busy = is_busy(device);
	int ret;

	vgpu_unlock(device, flags);
	if (!busy)
		return;
	ret = carry_out(device, &order);
	flags = vgpu_lock(device);
	finish(device, &order, ret);
	vgpu_unlock(device, flags);
}

const struct behaviour card_behaviour = {
	.table = &copier_table,
	.state_bytes = sizeof(struct copier),
	.may_store = may_store,
	.stored = stored,
	.work = work,
	.never_sleeps = true,
};

// SPDX-License-Identifier: GPL-2.0
/*
 * The NVMe controller's registers, queues and interrupts (nvme.yaml; NVM Express 1.4, sections 3, 4
 * and 7). The other files are in nvme/ (controller.h).
 */
#include <linux/mm.h>
#include <linux/module.h>

#include "../kernel/vgpu/device.h"
#include "nvme/controller.h"
#include "nvme_table.h"

#define SUBSYSTEM_RESET 0x4e564d65 /* "NVMe" */
#define ADMIN_ENTRIES(aqa, shift) (((aqa) >> (shift)&0xfff) + 1)
#define CC_WRONG \
	(NVME_CC_CSS_MASK | 0xfu << NVME_CC_MPS_SHIFT | 7u << NVME_CC_AMS_SHIFT)

unsigned long nvme_lock(struct nvme_controller *controller)
{
	return vgpu_lock(controller->device);
}

void nvme_unlock(struct nvme_controller *controller, unsigned long flags)
{
	vgpu_unlock(controller->device, flags);
}

/* --- interrupts: all of it is called with the card locked ------------------------------------ */

static bool has_completions(const struct nvme_controller *controller, u32 vector)
{
	u32 i;

	for (i = 0; i < NVME_QUEUES; i++) {
		const struct nvme_cq *cq = &controller->cq[i];

		if (cq->entries && cq->interrupts && cq->vector == vector &&
		    cq->head != cq->tail)
			return true;
	}
	return false;
}

static bool is_masked(const struct nvme_controller *controller, u32 vector)
{
	return vgpu_get(controller->device, NVME_INDEX_INTMS) >> vector & 1;
}

/* The driver has taken completions, or has masked or unmasked vectors. */
static void update_vectors(struct nvme_controller *controller, bool unmasked)
{
	u32 vector;

	for (vector = 0; vector < NVME_QUEUES; vector++) {
		if (is_masked(controller, vector) ||
		    !has_completions(controller, vector))
			vgpu_deassert(controller->device, vector);
		else if (unmasked)
			vgpu_assert(controller->device, vector);
	}
}

/* --- completions ----------------------------------------------------------------------------- */

static u32 room_of(const struct nvme_cq *cq)
{
	return (cq->head + cq->entries - cq->tail - 1) % cq->entries;
}

static void fatal(struct nvme_controller *controller)
{
	vgpu_set_bits(controller->device, NVME_INDEX_CSTS, NVME_CSTS_CFS);
}

/* Adds an entry to a queue, which is not full.  Locked. */
static void post(struct nvme_controller *controller, struct nvme_cq *cq,
		 struct nvme_completion *entry, u16 status)
{
	struct vgpu *device = controller->device;

	entry->status = cpu_to_le16(status << 1 | cq->phase);
	if (vpcib_dma_write(device->card, cq->base + cq->tail * sizeof(*entry), entry,
			    sizeof(*entry)))
		fatal(controller);
	cq->tail = (cq->tail + 1) % cq->entries;
	cq->phase ^= !cq->tail;
	if (cq->interrupts && !is_masked(controller, cq->vector))
		vgpu_assert(device, cq->vector);
}

static u32 value_of(enum nvme_event event)
{
	if (event == NVME_EVENT_DOORBELL)
		return NVME_LOG_ERROR << 16 | 1 << 8 | NVME_AER_ERROR;
	return NVME_LOG_SMART << 16 | 1 << 8 | NVME_AER_SMART;
}

/* Returns the events that the driver does not want (NVM Express 1.4, section 5.21.1.11). */
static u32 masked(const struct nvme_controller *controller)
{
	u32 wanted = READ_ONCE(controller->features[NVME_FEAT_ASYNC_EVENT]);

	return wanted & NVME_SMART_CRIT_TEMPERATURE ? 0 : NVME_EVENT_HEALTH;
}

/*
 * Reports an event that nobody knows of, if the driver has asked for one.  A command in flight keeps
 * its place in the queue.  Locked.
 */
static void report_event(struct nvme_controller *controller)
{
	u32 events = controller->events & ~controller->reported & ~masked(controller);
	struct nvme_cq *cq = &controller->cq[0];
	enum nvme_event event = events & -events;
	struct nvme_completion entry = {
		.sq_head = cpu_to_le16(controller->sq[0].head),
	};

	if (!event || !controller->waiting || !controller->running ||
	    room_of(cq) <= controller->busy)
		return;
	entry.command_id = controller->requests[--controller->waiting];
	entry.result.u32 = cpu_to_le32(value_of(event));
	controller->events &= ~event;
	controller->reported |= event;
	post(controller, cq, &entry, 0);
}

void nvme_event(struct nvme_controller *controller, enum nvme_event event)
{
	unsigned long flags = nvme_lock(controller);

	controller->events |= event;
	report_event(controller);
	nvme_unlock(controller, flags);
}

static void answer(struct nvme_controller *controller, const struct nvme_order *order,
		   struct nvme_outcome outcome)
{
	struct nvme_cq *cq = &controller->cq[controller->sq[order->queue].cq];
	struct nvme_completion entry = {
		.result.u32 = cpu_to_le32(outcome.value),
		.sq_head = cpu_to_le16(order->head),
		.sq_id = cpu_to_le16(order->queue),
		.command_id = order->command.common.command_id,
	};

	if (!outcome.later && cq->entries)
		post(controller, cq, &entry, outcome.status);
}

/* --- the card's thread ----------------------------------------------------------------------- */

/* Whether a queue has a command, and there is room for its completion. */
static bool is_ready(const struct nvme_controller *controller, u32 queue)
{
	const struct nvme_sq *sq = &controller->sq[queue];

	return sq->entries && sq->head != sq->tail && room_of(&controller->cq[sq->cq]);
}

/* Chooses the next command, round robin, and its address; returns false if there is none.  Locked. */
static bool choose(struct nvme_controller *controller, struct nvme_order *order,
		   u64 *address)
{
	u32 i;

	for (i = 0; controller->running && i < NVME_QUEUES; i++) {
		u32 queue = (controller->next + i) % NVME_QUEUES;
		struct nvme_sq *sq = &controller->sq[queue];

		if (!is_ready(controller, queue))
			continue;
		*address = sq->base + sq->head * sizeof(order->command);
		sq->head = (sq->head + 1) % sq->entries;
		controller->next = queue + 1;
		order->queue = queue;
		order->head = sq->head;
		return true;
	}
	return false;
}

static void configure(struct nvme_controller *controller);

static struct nvme_outcome carry_out(struct nvme_controller *controller,
				     const struct nvme_order *order)
{
	if (order->command.common.flags & (NVME_CMD_FUSE_FIRST | NVME_CMD_FUSE_SECOND))
		return nvme_fails(NVME_SC_INVALID_FIELD | NVME_DNR);
	if (order->queue)
		return nvme_io(controller, order);
	return nvme_admin(controller, order);
}

static bool serve(struct nvme_controller *controller)
{
	unsigned long flags = nvme_lock(controller);
	struct nvme_outcome outcome = { .later = true };
	struct nvme_order order;
	u64 address;
	bool busy = choose(controller, &order, &address);
	int ret;

	controller->busy = busy;
	nvme_unlock(controller, flags);
	if (!busy)
		return false;
	ret = vpcib_dma_read(controller->device->card, address, &order.command,
			     sizeof(order.command));
	if (!ret)
		outcome = carry_out(controller, &order);
	flags = nvme_lock(controller);
	if (ret)
		fatal(controller);
	else
		answer(controller, &order, outcome);
	report_event(controller);
	controller->busy = false;
	configure(controller);
	nvme_unlock(controller, flags);
	return true;
}

static void work(struct vgpu *device)
{
	while (serve(device->state))
		cond_resched();
}

/* --- registers: all of it is called with the card locked ------------------------------------- */

static void stop_queues(struct nvme_controller *controller)
{
	memset(controller->sq, 0, sizeof(controller->sq));
	memset(controller->cq, 0, sizeof(controller->cq));
	memset(controller->features, 0, sizeof(controller->features));
	controller->running = false;
	controller->next = 0;
	controller->waiting = 0;
	controller->events = 0;
	controller->reported = 0;
	update_vectors(controller, false);
}

static void start_queues(struct nvme_controller *controller)
{
	struct vgpu *device = controller->device;
	u32 aqa = vgpu_get(device, NVME_INDEX_AQA);

	stop_queues(
		controller); /* what a command in flight has left after a subsystem reset */
	controller->features[NVME_FEAT_ASYNC_EVENT] = NVME_SMART_CRIT_TEMPERATURE;
	controller->sq[0] = (struct nvme_sq){
		.base = vgpu_get(device, NVME_INDEX_ASQ),
		.entries = ADMIN_ENTRIES(aqa, 0),
	};
	controller->cq[0] = (struct nvme_cq){
		.base = vgpu_get(device, NVME_INDEX_ACQ),
		.entries = ADMIN_ENTRIES(aqa, 16),
		.phase = true,
		.interrupts = true,
	};
	controller->running = true;
}

/*
 * Starts or stops the controller as CC.EN says, unless the thread carries out a command: then it
 * stops when the thread has done so, and the driver waits for CSTS.RDY.
 */
static void settle(struct nvme_controller *controller)
{
	struct vgpu *device = controller->device;
	u32 cc = vgpu_get(device, NVME_INDEX_CC);
	u32 aqa = vgpu_get(device, NVME_INDEX_AQA);
	bool enabled = cc & NVME_CC_ENABLE;

	if (controller->busy || (enabled && controller->running))
		return;
	if (!enabled) {
		stop_queues(controller);
		vgpu_set(device, NVME_INDEX_INTMS, 0);
		vgpu_set(device, NVME_INDEX_INTMC, 0);
		vgpu_clear_bits(device, NVME_INDEX_CSTS,
				NVME_CSTS_RDY | NVME_CSTS_CFS | NVME_CSTS_SHST_MASK);
	} else if (cc & CC_WRONG || ADMIN_ENTRIES(aqa, 0) < 2 ||
		   ADMIN_ENTRIES(aqa, 16) < 2) {
		fatal(controller);
	} else {
		start_queues(controller);
		vgpu_set_bits(device, NVME_INDEX_CSTS, NVME_CSTS_RDY);
	}
}

/* A completed write is kept, so a shutdown only waits for the command that is carried out. */
static void show_shutdown(struct nvme_controller *controller)
{
	struct vgpu *device = controller->device;
	u32 shown = controller->busy ? NVME_CSTS_SHST_OCCUR : NVME_CSTS_SHST_CMPLT;

	vgpu_clear_bits(device, NVME_INDEX_CSTS, NVME_CSTS_SHST_MASK);
	if (vgpu_get(device, NVME_INDEX_CC) & NVME_CC_SHN_MASK)
		vgpu_set_bits(device, NVME_INDEX_CSTS, shown);
}

static void configure(struct nvme_controller *controller)
{
	settle(controller);
	show_shutdown(controller);
}

/* Doorbells alternate: the tail of submission queue 0, the head of completion queue 0, ... */
static void ring(struct nvme_controller *controller, u32 doorbell, u32 value)
{
	struct nvme_sq *sq = &controller->sq[doorbell / 2];
	struct nvme_cq *cq = &controller->cq[doorbell / 2];
	u32 entries = doorbell % 2 ? cq->entries : sq->entries;

	if (value >= entries) {
		vpcib_mistake(controller->device->card,
			      "doorbell %u is given %u, and its queue has %u entries",
			      doorbell, value, entries);
		controller->events |= NVME_EVENT_DOORBELL;
		report_event(controller);
		return;
	}
	if (doorbell % 2) {
		cq->head = value;
		update_vectors(controller, false);
		report_event(controller);
	} else {
		sq->tail = value;
	}
	vgpu_wake(controller->device);
}

static void reset_subsystem(struct nvme_controller *controller)
{
	vgpu_reset(controller->device);
	vgpu_set_bits(controller->device, NVME_INDEX_CSTS, NVME_CSTS_NSSRO);
}

static void stored(struct vgpu *device, u32 index, u64 value)
{
	struct nvme_controller *controller = device->state;

	if (index >= NVME_INDEX_SQ0_TAIL)
		ring(controller, index - NVME_INDEX_SQ0_TAIL, value);
	else if (index == NVME_INDEX_CC)
		configure(controller);
	else if (index == NVME_INDEX_NSSR && value == SUBSYSTEM_RESET)
		reset_subsystem(controller);
	else if (index == NVME_INDEX_INTMS)
		vgpu_set(device, NVME_INDEX_INTMC, vgpu_get(device, NVME_INDEX_INTMS));
	else if (index == NVME_INDEX_INTMC)
		vgpu_set(device, NVME_INDEX_INTMS, vgpu_get(device, NVME_INDEX_INTMC));
	if (index == NVME_INDEX_INTMS || index == NVME_INDEX_INTMC)
		update_vectors(controller, true);
}

static void reset(struct vgpu *device)
{
	struct nvme_controller *controller = device->state;

	stop_queues(controller);
}

static int start(struct vgpu *device)
{
	struct nvme_controller *controller = device->state;
	int ret = media_init(controller);

	controller->device = device;
	controller->data = kvmalloc(NVME_DATA_MOST, GFP_KERNEL);
	controller->list = kmalloc(NVME_PAGE, GFP_KERNEL);
	if (!ret && controller->data && controller->list)
		return 0;
	kvfree(controller->data);
	kfree(controller->list);
	return ret ?: -ENOMEM;
}

static void stop(struct vgpu *device)
{
	struct nvme_controller *controller = device->state;

	media_exit(controller);
	kvfree(controller->data);
	kfree(controller->list);
}

const struct behaviour card_behaviour = {
	.table = &nvme_table,
	.state_bytes = sizeof(struct nvme_controller),
	.start = start,
	.stop = stop,
	.reset = reset,
	.stored = stored,
	.work = work,
};

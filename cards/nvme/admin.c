// SPDX-License-Identifier: GPL-2.0
/* The admin command set (NVM Express 1.4, section 5), but for identify (identify.c). */
#include "../../kernel/vgpu/device.h"
#include "controller.h"

#define INVALID (NVME_SC_INVALID_FIELD | NVME_DNR)
#define NO_QUEUE (NVME_SC_QID_INVALID | NVME_DNR)
#define MAKE_FAULT 0xc0 /* this card's own command */
#define NOT_ABORTED 1
#define SAVED (1u << 31)
#define KELVIN 313
#define THRESHOLD 343 /* K, at first */
#define LOG_MOST NVME_PAGE
#define QUEUES_OF_IO ((NVME_QUEUES - 2) << 16 | (NVME_QUEUES - 2)) /* minus 1, twice */
#define OTHER_THRESHOLD (0x3fu << 16) /* of another sensor, or a least temperature */

/* --- queues ---------------------------------------------------------------------------------- */

static u16 create_cq(struct nvme_controller *controller,
		     const struct nvme_create_cq *command)
{
	u32 id = le16_to_cpu(command->cqid);
	u32 entries = le16_to_cpu(command->qsize) + 1;
	u32 vector = le16_to_cpu(command->irq_vector);
	u32 flags = le16_to_cpu(command->cq_flags);
	u64 base = le64_to_cpu(command->prp1);

	if (!id || id >= NVME_QUEUES || controller->cq[id].entries)
		return NO_QUEUE;
	if (entries < 2 || entries > NVME_ENTRIES_MOST)
		return NVME_SC_QUEUE_SIZE | NVME_DNR;
	if (!(flags & NVME_QUEUE_PHYS_CONTIG))
		return INVALID;
	if (base % NVME_PAGE)
		return nvme_misplaced(controller, base);
	if (vector >= NVME_QUEUES)
		return NVME_SC_INVALID_VECTOR | NVME_DNR;
	controller->cq[id] = (struct nvme_cq){
		.base = base,
		.entries = entries,
		.vector = vector,
		.phase = true,
		.interrupts = flags & NVME_CQ_IRQ_ENABLED,
	};
	return 0;
}

static u16 create_sq(struct nvme_controller *controller,
		     const struct nvme_create_sq *command)
{
	u32 id = le16_to_cpu(command->sqid);
	u32 cq = le16_to_cpu(command->cqid);
	u32 entries = le16_to_cpu(command->qsize) + 1;
	u64 base = le64_to_cpu(command->prp1);

	if (!id || id >= NVME_QUEUES || controller->sq[id].entries)
		return NO_QUEUE;
	if (!cq || cq >= NVME_QUEUES || !controller->cq[cq].entries)
		return NVME_SC_CQ_INVALID | NVME_DNR;
	if (entries < 2 || entries > NVME_ENTRIES_MOST)
		return NVME_SC_QUEUE_SIZE | NVME_DNR;
	if (!(le16_to_cpu(command->sq_flags) & NVME_QUEUE_PHYS_CONTIG))
		return INVALID;
	if (base % NVME_PAGE)
		return nvme_misplaced(controller, base);
	controller->sq[id] =
		(struct nvme_sq){ .base = base, .entries = entries, .cq = cq };
	return 0;
}

static u16 delete_sq(struct nvme_controller *controller, u32 id)
{
	if (!id || id >= NVME_QUEUES || !controller->sq[id].entries)
		return NO_QUEUE;
	controller->sq[id].entries = 0;
	return 0;
}

static u16 delete_cq(struct nvme_controller *controller, u32 id)
{
	u32 i;

	if (!id || id >= NVME_QUEUES || !controller->cq[id].entries)
		return NO_QUEUE;
	for (i = 0; i < NVME_QUEUES; i++) {
		if (controller->sq[i].entries && controller->sq[i].cq == id)
			return NVME_SC_INVALID_QUEUE | NVME_DNR;
	}
	controller->cq[id].entries = 0;
	return 0;
}

static u16 change_queues(struct nvme_controller *controller,
			 const struct nvme_command *command)
{
	unsigned long flags = nvme_lock(controller);
	u32 id = le16_to_cpu(command->delete_queue.qid);
	u16 status;

	switch (command->common.opcode) {
	case nvme_admin_create_cq:
		status = create_cq(controller, &command->create_cq);
		break;
	case nvme_admin_create_sq:
		status = create_sq(controller, &command->create_sq);
		break;
	case nvme_admin_delete_sq:
		status = delete_sq(controller, id);
		break;
	default:
		status = delete_cq(controller, id);
	}
	nvme_unlock(controller, flags);
	return status;
}

/* --- features -------------------------------------------------------------------------------- */

static bool is_feature(u32 id)
{
	switch (id) {
	case NVME_FEAT_ARBITRATION:
	case NVME_FEAT_POWER_MGMT:
	case NVME_FEAT_TEMP_THRESH:
	case NVME_FEAT_ERR_RECOVERY:
	case NVME_FEAT_VOLATILE_WC:
	case NVME_FEAT_NUM_QUEUES:
	case NVME_FEAT_IRQ_COALESCE:
	case NVME_FEAT_IRQ_CONFIG:
	case NVME_FEAT_WRITE_ATOMIC:
	case NVME_FEAT_ASYNC_EVENT:
		return true;
	default:
		return false;
	}
}

static u32 feature(const struct nvme_controller *controller, u32 id)
{
	u32 value = controller->features[id];

	if (id == NVME_FEAT_TEMP_THRESH && !value)
		return THRESHOLD;
	return id == NVME_FEAT_NUM_QUEUES ? QUEUES_OF_IO : value;
}

static struct nvme_outcome get_feature(struct nvme_controller *controller,
				       const struct nvme_features *command)
{
	u32 id = le32_to_cpu(command->fid) & 0xff;

	if (!is_feature(id))
		return nvme_fails(INVALID);
	return (struct nvme_outcome){ .value = feature(controller, id) };
}

static struct nvme_outcome set_feature(struct nvme_controller *controller,
				       const struct nvme_features *command)
{
	u32 id = le32_to_cpu(command->fid) & 0xff;
	u32 value = le32_to_cpu(command->dword11);

	if (!is_feature(id))
		return nvme_fails(INVALID);
	if (le32_to_cpu(command->fid) & SAVED)
		return nvme_fails(NVME_SC_FEATURE_NOT_SAVEABLE | NVME_DNR);
	if (id == NVME_FEAT_POWER_MGMT && value)
		return nvme_fails(INVALID);
	if (id == NVME_FEAT_NUM_QUEUES) {
		if ((value & 0xffff) == 0xffff || value >> 16 == 0xffff)
			return nvme_fails(INVALID);
		return (struct nvme_outcome){ .value = QUEUES_OF_IO };
	}
	if (id == NVME_FEAT_TEMP_THRESH && value & OTHER_THRESHOLD)
		return nvme_fails(0);
	controller->features[id] = value;
	if (id == NVME_FEAT_TEMP_THRESH && (feature(controller, id) & 0xffff) < KELVIN)
		nvme_event(controller, NVME_EVENT_HEALTH);
	if (id == NVME_FEAT_ASYNC_EVENT)
		nvme_event(controller, 0); /* one that was masked may be due */
	return nvme_fails(0);
}

/* --- log pages ------------------------------------------------------------------------------- */

static void put_count(u8 field[16], u64 count)
{
	__le64 low = cpu_to_le64(count);

	memcpy(field, &low, sizeof(low));
}

static void health(const struct nvme_controller *controller, struct nvme_smart_log *log)
{
	u32 threshold = feature(controller, NVME_FEAT_TEMP_THRESH) & 0xffff;

	log->critical_warning = threshold < KELVIN ? NVME_SMART_CRIT_TEMPERATURE : 0;
	log->temperature[0] = KELVIN & 0xff;
	log->temperature[1] = KELVIN >> 8;
	log->avail_spare = 100;
	log->spare_thresh = 10;
	put_count(log->data_units_read, DIV_ROUND_UP(controller->units[0], 1000));
	put_count(log->data_units_written, DIV_ROUND_UP(controller->units[1], 1000));
	put_count(log->host_reads, controller->commands[0]);
	put_count(log->host_writes, controller->commands[1]);
	put_count(log->power_cycles, 1);
}

/* Writes a log page to the data; returns its size, or 0 if there is no such page. */
static u32 log_page(struct nvme_controller *controller, u32 id)
{
	memset(controller->data, 0, LOG_MOST);
	switch (id) {
	case NVME_LOG_ERROR: /* with entries of 64 bytes, and none of them is used */
		return 4 * 64;
	case NVME_LOG_SMART:
		health(controller, (struct nvme_smart_log *)controller->data);
		return sizeof(struct nvme_smart_log);
	case NVME_LOG_FW_SLOT:
		((struct nvme_fw_slot_info_log *)controller->data)->afi = 1;
		memcpy(controller->data + 8, "1.0     ", 8);
		return sizeof(struct nvme_fw_slot_info_log);
	case NVME_LOG_CHANGED_NS: /* none has */
		return NVME_PAGE;
	default:
		return 0;
	}
}

/* An event is reported again only after its log page was read. */
static void has_read(struct nvme_controller *controller, u32 id)
{
	unsigned long flags = nvme_lock(controller);

	if (id == NVME_LOG_ERROR)
		controller->reported &= ~NVME_EVENT_DOORBELL;
	if (id == NVME_LOG_SMART)
		controller->reported &= ~NVME_EVENT_HEALTH;
	nvme_unlock(controller, flags);
}

static u16 get_log_page(struct nvme_controller *controller,
			const struct nvme_command *command)
{
	const struct nvme_get_log_page_command *get = &command->get_log_page;
	u32 words = le16_to_cpu(get->numdl) | le16_to_cpu(get->numdu) << 16;
	u64 bytes = (words + 1ull) * sizeof(u32), offset = le64_to_cpu(get->lpo);
	u32 size = log_page(controller, get->lid);

	if (!size)
		return NVME_SC_INVALID_LOG_PAGE | NVME_DNR;
	if (offset > size || offset % sizeof(u32) || bytes > NVME_DATA_MOST)
		return INVALID;
	memmove(controller->data, controller->data + offset, size - offset);
	memset(controller->data + size - offset, 0, NVME_DATA_MOST - (size - offset));
	if (!(get->lsp & 0x80))
		has_read(controller, get->lid);
	return nvme_to_host(controller, command, bytes);
}

/* --- the rest -------------------------------------------------------------------------------- */

static struct nvme_outcome wait_for_event(struct nvme_controller *controller,
					  u16 command_id)
{
	unsigned long flags = nvme_lock(controller);
	struct nvme_outcome outcome = { .later = true };

	if (controller->waiting == NVME_EVENTS_MOST)
		outcome = nvme_fails(NVME_SC_ASYNC_LIMIT | NVME_DNR);
	else
		controller->requests[controller->waiting++] = command_id;
	nvme_unlock(controller, flags);
	return outcome;
}

static struct nvme_outcome make_fault(struct nvme_controller *controller,
				      const struct nvme_common_command *command)
{
	if (!nvme_namespace(controller, command->nsid))
		return nvme_fails(NVME_SC_INVALID_NS | NVME_DNR);
	controller->fault = (struct nvme_fault){
		.namespace = le32_to_cpu(command->nsid),
		.sector = le32_to_cpu(command->cdw10) | (u64)le32_to_cpu(command->cdw11)
								<< 32,
		.status = le32_to_cpu(command->cdw12) & 0x7fff,
		.count = le32_to_cpu(command->cdw13),
	};
	return nvme_fails(0);
}

struct nvme_outcome nvme_admin(struct nvme_controller *controller,
			       const struct nvme_order *order)
{
	const struct nvme_command *command = &order->command;

	switch (command->common.opcode) {
	case nvme_admin_create_cq:
	case nvme_admin_create_sq:
	case nvme_admin_delete_cq:
	case nvme_admin_delete_sq:
		return nvme_fails(change_queues(controller, command));
	case nvme_admin_identify:
		return nvme_fails(nvme_identify(controller, command));
	case nvme_admin_get_features:
		return get_feature(controller, &command->features);
	case nvme_admin_set_features:
		return set_feature(controller, &command->features);
	case nvme_admin_get_log_page:
		return nvme_fails(get_log_page(controller, command));
	case nvme_admin_async_event:
		return wait_for_event(controller, command->common.command_id);
	case nvme_admin_abort_cmd: /* commands are carried out as soon as they are taken */
		return (struct nvme_outcome){ .value = NOT_ABORTED };
	case MAKE_FAULT:
		return make_fault(controller, &command->common);
	default:
		return nvme_fails(NVME_SC_INVALID_OPCODE | NVME_DNR);
	}
}

// SPDX-License-Identifier: GPL-2.0
/* The NVM command set (NVM Express 1.4, section 6). */
#include "controller.h"

#define OUT_OF_RANGE (NVME_SC_LBA_RANGE | NVME_DNR)
#define INVALID (NVME_SC_INVALID_FIELD | NVME_DNR)

/* The bytes of a namespace that a command is about. */
struct extent {
	struct nvme_namespace *space;
	u64 sector;
	u64 sectors;
};

static struct extent extent_of(struct nvme_namespace *space,
			       const struct nvme_command *command)
{
	return (struct extent){
		.space = space,
		.sector = le64_to_cpu(command->rw.slba),
		.sectors = le16_to_cpu(command->rw.length) + 1,
	};
}

static u64 begin(const struct extent *extent)
{
	return extent->sector << extent->space->shift;
}

static u64 bytes(const struct extent *extent)
{
	return extent->sectors << extent->space->shift;
}

static bool inside(const struct extent *extent)
{
	return extent->sectors <= extent->space->sectors &&
	       extent->sector <= extent->space->sectors - extent->sectors;
}

/* Returns the status that was asked for these sectors, or 0. */
static u16 fault_of(struct nvme_controller *controller, const struct extent *extent,
		    u32 namespace)
{
	struct nvme_fault *fault = &controller->fault;

	if (!fault->count || fault->namespace != namespace ||
	    fault->sector - extent->sector >= extent->sectors)
		return 0;
	fault->count--;
	return fault->status;
}

static u16 check(struct nvme_controller *controller, const struct extent *extent,
		 const struct nvme_command *command)
{
	if (!inside(extent))
		return OUT_OF_RANGE;
	return fault_of(controller, extent, le32_to_cpu(command->rw.nsid));
}

static u16 read_or_write(struct nvme_controller *controller,
			 const struct extent *extent,
			 const struct nvme_command *command)
{
	bool write = command->rw.opcode == nvme_cmd_write;
	u32 size = bytes(extent);
	u16 status;

	if (bytes(extent) > NVME_DATA_MOST)
		return INVALID;
	controller->commands[write]++;
	controller->units[write] += size >> 9;
	if (!write) {
		media_read(extent->space, begin(extent), controller->data, size);
		return nvme_to_host(controller, command, size);
	}
	status = nvme_from_host(controller, command, size);
	if (status)
		return status;
	return media_write(extent->space, begin(extent), controller->data, size)
		       ? NVME_SC_INTERNAL
		       : 0;
}

static u16 compare(struct nvme_controller *controller, const struct extent *extent,
		   const struct nvme_command *command)
{
	u32 size = bytes(extent), at, part;
	u8 *sectors = (u8 *)controller->list;
	u16 status;

	if (bytes(extent) > NVME_DATA_MOST)
		return INVALID;
	status = nvme_from_host(controller, command, size);
	for (at = 0; !status && at < size; at += part) {
		part = min(size - at, NVME_PAGE);
		media_read(extent->space, begin(extent) + at, sectors, part);
		if (memcmp(controller->data + at, sectors, part))
			status = NVME_SC_COMPARE_FAILED;
	}
	return status;
}

static u16 deallocate(struct nvme_controller *controller, struct nvme_namespace *space,
		      const struct nvme_command *command)
{
	u32 ranges = (le32_to_cpu(command->dsm.nr) & 0xff) + 1, i;
	const struct nvme_dsm_range *range = (void *)controller->data;
	u16 status = nvme_from_host(controller, command, ranges * sizeof(*range));

	if (status || !(le32_to_cpu(command->dsm.attributes) & NVME_DSMGMT_AD))
		return status;
	for (i = 0; i < ranges; i++) {
		struct extent extent = {
			.space = space,
			.sector = le64_to_cpu(range[i].slba),
			.sectors = le32_to_cpu(range[i].nlb),
		};

		if (!inside(&extent))
			return OUT_OF_RANGE;
		media_clear(space, begin(&extent), bytes(&extent));
	}
	return 0;
}

static u16 on_sectors(struct nvme_controller *controller, struct nvme_namespace *space,
		      const struct nvme_command *command)
{
	struct extent extent = extent_of(space, command);
	u16 status = check(controller, &extent, command);

	if (status)
		return status;
	switch (command->common.opcode) {
	case nvme_cmd_write_zeroes:
		media_clear(space, begin(&extent), bytes(&extent));
		return 0;
	case nvme_cmd_compare:
		return compare(controller, &extent, command);
	default:
		return read_or_write(controller, &extent, command);
	}
}

struct nvme_outcome nvme_io(struct nvme_controller *controller,
			    const struct nvme_order *order)
{
	const struct nvme_command *command = &order->command;
	struct nvme_namespace *space = nvme_namespace(controller, command->common.nsid);
	bool everywhere = command->common.nsid == cpu_to_le32(NVME_NSID_ALL);

	switch (command->common.opcode) {
	case nvme_cmd_flush:
		return nvme_fails(space || everywhere ? 0
						      : NVME_SC_INVALID_NS | NVME_DNR);
	case nvme_cmd_read:
	case nvme_cmd_write:
	case nvme_cmd_write_zeroes:
	case nvme_cmd_compare:
	case nvme_cmd_dsm:
		break;
	default:
		return nvme_fails(NVME_SC_INVALID_OPCODE | NVME_DNR);
	}
	if (!space)
		return nvme_fails(NVME_SC_INVALID_NS | NVME_DNR);
	if (command->common.opcode == nvme_cmd_dsm)
		return nvme_fails(deallocate(controller, space, command));
	return nvme_fails(on_sectors(controller, space, command));
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Physical region pages (NVM Express 1.4, section 4.3). The first entry may point into a page. The
 * second one is the next page or, if that does not suffice, a list of pages. The last entry of a
 * page with a list is the address of the next list, if there are more pages.
 */
#include "../../kernel/vgpu/device.h"
#include "controller.h"

u16 nvme_misplaced(const struct nvme_controller *controller, u64 address)
{
	vpcib_mistake(controller->device->card,
		      "the PRP entry %#llx has a wrong offset in its page", address);
	return NVME_SC_PRP_OFFSET | NVME_DNR;
}

/* The data of a command: how many bytes of it were moved, and how many there are. */
struct walk {
	struct nvme_controller *controller;
	bool to_host;
	u32 done;
	u32 bytes;
};

static u32 pages_left(const struct walk *walk)
{
	return DIV_ROUND_UP(walk->bytes - walk->done, NVME_PAGE);
}

/* Moves the bytes from a bus address to the end of its page. */
static u16 move_page(struct walk *walk, u64 address)
{
	struct vpcib_card *card = walk->controller->device->card;
	u32 bytes =
		min(walk->bytes - walk->done, NVME_PAGE - (u32)(address % NVME_PAGE));
	u8 *data = walk->controller->data + walk->done;
	int ret;

	vpcib_dma_begin(card, address, bytes, !walk->to_host);
	if (walk->to_host)
		ret = vpcib_dma_write(card, address, data, bytes);
	else
		ret = vpcib_dma_read(card, address, data, bytes);
	vpcib_dma_end(card, address);
	walk->done += bytes;
	return ret ? NVME_SC_DATA_XFER_ERROR : 0;
}

/* Only the first list of a command may begin within a page. */
static u16 move_list(struct walk *walk, u64 list)
{
	struct vpcib_card *card = walk->controller->device->card;
	__le64 *entries = walk->controller->list;
	u16 status = 0;

	if (list % sizeof(*entries))
		return nvme_misplaced(walk->controller, list);
	while (!status && walk->done < walk->bytes) {
		u32 room = (NVME_PAGE - list % NVME_PAGE) / sizeof(*entries);
		u32 pages = pages_left(walk);
		u32 read = min(pages, room);
		u32 here = pages > room ? room - 1 : pages, i;

		if (vpcib_dma_read(card, list, entries, read * sizeof(*entries)))
			return NVME_SC_DATA_XFER_ERROR;
		for (i = 0; i < here && !status; i++) {
			u64 page = le64_to_cpu(entries[i]);

			if (page % NVME_PAGE)
				return nvme_misplaced(walk->controller, page);
			status = move_page(walk, page);
		}
		list = le64_to_cpu(entries[read - 1]);
		if (!status && walk->done < walk->bytes && list % NVME_PAGE)
			return nvme_misplaced(walk->controller, list);
	}
	return status;
}

static u16 move(struct walk *walk, const struct nvme_command *command)
{
	u64 first = le64_to_cpu(command->common.dptr.prp1);
	u64 second = le64_to_cpu(command->common.dptr.prp2);
	u16 status;

	if (command->common.flags & NVME_CMD_SGL_ALL)
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	if (first % sizeof(u32))
		return nvme_misplaced(walk->controller, first);
	status = move_page(walk, first);
	if (status || walk->done == walk->bytes)
		return status;
	if (pages_left(walk) > 1)
		return move_list(walk, second);
	if (second % NVME_PAGE)
		return nvme_misplaced(walk->controller, second);
	return move_page(walk, second);
}

u16 nvme_to_host(struct nvme_controller *controller, const struct nvme_command *command,
		 u32 bytes)
{
	struct walk walk = { controller, true, 0, bytes };

	return move(&walk, command);
}

u16 nvme_from_host(struct nvme_controller *controller,
		   const struct nvme_command *command, u32 bytes)
{
	struct walk walk = { controller, false, 0, bytes };

	return move(&walk, command);
}

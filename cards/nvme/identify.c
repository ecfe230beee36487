// SPDX-License-Identifier: GPL-2.0
/* The admin command identify (NVM Express 1.4, section 5.15). */
#include "../../kernel/vgpu/device.h"
#include "controller.h"

#define INVALID (NVME_SC_INVALID_FIELD | NVME_DNR)
#define NO_NAMESPACE (NVME_SC_INVALID_NS | NVME_DNR)
#define ENTRY_SIZES(log2) ((log2) << 4 | (log2))

/* Copies a text without its end, and fills the field with spaces. */
static void put_text(char *field, size_t bytes, const char *text)
{
	memset(field, ' ', bytes);
	memcpy(field, text, min(bytes, strlen(text)));
}

static void describe_controller(struct nvme_controller *controller)
{
	struct nvme_id_ctrl *id = (void *)controller->data;
	u32 number = vpcib_number(controller->device->card);
	char serial[24], name[64];

	snprintf(serial, sizeof(serial), "UNDERSTUDY%04u", number);
	snprintf(name, sizeof(name), "nqn.2026-11.understudy:nvme:%u", number);
	id->vid = cpu_to_le16(0x1d55);
	id->ssvid = cpu_to_le16(0x1d55);
	put_text(id->sn, sizeof(id->sn), serial);
	put_text(id->mn, sizeof(id->mn), "Understudy virtual NVMe controller");
	put_text(id->fr, sizeof(id->fr), "1.0");
	id->mdts = NVME_MDTS;
	id->ver = cpu_to_le32(NVME_VS(1, 4, 0));
	id->cntrltype = 1;
	id->acl = 3;
	id->oaes = cpu_to_le32(NVME_AEN_CFG_NS_ATTR);
	id->aerl = NVME_EVENTS_MOST - 1;
	id->frmw = 1 << 1 | 1; /* one slot, which can't be written */
	id->lpa = 1 << 2; /* pages may be read from an offset on */
	id->elpe = 3;
	id->wctemp = cpu_to_le16(343);
	id->cctemp = cpu_to_le16(353);
	id->sqes = ENTRY_SIZES(NVME_NVM_IOSQES);
	id->cqes = ENTRY_SIZES(NVME_NVM_IOCQES);
	id->nn = cpu_to_le32(controller->nr_namespaces);
	id->oncs = cpu_to_le16(NVME_CTRL_ONCS_COMPARE | NVME_CTRL_ONCS_DSM |
			       NVME_CTRL_ONCS_WRITE_ZEROES);
	id->vwc = NVME_CTRL_VWC_PRESENT;
	memcpy(id->subnqn, name, strlen(name));
	id->psd[0].max_power = cpu_to_le16(900);
}

/* Bytes that no other namespace of another card has: of this project, the card, the number. */
static void put_unique(const struct nvme_controller *controller, u32 number,
		       u8 unique[16])
{
	memset(unique, 0, 16);
	memcpy(unique, "understudy", 10);
	unique[14] = vpcib_number(controller->device->card);
	unique[15] = number;
}

static void describe_namespace(struct nvme_controller *controller, u32 number)
{
	struct nvme_namespace *space = &controller->namespaces[number - 1];
	struct nvme_id_ns *id = (void *)controller->data;

	id->nsze = cpu_to_le64(space->sectors);
	id->ncap = cpu_to_le64(space->sectors);
	id->nuse = cpu_to_le64(media_used(space) >> space->shift);
	id->nsfeat = 1; /* what is deallocated is free again */
	id->dlfeat = 1 << 3 | 1; /* and reads as zeroes, also by write zeroes */
	id->lbaf[0].ds = space->shift;
	put_unique(controller, number, id->nguid);
}

static void list_namespaces(struct nvme_controller *controller, u32 after)
{
	__le32 *list = (__le32 *)controller->data;
	u32 number;

	for (number = 1; number <= controller->nr_namespaces; number++) {
		if (number > after)
			*list++ = cpu_to_le32(number);
	}
}

static void list_names(struct nvme_controller *controller, u32 number)
{
	struct nvme_ns_id_desc *name = (void *)controller->data;

	name->nidt = NVME_NIDT_NGUID;
	name->nidl = NVME_NIDT_NGUID_LEN;
	put_unique(controller, number, (u8 *)(name + 1));
}

u16 nvme_identify(struct nvme_controller *controller,
		  const struct nvme_command *command)
{
	u32 number = le32_to_cpu(command->identify.nsid);
	bool is = nvme_namespace(controller, command->identify.nsid);

	memset(controller->data, 0, NVME_PAGE);
	switch (command->identify.cns) {
	case NVME_ID_CNS_CTRL:
		describe_controller(controller);
		break;
	case NVME_ID_CNS_NS:
		if (!is)
			return NO_NAMESPACE;
		describe_namespace(controller, number);
		break;
	case NVME_ID_CNS_NS_ACTIVE_LIST:
		if (number >= NVME_NSID_ALL - 1)
			return NO_NAMESPACE;
		list_namespaces(controller, number);
		break;
	case NVME_ID_CNS_NS_DESC_LIST:
		if (!is)
			return NO_NAMESPACE;
		list_names(controller, number);
		break;
	default:
		return INVALID;
	}
	return nvme_to_host(controller, command, NVME_PAGE);
}

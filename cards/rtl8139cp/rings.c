// SPDX-License-Identifier: GPL-2.0
/*
 * The rings of descriptors (data sheet, section 5), and the hub, which gives each frame that a card
 * sends to all others.  One frame at a time is on the hub.
 */
#include <linux/crc32.h>
#include <linux/etherdevice.h>
#include <linux/mutex.h>

#include "../../kernel/vgpu/device.h"
#include "../rtl8139cp_registers.h"
#include "../rtl8139cp_table.h"
#include "station.h"

#define OWN 0x80000000u
#define LAST_ENTRY 0x40000000u
#define FIRST 0x20000000u
#define LAST 0x10000000u
#define SEND_BYTES 0xffffu
#define SEND_TAG 0x00020000u /* in the second word, whose low half is the tag */
#define RECEIVED_BYTES 0x1fffu
#define RECEIVED_TAG 0x00010000u
#define TO_GROUP 0x04000000u
#define TO_STATION 0x02000000u
#define TO_ALL 0x01000000u

struct entry {
	__le32 word;
	__le32 tag;
	__le64 address;
};

/* A frame on the hub, as the driver has it in its memory. */
struct frame {
	u32 bytes;
	u32 word;
	u32 tag;
	u8 data[FRAME_MOST];
};

static DEFINE_MUTEX(hub);
static LIST_HEAD(stations); /* the hub guards it, and the frames */
static struct frame outgoing;
static u8 segment[FRAME_MOST];
static u8 incoming[RECEIVED_BYTES + 1];

void station_join(struct station *station)
{
	mutex_lock(&hub);
	list_add_tail(&station->list, &stations);
	mutex_unlock(&hub);
}

void station_leave(struct station *station)
{
	mutex_lock(&hub);
	list_del(&station->list);
	mutex_unlock(&hub);
}

/* --- one card: all of it is called with the card locked --------------------------------------- */

static void event(struct station *station, u32 bits)
{
	vgpu_set_bits(station->device, RTL8139CP_INDEX_ISR, bits);
}

static u64 place_of(struct station *station, u32 ring, u32 index)
{
	return (vgpu_get(station->device, ring) & ~0xffull) +
	       index * sizeof(struct entry);
}

/* Reads a descriptor.  Returns whether the card owns it. */
static bool read_entry(struct station *station, u64 place, struct entry *entry)
{
	if (vpcib_dma_read(station->device->card, place, entry, sizeof(*entry))) {
		event(station, RTL8139CP_ISR_SERR_MASK);
		return false;
	}
	return le32_to_cpu(entry->word) & OWN;
}

/*
 * Gives a descriptor back to the driver, and goes on to the next one.  Returns false if the card can't
 * write it.
 */
static bool give_back(struct station *station, u64 place, u32 *index, u32 word, u32 tag)
{
	struct entry entry = { .word = cpu_to_le32(word), .tag = cpu_to_le32(tag) };
	struct vpcib_card *card = station->device->card;

	if (vpcib_dma_write(card, place + offsetof(struct entry, tag), &entry.tag,
			    sizeof(entry.tag)) ||
	    vpcib_dma_write(card, place, &entry.word, sizeof(entry.word))) {
		event(station, RTL8139CP_ISR_SERR_MASK);
		return false;
	}
	*index = word & LAST_ENTRY ? 0 : (*index + 1) % ENTRIES_MOST;
	return true;
}

/* Adds the bytes of a descriptor to the frame. */
static bool add_bytes(struct station *station, const struct entry *entry,
		      struct frame *frame)
{
	u32 bytes = le32_to_cpu(entry->word) & SEND_BYTES;
	struct vpcib_card *card = station->device->card;
	u64 address = le64_to_cpu(entry->address);
	int ret;

	if (bytes > FRAME_MOST - TAG_BYTES - frame->bytes) {
		vpcib_mistake(card, "a frame has more than %u bytes",
			      FRAME_MOST - TAG_BYTES);
		return false;
	}
	vpcib_dma_begin(card, address, bytes, true);
	ret = vpcib_dma_read(card, address, frame->data + frame->bytes, bytes);
	vpcib_dma_end(card, address);
	if (ret)
		event(station, RTL8139CP_ISR_SERR_MASK);
	frame->bytes += bytes;
	return !ret;
}

/*
 * Takes the next frame from the ring.  Returns false if there is none; `frame` has no bytes if it
 * can't be sent.
 */
static bool gather(struct station *station, struct frame *frame)
{
	struct entry entry;
	bool right = true;
	u32 word;
	u64 place;

	frame->bytes = 0;
	do {
		place = place_of(station, RTL8139CP_INDEX_TNPDS, station->sending);
		if (!read_entry(station, place, &entry)) {
			if (frame->bytes)
				vpcib_mistake(station->device->card,
					      "the end of a frame has no descriptor");
			return false;
		}
		word = le32_to_cpu(entry.word);
		if (!frame->bytes) {
			frame->word = word;
			frame->tag = le32_to_cpu(entry.tag);
			if (!(word & FIRST))
				vpcib_mistake(station->device->card,
					      "a frame begins without FS");
		}
		right = right && add_bytes(station, &entry, frame);
		if (!give_back(station, place, &station->sending,
			       word & (LAST_ENTRY | FIRST | LAST),
			       le32_to_cpu(entry.tag)))
			return false;
	} while (!(word & LAST));
	event(station, right ? RTL8139CP_ISR_TOK_MASK : RTL8139CP_ISR_TER_MASK);
	le64_add_cpu(right ? &station->tally.sent : &station->tally.not_sent, 1);
	if (!right)
		frame->bytes = 0;
	return true;
}

static bool may_send(const struct station *station)
{
	const struct vgpu *device = station->device;

	return station->sends &&
	       vgpu_get(device, RTL8139CP_INDEX_CR) & RTL8139CP_CR_TE_MASK &&
	       vgpu_get(device, RTL8139CP_INDEX_CPCR) & RTL8139CP_CPCR_CPTX_MASK;
}

static bool may_receive(const struct station *station)
{
	const struct vgpu *device = station->device;

	return vgpu_get(device, RTL8139CP_INDEX_CR) & RTL8139CP_CR_RE_MASK &&
	       vgpu_get(device, RTL8139CP_INDEX_CPCR) & RTL8139CP_CPCR_CPRX_MASK;
}

static bool is_in_group(const struct vgpu *device, const u8 *address)
{
	u32 bit = ether_crc(ETH_ALEN, address) >> 26;
	u64 groups = vgpu_get(device, RTL8139CP_INDEX_MAR4) << 32 |
		     vgpu_get(device, RTL8139CP_INDEX_MAR0);

	return groups >> bit & 1;
}

static bool is_own(const struct vgpu *device, const u8 *address)
{
	u64 own = vgpu_get(device, RTL8139CP_INDEX_IDR4) << 32 |
		  vgpu_get(device, RTL8139CP_INDEX_IDR0);
	__le64 bytes = cpu_to_le64(own);

	return ether_addr_equal_unaligned(address, (u8 *)&bytes);
}

/* Returns to whom a frame is addressed, as a bit of its descriptor; 0: the card ignores it. */
static u32 addressee(const struct vgpu *device, const u8 *address)
{
	u32 config = vgpu_get(device, RTL8139CP_INDEX_RCR);

	if (is_broadcast_ether_addr(address))
		return config & RTL8139CP_RCR_AB_MASK ? TO_ALL : 0;
	if (is_multicast_ether_addr(address))
		return config & RTL8139CP_RCR_AM_MASK && is_in_group(device, address)
			       ? TO_GROUP
			       : 0;
	if (config & RTL8139CP_RCR_APM_MASK && is_own(device, address))
		return TO_STATION;
	return config & RTL8139CP_RCR_AAP_MASK ? TO_STATION : 0;
}

/* Writes bytes into as many descriptors as they need. */
static bool scatter(struct station *station, const u8 *data, u32 bytes, u32 word,
		    u32 tag)
{
	u32 done = 0, room, part;
	struct entry entry;
	u64 place;

	do {
		place = place_of(station, RTL8139CP_INDEX_RDSAR, station->receiving);
		if (!read_entry(station, place, &entry))
			return false;
		room = le32_to_cpu(entry.word) & RECEIVED_BYTES;
		part = min(bytes - done, room);
		if (!part ||
		    vpcib_dma_write(station->device->card, le64_to_cpu(entry.address),
				    data + done, part))
			return false;
		if (!give_back(station, place, &station->receiving,
			       (le32_to_cpu(entry.word) & LAST_ENTRY) | word | bytes |
				       (done ? 0 : FIRST) |
				       (done + part == bytes ? LAST : 0),
			       tag))
			return false;
		done += part;
	} while (done < bytes);
	return true;
}

static void count(struct tally *tally, u32 to)
{
	le64_add_cpu(&tally->received, 1);
	if (to == TO_ALL)
		le64_add_cpu(&tally->to_all, 1);
	else if (to == TO_GROUP)
		le32_add_cpu(&tally->to_groups, 1);
	else
		le64_add_cpu(&tally->to_station, 1);
}

/* The frame is in `incoming`, with room for its checksum. */
static void receive(struct station *station, u32 bytes)
{
	struct vgpu *device = station->device;
	u32 config = vgpu_get(device, RTL8139CP_INDEX_CPCR);
	u32 to = addressee(device, incoming), word = to, tag = 0;
	__le32 sum;

	if (!to)
		return;
	if (config & RTL8139CP_CPCR_RXCHKSUM_MASK)
		word |= frame_check_sums(incoming, bytes);
	if (config & RTL8139CP_CPCR_RXVLAN_MASK && incoming[12] == 0x81 &&
	    !incoming[13]) {
		tag = RECEIVED_TAG | incoming[15] << 8 | incoming[14];
		bytes -= TAG_BYTES;
		memmove(incoming + 2 * ETH_ALEN, incoming + 2 * ETH_ALEN + TAG_BYTES,
			bytes - 2 * ETH_ALEN);
	}
	sum = cpu_to_le32(~crc32_le(~0u, incoming, bytes));
	memcpy(incoming + bytes, &sum, sizeof(sum));
	if (scatter(station, incoming, bytes + ETH_FCS_LEN, word, tag)) {
		count(&station->tally, to);
		event(station, RTL8139CP_ISR_ROK_MASK);
		return;
	}
	le16_add_cpu(&station->tally.missed, 1);
	vgpu_set(device, RTL8139CP_INDEX_MPC,
		 (vgpu_get(device, RTL8139CP_INDEX_MPC) + 1) & 0xffffff);
	event(station, RTL8139CP_ISR_RDU_MASK);
}

/* --- the hub ---------------------------------------------------------------------------------- */

/* Gives a frame to all cards but its sender. */
static void distribute(const struct station *sender, const u8 *data, u32 bytes)
{
	u32 all = max_t(u32, bytes, ETH_ZLEN);
	struct station *station;
	unsigned long flags;

	if (bytes < ETH_HLEN || all > sizeof(incoming) - ETH_FCS_LEN)
		return;
	list_for_each_entry (station, &stations, list) {
		if (station == sender)
			continue;
		memcpy(incoming, data, bytes);
		memset(incoming + bytes, 0, all - bytes);
		flags = vgpu_lock(station->device);
		if (may_receive(station))
			receive(station, all);
		vgpu_unlock(station->device, flags);
	}
}

static void add_tag(struct frame *frame)
{
	u8 *at = frame->data + 2 * ETH_ALEN;

	memmove(at + TAG_BYTES, at, frame->bytes - 2 * ETH_ALEN);
	at[0] = 0x81;
	at[1] = 0;
	at[2] = frame->tag;
	at[3] = frame->tag >> 8;
	frame->bytes += TAG_BYTES;
}

static void put_on_hub(const struct station *sender, struct frame *frame)
{
	u32 most = SEND_SEGMENT(frame->word), at, bytes;

	if (frame->bytes < ETH_HLEN)
		return;
	if (frame->tag & SEND_TAG)
		add_tag(frame);
	if (!(frame->word & SEND_LARGE)) {
		frame_fill_sums(frame->data, frame->bytes, frame->word);
		distribute(sender, frame->data, frame->bytes);
		return;
	}
	for (at = 0; most; at += most) {
		bytes = frame_segment(frame->data, frame->bytes, at, most, segment);
		if (!bytes)
			break;
		distribute(sender, segment, bytes);
	}
}

static bool send_frame(struct station *station)
{
	unsigned long flags = vgpu_lock(station->device);
	bool sends = may_send(station);

	if (sends && !gather(station, &outgoing)) {
		event(station, RTL8139CP_ISR_TDU_MASK);
		station->sends = sends = false;
	}
	vgpu_unlock(station->device, flags);
	if (sends)
		put_on_hub(station, &outgoing);
	return sends;
}

void station_send(struct station *station)
{
	bool sends;

	do {
		mutex_lock(&hub);
		sends = send_frame(station);
		mutex_unlock(&hub);
		cond_resched();
	} while (sends);
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The network card (rtl8139cp.yaml): what its files share.
 *
 * rtl8139cp.c has the registers and the EEPROM, rings.c moves frames between the driver's memory and
 * the hub, and frame.c computes checksums and segments TCP.
 */
#ifndef UNDERSTUDY_CARDS_RTL8139CP_H
#define UNDERSTUDY_CARDS_RTL8139CP_H

#include <linux/if_ether.h>
#include <linux/list.h>
#include <linux/types.h>

struct vgpu;

#define FRAME_MOST (65535 + ETH_HLEN + 4) /* before its segmentation, with a VLAN tag */
#define TAG_BYTES 4
#define ENTRIES_MOST 64 /* descriptors of a ring */

/* Bits of a descriptor's first word, if the frame is to be sent */
#define SEND_LARGE 0x08000000u
#define SEND_SEGMENT(word) ((word) >> 16 & 0x7ff)
#define SEND_IP_SUM 0x00040000u
#define SEND_UDP_SUM 0x00020000u
#define SEND_TCP_SUM 0x00010000u

/* and if it was received */
#define RECEIVED_TCP 0x00010000u
#define RECEIVED_UDP 0x00020000u
#define RECEIVED_IP 0x00030000u
#define RECEIVED_IP_WRONG 0x00008000u
#define RECEIVED_UDP_WRONG 0x00004000u
#define RECEIVED_TCP_WRONG 0x00002000u

/* The counters, as DTCCR writes them to the driver's memory */
struct tally {
	__le64 sent;
	__le64 received;
	__le64 not_sent;
	__le32 not_received;
	__le16 missed;
	__le16 misaligned;
	__le32 one_collision;
	__le32 more_collisions;
	__le64 to_station;
	__le64 to_all;
	__le32 to_groups;
	__le16 aborted;
	__le16 underrun;
} __packed;

/**
 * struct station - a card on the hub, and what its registers do not show
 * @sends: the driver has written TPPOLL, and there may be descriptors to send
 * @sending, @receiving: indexes of the next descriptors
 * @clock: the EEPROM's clock is high
 * @clocks: clocks of the EEPROM since the start bit
 * @command: the bits that the EEPROM got at the first of them
 */
struct station {
	struct vgpu *device;
	struct list_head list;
	struct tally tally;
	bool sends;
	u32 sending;
	u32 receiving;
	bool clock;
	u32 clocks;
	u32 command;
};

void station_join(struct station *station);
void station_leave(struct station *station);

/* Sends all frames of the ring.  Called without the card's lock; sleeps. */
void station_send(struct station *station);

/* Computes the checksums that a descriptor's first word asks for. */
void frame_fill_sums(u8 *data, u32 bytes, u32 word);

/* Returns the bits of a received frame's descriptor that are about its checksums. */
u32 frame_check_sums(u8 *data, u32 bytes);

/*
 * Makes a segment of a TCP frame, with up to `most` bytes of its data from `at` on.  Returns the
 * segment's bytes, or 0 if there is none; then no byte is left, or the frame is not TCP over IPv4.
 */
u32 frame_segment(const u8 *data, u32 bytes, u32 at, u32 most, u8 *segment);

#endif

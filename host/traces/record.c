// SPDX-License-Identifier: MIT
#include "record.h"

#define CGROUP_BYTES 8

static u16 u16_at(const struct record_layout *layout, const u8 *bytes)
{
	u16 value;

	memcpy(&value, bytes, sizeof(value));
	return layout->swapped ? __builtin_bswap16(value) : value;
}

static u32 u32_at(const struct record_layout *layout, const u8 *bytes)
{
	u32 value;

	memcpy(&value, bytes, sizeof(value));
	return layout->swapped ? __builtin_bswap32(value) : value;
}

static u64 u64_at(const struct record_layout *layout, const u8 *bytes)
{
	u64 value;

	memcpy(&value, bytes, sizeof(value));
	return layout->swapped ? __builtin_bswap64(value) : value;
}

u32 record_magic(const struct record_layout *layout, const u8 *bytes)
{
	return u32_at(layout, bytes);
}

bool record_layout_of(const u8 *bytes, struct record_layout *layout)
{
	layout->swapped = false;
	layout->swapped = u32_at(layout, bytes) >> 8 != RECORD_MAGIC >> 8;
	layout->version = u32_at(layout, bytes) - RECORD_MAGIC;
	if (layout->version == 7 || layout->version == 8)
		return true;
	layout->swapped = layout->swapped && layout->version < 256;
	return false;
}

/* In version 8, the action has more bits and follows the process id. */
static void decode_8(const struct record_layout *layout, const u8 *bytes,
		     struct record *record)
{
	record->pid = u32_at(layout, bytes + 28);
	record->action = u64_at(layout, bytes + 32);
	record->device = u32_at(layout, bytes + 40);
	record->cpu = u32_at(layout, bytes + 44);
	record->payload_bytes = u16_at(layout, bytes + 50);
}

static void decode_7(const struct record_layout *layout, const u8 *bytes,
		     struct record *record)
{
	record->action = u32_at(layout, bytes + 28);
	record->pid = u32_at(layout, bytes + 32);
	record->device = u32_at(layout, bytes + 36);
	record->cpu = u32_at(layout, bytes + 40);
	record->payload_bytes = u16_at(layout, bytes + 46);
}

u32 record_decode(const struct record_layout *layout, const u8 *bytes, u64 n,
		  struct record *record)
{
	u32 header_bytes = layout->version == 8 ? 64 : 48;

	if (n < header_bytes)
		return 0;
	record->sequence = u32_at(layout, bytes + 4);
	record->time_ns = u64_at(layout, bytes + 8);
	record->sector = u64_at(layout, bytes + 16);
	record->bytes = u32_at(layout, bytes + 24);
	if (layout->version == 8)
		decode_8(layout, bytes, record);
	else
		decode_7(layout, bytes, record);
	record->payload = bytes + header_bytes;
	if (n - header_bytes < record->payload_bytes)
		return 0;
	return header_bytes + record->payload_bytes;
}

/* The payload's sector is always big-endian, even in a little-endian file. */
bool record_split_at(const struct record *record, u64 *sector)
{
	u32 at = record->action & RECORD_CGROUP ? CGROUP_BYTES : 0;
	u32 i;

	if (record->payload_bytes < at + sizeof(*sector))
		return false;
	*sector = 0;
	for (i = 0; i < sizeof(*sector); i++)
		*sector = *sector << 8 | record->payload[at + i];
	return true;
}

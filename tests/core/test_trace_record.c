// SPDX-License-Identifier: MIT
/* Parsing a record of each version in each byte order, built byte by byte. */
#include "../../host/traces/record.h"
#include "check.h"

#define PAYLOAD 11

static u8 bytes[64 + PAYLOAD];
static bool big_endian;

static u32 put(u32 at, u64 value, u32 width)
{
	u32 i;

	for (i = 0; i < width; i++)
		bytes[at + (big_endian ? width - 1 - i : i)] = value >> 8 * i;
	return at + width;
}

/* Every field has a different value. */
static u32 write_record(u32 version)
{
	u32 at = put(0, 0x65617400 + version, 4);

	memset(bytes + at, 0xee, sizeof(bytes) - at);
	at = put(at, 0x01020304, 4);
	at = put(at, 0x1112131415161718, 8);
	at = put(at, 0x2122232425262728, 8);
	at = put(at, 0x31323334, 4);
	at = put(at, version == 7 ? 0x41424344 : 0x51525354, 4);
	at = version == 7 ? put(at, 0x51525354, 4) : put(at, 0x4142434445464748, 8);
	at = put(at, 0x61626364, 4);
	at = put(at, 0x71727374, 4);
	at = put(at, 5, 2);
	at = put(at, PAYLOAD, 2);
	return (version == 7 ? at : at + 12) + PAYLOAD;
}

static void check_record(u32 version)
{
	u32 length = write_record(version);
	struct record_layout layout;
	struct record record;
	u32 n;

	CHECK(record_layout_of(bytes, &layout));
	CHECK_EQ(layout.version, version);
	CHECK_EQ(record_magic(&layout, bytes), RECORD_MAGIC + version);
	for (n = 4; n < length; n++)
		CHECK_EQ(record_decode(&layout, bytes, n, &record), 0);
	CHECK_EQ(record_decode(&layout, bytes, length, &record), length);
	CHECK_EQ(length, (version == 7 ? 48 : 64) + PAYLOAD);
	CHECK_EQ(record.sequence, 0x01020304);
	CHECK_EQ(record.time_ns, 0x1112131415161718);
	CHECK_EQ(record.sector, 0x2122232425262728);
	CHECK_EQ(record.bytes, 0x31323334);
	CHECK_EQ(record.action, version == 7 ? 0x41424344 : 0x4142434445464748);
	CHECK_EQ(record.pid, 0x51525354);
	CHECK_EQ(record.device, 0x61626364);
	CHECK_EQ(record.cpu, 0x71727374);
	CHECK_EQ(record.payload_bytes, PAYLOAD);
	CHECK(record.payload == bytes + length - PAYLOAD);
}

static void check_other(u64 magic)
{
	struct record_layout layout;

	put(0, magic, 4);
	CHECK(!record_layout_of(bytes, &layout));
	if (magic >> 8 == RECORD_MAGIC >> 8)
		CHECK_EQ(record_magic(&layout, bytes), magic);
}

/* A split's payload is big-endian in both byte orders; a control group's id may precede it. */
static void check_split(void)
{
	u8 payload[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
	struct record record = { .payload = payload, .payload_bytes = 8 };
	u64 sector;

	CHECK(record_split_at(&record, &sector));
	CHECK_EQ(sector, 0x0102030405060708);
	record.payload_bytes = 7;
	CHECK(!record_split_at(&record, &sector));
	record.action = RECORD_CGROUP;
	record.payload_bytes = 15;
	CHECK(!record_split_at(&record, &sector));
	record.payload_bytes = 16;
	CHECK(record_split_at(&record, &sector));
	CHECK_EQ(sector, 0x090a0b0c0d0e0f10);
}

int main(void)
{
	u32 order;

	for (order = 0; order < 2; order++) {
		big_endian = order;
		check_record(7);
		check_record(8);
		check_other(RECORD_MAGIC + 6);
		check_other(RECORD_MAGIC + 9);
		check_other(0x07);
	}
	check_split();
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Decodes a binary record of the kernel's blktrace (linux/blktrace_api.h): a header of version 7 or
 * 8, in either byte order, and a payload. The header contains the payload's length. Any contents
 * are allowed, even invalid ones. Only the given bytes are read.
 */
#ifndef UNDERSTUDY_TRACES_RECORD_H
#define UNDERSTUDY_TRACES_RECORD_H

#include "../../core/port.h"

#define RECORD_MAGIC 0x65617400u /* the lowest byte is the version */
#define RECORD_MAGIC_BYTES 4
#define RECORD_BYTES_MAX (64 + 65535)

/* The low byte of an action. All other actions are ignored. */
enum record_action {
	RECORD_QUEUE = 1,
	RECORD_BACK_MERGE = 2,
	RECORD_FRONT_MERGE = 3,
	RECORD_REQUEUE = 6,
	RECORD_ISSUE = 7,
	RECORD_COMPLETE = 8,
	RECORD_SPLIT = 13,
};

/* Categories: bits 16 and up of an action. Bits above 31 exist only in version 8. */
#define RECORD_WRITE (1ull << 17)
#define RECORD_FLUSH (1ull << 18)
#define RECORD_PASSTHROUGH (1ull << 25)
#define RECORD_NOTE (1ull << 26)
#define RECORD_DISCARD (1ull << 29)
/*
 * Operations that reset, finish, open or close zones, or write zeroes without a transfer of data.
 */
#define RECORD_WITHOUT_TRANSFER (0x7eull << 32)

#define RECORD_CGROUP (1u << 8) /* the payload begins with a control group's id */

/**
 * struct record_layout - the layout of a file's records
 * @version: 7 or 8
 * @swapped: whether the byte order differs from this machine's
 */
struct record_layout {
	u32 version;
	bool swapped;
};

/**
 * struct record - the contents of a header
 * @time_ns: time, on a clock that all processors share
 * @payload: the payload, which follows the header
 * @payload_bytes: its length
 */
struct record {
	u64 time_ns, sector, action;
	u32 sequence, bytes, pid, device, cpu, payload_bytes;
	const u8 *payload;
};

/* Return the magic number at the beginning of a record, in this machine's byte order. */
u32 record_magic(const struct record_layout *layout, const u8 *bytes);

/*
 * Store the layout of a file that begins with these bytes. Return false if its version is neither 7
 * nor 8.
 */
bool record_layout_of(const u8 *bytes, struct record_layout *layout);

/*
 * Decode the record. Return its length with the payload, or 0 if the n bytes are not a whole
 * record.
 */
u32 record_decode(const struct record_layout *layout, const u8 *bytes, u64 n,
		  struct record *record);

/* Store the sector at which the split-off part begins; return false if the payload is too short. */
bool record_split_at(const struct record *record, u64 *sector);

#endif

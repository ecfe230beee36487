/* SPDX-License-Identifier: MIT */
/*
 * Reads the kernel's binary block traces and returns requests.
 *
 * A trace has a file for each processor, or one file for all of them. First the caller passes in
 * the files one after the other, each in pieces of any size. Then it reads rows until there are no
 * more. The reader counts everything that is left out of the rows, and records where a file ends
 * prematurely. It checks every byte of the input that it uses.
 *
 * Memory: 32 bytes for each event of a request's life (queued, merged, split, issued, requeued,
 * completed), and about 100 for each outstanding request.
 */
#ifndef UNDERSTUDY_TRACES_BLKTRACE_H
#define UNDERSTUDY_TRACES_BLKTRACE_H

#include "match.h"
#include "record.h"

/* Why a file ends prematurely, or why reading cannot continue. */
enum blktrace_fault {
	BLKTRACE_WHOLE,
	BLKTRACE_NO_MEMORY,
	BLKTRACE_BAD_MAGIC,
	BLKTRACE_BAD_CPU,
	BLKTRACE_BAD_TIME,
	BLKTRACE_BAD_SECTOR,
	BLKTRACE_OTHER_DEVICE,
};

/* Reasons why records are in no row. */
enum blktrace_left_out {
	LEFT_OUT_UNISSUED, /* completions of requests that were not seen to be issued */
	LEFT_OUT_UNCOMPLETED, /* requests that were issued but not seen to complete */
	LEFT_OUT_FLUSHES, /* issued requests, as in the next four; this one: flushes without data */
	LEFT_OUT_DISCARDS,
	LEFT_OUT_PASSTHROUGH,
	LEFT_OUT_WITHOUT_TRANSFER, /* zone management; zeroes written without data */
	LEFT_OUT_EMPTY, /* reads and writes of no sector */
	LEFT_OUT_REPEATED, /* records with a number that their processor has used before */
	LEFT_OUT_BACKWARDS, /* records older than their processor's last one */
	LEFT_OUT_LOST, /* records whose numbers are missing */
	LEFT_OUT_REASONS,
};

/**
 * struct blktrace - a trace being read
 * @fault: fault of the current file
 * @value: the wrong value: the magic number, processor, time, sector or device
 * @records: number of records read from the current file; the next record is at @offset
 * @device: the traced device; valid once @has_device is set
 */
struct blktrace {
	u32 fault;
	u64 value, records, offset;
	u32 device;
	u64 left_out[LEFT_OUT_REASONS];
	bool has_device, began;
	struct record_layout layout;
	struct lanes lanes;
	struct match match;
};

/* NULL if there is no memory. */
struct blktrace *blktrace_new(void);
void blktrace_free(struct blktrace *trace);

/* Begin the next file, without a fault. */
void blktrace_begin(struct blktrace *trace);

/*
 * Read all complete records and return their length in bytes. The caller passes the remaining
 * bytes, fewer than RECORD_BYTES_MAX, again together with the bytes that follow them. After a fault
 * nothing is read.
 */
u64 blktrace_feed(struct blktrace *trace, const u8 *bytes, u64 n);

/*
 * Store the next rows, in order of completion, and return their number. If it is less than max,
 * there are no more rows, or there was no memory, which is then the fault. blktrace_feed() must not
 * be called after the first call of this function.
 */
u64 blktrace_rows(struct blktrace *trace, struct blktrace_row *row, u64 max);

#endif
